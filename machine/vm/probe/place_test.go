package probe

import (
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/mem/placement"
)

// Figure 6 of NUBA: (a) is the accesses of two SMs that share nothing, (d) of two that touch
// the same pages; (b), (c), (e) and (f) the placements, slips of the text corrected (channels
// are counted from 0, and what SM0 touches first goes to M0). LAB's follow from equation 1.
const (
	figure6a = "1 0x0\n0 0x1\n0 0x2\n1 0x3\n"
	figure6d = "1 0x0\n0 0x0\n0 0x1\n1 0x1\n1 0x2\n0 0x2\n1 0x3\n0 0x3\n"
)

func TestFigure6(t *testing.T) {
	for _, c := range []struct {
		what, policy, trace string
		channels            []int
		npb                 []float64
	}{
		{"b", "first-touch", figure6a, []int{1, 0, 0, 1}, []float64{0.5, 1, 0.75, 1}},
		{"c", "round-robin", figure6a, []int{0, 1, 0, 1}, []float64{0.5, 1, 0.75, 1}},
		{"e", "first-touch", figure6d, []int{1, 0, 1, 1}, []float64{0.5, 1, 0.75, 4.0 / 6}},
		{"f", "round-robin", figure6d, []int{0, 1, 0, 1}, []float64{0.5, 1, 0.75, 1}},
		{"LAB on a", "lab", figure6a, []int{1, 0, 0, 1}, []float64{0.5, 1, 0.75, 1}},
		{"LAB on d", "lab", figure6d, []int{1, 0, 1, 0}, []float64{0.5, 1, 0.75, 1}},
		{"least on a", "least-first", figure6a, []int{0, 1, 0, 1}, []float64{0.5, 1, 0.75, 1}},
	} {
		r, err := Place(Options{c.policy, 2, "0.9"}, "t", strings.NewReader(c.trace))
		if err != nil {
			t.Fatal(err)
		}
		if got := channels(r); !reflect.DeepEqual(got, c.channels) || !reflect.DeepEqual(r.NPB, c.npb) {
			t.Errorf("%s: %v and %v, want %v and %v", c.what, got, r.NPB, c.channels, c.npb)
		}
		for i, p := range r.Pages {
			if p.Page != fmt.Sprintf("0x%x", i) {
				t.Errorf("%s: page %d is %s", c.what, i, p.Page)
			}
		}
	}
}

func channels(r *Result) (out []int) {
	for _, p := range r.Pages {
		out = append(out, p.Channel)
	}
	return out
}

// The test is strict and exact: 5 pages in each of nine of ten channels are a balance of
// exactly 0.9, which is not above 0.9.
func TestThresholdIsExact(t *testing.T) {
	for threshold, want := range map[string]int{
		"0.9": 9, "0.90": 9, "0.900000000000000001": 9, "0.899999999999999999": 3, ".5": 3, "0": 3, "1": 9,
	} {
		o := Options{"lab", 10, threshold}
		place, err := o.policy()
		if err != nil {
			t.Fatal(err)
		}
		v := view(10, 3)
		for c := range 9 {
			v.Pages[c] = 5
		}
		if got := place(v); got != want {
			t.Errorf("threshold %s: channel %d, want %d", threshold, got, want)
		}
	}
}

// Whatever the trace, LAB does what equation 1 says in rationals, and every page is placed once.
func TestLABProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "channels")
		hundredths := rapid.IntRange(0, 100).Draw(t, "threshold")
		var trace strings.Builder
		var homes []int
		seen := map[int]bool{}
		for range rapid.IntRange(0, 60).Draw(t, "touches") {
			p, page := rapid.IntRange(0, n-1).Draw(t, "partition"), rapid.IntRange(0, 40).Draw(t, "page")
			fmt.Fprintf(&trace, "%d 0x%x\n", p, page)
			if !seen[page] {
				homes = append(homes, p)
			}
			seen[page] = true
		}
		r, err := Place(Options{"lab", n, fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)}, "t",
			strings.NewReader(trace.String()))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Pages) != len(homes) || len(r.NPB) != len(homes) {
			t.Fatalf("%d placements of %d pages", len(r.Pages), len(homes))
		}
		pages := make([]int, n)
		balance := func() *big.Rat {
			sum, most := new(big.Rat), 0
			for _, p := range pages {
				most = max(most, p)
			}
			if most == 0 {
				return big.NewRat(1, 1)
			}
			for _, p := range pages {
				sum.Add(sum, big.NewRat(int64(p), int64(most)))
			}
			return sum.Mul(sum, big.NewRat(1, int64(n)))
		}
		for i, home := range homes {
			want := home
			if balance().Cmp(big.NewRat(int64(hundredths), 100)) <= 0 {
				want = 0
				for c := range pages {
					if pages[c] < pages[want] {
						want = c
					}
				}
			}
			pages[want]++
			if npb, _ := balance().Float64(); r.Pages[i].Channel != want || r.NPB[i] != npb {
				t.Fatalf("page %d: %+v and %g, want channel %d and %g", i, r.Pages[i], r.NPB[i], want, npb)
			}
		}
	})
}

func TestTrace(t *testing.T) {
	r, err := Place(Options{"first-touch", 4, "0.9"}, "t",
		strings.NewReader("# two names of a page\n\n3 0X0a # first\r\n1 0xA\n 2\t0xffffffffffffffff\n0 0xb"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []Placement{{"0X0a", 3}, {"0xffffffffffffffff", 2}, {"0xb", 0}}; !reflect.DeepEqual(r.Pages, want) {
		t.Errorf("%+v, want %+v", r.Pages, want)
	}
	for text, want := range map[string]string{
		"0 0x1\nR 0x2\n":                       "t:2: want `PARTITION 0xPAGE`, as in `1 0x2a`, got \"R 0x2\"",
		"0 1\n":                                "t:1: want `PARTITION 0xPAGE`",
		"0\n":                                  "t:1: want `PARTITION 0xPAGE`",
		"0 0x\n":                               "t:1: want `PARTITION 0xPAGE`",
		"-1 0x1\n":                             "t:1: want `PARTITION 0xPAGE`",
		"0 0x1 2\n":                            "t:1: want `PARTITION 0xPAGE`",
		"0 0x10000000000000000\n":              "numbers of at most 64 bits",
		"\n0 0x1\n4 0x1\n":                     "t:3: partition 4 of 4: partitions are 0 to 3, one for each",
		"0 0x1\n" + strings.Repeat("x", 1<<17): "t:2: ",
	} {
		if _, err := Place(Options{"lab", 4, "0.9"}, "t", strings.NewReader(text)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{"least", 2, "0.9"}, `placement policy "least": use first-touch`},
		{Options{"lab", 0, "0.9"}, "0 channels: use 1 to 65536"},
		{Options{"lab", 1 << 20, "0.9"}, "use 1 to 65536"},
		{Options{"lab", 2, "1.1"}, "is not between 0 and 1"},
		{Options{"lab", 2, "10"}, "is not between 0 and 1"},
		{Options{"lab", 2, "-0.1"}, "is no decimal number"},
		{Options{"lab", 2, "9e-1"}, "is no decimal number"},
		{Options{"lab", 2, ""}, "is no decimal number"},
		{Options{"lab", 2, "."}, "is no decimal number"},
		{Options{"lab", 2, "0.1.2"}, "is no decimal number"},
		{Options{"lab", 2, "0.1234567890123456789"}, "more than 18 decimals"},
		{Options{"first-touch", 2, "high"}, "is no decimal number"},
	} {
		if _, err := Place(c.o, "t", strings.NewReader("")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
	}
}

func FuzzPlaceTrace(f *testing.F) {
	f.Add(figure6a)
	f.Add("0 0x1 # x\n\n1 0X2")
	f.Add("# one\n0 0x1 # two\n#")
	f.Add("\x00")
	f.Fuzz(func(t *testing.T, in string) {
		r, err := Place(Options{"lab", 3, "0.9"}, "t", strings.NewReader(in))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "t:") {
				t.Fatalf("no line in %v", err)
			}
			return
		}
		if len(r.Pages) != len(r.NPB) || len(r.Pages) > len(in) {
			t.Fatalf("%d pages, %d balances of %d bytes", len(r.Pages), len(r.NPB), len(in))
		}
		for i, p := range r.Pages {
			if p.Channel < 0 || p.Channel > 2 || !(r.NPB[i] > 0.33 && r.NPB[i] <= 1) {
				t.Fatalf("%+v, balance %g", p, r.NPB[i])
			}
		}
	})
}

// view is an empty memory of n channels that partition home touches.
func view(n, home int) *placement.View {
	v := &placement.View{Pages: make([]int, n), Near: home}
	for c := range n {
		v.Groups = append(v.Groups, c)
	}
	return v
}

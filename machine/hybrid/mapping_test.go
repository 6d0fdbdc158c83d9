package hybrid

import (
	"math"
	"math/bits"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shapes are all with up to 16 channels.
func shapes() (all []Shape) {
	for ways := 1; ways <= MaxWays; ways++ {
		for channels := 1; channels <= 16; channels++ {
			if s := (Shape{Ways: ways, Channels: channels}); s.Check() == nil {
				all = append(all, s)
			}
		}
	}
	return all
}

// splits are all that fit a shape.
func splits(s Shape) (all []Split) {
	for c := range s.Ways + 1 {
		for b := range s.Channels + 1 {
			if p := (Split{c, b}); s.Fits(p) == nil {
				all = append(all, p)
			}
		}
	}
	return all
}

func mapping(t rapid.TB, s Shape, p Split) Mapping {
	m, err := NewMapping(s, p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The ways of a set lie evenly over the channels: one each where they are equally many, and
// the channels evenly over the sets.
func TestChannels(t *testing.T) {
	for _, s := range shapes() {
		total := make([]int, s.Channels)
		for set := range uint64(s.Channels) {
			held := make([]int, s.Channels)
			for w := range s.Ways {
				held[s.Channel(set, w)]++
				total[s.Channel(set, w)]++
			}
			for c, n := range held {
				if n > (s.Ways+s.Channels-1)/s.Channels || n < s.Ways/s.Channels {
					t.Fatalf("%+v: channel %d holds %d ways of set %d", s, c, n, set)
				}
			}
		}
		for c, n := range total {
			if n != s.Ways {
				t.Fatalf("%+v: channel %d holds %d ways of as many sets as channels", s, c, n)
			}
		}
	}
	for _, c := range []struct {
		s    Shape
		set  uint64
		way  int
		want int
	}{
		{Shape{Ways: 4, Channels: 4}, 7, 3, 3},
		{Shape{Ways: 8, Channels: 4}, 7, 6, 2},
		{Shape{Ways: 2, Channels: 4}, 5, 1, 3},
		{Shape{Ways: 1, Channels: 4}, 7, 0, 3},
	} {
		if got := c.s.Channel(c.set, c.way); got != c.want {
			t.Errorf("%+v: way %d of set %d in channel %d, want %d", c.s, c.way, c.set, got, c.want)
		}
	}
}

// In every set the CPU has exactly cap ways, and all in its channels.
func TestOwners(t *testing.T) {
	for _, s := range shapes() {
		for _, p := range splits(s) {
			m := mapping(t, s, p)
			for set := range uint64(40) {
				gpu := m.GPUWays(set)
				for w := range s.Ways {
					if mine := gpu>>w&1 != 0; mine && s.Channel(set, w) < p.BW {
						t.Fatalf("%+v %+v: way %d of set %d is the GPU's in the CPU's channel", s, p, w, set)
					} else if s.Ways == 1 && mine != (s.Channel(set, w) >= p.BW) {
						t.Fatalf("%+v %+v: set %d: GPU %v", s, p, set, mine)
					}
				}
				if n := s.Ways - bits.OnesCount16(gpu); s.Ways > 1 && n != p.Cap {
					t.Fatalf("%+v %+v: the CPU has %d ways of set %d", s, p, n, set)
				}
			}
		}
	}
}

// fewest is the least number of ways that must change hands to get from the owners of a set
// to any that a split allows.
func fewest(s Shape, set uint64, gpu uint16, to Split) int {
	least := math.MaxInt
	for mask := range uint32(1) << s.Ways {
		ok := bits.OnesCount32(mask) == s.Ways-to.Cap
		for w := range s.Ways {
			ok = ok && (mask>>w&1 == 0 || s.Channel(set, w) >= to.BW)
		}
		if ok {
			least = min(least, bits.OnesCount32(mask^uint32(gpu)))
		}
	}
	return least
}

// However cap and bw change, as few ways change hands as at all possible from the side of
// the smaller bw; so one more or less in cap moves one way of each set, and one more or less
// in bw relocates at most what the GPU has in that channel: one way where ways are at most
// as many as channels.
func TestFewestMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var few []Shape
		for _, s := range shapes() {
			if s.Ways > 1 && s.Ways <= 8 {
				few = append(few, s)
			}
		}
		s := rapid.SampledFrom(few).Draw(t, "shape")
		from := rapid.SampledFrom(splits(s)).Draw(t, "from")
		to := rapid.SampledFrom(splits(s)).Draw(t, "to")
		set := rapid.Uint64Max(1<<59).Draw(t, "set")
		a, b := mapping(t, s, from), mapping(t, s, to)
		got := Moved(a, b, set)
		if got != Moved(b, a, set) {
			t.Fatal("there and back differ")
		}
		want := 0
		if to.BW >= from.BW {
			want = fewest(s, set, a.GPUWays(set), to)
		} else {
			want = fewest(s, set, b.GPUWays(set), from)
		}
		if got != want {
			t.Fatalf("%d ways change hands, %d would do", got, want)
		}
		caps, channels := from.Cap-to.Cap, from.BW-to.BW
		if caps*caps == 1 && channels == 0 && got != 1 {
			t.Fatalf("%d ways change hands for one in cap", got)
		}
		if most := 2 * ((s.Ways + s.Channels - 1) / s.Channels); caps == 0 && channels*channels == 1 && got > most {
			t.Fatalf("%d ways change hands for one in bw, at most %d", got, most)
		}
	})
}

// Figure 3(c): bw goes from 1:3 to 2:2 with cap 3 of 4. Only sets whose GPU way lies in the
// newly dedicated channel change: that way is relocated.
func TestFigure3(t *testing.T) {
	s := Shape{Ways: 4, Channels: 4}
	before, after := mapping(t, s, Split{3, 1}), mapping(t, s, Split{3, 2})
	var relocated int
	for set := range uint64(300) {
		old, now := before.GPUWays(set), after.GPUWays(set)
		switch {
		case old == 1<<1:
			relocated++
			if now != 1<<2 && now != 1<<3 {
				t.Errorf("set %d: the GPU's way 1 became %04b", set, now)
			}
		case now != old:
			t.Errorf("set %d: %04b became %04b", set, old, now)
		}
	}
	if relocated < 60 || relocated > 140 {
		t.Errorf("%d of 300 sets had the GPU in way 1, about a third was expected", relocated)
	}
}

// Over the sets, the GPU's ways lie evenly in all channels that are shared, so that it has
// bandwidth as bw says; consecutive sets do, too.
func TestSpread(t *testing.T) {
	const sets = 1 << 14
	for _, s := range []Shape{
		{Ways: 4, Channels: 4},
		{Ways: 2, Channels: 2},
		{Ways: 16, Channels: 4},
		{Ways: 8, Channels: 8},
		{Ways: 16, Channels: 16},
		{Ways: 6, Channels: 3},
	} {
		for _, p := range splits(s) {
			m := mapping(t, s, p)
			held := make([]int, s.Channels)
			for set := range uint64(sets) {
				for gpu := m.GPUWays(set); gpu != 0; gpu &= gpu - 1 {
					held[s.Channel(set, bits.TrailingZeros16(gpu))]++
				}
			}
			mean := float64(sets*(s.Ways-p.Cap)) / float64(s.Channels-p.BW)
			for c, n := range held {
				if c < p.BW && n != 0 || c >= p.BW && math.Abs(float64(n)-mean) > 5*math.Sqrt(mean) {
					t.Errorf("%+v %+v: channel %d has %d GPU ways, mean %.0f", s, p, c, n, mean)
				}
			}
		}
	}
	// Fewer ways than channels, none dedicated: whichever way it is, each channel has its sets.
	s := Shape{Ways: 2, Channels: 8}
	m := mapping(t, s, Split{1, 0})
	held := make([]int, s.Channels)
	for set := range uint64(sets) {
		held[s.Channel(set, bits.TrailingZeros16(m.GPUWays(set)))]++
	}
	for c, n := range held {
		if math.Abs(float64(n)-sets/8) > 5*math.Sqrt(sets/8) {
			t.Errorf("channel %d has %d GPU ways", c, n)
		}
	}
}

func TestMappingRefuses(t *testing.T) {
	for _, c := range []struct {
		s    Shape
		p    Split
		want string
	}{
		{Shape{Ways: 0, Channels: 4}, Split{}, "1 to 16 ways, not 0"},
		{Shape{Ways: 17, Channels: 17}, Split{}, "1 to 16 ways, not 17"},
		{Shape{Ways: 4, Channels: 0}, Split{}, "channels, not 0"},
		{Shape{Ways: 4, Channels: 6}, Split{}, "4 ways and 6 channels do not divide"},
		{Shape{Ways: 4, Channels: 4}, Split{4, 1}, "cap is 4"},
		{Shape{Ways: 4, Channels: 4}, Split{-1, 0}, "cap is -1"},
		{Shape{Ways: 4, Channels: 4}, Split{3, -1}, "bw is -1"},
		{Shape{Ways: 4, Channels: 4}, Split{3, 4}, "bw is 4"},
		{Shape{Ways: 4, Channels: 4}, Split{1, 2}, "bw*ways/channels <= cap"},
		{Shape{Ways: 8, Channels: 4}, Split{3, 2}, "bw*ways/channels <= cap"},
		{Shape{Ways: 2, Channels: 4}, Split{1, 3}, "bw*ways/channels <= cap"},
		{Shape{Ways: 1, Channels: 4}, Split{0, 4}, "bw is 4"},
	} {
		if _, err := NewMapping(c.s, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v %+v: %v, want %s", c.s, c.p, err, c.want)
		}
	}
}

// Where sets are divided, each row of colors has cap of the CPU's, all in its channels are, and the
// GPU's lie in all shared channels alike; ways of a set have one owner and one channel.
func TestSetsAreDividedByColor(t *testing.T) {
	for channels := 2; channels <= 8; channels++ {
		s := Shape{Ways: 2, Channels: channels, Page: 16}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		for _, p := range splits(s.row()) {
			m := mapping(t, s, p)
			const rows = 600
			in := make([]int, channels)
			for row := range uint64(rows) {
				gpu := 0
				for c := range uint64(channels) {
					color := row*uint64(channels) + c
					mine := m.GPUColor(color)
					for set := color * s.Page; set < (color+1)*s.Page; set++ {
						if got := m.GPUWays(set); got != map[bool]uint16{true: 3}[mine] || s.Channel(set, 1) != int(c) {
							t.Fatalf("%+v %+v: set %d of color %d: GPU has %b in channel %d", s, p, set, color, got,
								s.Channel(set, 1))
						}
					}
					if mine {
						gpu++
						in[c]++
					}
				}
				if gpu != channels-p.Cap {
					t.Fatalf("%+v: row %d has %d colors of the GPU", p, row, gpu)
				}
			}
			for c, n := range in {
				if c < p.BW && n > 0 {
					t.Errorf("%+v: %d colors of the GPU in channel %d of the CPU", p, n, c)
				}
				even := float64(rows*(channels-p.Cap)) / float64(channels-p.BW)
				if c >= p.BW && math.Abs(float64(n)-even) > 0.25*even {
					t.Errorf("%+v: channel %d has %d colors of the GPU, of even %.0f", p, c, n, even)
				}
			}
		}
	}
	for want, s := range map[string]Shape{
		"2 to 16 channels, not 1":  {Ways: 2, Channels: 1, Page: 16},
		"2 to 16 channels, not 32": {Ways: 2, Channels: 32, Page: 16},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", s, err, want)
		}
	}
	four := Shape{Ways: 2, Channels: 4, Page: 16}
	for want, p := range map[string]Split{
		"of 4 colors the CPU can have 3": {Cap: 4},
		"2 of 4 channels hold more":      {Cap: 1, BW: 2},
	} {
		if _, err := NewMapping(four, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
	}
}

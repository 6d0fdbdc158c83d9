package probe

import (
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/hybrid"
)

// What is written out is the mapping after the change, and what moved is what differs.
func TestRemap(t *testing.T) {
	shape, from, to := hybrid.Shape{Ways: 4, Channels: 4}, hybrid.Split{Cap: 3, BW: 1}, hybrid.Split{Cap: 2, BW: 2}
	run := func(a, b hybrid.Split) *Remap {
		r, err := RunRemap(100, shape, a, b)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	before, after, moved := run(from, from), run(to, to), run(from, to)
	if before.Moved != 0 || after.Moved != 0 || !reflect.DeepEqual(moved.Sets, after.Sets) {
		t.Errorf("%d and %d ways moved without a change", before.Moved, after.Moved)
	}
	n := 0
	for i, s := range after.Sets {
		for w, x := range s.Ways {
			if s.Set != i || x.Way != w || x.Channel != w || (x.Owner != "cpu" && x.Owner != "gpu") {
				t.Errorf("set %d, way %d: %+v", i, w, x)
			}
			if x != before.Sets[i].Ways[w] {
				n++
			}
		}
	}
	if n == 0 || n != moved.Moved {
		t.Errorf("%d moved, want %d", moved.Moved, n)
	}
}

func TestRemapRefuses(t *testing.T) {
	four, ok := hybrid.Shape{Ways: 4, Channels: 4}, hybrid.Split{Cap: 3, BW: 1}
	for _, c := range []struct {
		sets int
		s    hybrid.Shape
		a, b hybrid.Split
		want string
	}{
		{0, four, ok, ok, "0 sets"},
		{1 << 21, four, ok, ok, "2097152 sets"},
		{1, hybrid.Shape{}, ok, ok, "ways, not 0"},
		{1, four, hybrid.Split{Cap: 9}, ok, "cap is 9"},
		{1, four, ok, hybrid.Split{Cap: 1, BW: 2}, "the new mapping: bw is 2"},
	} {
		if _, err := RunRemap(c.sets, c.s, c.a, c.b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestParseSplit(t *testing.T) {
	was := hybrid.Split{Cap: 3, BW: 1}
	for text, want := range map[string]hybrid.Split{
		"cap=2,bw=0": {Cap: 2}, "bw=2,cap=3": {Cap: 3, BW: 2}, "cap=1": {Cap: 1, BW: 1}, "bw=2": {Cap: 3, BW: 2},
	} {
		if got, err := ParseSplit(text, was); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "cap", "cap=", "cap=x", "tok=3", "cap=1,cap=2", "cap=1,", "cap=1.5,bw=0"} {
		if _, err := ParseSplit(text, was); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestRunTokens(t *testing.T) {
	tokens, err := hybrid.NewTokens(2, 100, hybrid.Cache)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := ReadTrace("t", strings.NewReader("# misses\n5 miss-dirty\n\n 5 miss # none left\n100\tmiss\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Outcome{{5, true, 0}, {5, false, 0}, {100, true, 1}}
	if r := RunTokens(tokens, trace); !reflect.DeepEqual(r.Accesses, want) {
		t.Errorf("%+v, want %+v", r.Accesses, want)
	}
	if r := RunTokens(tokens, nil); r.Accesses == nil {
		t.Error("no misses are null in JSON")
	}
}

func TestReadTraceRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"1 miss\n2 hit\n":                       "t:2: want `CYCLE miss`",
		"\nmiss\n":                              "t:2: ",
		"1 miss dirty\n":                        "t:1: ",
		"-1 miss\n":                             "t:1: ",
		"0x10 miss\n":                           "t:1: ",
		"18446744073709551616 miss\n":           "t:1: ",
		"5 miss\n# fine\n4 miss\n":              "t:3: cycle 4 comes after cycle 5",
		"1 miss\n1 " + strings.Repeat("m", 1e6): "t:2: ",
	} {
		if _, err := ReadTrace("t", strings.NewReader(in)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", in, err, want)
		}
	}
}

// Whatever the file, there are misses in order of time or an error that names a line.
func FuzzTokens(f *testing.F) {
	f.Add("1 miss\n2 miss-dirty # x\n")
	f.Add("2 miss\n1 miss\n")
	f.Add("\x00")
	f.Fuzz(func(t *testing.T, in string) {
		trace, err := ReadTrace("t", strings.NewReader(in))
		if err != nil {
			if trace != nil || !strings.HasPrefix(err.Error(), "t:") {
				t.Errorf("%v, %v", trace, err)
			}
			return
		}
		for i := range trace {
			if i > 0 && trace[i].Cycle < trace[i-1].Cycle {
				t.Errorf("cycle %d after %d", trace[i].Cycle, trace[i-1].Cycle)
			}
		}
		tokens, err := hybrid.NewTokens(3, 7, hybrid.Flat)
		if err != nil {
			t.Fatal(err)
		}
		if r := RunTokens(tokens, trace); len(r.Accesses) != len(trace) {
			t.Errorf("%d misses, %d outcomes", len(trace), len(r.Accesses))
		}
	})
}

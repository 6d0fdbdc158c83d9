package probe

import (
	"math"
	"strings"
	"testing"
)

func TestParsePattern(t *testing.T) {
	for _, s := range []string{"hotspot:0,3;8,1", "hotspot({{0,3},{8,1}})"} {
		p, err := ParsePattern(s, 8)
		if err != nil {
			t.Fatal(err)
		}
		g := newIntegers(1)
		var n [8]int
		for range 90000 {
			n[p.dest(g)]++
		}
		if n[0]+n[3] != 90000 || math.Abs(float64(n[0])-80000) > 500 {
			t.Errorf("%s: %v, want 8 of 9 to output 0 and the rest to output 3", s, n)
		}
	}
	for _, s := range []string{"hotspot:5", "hotspot({5})"} {
		p, err := ParsePattern(s, 8)
		if err != nil {
			t.Fatal(err)
		}
		if d := p.dest(newIntegers(1)); d != 5 {
			t.Errorf("%s goes to %d", s, d)
		}
	}
	for s, want := range map[string]string{
		"tornado": "unknown", "hotspot": "unknown", "hotspot:9": "node 9 of 8",
		"hotspot:0,1;3": "2 nodes and 1 weights", "hotspot:0;0": "all zero",
		"hotspot:x": "not a number", "hotspot({0}": "unbalanced", "hotspot:-1": "not a number",
		"hotspot:0;-1": "not a number",
	} {
		if _, err := ParsePattern(s, 8); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", s, err, want)
		}
	}
}

func TestOptionErrors(t *testing.T) {
	for want, edit := range map[string]func(*Options){
		"--ports":   func(o *Options) { o.Ports = 0 },
		"--load":    func(o *Options) { o.Load = 1.5 },
		"--load is": func(o *Options) { o.Load = math.NaN() },
		"--voq":     func(o *Options) { o.VOQ = true },
		"at most":   func(o *Options) { o.VCs = 65 },
		"pattern":   func(o *Options) { o.Pattern = "x" },
	} {
		o := Defaults()
		edit(&o)
		if _, err := Run(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestOnePort: one source and one sink see the bare pipeline: six clocks for the
// first flit, one more for each that follows.
func TestOnePort(t *testing.T) {
	for _, flits := range []int{1, 4} {
		o := Defaults()
		o.Ports, o.Packet, o.Load = 1, flits, 0.001
		r, err := Run(o)
		if err != nil {
			t.Fatal(err)
		}
		want := float64(5 + flits)
		if r.NetLat != want || math.Abs(r.PktLat-want) > 0.2 {
			t.Errorf("%d flits: network %g, packet %g, want %g", flits, r.NetLat, r.PktLat, want)
		}
	}
}

// TestSeeds: a seed is a result; another seed is another, but a near one.
func TestSeeds(t *testing.T) {
	o := Defaults()
	o.Load = 0.5
	a, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Run(o)
	if *a != *b {
		t.Errorf("the same seed gives %+v and %+v", a, b)
	}
	o.Seed = 7
	if b, _ = Run(o); a.PktLat == b.PktLat || math.Abs(a.PktLat-b.PktLat) > 0.05*a.PktLat {
		t.Errorf("seeds 42 and 7 give %g and %g", a.PktLat, b.PktLat)
	}
}

func BenchmarkProbe(b *testing.B) {
	for _, k := range []int{8, 64} {
		b.Run(map[int]string{8: "k8", 64: "k64"}[k], func(b *testing.B) {
			o := Defaults()
			o.Ports, o.Load = k, 0.5
			cycles := uint64(0)
			for b.Loop() {
				r, err := Run(o)
				if err != nil {
					b.Fatal(err)
				}
				cycles += r.Cycles
			}
			b.ReportMetric(float64(cycles)/b.Elapsed().Seconds()/1e3, "kcycles/s")
		})
	}
}

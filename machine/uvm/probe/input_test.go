package probe

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/uvm"
)

func TestBadInput(t *testing.T) {
	ok := "alloc a 0x200000 4096\n"
	for trace, want := range map[string]string{
		"alloc a 0x1000 4096\n":                          "t:1: base 0x1000",
		ok + "alloc b 0x200000 1\n":                      "t:2: 0x200000 to 0x210000 overlaps",
		"alloc a 0x200000 3000000\nalloc b 0x400000 1\n": "t:2: 0x400000 to 0x410000 overlaps",
		"alloc b 0x400000 1\nalloc a 0x200000 3000000\n": "t:2: 0x200000 to 0x500000 overlaps",
		ok + "\n# nothing\nR 0x210000\n":                 "t:4: 0x210000 is in no allocation",
		ok + "R 0x1ffff\n":                               "t:2: 0x1ffff is in no allocation",
		"alloc a 0x200000 4096 ro\nW 0x200000\n":         "t:2: 0x200000 is written",
		"alloc a 0x200000 4096 rw\n":                     "t:1: want `alloc",
		"alloc a 0x200000 0\n":                           "t:1: allocation of",
		"alloc a 0x200000 -4\n":                          "t:1: allocation of",
		"alloc a 200000 4096\n":                          "t:1: address",
		"alloc a 0xffffffffffe00000 4096\n":              "t:1: 4096 bytes at",
		"alloc a 0x200000 99999999999999999\n":           "t:1: 99999999999999999 bytes",
		"X 0x200000\n":                                   "t:1: want",
		"R\n":                                            "t:1: want",
		"R 0xzz\n":                                       "t:1: address",
		"R 0x11112222333344445\n":                        "t:1: address",
		"kernel\n":                                       "t:1: want",
		strings.Repeat("R", 1<<17):                       "t:1: ",
	} {
		_, err := Run(uvm.Options{
			Capacity: 1 << 20, Prefetch: "tbn", Evict: "tbn", Migrate: "always", Ts: 8, P: 8,
		}, "t", strings.NewReader(trace))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: error %v, want %s", trace, err, want)
		}
	}
}

func TestBadOptions(t *testing.T) {
	good := uvm.Options{Capacity: 1 << 20, Prefetch: "tbn", Evict: "tbn", Migrate: "always", Ts: 8, P: 8}
	for want, change := range map[string]func(o *uvm.Options){
		"capacity 4097":  func(o *uvm.Options) { o.Capacity = 4097 },
		"capacity 0":     func(o *uvm.Options) { o.Capacity = 0 },
		"capacity -4096": func(o *uvm.Options) { o.Capacity = -4096 },
		"prefetcher":     func(o *uvm.Options) { o.Prefetch = "tree" },
		"eviction":       func(o *uvm.Options) { o.Evict = "lru" },
		"migration":      func(o *uvm.Options) { o.Migrate = "" },
		"ts is 0":        func(o *uvm.Options) { o.Ts = 0 },
		"counters \"x\"": func(o *uvm.Options) { o.Counters = "x" },
		"reserve of 100": func(o *uvm.Options) { o.Reserve = 100 },
	} {
		o := good
		change(&o)
		if _, err := Run(o, "t", strings.NewReader("")); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Padding up to 64 KB * 2^i is accessible, prefetched and evicted (3.2.1).
func TestPadding(t *testing.T) {
	trace := "alloc a 0x200000 172032\nR 0x23ffff\nR 0x200000\nR 0x210000\n" // 168 KB: 256 KB
	r := run(t, uvm.Options{Capacity: 1 << 20, Prefetch: "tbn", Evict: "tbn"}, trace)
	if r.Totals.Migrated != 256<<10 || r.Totals.Faults != 3 {
		t.Errorf("%+v", r.Totals)
	}
}

// Whatever a file holds, reading it ends in a result or in an error that names its line.
func FuzzTrace(f *testing.F) {
	f.Add("alloc a 0x200000 4096 ro\nR 0x200000\nkernel k\n# c\nW 0x200001\n")
	f.Add("alloc a 0x200000 5000000\nW 0x200000\nR 0x600000\n")
	f.Fuzz(func(t *testing.T, trace string) {
		r, err := Run(uvm.Options{
			Capacity: 1 << 18, Prefetch: "tbn", Evict: "lru2m", Migrate: "adaptive", Ts: 8, P: 8,
		}, "t", strings.NewReader(trace))
		switch {
		case err != nil && !strings.HasPrefix(err.Error(), "t:"):
			t.Error(err)
		case err == nil && r.Totals.Migrated-r.Totals.Evicted > 1<<18:
			t.Errorf("%+v", r.Totals)
		}
	})
}

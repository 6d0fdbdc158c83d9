package sim

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// walk is the micro-benchmark of section 3.2.1 of the UVMSmart dissertation: one thread reads managed
// memory at offsets, one after the other.
func walk(bytes int, u Unified, offsets ...int) Spec {
	var list []string
	for _, o := range offsets {
		list = append(list, fmt.Sprint(o))
	}
	s := unifiedSpec(u, "micro/pointer-chase")
	s.Apps[0].Args = map[string]string{"touch": strings.Join(list, ","), "bytes": fmt.Sprint(bytes)}
	s.Timeline = true
	return s
}

// arrivals are the sizes of the transfers of a run to the device, in KB.
func arrivals(r *Result) (kb []string) {
	for _, x := range r.Spans {
		if x.Track == "unified memory/to the device" {
			kb = append(kb, strings.TrimSuffix(x.Name, " KB"))
		}
	}
	return kb
}

const (
	kB    = 1 << 10
	block = 64 * kB
)

// Managed allocation: a size is rounded up to 64 KB * 2^i, 2 MB + 192 KB to 2 MB + 256 KB, and what is
// beyond the size asked for comes along; the root of a tree is 2 MB at most.
func TestMicroAllocation(t *testing.T) {
	s := walk(2<<20+192*kB, Unified{Prefetch: "tbn"}, 2<<20, 2<<20+block, 2<<20+2*block)
	r := right(t, &s)
	if got := r.Tenants[0].ManagedBytes; got != 2<<20+256*kB {
		t.Errorf("%d bytes are allocated, want 2 MB + 256 KB", got)
	}
	n := totals(r, "uvm")
	// 64 KB of the first tree, and all of the second, the padding included.
	if n["migrated_pages"] != (block+256*kB)/4096 {
		t.Errorf("%d pages came, want those of 64 KB + 256 KB", n["migrated_pages"])
	}
}

// Prefetching: 64 KB at least come with a fault, 4 KB and the other 60; and where more than half of a
// node is there, the rest of it. Figure 4's patterns the other way round, as the walk begins at block 0.
func TestMicroPrefetch(t *testing.T) {
	for _, c := range []struct {
		blocks []int
		want   string
	}{
		{[]int{2, 4, 6}, "[4 60 4 60 4 60 4]"}, // half of a node is not more than half; the last 60 KB come too late
		{[]int{2, 4, 6, 1, 7}, "[4 60 4 60 4 60 4 60 4 60 64 64 64]"},
		{[]int{2, 1, 4, 7}, "[4 60 4 60 4 60 64 4 252]"},
	} {
		var offsets []int
		for _, b := range c.blocks {
			offsets = append(offsets, b*block)
		}
		s := walk(512*kB, Unified{Prefetch: "tbn"}, offsets...)
		if got := fmt.Sprint(arrivals(right(t, &s))); got != c.want {
			t.Errorf("blocks 0 and %v: transfers of %s KB, want %s", c.blocks, got, c.want)
		}
	}
}

// Eviction: the least recent 2 MB go, and are written back although nothing wrote to them.
func TestMicroEviction(t *testing.T) {
	var all []int
	for o := block; o < 6<<20; o += block {
		all = append(all, o)
	}
	s := walk(6<<20, Unified{Capacity: "4194304", Prefetch: "tbn"}, append(all, 4)...)
	n := totals(right(t, &s), "uvm")
	if n["evicted_pages"]%512 != 0 || n["evicted_pages"] < 512 || n["written_pages"] != n["evicted_pages"] {
		t.Errorf("%d pages left, %d of them written back: want whole trees of 2 MB, all written", n["evicted_pages"],
			n["written_pages"])
	}
}

// Timing: 45 us for a fault, and a link that is the faster the larger the transfer.
func TestMicroTiming(t *testing.T) {
	s := walk(2<<20, Unified{Prefetch: "none"}, block)
	var handled int
	for _, x := range right(t, &s).Spans {
		if x.Track == "unified memory/driver" {
			handled++
			if x.End-x.Start != 45*1481 {
				t.Errorf("a fault takes %d cycles, want 45 us", x.End-x.Start)
			}
		}
	}
	if handled < 2 {
		t.Errorf("%d faults", handled)
	}
	before := 0.0
	for bytes := 4 * kB; bytes <= 1<<20; bytes *= 4 {
		s := walk(bytes, Unified{Prefetch: "none"}, 4)
		s.Apps[0].Args["ahead"] = "true"
		var took uint64
		for _, x := range right(t, &s).Spans {
			if x.Track == "unified memory/to the device" && x.Name == fmt.Sprintf("%d KB", bytes/kB) {
				took = x.End - x.Start
			}
		}
		gbs := float64(bytes) / (float64(took) / 1.481)
		// Figure 6, as its public simulator fits it, and 100 cycles; the last lines take a while to DRAM.
		curve := 2 / math.Pi * 12 * math.Atan(0.07292*float64(bytes)/kB) * (1 << 30) / 1e9
		want := float64(bytes) / (float64(bytes)/curve + 100/1.481)
		if gbs <= before || math.Abs(gbs/want-1) > 0.15 {
			t.Errorf("%d KB at %.3g GB/s, want %.3g, and more than %.3g", bytes/kB, gbs, want, before)
		}
		before = gbs
	}
}

// Where touches are asked for, the accesses of every page are told by epoch: each read of the walk once, also
// those that were pages of an allocation freed meanwhile.
func TestPageAccesses(t *testing.T) {
	s := walk(4*block, Unified{Prefetch: "none"}, block, 2*block, 3*block, block+8)
	s.Touches, s.Epoch = true, 1000
	r := right(t, &s)
	sum := map[uint64]uint32{}
	var before uint64
	for _, a := range r.Touches.Accesses {
		if a.Cycle < before || a.Tenant != 0 {
			t.Fatalf("%+v after cycle %d", a, before)
		}
		before = a.Cycle
		sum[a.Page] += a.N
	}
	base := r.Touches.Accesses[0].Page
	for page, want := range map[uint64]uint32{base: 1, base + 16: 2, base + 32: 1, base + 48: 1} {
		if sum[page] != want {
			t.Errorf("page %d: %d accesses, want %d", page-base, sum[page], want)
		}
	}
	s.Epoch = 0
	if r := right(t, &s); len(r.Touches.Accesses) > 0 {
		t.Error("accesses of no epoch")
	}
}

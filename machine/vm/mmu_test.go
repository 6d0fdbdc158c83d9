package vm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/mem"

	"pgregory.net/rapid"
)

const base = 0xc0000000

func page4k(i uint64) uint64 { return base>>12 + i }

func TestWalkIsFourDependentReads(t *testing.T) {
	r := newRig(t, sheet(4096), 1, 1, nil)
	mustMap(t, r.tab, 0, base, 8192)
	f := frameOf(t, r.tab, 0, page4k(1))
	r.ask(5, 0, page4k(1), 3, 77)
	r.run(5)
	r.want(fmt.Sprintf("%d:SM3/77 tenant 0 page %x frame %x", 5+10+4*100, page4k(1), f))
	var want []string
	for i, a := range r.tab.pt[0].Walk(page4k(1), nil) {
		want = append(want, fmt.Sprintf("%d:%x", 15+100*i, a))
	}
	if len(want) != 4 || fmt.Sprint(r.reads) != fmt.Sprint(want) {
		t.Errorf("reads %v, want %v", r.reads, want)
	}
	r.counter(0, WalkReads, 4)
	r.counter(0, WalkCycles, 400)

	r.ask(1000, 0, page4k(1), 2, 1) // now it hits
	r.run(1000)
	r.want(fmt.Sprintf("1010:SM2/1 tenant 0 page %x frame %x", page4k(1), f))
	r.counter(0, L2Accesses, 2)
	r.counter(0, L2Hits, 1)
	r.counter(0, Walks, 1)
}

// Walks of a machine that says how long they take read nothing, and those that begin together end together.
func TestWalkOfFixedCycles(t *testing.T) {
	r := newRig(t, sheet(4096), 1, 1, func(c *Config) { c.WalkCycles, c.Ports = 100, 2 })
	mustMap(t, r.tab, 0, base, 8192)
	r.ask(5, 0, page4k(0), 3, 76)
	r.ask(5, 0, page4k(1), 3, 77)
	r.run(5)
	var want []string
	for i := range uint64(2) {
		want = append(want, fmt.Sprintf("%d:SM3/%d tenant 0 page %x frame %x", 5+10+100, 76+i, page4k(i),
			frameOf(t, r.tab, 0, page4k(i))))
	}
	r.want(want...)
	r.counter(0, WalkReads, 0)
	r.counter(0, WalkCycles, 200)
}

func TestWalkOfLargePageIsShorter(t *testing.T) {
	r := newRig(t, sheet(2<<20), 1, 1, nil)
	mustMap(t, r.tab, 0, base, 4<<20)
	vpn := uint64(base >> 21)
	r.ask(0, 0, vpn, 0, 0)
	r.run(0)
	r.want(fmt.Sprintf("310:SM0/0 tenant 0 page %x frame %x", vpn, frameOf(t, r.tab, 0, vpn)))
	if pa, _ := r.tab.Translate(0, base+0x123456); pa != frameOf(t, r.tab, 0, vpn)<<21|0x123456 {
		t.Errorf("address %#x", pa)
	}
}

func TestMissesOfOnePageMerge(t *testing.T) {
	r := newRig(t, sheet(4096), 2, 1, nil)
	mustMap(t, r.tab, 0, base, 4096)
	mustMap(t, r.tab, 1, base, 4096)
	for sm := range 3 {
		r.ask(0, 0, page4k(0), sm, int32(sm))
	}
	r.ask(0, 1, page4k(0), 3, 3) // same page number, another tenant: a walk of its own
	r.run(0)
	f0, f1 := frameOf(t, r.tab, 0, page4k(0)), frameOf(t, r.tab, 1, page4k(0))
	if f0 == f1 {
		t.Error("two tenants share a frame")
	}
	r.want(
		fmt.Sprintf("410:SM0/0 tenant 0 page %x frame %x", page4k(0),
			f0), fmt.Sprintf("410:SM1/1 tenant 0 page %x frame %x", page4k(0), f0),
		fmt.Sprintf("410:SM2/2 tenant 0 page %x frame %x", page4k(0), f0),
		fmt.Sprintf("411:SM3/3 tenant 1 page %x frame %x", page4k(0), f1))
	r.counter(0, Walks, 1)
	r.counter(0, Merged, 2)
	r.counter(1, Walks, 1)
}

// TestWalkersLimit: 2 walkers, 5 pages, so the third waits for the first.
func TestWalkersLimit(t *testing.T) {
	r := newRig(t, sheet(4096), 1, 1, func(c *Config) { c.Walkers, c.Ports = 2, 8 })
	mustMap(t, r.tab, 0, base, 5*4096)
	for i := range 5 {
		r.ask(0, 0, page4k(uint64(i)), i, 0)
	}
	r.run(0)
	var at []string
	for _, l := range r.log {
		c, rest, _ := strings.Cut(l, ":")
		at = append(at, c+"/"+rest[:3])
	}
	if want := "[410/SM0 410/SM1 810/SM2 810/SM3 1210/SM4]"; fmt.Sprint(at) != want {
		t.Errorf("replies %v, want %v", at, want)
	}
	r.counter(0, WalkWait, 400+400+800)
}

func TestPortsLimit(t *testing.T) {
	r := newRig(t, sheet(4096), 1, 1, nil) // 2 ports
	mustMap(t, r.tab, 0, base, 4096)
	r.ask(0, 0, page4k(0), 0, 0)
	r.run(0)
	r.log = nil
	for i := range 5 {
		r.ask(1000, 0, page4k(0), i, 0)
	}
	r.run(1000)
	var at []string
	for _, l := range r.log {
		at = append(at, l[:4])
	}
	if want := "[1010 1010 1011 1011 1012]"; fmt.Sprint(at) != want {
		t.Errorf("replies at %v, want %v", at, want)
	}
}

func TestWalkCacheSkipsLevels(t *testing.T) {
	s := sheet(4096)
	s.VM.WalkCache = 16
	r := newRig(t, s, 1, 1, nil)
	mustMap(t, r.tab, 0, base, 4<<20)
	r.ask(0, 0, page4k(0), 0, 0)
	r.run(0)
	r.ask(1000, 0, page4k(7), 0, 0)   // same last node: one read
	r.ask(1000, 0, page4k(512), 0, 0) // the node beside it: two
	r.run(1000)
	var at []string
	for _, l := range r.log {
		c, _, _ := strings.Cut(l, ":")
		at = append(at, c)
	}
	if want := "[410 1110 1210]"; fmt.Sprint(at) != want {
		t.Errorf("replies at %v, want %v", at, want)
	}
	r.counter(0, CacheHits, 2)
	r.counter(0, WalkReads, 4+1+2)
}

// TestFault: 20 us at 1400 MHz are 28000 cycles; a sequential driver handles the
// second fault after the first.
func TestFault(t *testing.T) {
	for _, c := range []struct{ slots, second int }{{1, 410 + 2*28000 + 400}, {2, 410 + 28000 + 400}} {
		r := newRig(t, sheet(4096), 1, c.slots, nil)
		if err := r.tab.Reserve(0, base, 8192); err != nil {
			t.Fatal(err)
		}
		r.ask(0, 0, page4k(0), 0, 0)
		r.ask(0, 0, page4k(1), 1, 0)
		r.ask(0, 0, page4k(0), 2, 0)
		r.run(0)
		var at []string
		for _, l := range r.log {
			a, rest, _ := strings.Cut(l, ":")
			at = append(at, a+"/"+rest[:3])
		}
		want := fmt.Sprintf("[%d/SM0 %d/SM2 %d/SM1]", 410+28000+400, 410+28000+400, c.second)
		if c.slots == 2 {
			want = fmt.Sprintf("[%d/SM0 %d/SM2 %d/SM1]", c.second, c.second, c.second)
		}
		if fmt.Sprint(at) != want {
			t.Errorf("%d slots: replies %v, want %v", c.slots, at, want)
		}
		r.counter(0, Faults, 2)
		r.counter(0, Walks, 4)
	}
}

// TestResolveTwice: a driver that moves a page for two reasons may say so twice.
func TestResolveTwice(t *testing.T) {
	r := newRig(t, sheet(4096), 1, 1, nil)
	if err := r.tab.Reserve(0, base, 8192); err != nil {
		t.Fatal(err)
	}
	r.ask(0, 0, page4k(0), 0, 0)
	for now := uint64(0); now < 500; now++ {
		r.step(now)
	}
	r.mmu.Resolve(500, 0, page4k(1)) // nobody waits for it
	if _, err := r.tab.MapPage(0, page4k(0), -1); err != nil {
		t.Fatal(err)
	}
	r.mmu.Resolve(500, 0, page4k(0))
	r.mmu.Resolve(500, 0, page4k(0))
	r.run(500)
	r.want(fmt.Sprintf("900:SM0/0 tenant 0 page %x frame %x", page4k(0), frameOf(t, r.tab, 0, page4k(0))))
	r.counter(0, Walks, 2)
	r.counter(0, FaultCycles, 90)
}

// TestFaultWithoutMemory: the driver has no frame to give and says so.
func TestFaultWithoutMemory(t *testing.T) {
	r := newRig(t, sheet(4096), 1, 1, nil)
	if err := r.tab.Reserve(0, base, 65<<20); err != nil {
		t.Fatal(err)
	}
	mustMap(t, r.tab, 0, base, 0)
	i := uint64(0)
	for ; ; i++ {
		if _, err := r.tab.MapPage(0, page4k(i), -1); err != nil {
			break
		}
	}
	r.ask(0, 0, page4k(i), 0, 0)
	for now := uint64(0); now < 40000 && r.mmu.Err() == nil; now++ {
		r.step(now)
	}
	if err := r.mmu.Err(); !errors.Is(err, ErrNoFrame) {
		t.Errorf("error %v", err)
	}
}

func TestFirstTouchPlacesNearTheSM(t *testing.T) {
	s := sheet(4096)
	s.VM.Placement = "first-touch"
	r := newRig(t, s, 1, 1, nil) // 8 SMs, 8 groups
	if err := r.tab.Reserve(0, base, 8*4096); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(8) {
		r.ask(0, 0, page4k(i), int(7-i), 0)
	}
	r.run(0)
	for i := range uint64(8) {
		if g := r.tab.frames.Pool(frameOf(t, r.tab, 0, page4k(i))); g != int(7-i) {
			t.Errorf("page %d, touched by SM %d, is in group %d", i, 7-i, g)
		}
	}
}

// TestShootdown: a page that leaves takes its translations with it, even those on
// their way to an SM.
func TestShootdown(t *testing.T) {
	r := newRig(t, sheet(4096), 1, 1, nil)
	mustMap(t, r.tab, 0, base, 4096)
	r.ask(0, 0, page4k(0), 0, 0)
	r.run(0)
	r.log = nil
	r.ask(1000, 0, page4k(0), 1, 9)
	for now := uint64(1000); now < 1010; now++ {
		r.step(now)
	}
	r.mmu.Tick(1010) // the reply is ready and not taken
	if n := r.tab.UnmapToHost(0, base, 4096); n != 1 {
		t.Fatalf("%d pages left", n)
	}
	if _, ok := r.mmu.PopReply(); ok {
		t.Error("a reply with the old frame came out")
	}
	r.run(1010)
	if len(r.log) != 1 || !strings.HasPrefix(r.log[0], fmt.Sprint(1010+10+400+28000+400, ":SM1/9")) {
		t.Errorf("replies %v", r.log)
	}
	r.counter(0, Shootdowns, 1)
	r.counter(0, Faults, 1)
}

func TestErrors(t *testing.T) {
	r := newRig(t, sheet(4096), 1, 1, nil)
	mustMap(t, r.tab, 0, base, 4096)
	r.ask(0, 0, page4k(9), 4, 0)
	for now := uint64(0); now < 1000; now++ {
		r.step(now)
	}
	if err := r.mmu.Err(); err == nil || !strings.Contains(err.Error(), "SM 4 asked for virtual page 0xc0009") {
		t.Errorf("error %v", err)
	}

	tab := tables(t, sheet(4096), 1)
	if err := tab.MapRegion(0, base, 65<<20); !errors.Is(err, ErrNoFrame) {
		t.Errorf("65 MB on a device of 64 MB: error %v", err)
	}
	mustMap(t, tab, 0, base, 60<<20) // the failed region left nothing behind

	for _, edit := range []func(*Config){
		func(c *Config) { c.Entries = 0 }, func(c *Config) {
			c.Entries, c.Ways = 100,
				16
		}, func(c *Config) { c.Ways = 32 },
	} {
		cfg := NewConfig(sheet(4096), 1)
		edit(&cfg)
		if _, err := NewMMU(cfg, tab, nil, r.count); err == nil {
			t.Errorf("no error for %d entries, %d ways", cfg.Entries, cfg.Ways)
		}
	}
}

// trace is a reproducible stream of requests: cycle, tenant, page, SM.
type ask struct {
	at     uint64
	tenant mem.TenantID
	vpn    uint64
	sm     int
}

func trace(seed uint64, n, pages, tenants int) (out []ask) {
	rng := rand.New(rand.NewPCG(seed, 1))
	at := uint64(0)
	for range n {
		at += uint64(rng.IntN(40))
		out = append(out, ask{at, mem.TenantID(rng.IntN(tenants)), page4k(uint64(rng.IntN(pages))), rng.IntN(8)})
	}
	return out
}

// play runs a trace; every visits each cycle instead of only those the MMU names.
func (r *rig) play(tr []ask, every bool) {
	now, i := uint64(0), 0
	for i < len(tr) || r.mmu.Busy() > 0 {
		for i < len(tr) && tr[i].at <= now && r.mmu.Request(now, tr[i].tenant, tr[i].vpn, tr[i].sm, int32(i)) {
			i++
		}
		r.step(now)
		if err := r.mmu.Err(); err != nil {
			r.t.Fatal(err)
		}
		next := r.next
		if i < len(tr) {
			next = min(next, max(tr[i].at, now+1))
		}
		if every {
			next = now + 1
		}
		if next == never && r.mmu.Busy() > 0 {
			r.t.Fatalf("cycle %d: the MMU sleeps with %d requests in flight", now, r.mmu.Busy())
		}
		now = next
	}
}

// TestIdleSkipping: visiting only the cycles the MMU asks for changes nothing.
func TestIdleSkipping(t *testing.T) {
	for seed := range uint64(4) {
		tr := trace(seed, 600, 300, 2)
		var rigs [2]*rig
		for k := range rigs {
			s := sheet(4096)
			s.VM.FaultUs, s.VM.WalkCache, s.VM.L2Banks = 1, 8*int(seed%2), 1<<(seed%3)
			r := newRig(t, s, 2, 2, func(c *Config) { c.Pending, c.Waiters, c.InQueue = 12, 20, 4 })
			mustMap(t, r.tab, 0, base, 300*4096)
			if err := r.tab.Reserve(1, base, 300*4096); err != nil {
				t.Fatal(err)
			}
			r.play(tr, k == 1)
			rigs[k] = r
		}
		if !slices.Equal(rigs[0].log, rigs[1].log) || !slices.Equal(rigs[0].reads, rigs[1].reads) {
			t.Errorf("seed %d: skipping idle cycles changed the result", seed)
		}
		for tenant := range 2 {
			if a, b := rigs[0].count.Totals(tenant, nil), rigs[1].count.Totals(tenant, nil); !slices.Equal(a, b) {
				t.Errorf("seed %d, tenant %d: counters %v and %v", seed, tenant, a, b)
			}
		}
		if rigs[0].visits >= rigs[1].visits {
			t.Errorf("seed %d: %d visits with skipping, %d without", seed, rigs[0].visits, rigs[1].visits)
		}
	}
}

// TestConservation: every request is answered once, with the right frame (step
// checks that), under every shortage.
func TestConservation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := sheet(4096)
		s.VM.FaultUs = 0.5
		s.VM.L2Ports = rapid.IntRange(1, 3).Draw(rt, "ports")
		s.VM.L2Banks = rapid.SampledFrom([]int{1, 2, 4}).Draw(rt, "banks")
		s.VM.L2Latency = rapid.IntRange(0, 12).Draw(rt, "latency")
		s.VM.Walkers = rapid.IntRange(1, 6).Draw(rt, "walkers")
		s.VM.WalkCache = rapid.SampledFrom([]int{0, 4, 20}).Draw(rt, "walk cache")
		r := newRig(t, s, 2, rapid.IntRange(1, 3).Draw(rt, "slots"), func(c *Config) {
			c.Pending = rapid.IntRange(1, 9).Draw(rt, "pending")
			c.Waiters = rapid.IntRange(1, 9).Draw(rt, "waiters")
			c.Replies = rapid.IntRange(1, 3).Draw(rt, "replies")
			c.InQueue = rapid.IntRange(1, 4).Draw(rt, "queue")
		})
		r.lat = rapid.Uint64Range(1, 60).Draw(rt, "memory")
		mustMap(t, r.tab, 0, base, 60*4096)
		if err := r.tab.Reserve(1, base, 60*4096); err != nil {
			rt.Fatal(err)
		}
		tr := trace(rapid.Uint64().Draw(rt, "seed"), 150, 60, 2)
		r.play(tr, false)
		if r.replies != len(tr) {
			rt.Fatalf("%d requests, %d replies", len(tr), r.replies)
		}
		c := r.count.Totals(0, nil)
		if c[L2Accesses] != c[L2Hits]+c[Merged]+c[Walks] {
			rt.Fatalf("accesses %d are not hits %d + merged %d + walks %d", c[L2Accesses], c[L2Hits], c[Merged],
				c[Walks])
		}
	})
}

// TestInfiniteTLB: with room for every page only the first access of each misses.
func TestInfiniteTLB(t *testing.T) {
	r := newRig(t, sheet(4096), 1, 1, func(c *Config) { c.Entries, c.Ways = 1024, 0 })
	mustMap(t, r.tab, 0, base, 300*4096)
	r.play(trace(1, 3000, 300, 1), false)
	if got := r.count.Sum(0, Walks); got > 300 {
		t.Errorf("%d walks for 300 pages", got)
	}
	before := r.count.Sum(0, Walks)
	tr := trace(2, 1000, 300, 1)
	r2 := trace(1, 3000, 300, 1)
	touched := map[uint64]bool{}
	for _, a := range r2 {
		touched[a.vpn] = true
	}
	tr = slices.DeleteFunc(tr, func(a ask) bool { return !touched[a.vpn] })
	r.play(tr, false)
	if got := r.count.Sum(0, Walks); got != before {
		t.Errorf("%d walks after warm-up", got-before)
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	r := newRig(t, sheet(4096), 1, 1, nil)
	mustMap(t, r.tab, 0, base, 200*4096)
	m, now := r.mmu, uint64(0)
	rng := rand.New(rand.NewPCG(1, 2))
	cycle := func() {
		for range 400 {
			m.Request(now, 0, page4k(uint64(rng.IntN(200))), 0, 0)
			m.Tick(now)
			for m.Reads() > 0 {
				_, _, w := m.PeekRead()
				m.TakeRead(true)
				m.ReadDone(now, w)
			}
			for {
				if _, ok := m.PopReply(); !ok {
					break
				}
			}
			now++
		}
	}
	cycle()
	if n := testing.AllocsPerRun(5, cycle); n != 0 {
		t.Errorf("%v allocations in 400 cycles", n)
	}
}

// TestWalkersWaitForTheirOwnSlice: a read there is no room for lets the next one go first,
// and counts when it is taken.
func TestWalkersWaitForTheirOwnSlice(t *testing.T) {
	r := newRig(t, sheet(4096), 1, 1, nil)
	mustMap(t, r.tab, 0, base, 3*4096)
	for i := range uint64(2) {
		r.mmu.Request(i, 0, page4k(i), 0, 0)
	}
	for now := uint64(0); r.mmu.Reads() < 2; now++ {
		r.mmu.Tick(now)
	}
	_, _, first := r.mmu.PeekRead()
	r.mmu.TakeRead(false)
	_, _, second := r.mmu.PeekRead()
	r.counter(0, WalkReads, 0)
	r.mmu.TakeRead(true)
	r.counter(0, WalkReads, 1)
	if _, _, w := r.mmu.PeekRead(); w != first || first == second || r.mmu.Reads() != 1 {
		t.Errorf("walkers %d and %d, then %d of %d", first, second, w, r.mmu.Reads())
	}
}

func BenchmarkMMU(b *testing.B) {
	r := newRig(b, sheet(4096), 1, 1, nil)
	mustMap(b, r.tab, 0, base, 200*4096)
	m := r.mmu
	for i := range uint64(b.N) {
		m.Request(i, 0, page4k(i*7%200), 0, 0)
		m.Tick(i)
		for m.Reads() > 0 {
			_, _, w := m.PeekRead()
			m.TakeRead(true)
			m.ReadDone(i, w)
		}
		for {
			if _, ok := m.PopReply(); !ok {
				break
			}
		}
	}
}

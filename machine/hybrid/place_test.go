package hybrid

import (
	"testing"

	"pgregory.net/rapid"
)

// view is a set of four ways that are all valid, used in the order 0, 1, 2, 3.
func view(p Policy, set uint64, c Class) *View {
	v := &View{Set: set, Class: c, Valid: 0b1111, ways: 4, Owners: p.Owners(set)}
	for w := range 4 {
		v.order |= recency(w) << (4 * (3 - w))
	}
	return v
}

func newHydrogen(t rapid.TB, s Shape, o HydrogenOptions) *Hydrogen {
	o.Mode, o.Period = Cache, 1000
	if o.Swap == "" {
		o.Swap = SwapAlways
	}
	h, err := NewHydrogen(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// What is streamed into an empty memory lies in all of its channels, and so does what follows.
func TestFirstWays(t *testing.T) {
	l := newTable(small(t, Cache, Shape{Ways: 4, Channels: 4}, 256, 1024, 8))
	var filled [4]int
	for i := range l.set {
		filled[l.set[i].order.least(0b1111, 4)]++
	}
	for way, n := range filled {
		if n < len(l.set)/8 || n > len(l.set)*3/8 {
			t.Errorf("way %d is the first of %d of %d sets", way, n, len(l.set))
		}
	}
}

// The order of use is that of a list.
func TestRecency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ways := rapid.IntRange(1, MaxWays).Draw(t, "ways")
		first := rapid.IntRange(0, ways-1).Draw(t, "first")
		r, list := inOrder(ways, first), []int{}
		for w := range ways {
			list = append(list, (first+ways-1-w)%ways)
		}
		for range 40 {
			w := rapid.IntRange(0, ways-1).Draw(t, "way")
			r = r.use(w)
			next := []int{w}
			for _, x := range list {
				if x != w {
					next = append(next, x)
				}
			}
			list = next
			mask := rapid.Uint16Max(1<<ways-1).Draw(t, "mask")
			want := -1
			for _, x := range list {
				if mask>>x&1 != 0 {
					want = x
				}
			}
			if got := r.least(mask, ways); got != want {
				t.Fatalf("least of %b in %v is %d, want %d", mask, list, got, want)
			}
		}
	})
}

// Each class fills its own ways: one that is free, then the least recently used.
func TestWayPart(t *testing.T) {
	p, err := NewWayPart(Shape{Ways: 4, Channels: 4}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		class       Class
		valid, busy uint16
		want        int
	}{
		{CPU, 0b1111, 0, 0},
		{CPU, 0b1101, 0, 1},
		{CPU, 0b1111, 0b0011, 2},
		{CPU, 0b1111, 0b0111, Wait},
		{GPU, 0b1111, 0, 3},
		{GPU, 0b0000, 0, 3},
		{GPU, 0b1111, 0b1000, Wait},
	} {
		v := view(p, 7, c.class)
		v.Valid, v.Busy = c.valid, c.busy
		if got := p.Miss(v); got.Way != c.want {
			t.Errorf("%+v: way %d", c, got.Way)
		}
	}
	if a, _ := p.Hit(view(p, 7, GPU), 0); a != Keep {
		t.Error("a hit of the GPU in a way of the CPU moves it")
	}
	for _, cpu := range []int{0, 4} {
		if _, err := NewWayPart(Shape{Ways: 4, Channels: 4}, cpu); err == nil {
			t.Errorf("%d ways of 4 for the CPU", cpu)
		}
	}
}

// Whatever the ways: three quarters of the channels are the CPU's alone, and the GPU has a quarter.
func TestWayPartTiesChannels(t *testing.T) {
	for _, s := range []Shape{
		{Ways: 4, Channels: 4}, {Ways: 8, Channels: 4}, {Ways: 16, Channels: 4}, {Ways: 4, Channels: 8},
	} {
		p, err := NewWayPart(s, s.Ways*3/4)
		if err != nil {
			t.Fatal(err)
		}
		in := [numClasses]map[int]bool{{}, {}}
		for set := range uint64(64) {
			o := p.Owners(set)
			if o.Of[CPU]|o.Of[GPU] != 1<<s.Ways-1 || o.Of[CPU]&o.Of[GPU] != 0 || o.Dedicated&^o.Of[CPU] != 0 {
				t.Fatalf("%+v, set %d: %+v", s, set, o)
			}
			for w := range s.Ways {
				for class := range numClasses {
					if o.Of[class]>>w&1 != 0 {
						in[class][s.Channel(set, w)] = true
					}
				}
				if c := s.Channel(set, w); o.Dedicated>>w&1 != 0 && in[GPU][c] {
					t.Errorf("%+v, set %d: way %d is in channel %d, which the GPU uses", s, set, w, c)
				}
			}
		}
		if len(in[GPU]) != max(1, s.Channels/4) {
			t.Errorf("%+v: the GPU uses channels %v", s, in[GPU])
		}
	}
}

// Section IV: what a hit does depends on whose way it is, and whether on a channel of the
// CPU's own. With cap 3 and bw 1 way 0 is dedicated, and one of the others the GPU's.
func TestHydrogenHits(t *testing.T) {
	s := Shape{Ways: 4, Channels: 4}
	const set = 5
	for mode, shared := range map[SwapMode]Action{
		SwapAlways: Swap, SwapIdeal: Assign, SwapNone: Keep,
	} {
		h := newHydrogen(t, s, HydrogenOptions{Swap: mode, Split: Split{3, 1}, Tokens: Unlimited})
		gpu := h.Owners(set).Of[GPU]
		for way := range 4 {
			theirs := gpu>>way&1 != 0
			wantCPU, wantGPU := shared, Drop
			if way == 0 {
				wantCPU = Keep
			}
			if theirs {
				wantCPU, wantGPU = Drop, Keep
			}
			if a, other := h.Hit(view(h, set, CPU), way); a != wantCPU || (a == Swap || a == Assign) && other != 0 {
				t.Errorf("%s: the CPU hits way %d: %d with %d, want %d", mode, way, a, other, wantCPU)
			}
			if a, _ := h.Hit(view(h, set, GPU), way); a != wantGPU {
				t.Errorf("%s: the GPU hits way %d: %d, want %d", mode, way, a, wantGPU)
			}
			write := view(h, set, CPU)
			write.Write = true
			if a, _ := h.Hit(write, way); a != Keep && a != Drop {
				t.Errorf("%s: a write-back to way %d swaps", mode, way)
			}
			busy := view(h, set, CPU)
			busy.Busy = 1
			if a, _ := h.Hit(busy, way); a != Keep && a != Drop {
				t.Errorf("%s: way %d swaps with one that moves already", mode, way)
			}
		}
	}
}

// Every other swap is passed over.
func TestHydrogenProb(t *testing.T) {
	h := newHydrogen(t, Shape{Ways: 4, Channels: 4},
		HydrogenOptions{Swap: SwapProb, Split: Split{3, 1}, Tokens: Unlimited})
	way := 1
	if h.Owners(5).Of[GPU]>>1&1 != 0 {
		way = 2
	}
	var swaps int
	for range 100 {
		if a, _ := h.Hit(view(h, 5, CPU), way); a == Swap {
			swaps++
		}
	}
	if swaps != 50 {
		t.Errorf("%d of 100 swaps", swaps)
	}
}

// Misses of the GPU migrate while there are tokens, a dirty victim costs two; those of the
// CPU always do. Each channel can have tokens of its own.
func TestHydrogenTokens(t *testing.T) {
	h := newHydrogen(t, Shape{Ways: 4, Channels: 4}, HydrogenOptions{Split: Split{3, 1}, Tokens: 3})
	miss := func(now uint64, c Class, dirty bool, slow int) bool {
		v := view(h, 5, c)
		v.Now, v.Slow = now, slow
		if dirty {
			v.Dirty = 0b1111
		}
		return h.Miss(v).Way >= 0
	}
	for i, c := range []struct {
		now     uint64
		class   Class
		dirty   bool
		migrate bool
	}{
		{0, GPU, true, true},
		{1, CPU, true, true},
		{2, GPU, false, true},
		{3, GPU, false, false},
		{4, CPU, false, true},
		{1000, GPU, false, true},
	} {
		if got := miss(c.now, c.class, c.dirty, 0); got != c.migrate {
			t.Errorf("miss %d: %v", i, got)
		}
	}
	h = newHydrogen(t, Shape{Ways: 4, Channels: 4}, HydrogenOptions{Split: Split{3, 1}, Tokens: 4, PerChannel: 4})
	for slow := range 4 {
		if !miss(0, GPU, false, slow) || miss(0, GPU, false, slow) {
			t.Errorf("channel %d has not one token", slow)
		}
	}
}

// DP+Token: 15 % of the GPU's requests in a period may migrate in the next.
func TestHydrogenShare(t *testing.T) {
	h := newHydrogen(t, Shape{Ways: 4, Channels: 4}, HydrogenOptions{Split: Split{3, 1}, ByShare: true, Share: 0.15})
	period := func(n uint64, requests int) (migrated int) {
		for range requests {
			v := view(h, 5, GPU)
			v.Now = 1000 * n
			if h.Miss(v).Way >= 0 {
				migrated++
			}
		}
		return migrated
	}
	for n, c := range []struct{ requests, want int }{{200, 0}, {100, 30}, {1, 1}, {20, 0}, {100, 3}} {
		if got := period(uint64(n), c.requests); got != c.want {
			t.Errorf("period %d: %d of %d requests migrated, want %d", n, got, c.requests, c.want)
		}
	}
	if got := period(7, 10); got != 0 {
		t.Errorf("%d migrated after a period without requests", got)
	}
}

// A share of nothing lets nothing migrate.
func TestHydrogenShareOfNothing(t *testing.T) {
	h := newHydrogen(t, Shape{Ways: 4, Channels: 4}, HydrogenOptions{Split: Split{3, 1}, ByShare: true})
	for n := range uint64(3) {
		v := view(h, 5, GPU)
		v.Now = 1000 * n
		if way := h.Miss(v).Way; way >= 0 {
			t.Errorf("period %d: a miss of the GPU fills way %d", n, way)
		}
	}
}

// What a policy begins with is there from the first cycle; what it sets later caps what is left.
func TestHydrogenBeginsWithTokens(t *testing.T) {
	h := newHydrogen(t, Shape{Ways: 4, Channels: 4}, HydrogenOptions{Split: Split{3, 1}})
	for _, c := range []struct{ now, tok, left uint64 }{{0, 5, 5}, {100, 3, 3}, {200, 7, 3}} {
		if h.SetTokens(c.now, c.tok); h.tokens[0].Left() != c.left || h.Tokens() != c.tok {
			t.Errorf("%d set at %d: %d left of %d", c.tok, c.now, h.tokens[0].Left(), h.Tokens())
		}
	}
}

// Sets of one way: the GPU passes by those in the CPU's channels, and shares the others.
func TestHydrogenOneWay(t *testing.T) {
	h := newHydrogen(t, Shape{Ways: 1, Channels: 4}, HydrogenOptions{Split: Split{0, 1}, Tokens: Unlimited})
	for set := range uint64(8) {
		mine := h.shape.Channel(set, 0) == 0
		v := view(h, set, GPU)
		v.ways, v.Valid, v.order = 1, 1, inOrder(1, 0)
		if got := h.Miss(v).Way; (got == Bypass) != mine {
			t.Errorf("set %d: the GPU fills way %d", set, got)
		}
		if a, _ := h.Hit(v, 0); (a == Drop) != mine {
			t.Errorf("set %d: a hit of the GPU: %d", set, a)
		}
		v.Class = CPU
		if a, _ := h.Hit(v, 0); a != Keep || h.Miss(v).Way != 0 {
			t.Errorf("set %d: not the CPU's", set)
		}
	}
}

// takes lets a class's block miss in a set, and puts it where it may go: the set whose way it
// takes, or -1 where it passes by.
func (p *HAShCache) takes(set, index uint32, c Class) int {
	p.kernel = 0 // else the CPU would fill nothing
	choice := p.Miss(&View{Set: uint64(set), Class: c, ways: 1, order: inOrder(1, 0)})
	if choice.Way < 0 {
		return choice.Way
	}
	at := place{choice.Set, 0}
	if _, _, used := p.table.resident(at); used {
		p.table.remove(at)
	}
	p.table.install(at, set, index)
	return int(choice.Set)
}

// The rules of chaining, one after the other, in two groups of eight sets of one way.
func TestHAShCacheChains(t *testing.T) {
	cfg := small(t, Cache, Shape{Ways: 1, Channels: 4}, 256, 16, 8)
	cfg.Chained = true
	p := NewHAShCache(1, 1000)
	newRig(t, cfg, p)
	hit := func(set uint64, c Class) { p.Hit(&View{Set: set, Class: c}, 0) }
	for i, s := range []struct {
		set, index uint32
		class      Class
		want       int
		why        string
	}{
		{0, 0, GPU, 0, "nobody's is the CPU's, and the GPU may have more"},
		{0, 1, GPU, 1, "its own is the GPU's: to the next of the CPU"},
		{0, 2, GPU, 0, "chained, both the GPU's: its own"},
		{1, 0, CPU, 1, "the CPU takes its own, which ends the chain"},
		{0, 3, GPU, 1, "so it is chained again"},
		{7, 0, GPU, 7, ""},
		{7, 1, GPU, 2, "round the group: 0 and 1 are the GPU's"},
		{6, 0, GPU, 6, ""},
		{6, 1, GPU, 6, "only 7, 0 and 1 are in reach, all the GPU's: its own"},
		{3, 0, CPU, 3, ""},
		{3, 1, GPU, 3, "the CPU's own, and the GPU may have one more"},
		{4, 0, GPU, 6, "the GPU has six of eight: one of its own, that no chain ends in"},
		{4, 1, GPU, 6, "chained, one the GPU's: that one, as it may not have more"},
		{5, 0, GPU, -1, "6, 7 and 0 are all chained: it passes by"},
		{15, 0, CPU, 15, "the other group knows nothing of it"},
		{15, 1, GPU, 15, ""},
		{15, 2, GPU, 8, ""},
	} {
		if got := p.takes(s.set, s.index, s.class); got != s.want {
			t.Errorf("step %d: block %d of set %d takes set %d, want %d: %s", i, s.index, s.set, got, s.want, s.why)
		}
	}
	hit(15, CPU) // chained to 8: one is the GPU's, which may have more
	if got := p.takes(15, 3, GPU); got != 15 {
		t.Errorf("it takes set %d and not the CPU's", got)
	}
	hit(15, CPU)
	hit(8, CPU)
	if got := p.takes(15, 4, GPU); got != 8 {
		t.Errorf("both are the CPU's: it takes set %d and not the chained one", got)
	}
	if at := p.table.find(15, 4); at != (place{8, 0}) {
		t.Errorf("found at %v", at)
	}
}

// ByE: while a kernel runs, the CPU reads past the cache what the filter does not know to be
// dirty, and brings nothing in.
func TestHAShCachePasses(t *testing.T) {
	p := NewHAShCache(4, 1000)
	p.table, p.gpu = &table{}, make([]uint8, 8)
	p.dirtied(7, true)
	for _, c := range []struct {
		kernel bool
		class  Class
		block  uint32
		want   bool
	}{{false, CPU, 8, false}, {true, CPU, 8, true}, {true, CPU, 7, false}, {true, GPU, 8, false}} {
		now := uint64(kernelSpan)
		if p.Hit(&View{Now: 1, Class: GPU}, 0); !c.kernel {
			now++
		}
		if p.passes(now, c.block, c.class) != c.want {
			t.Errorf("%+v", c)
		}
	}
	if p.Miss(view(p, 1, CPU)).Way != Bypass {
		t.Error("the CPU fills the cache while a kernel runs")
	}
	if p.dirtied(7, false); !p.passes(2, 7, CPU) {
		t.Error("a clean block is held back")
	}
}

// The filter never forgets a member, and forgets what was removed unless counters are full.
func TestBloom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newBloom(rapid.IntRange(3, 300).Draw(t, "counters"))
		members := map[uint32]bool{}
		for _, b := range rapid.SliceOfN(rapid.Uint32Max(40), 1, 200).Draw(t, "blocks") {
			if members[b] {
				f.remove(b)
				delete(members, b)
			} else {
				f.add(b)
				members[b] = true
			}
			for m := range members {
				if !f.has(m) {
					t.Fatalf("block %d is missing", m)
				}
			}
		}
	})
}

// professed is ProFess on a small memory of blocks of 256 bytes: 4 ways of 32 in a set.
func professed(t *testing.T) *ProFess {
	cfg := small(t, Cache, Shape{Ways: 4, Channels: 4}, 256, 256, 8)
	p := NewProFess(cfg, false)
	newRig(t, cfg, p)
	return p
}

// MDM: what a block can expect is the mean of its bin and class, less what it has had.
func TestMDMExpects(t *testing.T) {
	p := professed(t)
	m := &p.mdm
	for index, n := range []int{1, 3, 4, 15, 16, 70} {
		for range n {
			m.access(9, uint32(index), CPU)
		}
	}
	m.leaves(9, 1)
	for index, want := range []uint8{1, 1, 2, 2, 3, 3} {
		if got := m.state[9*m.blocks+uint64(index)]; got != want {
			t.Errorf("block %d is in bin %d, want %d, with no accesses left", index, got, want)
		}
	}
	m.estimate()
	if got, want := m.expected[CPU][0], (1+3+4+15+16+63.)/6; got != want {
		t.Errorf("a new block can expect %g accesses, want %g", got, want)
	}
	m.access(9, 0, CPU)
	m.access(9, 0, CPU)
	m.leaves(9, 1) // block 0 of bin 1 had 2, and the others none
	m.estimate()
	if got := m.expected[CPU][1]; got != 1 {
		t.Errorf("bin 1 can expect %g accesses, want 1", got)
	}
	if m.state[9*m.blocks+5] != 0 {
		t.Error("a block without accesses stays in its bin")
	}
	m.access(9, 0, CPU)
	if got := m.remaining(9, 0, true); got != 0 {
		t.Errorf("%g are left of 1 after 1", got)
	}
	if m.expected[GPU] != [numBins]float64{} {
		t.Error("accesses of the CPU count for the GPU")
	}
}

// A migration has to gain 3 accesses over what it takes the place of, or 7 if that is dirty.
func TestProFessWeighs(t *testing.T) {
	p := professed(t)
	p.mdm.known = true
	for w := range uint32(4) {
		p.table.install(place{9, uint16(w)}, 9, w)
	}
	for _, c := range []struct {
		expect, victim float64 // of a new block; of what is in way 2, used once
		dirty          uint16
		want           int
	}{
		{4, 0, 0, 2},           // 4 less this access
		{3.5, 0, 0, Bypass},    // 2.5 left
		{8, 0, 0b1111, 2},      //
		{7, 0, 0b1111, Bypass}, //
		{9, 6, 0, 2},           // 8 against 5
		{8, 6, 0, Bypass},      // 7 against 5
	} {
		for i := range p.mdm.state {
			p.mdm.state[i] = 0
		}
		for w := range uint32(4) { // bins: 3 of all ways but the victim's
			p.mdm.state[9*p.mdm.blocks+uint64(w)] = 3 | 1<<2
		}
		p.mdm.state[9*p.mdm.blocks+2] = 1 | 1<<2
		p.mdm.expected[CPU] = [numBins]float64{c.expect, c.victim, 0, 50}
		v := view(p, 9, CPU)
		v.Block, v.Dirty = p.table.number(9, 20), c.dirty
		if got := p.Miss(v); got.Way != c.want {
			t.Errorf("%+v: way %d", c, got.Way)
		}
	}
}

// RSM: who suffers more by both measures keeps what it has, or takes as if nothing were there.
func TestRSMAdvises(t *testing.T) {
	for _, c := range []struct {
		asker, owner [2]float64
		want         advice
	}{
		{[2]float64{1, 1}, [2]float64{1, 1}, decide},
		{[2]float64{1, 1}, [2]float64{1.03, 1.03}, decide}, // within the margin
		{[2]float64{1, 1}, [2]float64{1.1, 1.1}, forbid},
		{[2]float64{1.1, 1.1}, [2]float64{1, 1}, vacant},
		{[2]float64{1, 2}, [2]float64{2, 1.5}, forbid}, // mixed: 3 against 2
		{[2]float64{2, 1}, [2]float64{1.5, 1.2}, decide},
	} {
		var m rsm
		m.smooth(GPU, c.asker[0], c.asker[1])
		m.smooth(CPU, c.owner[0], c.owner[1])
		if got := m.advise(GPU, CPU); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
		if m.advise(CPU, CPU) != decide {
			t.Error("advice against oneself")
		}
	}
	var m rsm
	m.smooth(CPU, 1, 1)
	if m.advise(GPU, CPU) != decide {
		t.Error("advice without knowledge")
	}
	m.smooth(CPU, 9, 1)
	if m.class[CPU].a != 2 {
		t.Errorf("smoothed to %g, want 1 + 8/8", m.class[CPU].a)
	}
}

// A class's own sets are one in 64, and only it fills them.
func TestProFessPrivate(t *testing.T) {
	p := professed(t)
	var own [numClasses]int
	for set := range uint64(1 << 16) {
		c, ok := private(set)
		if !ok {
			continue
		}
		own[c]++
		if set < p.table.sets && (p.Miss(view(p, set, 1-c)).Way != Bypass || p.Miss(view(p, set, c)).Way == Bypass) {
			t.Errorf("set %d", set)
		}
	}
	for c, n := range own {
		if n < 900 || n > 1150 {
			t.Errorf("class %d has %d of 65536 sets, about 1024 were expected", c, n)
		}
	}
}

package workload

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
)

// head makes a model of one kernel on an array of 1 MiB at base 0x10000.
const head = `model: m
source: "estimate: test"
allocations: [{name: a, bytes: 1 MiB}]
kernels:
- name: k
  ctas: %d
  threads: 128
  iterations: %d
`

const testBase = 0x10000

// grid compiles the one kernel of a model; rest is the text after head.
func testGrid(t testing.TB, ctas, iterations int, seed uint64, rest string) *Grid {
	t.Helper()
	m, err := Parse("m.yaml", []byte(fmt.Sprintf(head, ctas, iterations)+rest))
	if err != nil {
		t.Fatal(err)
	}
	return New(m, seed).compile(0, []uint64{testBase}, zipfs{}).newGrid(0, seed)
}

// emitted is what a grid did when every warp ran to its end.
type emitted struct {
	insts   map[string]int // by text
	lanes   int            // threads that executed
	warps   int            // warp instructions
	visits  map[uint64]int // accesses by address
	sharers map[uint64]map[int]bool
	order   [][]uint64 // addresses of lane 0 by CTA
}

func run(t testing.TB, g *Grid) *emitted {
	t.Helper()
	e := &emitted{insts: map[string]int{}, visits: map[uint64]int{}, sharers: map[uint64]map[int]bool{}}
	geo, code := g.Geometry(), g.Code()
	var s isa.Step
	for i := range geo.CTAs {
		c := g.Start(i, isa.Place{})
		e.order = append(e.order, nil)
		for w := range geo.Warps {
			var way []int32
			for c.PC(w) >= 0 {
				in, pc := &code.Instr[c.PC(w)], c.PC(w)
				way = append(way, pc)
				if err := c.Step(w, 0, &s); err != nil {
					t.Fatal(err)
				}
				e.insts[code.Text[pc]]++
				e.warps++
				e.lanes += bits.OnesCount32(s.Mask)
				if s.Space != in.Space || s.Next != c.PC(w) || s.Mask&^s.Active != 0 {
					t.Fatalf("PC %d: %+v", pc, s)
				}
				if s.Space == isa.Global {
					e.access(t, i, in, &s)
				}
			}
			for k, pc := range way {
				if left := len(way) - k; left < code.AtLeast(pc) || k == 0 &&
					code.AtLeast(pc) < min(len(code.Instr), math.MaxUint8) {
					t.Fatalf("PC %d of %d: %d instructions left, at least %d promised", pc, len(code.Instr), left,
						code.AtLeast(pc))
				}
			}
		}
		c.Release()
	}
	return e
}

func (e *emitted) access(t testing.TB, cta int, in *isa.Instr, s *isa.Step) {
	e.order[cta] = append(e.order[cta], s.Addr[0])
	for m := s.Mask; m != 0; m &= m - 1 {
		a := s.Addr[bits.TrailingZeros32(m)]
		if a < testBase || a+uint64(in.Width) > testBase+1<<20 || a%uint64(in.Width) != 0 {
			t.Fatalf("an access of %d bytes at 0x%x", in.Width, a)
		}
		e.visits[a]++
		if e.sharers[a] == nil {
			e.sharers[a] = map[int]bool{}
		}
		e.sharers[a][cta] = true
	}
}

// The emitted mix is the declared one, to the instruction.
func TestMix(t *testing.T) {
	for _, order := range []string{"batched", "spread"} {
		e := run(t, testGrid(t, 3, 5, 1, `  shared: 4 KiB
  order: `+order+`
  mix: {int: 7, mad: 2, move: 3, fp: 20, dp: 1, sfu: 2, tensor: 1, shared_load: 4, shared_store: 2,
    barrier: 1, fence: 1}
  accesses:
  - {on: a, pattern: stream, count: 3}
  - {on: a, op: store, pattern: stream}
  - {on: a, op: atomic, pattern: random}
`))
		trips := 3 * 4 * 5 // CTAs, warps, iterations
		for text, n := range map[string]int{
			"add": 7, "mad": 2, "mov": 3, "fma.f32": 20, "fma.f64": 1, "sfu": 2, "mma": 1, "ld.shared": 4,
			"st.shared": 2, "bar.sync": 1, "membar": 1, "load a (stream)": 3, "store a (stream)": 1,
			"atomic a (random)": 1, "bra": 1,
		} {
			if e.insts[text] != n*trips {
				t.Errorf("%s: %d of %q, want %d", order, e.insts[text], text, n*trips)
			}
		}
		if e.insts["exit"] != 12 || e.warps != 50*trips+12 {
			t.Errorf("%s: %d exits, %d instructions", order, e.insts["exit"], e.warps)
		}
	}
}

// Footprint, reuse and sharing of every pattern, from the addresses.
func TestPatterns(t *testing.T) {
	const threads = 16 * 128
	for _, c := range []struct {
		access   string
		iters    int
		distinct [2]int     // addresses, least and most
		visits   [2]float64 // per address
		sharers  [2]float64 // CTAs per address
	}{
		{"pattern: stream", 8, [2]int{8 * threads, 8 * threads}, [2]float64{1, 1}, [2]float64{1, 1}},
		{"pattern: stream, reuse: 4", 8, [2]int{2 * threads, 2 * threads}, [2]float64{4, 4}, [2]float64{1, 1}},
		{"pattern: stream, count: 2", 8, [2]int{16 * threads, 16 * threads}, [2]float64{1, 1}, [2]float64{1, 1}},
		// wraps at the footprint
		{"pattern: stream", 256, [2]int{1 << 18, 1 << 18}, [2]float64{2, 2}, [2]float64{1, 1}},
		{
			"pattern: stencil, count: 5, row: 1 KiB", 8,
			[2]int{8 * threads, 8*threads + 2*256 + 4},
			[2]float64{4.8, 5},
			[2]float64{1, 5},
		},
		{"pattern: tiled, tile: 2 KiB, reuse: 4", 16, [2]int{16 * 512, 16 * 512}, [2]float64{4, 4}, [2]float64{1, 1}},
		{"pattern: tiled, tile: 2 KiB, reuse: 2", 16, [2]int{32 * 512, 32 * 512}, [2]float64{2, 2}, [2]float64{1, 1}},
		{"pattern: strided, stride: 512 B", 16, [2]int{16 * threads, 16 * threads}, [2]float64{1, 1}, [2]float64{1, 1}},
		// n(1-e^-(draws/n)): 30812
		{"pattern: random", 16, [2]int{30_500, 31_200}, [2]float64{1.04, 1.08}, [2]float64{1.04, 1.08}},
		{"pattern: random, block: 128 B", 16, [2]int{31 * 900, 32 * 1024}, [2]float64{1, 1.2}, [2]float64{1, 1.2}},
		{
			"pattern: chase, block: 64 B, width: 8", 8,
			[2]int{8 * threads, 8 * threads},
			[2]float64{1, 1},
			[2]float64{1, 1},
		},
		{"pattern: shared", 8, [2]int{1024, 1024}, [2]float64{16, 16}, [2]float64{16, 16}},
		{"pattern: shared, sharers: 4", 8, [2]int{4096, 4096}, [2]float64{4, 4}, [2]float64{4, 4}},
		{"pattern: shared, sharers: 4, layout: interleaved", 8, [2]int{4096, 4096}, [2]float64{4, 4}, [2]float64{4, 4}},
	} {
		e := run(t, testGrid(t, 16, c.iters, 1, "  accesses: [{on: a, "+c.access+"}]\n"))
		n, visits, sharers := len(e.visits), 0, 0
		for a, v := range e.visits {
			visits += v
			sharers += len(e.sharers[a])
		}
		per, shared := float64(visits)/float64(n), float64(sharers)/float64(n)
		if n < c.distinct[0] || n > c.distinct[1] || per < c.visits[0] || per > c.visits[1] || shared < c.sharers[0] ||
			shared > c.sharers[1] {
			t.Errorf("%s: %d addresses (want %v), %.3f visits each (%v), by %.3f CTAs (%v)", c.access, n, c.distinct,
				per, c.visits, shared, c.sharers)
		}
	}
}

// Blocked sharers are neighbours, interleaved ones a stride apart.
func TestSharedLayout(t *testing.T) {
	for layout, same := range map[string][2]int{"blocked": {0, 1}, "interleaved": {0, 4}} {
		e := run(t, testGrid(t, 16, 2, 1, "  accesses: [{on: a, pattern: shared, sharers: 4, layout: "+layout+"}]\n"))
		other := 5 - same[1] // CTA 4 or 1
		if e.order[0][0] != e.order[same[1]][0] || e.order[0][0] == e.order[other][0] {
			t.Errorf("%s: CTAs 0, %d, %d begin at %x, %x, %x", layout, same[1], other, e.order[0][0],
				e.order[same[1]][0], e.order[other][0])
		}
	}
}

// The hottest block of a Zipf access has the share the exponent gives it, and the
// hot blocks are not neighbours.
func TestZipfAccess(t *testing.T) {
	e := run(t, testGrid(t, 16, 16, 1, "  accesses: [{on: a, pattern: zipf, theta: 0.9, block: 128 B}]\n"))
	blocks, total := map[uint64]int{}, 0
	for a, v := range e.visits {
		blocks[a>>7] += v
		total += v
	}
	sum, hot := 0.0, 0
	for r := range 8192 {
		sum += math.Pow(float64(r+1), -0.9)
	}
	for _, v := range blocks {
		hot = max(hot, v)
	}
	if got, want := float64(hot)/float64(total), 1/sum; math.Abs(got-want) > want/2 { // 1024 draws, 7 % hot
		t.Errorf("the hottest block has %.4f of the accesses, want %.4f", got, want)
	}
}

// SIMD efficiency is 1 - share*(1 - lanes/32) with one path; with two, all lanes
// execute and the diverged iterations take twice the instructions.
func TestDivergence(t *testing.T) {
	rest := "  divergence: {share: 0.4, lanes: 8, paths: %d}\n  mix: {int: 20}\n  accesses: [{on: a, pattern: " +
		"stream}]\n"
	one := run(t, testGrid(t, 40, 50, 1, fmt.Sprintf(rest, 1)))
	if eff := float64(one.lanes) / float64(32*one.warps); math.Abs(eff-0.7) > 0.015 {
		t.Errorf("efficiency %.3f, want 0.7", eff)
	}
	two := run(t, testGrid(t, 40, 50, 1, fmt.Sprintf(rest, 2)))
	if grow := float64(two.warps) / float64(one.warps); math.Abs(grow-1.4) > 0.02 {
		t.Errorf("two paths take %.3f times the instructions, want 1.4", grow)
	}
	if want := 22*40*4*50*32 + 40*4*32; two.lanes != want { // every lane executes every iteration once
		t.Errorf("%d thread instructions, want %d", two.lanes, want)
	}
}

// Addresses and masks depend on seed, CTA, warp and iteration alone: any order of
// stepping gives the same, another seed or launch does not.
func TestOrderDoesNotMatter(t *testing.T) {
	rest := "  divergence: {share: 0.3, lanes: 5}\n  accesses: [{on: a, pattern: random}, {on: a, op: store, " +
		"pattern: zipf}]\n"
	trace := func(g *Grid, backwards bool) string {
		var text [4][]string
		c := g.Start(2, isa.Place{SM: 3})
		if backwards {
			g.Start(0, isa.Place{}).Release()
		}
		var s isa.Step
		for live := true; live; {
			live = false
			for i := range 4 {
				w := i
				if backwards {
					w = 3 - i
				}
				if c.PC(w) < 0 {
					continue
				}
				live = true
				if err := c.Step(w, uint64(i), &s); err != nil {
					t.Fatal(err)
				}
				line := fmt.Sprint(s.Mask, s.Next)
				if s.Space == isa.Global {
					for m := s.Mask; m != 0; m &= m - 1 {
						line += fmt.Sprint(" ", s.Addr[bits.TrailingZeros32(m)])
					}
				}
				text[w] = append(text[w], line)
			}
		}
		if err := c.Step(0, 0, &s); err == nil {
			t.Error("a warp goes on after its exit")
		}
		var all strings.Builder
		for w := range text {
			all.WriteString(strings.Join(text[w], "\n"))
		}
		return all.String()
	}
	a := trace(testGrid(t, 4, 20, 1, rest), false)
	if b := trace(testGrid(t, 4, 20, 1, rest), true); a != b {
		t.Error("the order of stepping changes the stream")
	}
	if b := trace(testGrid(t, 4, 20, 2, rest), false); a == b {
		t.Error("the seed changes nothing")
	}
	g := testGrid(t, 4, 20, 1, rest)
	g.launch++
	if b := trace(g, false); a == b {
		t.Error("the launch changes nothing")
	}
}

// The registers say what was declared: distances of dependences and uses.
func TestDependences(t *testing.T) {
	g := testGrid(t, 1, 1, 1, "  dependence: 3\n  load_use: 6\n  mix: {int: 1, fp: 20}\n  accesses: [{on: a, "+
		"pattern: stream}, {on: a, pattern: chase}]\n")
	c := g.Code()
	writer, used := map[uint16]int{}, map[uint16]int{}
	fp, number := 0, map[uint16]int{}
	for pc, in := range c.Instr {
		regs := c.Regs[in.Reg : in.Reg+uint32(in.NReg)]
		for i, r := range regs[in.NDst:] {
			if in.Unit == isa.SP && i == 0 && fp >= 3 && fp-number[r] != 3 {
				t.Errorf("PC %d reads what PC %d wrote, want 3 floating-point instructions back", pc, writer[r])
			}
			if in.Unit == isa.SP && i > 0 {
				used[r] = pc
			}
			if int(r) >= c.NumRegs {
				t.Fatalf("register %d of %d", r, c.NumRegs)
			}
		}
		for _, r := range regs[:in.NDst] {
			writer[r], number[r] = pc, fp
		}
		if in.Unit == isa.SP {
			fp++
		}
		if strings.Contains(c.Text[pc], "chase") && regs[0] != regs[1] {
			t.Error("a chase does not wait for its pointer")
		}
	}
	if len(used) != 2 {
		t.Fatalf("%d of 2 loads are used", len(used))
	}
	for r, pc := range used {
		if pc-writer[r] != 6 {
			t.Errorf("load at PC %d is used at PC %d, want 6 later", writer[r], pc)
		}
	}
}

// stepper steps warps of one CTA for ever.
func stepper(t testing.TB, rest string) func() {
	g := testGrid(t, 1024, 1<<20, 1, rest)
	c, i := g.Start(5, isa.Place{}), 0
	var s isa.Step
	return func() {
		if err := c.Step(i&3, 0, &s); err != nil {
			t.Fatal(err)
		}
		i++
	}
}

var mixes = map[string]string{
	"alu":    "  mix: {int: 100, fp: 100}\n",
	"stream": "  accesses: [{on: a, pattern: stream, count: 200}]\n",
	"random": "  accesses: [{on: a, pattern: random, count: 200}]\n",
	"zipf":   "  accesses: [{on: a, pattern: zipf, count: 200}]\n",
	"chase":  "  divergence: {share: 0.5, lanes: 3}\n  accesses: [{on: a, pattern: chase, count: 200}]\n",
}

func TestStepAllocatesNothing(t *testing.T) {
	for name, rest := range mixes {
		if n := testing.AllocsPerRun(1000, stepper(t, rest)); n != 0 {
			t.Errorf("%s: %g allocations per step", name, n)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	for _, name := range []string{"alu", "stream", "random", "zipf", "chase"} {
		b.Run(name, func(b *testing.B) {
			step := stepper(b, mixes[name])
			b.ReportAllocs()
			for range b.N {
				step()
			}
		})
	}
}

// stepSome steps the last warp of the last CTA and checks that it stays inside its
// memory; every allocation of m is at 0.
func stepSome(t *testing.T, g *Grid, m *Model) {
	geo := g.Geometry()
	c, w := g.Start(geo.CTAs-1, isa.Place{}), geo.Warps-1
	var s isa.Step
	for range 2 * len(g.code.Instr) {
		pc := c.PC(w)
		if pc < 0 {
			return
		}
		if err := c.Step(w, 0, &s); err != nil {
			t.Fatal(err)
		}
		if g.ops[pc].what != global {
			continue
		}
		a := &g.k.Accesses[g.ops[pc].access]
		limit := uint64(m.Allocations[m.allocation(a.On)].Bytes)
		for i, x := range s.Addr {
			if s.Mask>>i&1 != 0 && x+uint64(a.Width) > limit {
				t.Fatalf("%s: address %d of %d", a.Pattern, x, limit)
			}
		}
	}
}

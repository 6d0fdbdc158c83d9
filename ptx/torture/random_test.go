package torture

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// A random program is a flow graph without any structure: blocks of a few operations
// on six registers that end in a branch to anywhere, a branch table, a call or an
// exit. Every block burns fuel, so it ends. The reference runs one thread at a time,
// so whatever the emulator does about divergence must not show. Blocks also count
// their visits in memory.

const (
	rndRegs    = 6
	rndFuel    = 60 // blocks a thread may visit in the kernel
	rndFnFuel  = 9  // and in one call
	rndThreads = 150
)

// operation codes of a random program; the text of each is in emit, the meaning in eval.
const (
	opAdd = iota
	opSub
	opMul
	opXor
	opMin
	opRotate
	opSelect
	opGuarded
	opMemory // adds to a word of the thread in memory and reads it back
	opCall
	opKinds
)

type rndOp struct {
	kind, d, a, b int
	imm           uint32
}

type rndBlock struct {
	ops  []rndOp
	term int // how it ends
	reg  int
	bit  uint32
	to   [4]int
}

// The ways a block ends.
const (
	endJump  = iota
	endIf    // on a bit of a register
	endIfMem // on a bit of the thread's word in memory
	endTable // brx.idx on two bits
	endLeave // exits (returns from a function) on a bit, else falls through
	endKinds
)

type rndFunc struct {
	blocks []rndBlock
	fuel   uint32
	calls  int // functions it may call: those below
}

type rndProgram struct {
	funcs []rndFunc // the last one is the kernel
}

func newProgram(rng *rand.Rand) *rndProgram {
	p := &rndProgram{}
	n := rng.IntN(3)
	for f := range n + 1 {
		fn := rndFunc{fuel: rndFnFuel, calls: f}
		blocks := 2 + rng.IntN(4)
		if f == n {
			fn.fuel, blocks = rndFuel, 3+rng.IntN(12)
		}
		for range blocks {
			b := rndBlock{term: rng.IntN(endKinds), reg: rng.IntN(rndRegs), bit: rng.Uint32() & 31}
			for i := range b.to {
				b.to[i] = rng.IntN(blocks)
			}
			for range rng.IntN(4) {
				o := rndOp{rng.IntN(opKinds), rng.IntN(rndRegs), rng.IntN(rndRegs), rng.IntN(rndRegs), rng.Uint32()}
				if o.kind == opCall && f == 0 {
					o.kind = opXor
				}
				if o.kind == opCall {
					o.imm %= uint32(f)
				}
				b.ops = append(b.ops, o)
			}
			fn.blocks = append(fn.blocks, b)
		}
		p.funcs = append(p.funcs, fn)
	}
	return p
}

// ---- as PTX

func (p *rndProgram) ptx() string {
	var w strings.Builder
	w.WriteString(".version 6.5\n.target sm_70\n.address_size 64\n.global .align 4 .u32 visits[64];\n.global .align " +
		"4 .u32 words[" + fmt.Sprint(rndThreads) + "];\n")
	for f := range p.funcs {
		p.emit(&w, f)
	}
	return w.String()
}

func (p *rndProgram) emit(w *strings.Builder, f int) {
	fn, kernel := p.funcs[f], f == len(p.funcs)-1
	regs := "{\n.reg .pred %p<4>;\n.reg .b32 %v<6>, %t<4>, %id, %fuel;\n.reg .b64 %rd<4>, %word;\n"
	if kernel {
		fmt.Fprintf(w, ".visible .entry rnd(.param .u64 out)\n%s", regs)
		w.WriteString("mov.u32 %t0, %ctaid.x; mov.u32 %t1, %ntid.x; mov.u32 %t2, %tid.x;\nmad.lo.u32 %id, %t0, %t1, " +
			"%t2;\n")
		fmt.Fprintf(w, "setp.ge.u32 %%p0, %%id, %d;\n@%%p0 ret;\n", rndThreads)
		for r := range rndRegs {
			fmt.Fprintf(w, "mad.lo.u32 %%v%d, %%id, %d, %d;\n", r, 0x9E3779B9*uint64(r)&0xffffffff|1, r)
		}
	} else {
		fmt.Fprintf(w, ".func (.param .b32 rv) fn%d(.param .b32 id, .param .b32 x, .param .b32 y)\n%s", f, regs)
		w.WriteString("ld.param.u32 %id, [id];\nld.param.u32 %v0, [x];\nld.param.u32 %v1, [y];\nmov.u32 %v2, 1; " +
			"mov.u32 %v3, %v0; mov.u32 %v4, %id; mov.u32 %v5, 77;\n")
	}
	fmt.Fprintf(w, "mov.u32 %%fuel, %d;\nmul.wide.u32 %%word, %%id, 4;\nmov.u64 %%rd0, words;\nadd.u64 %%word, "+
		"%%word, %%rd0;\n", fn.fuel)
	for i, b := range fn.blocks {
		fmt.Fprintf(w, "L%d:\nsub.u32 %%fuel, %%fuel, 1;\nsetp.eq.u32 %%p0, %%fuel, 0;\n@%%p0 bra "+
			"END;\nred.global.add.u32 [visits+%d], 1;\n", i, 4*visitSlot(f, i))
		for _, o := range b.ops {
			o.emit(w)
		}
		b.emit(w, i)
	}
	w.WriteString("END:\n")
	if kernel {
		w.WriteString("ld.param.u64 %rd1, [out];\nmul.wide.u32 %rd2, %id, 24;\nadd.u64 %rd1, %rd1, %rd2;\n")
		for r := range rndRegs {
			fmt.Fprintf(w, "st.global.u32 [%%rd1+%d], %%v%d;\n", 4*r, r)
		}
		w.WriteString("exit;\n}\n")
		return
	}
	w.WriteString("xor.b32 %t0, %v0, %v2;\nst.param.b32 [rv], %t0;\nret;\n}\n")
}

func visitSlot(f, block int) int { return f*20 + block }

func (o rndOp) emit(w *strings.Builder) {
	switch o.kind {
	case opAdd, opSub, opMul, opXor, opMin:
		name := [...]string{
			opAdd: "add.u32", opSub: "sub.u32", opMul: "mul.lo.u32", opXor: "xor.b32",
			opMin: "min.u32",
		}[o.kind]
		fmt.Fprintf(w, "%s %%v%d, %%v%d, %%v%d;\n", name, o.d, o.a, o.b)
	case opRotate:
		fmt.Fprintf(w, "shf.l.wrap.b32 %%v%d, %%v%d, %%v%d, %d;\n", o.d, o.a, o.a, o.imm&31)
	case opSelect:
		fmt.Fprintf(w, "setp.lt.u32 %%p1, %%v%d, %d;\nselp.b32 %%v%d, %%v%d, %d, %%p1;\n", o.a, o.imm, o.d, o.b,
			o.imm>>3)
	case opGuarded:
		fmt.Fprintf(w, "setp.lt.s32 %%p1, %%v%d, %%v%d;\n@%%p1 add.u32 %%v%d, %%v%d, %d;\n@!%%p1 not.b32 %%v%d, "+
			"%%v%d;\n", o.a, o.b, o.d, o.a, o.imm, o.d, o.d)
	case opMemory:
		fmt.Fprintf(w, "ld.volatile.global.u32 %%t1, [%%word];\nadd.u32 %%t1, %%t1, %%v%d;\nst.volatile.global.u32 "+
			"[%%word], %%t1;\nmov.u32 %%v%d, %%t1;\n", o.a, o.d)
	case opCall:
		fmt.Fprintf(w, "{\n.param .b32 p0;\nst.param.b32 [p0], %%id;\n.param .b32 p1;\nst.param.b32 [p1], "+
			"%%v%d;\n.param .b32 p2;\nst.param.b32 [p2], %%v%d;\n.param .b32 r0;\n", o.a, o.b)
		fmt.Fprintf(w, "call (r0), fn%d, (p0, p1, p2);\nld.param.b32 %%v%d, [r0];\n}\n", o.imm, o.d)
	}
}

func (b rndBlock) emit(w *strings.Builder, i int) {
	bit := func(from string) {
		fmt.Fprintf(w, "shr.u32 %%t2, %s, %d;\nand.b32 %%t2, %%t2, 1;\nsetp.ne.u32 %%p2, %%t2, 0;\n", from, b.bit)
	}
	reg := fmt.Sprintf("%%v%d", b.reg)
	switch b.term {
	case endJump:
		fmt.Fprintf(w, "bra L%d;\n", b.to[0])
	case endIf:
		bit(reg)
		fmt.Fprintf(w, "@%%p2 bra L%d;\nbra.uni L%d;\n", b.to[0], b.to[1])
	case endIfMem:
		w.WriteString("ld.volatile.global.u32 %t3, [%word];\n")
		bit("%t3")
		fmt.Fprintf(w, "@!%%p2 bra L%d;\nbra L%d;\n", b.to[1], b.to[0])
	case endTable:
		fmt.Fprintf(w, "shr.u32 %%t2, %s, %d;\nand.b32 %%t2, %%t2, 3;\nT%d: .branchtargets L%d, L%d, L%d, "+
			"L%d;\nbrx.idx %%t2, T%d;\n",
			reg, b.bit, i, b.to[0], b.to[1], b.to[2], b.to[3], i)
	case endLeave: // falls through into the next block, or into END
		bit(reg)
		w.WriteString("@%p2 bra END;\n")
	}
}

// ---- as Go

// rndRun is the state of the reference.
type rndRun struct {
	p      *rndProgram
	visits []uint32
	words  []uint32
}

// call runs function f for thread id and returns its registers at the end.
func (r *rndRun) call(f int, id uint32, v [rndRegs]uint32) [rndRegs]uint32 {
	fn := r.p.funcs[f]
	fuel := fn.fuel
	for i := 0; i < len(fn.blocks); {
		b := fn.blocks[i]
		if fuel--; fuel == 0 {
			return v
		}
		r.visits[visitSlot(f, i)]++
		for _, o := range b.ops {
			r.eval(o, id, &v)
		}
		bit := v[b.reg] >> b.bit & 1
		switch b.term {
		case endJump:
			i = b.to[0]
		case endIf:
			i = b.to[1-bit]
		case endIfMem:
			i = b.to[1-r.words[id]>>b.bit&1]
		case endTable:
			i = b.to[v[b.reg]>>b.bit&3]
		case endLeave:
			if bit != 0 {
				return v
			}
			i++
		}
	}
	return v
}

func (r *rndRun) eval(o rndOp, id uint32, v *[rndRegs]uint32) {
	a, b := v[o.a], v[o.b]
	switch o.kind {
	case opAdd:
		v[o.d] = a + b
	case opSub:
		v[o.d] = a - b
	case opMul:
		v[o.d] = a * b
	case opXor:
		v[o.d] = a ^ b
	case opMin:
		v[o.d] = min(a, b)
	case opRotate:
		v[o.d] = bits.RotateLeft32(a, int(o.imm&31))
	case opSelect:
		v[o.d] = o.imm >> 3
		if a < o.imm {
			v[o.d] = b
		}
	case opGuarded:
		if int32(a) < int32(b) {
			v[o.d] = a + o.imm
		} else {
			v[o.d] = ^v[o.d]
		}
	case opMemory:
		r.words[id] += a
		v[o.d] = r.words[id]
	case opCall:
		end := r.call(int(o.imm), id, [rndRegs]uint32{a, b, 1, a, id, 77})
		v[o.d] = end[0] ^ end[2]
	}
}

// checkRandom builds the program of a seed, runs it both ways and compares.
func checkRandom(t *testing.T, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	p := newProgram(rng)
	ref := &rndRun{p: p, visits: make([]uint32, 64), words: make([]uint32, rndThreads)}
	var want []uint32
	for id := range uint32(rndThreads) {
		var v [rndRegs]uint32
		for r := range v {
			v[r] = id*(uint32(0x9E3779B9*uint64(r))|1) + uint32(r)
		}
		v = ref.call(len(p.funcs)-1, id, v)
		want = append(want, v[:]...)
	}
	text := p.ptx()
	m, err := emulate.Load("random.ptx", []byte(text))
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, text)
	}
	for name, exec := range map[string]executor{
		"functional": functional,
		"shuffled":   func(g isa.Grid, space *mem.Space) error { return runShuffled(g, space, rng, 2) },
	} {
		space := mem.NewSpace(0)
		inst, err := m.Bind(space)
		if err != nil {
			t.Fatal(err)
		}
		o, places := ptr(out(want)), map[*buffer]*mem.Region{}
		g, err := prepare(m, inst, space, launch{"rnd", d1(2), d1(80), 0, []any{o}}, places, false)
		if err == nil {
			err = exec(g, space)
		}
		if err != nil {
			t.Fatalf("seed %d, %s: %v\n%s", seed, name, err, text)
		}
		compare(t, fmt.Sprintf("seed %d, %s: registers", seed, name), want, places[o].Data)
		for symbol, w := range map[string][]uint32{"visits": ref.visits, "words": ref.words} {
			r, err := inst.Symbol(symbol)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, fmt.Sprintf("seed %d, %s: %s", seed, name, symbol), w, r.Data)
		}
	}
	if t.Failed() {
		t.Fatalf("the program of seed %d:\n%s", seed, text)
	}
}

func TestRandomPrograms(t *testing.T) {
	n := uint64(150)
	if testing.Short() {
		n = 30
	}
	for seed := range n {
		checkRandom(t, seed)
	}
}

// FuzzRandomPrograms explores further seeds.
func FuzzRandomPrograms(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(1000 + seed)
	}
	f.Fuzz(checkRandom)
}

package workload

import (
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/isa"
)

// what a step does beyond going to the next PC.
type what uint8

const (
	plain    what = iota // the lanes of the current path
	global               // an access: addresses by pattern
	scratch              // shared memory
	converge             // all lanes of the warp: barrier, fence
	loop                 // the branch at the end of the body
	leave                // exit
)

// op is the dynamic side of an instruction.
type op struct {
	what   what
	access int16  // index of the access (global)
	sub    uint16 // which of the access's Count
}

// slot is an instruction before it has registers.
type slot struct {
	in   isa.Instr
	op   op
	text string
	line int32 // of the model file
}

// kinds of the mix, in the order of Mix.counts.
var kinds = []slot{
	{in: isa.Instr{Unit: isa.INT, Timing: isa.IntAdd}, text: "add"},
	{in: isa.Instr{Unit: isa.INT, Timing: isa.IntMad}, text: "mad"},
	{in: isa.Instr{Unit: isa.INT, Timing: isa.TimeOther}, text: "mov"},
	{in: isa.Instr{Unit: isa.SP, Timing: isa.FpMad}, text: "fma.f32"},
	{in: isa.Instr{Unit: isa.DP, Timing: isa.DpMad}, text: "fma.f64"},
	{in: isa.Instr{Unit: isa.SFU, Timing: isa.Special}, text: "sfu"},
	{in: isa.Instr{Unit: isa.TENSOR, Timing: isa.Matrix}, text: "mma"},
	{
		in: isa.Instr{Kind: isa.Load, Unit: isa.LDST, Space: isa.Shared, Width: 4}, op: op{what: scratch},
		text: "ld.shared",
	},
	{
		in: isa.Instr{Kind: isa.Store, Unit: isa.LDST, Space: isa.Shared, Width: 4}, op: op{what: scratch},
		text: "st.shared",
	},
	{in: isa.Instr{Kind: isa.Barrier, Unit: isa.INT}, op: op{what: converge}, text: "bar.sync"},
	{in: isa.Instr{Kind: isa.Fence, Unit: isa.LDST, Scope: isa.GPUScope}, op: op{what: converge}, text: "membar"},
}

// opKinds and caches turn the words of an access into fields of an instruction.
var (
	opKinds = map[string]isa.Kind{"load": isa.Load, "store": isa.Store, "atomic": isa.Atomic, "reduce": isa.Reduce}
	caches  = map[string]isa.Cache{
		"ca": isa.CacheAll, "cg": isa.CacheGlobal, "cs": isa.CacheStream,
		"cv": isa.CacheVolatile, "nc": isa.CacheReadOnly,
	}
)

// body lists the instructions of one iteration in order, without the branch.
func (k *Kernel) body() []slot {
	var mixed, head, tail [][]slot // each list holds equal slots, to be spread evenly
	for i, e := range k.Mix.counts() {
		s := kinds[i]
		s.line = k.Mix.lines[i]
		mixed = append(mixed, repeat(s, *e.n))
	}
	for i := range k.Accesses {
		a := &k.Accesses[i]
		var list []slot
		for j := range a.Count {
			list = append(list, slot{
				in: isa.Instr{
					Kind: opKinds[a.Op], Unit: isa.LDST, Space: isa.Global, Cache: caches[a.Cache],
					Width: uint8(a.Width),
				},
				op:   op{what: global, access: int16(i), sub: uint16(j)},
				text: fmt.Sprintf("%s %s (%s)", a.Op, a.On, a.Pattern),
				line: a.line,
			})
		}
		switch {
		case k.Order == "spread" || a.Op == "atomic" || a.Op == "reduce":
			mixed = append(mixed, list)
		case a.Op == "load":
			head = append(head, list)
		default:
			tail = append(tail, list)
		}
	}
	return append(append(spread(head), spread(mixed)...), spread(tail)...)
}

func repeat(s slot, n int) (out []slot) {
	for range n {
		out = append(out, s)
	}
	return out
}

// spread interleaves lists so that each is evenly distributed: the next slot is of
// the list that is furthest behind its share; of equals, the first.
func spread(lists [][]slot) (out []slot) {
	total := 0
	for _, l := range lists {
		total += len(l)
	}
	placed := make([]int, len(lists))
	for i := range total {
		best, behind := -1, 0
		for j, l := range lists {
			if b := len(l)*(i+1) - placed[j]*total; placed[j] < len(l) && (best < 0 || b > behind) {
				best, behind = j, b
			}
		}
		out = append(out, lists[best][placed[best]])
		placed[best]++
	}
	return out
}

// code builds the kernel's instructions: the body, the loop branch, exit.
func (k *Kernel) code(m *Model) (*isa.Code, []op) {
	b := k.body()
	n := len(b)
	b = append(b,
		slot{in: isa.Instr{Kind: isa.Branch, Unit: isa.INT}, op: op{what: loop}, text: "bra", line: k.line},
		slot{in: isa.Instr{Kind: isa.Exit, Unit: isa.INT}, op: op{what: leave}, text: "exit", line: k.line})
	c := &isa.Code{Kernel: k.Name, File: m.file}
	ops := make([]op, len(b))
	dst, src := k.registers(b[:n], c)
	dst, src = append(dst, -1, -1), append(src, []uint16{counter}, nil)
	for i := range b {
		in := b[i].in
		in.Reg = uint32(len(c.Regs))
		if dst[i] >= 0 {
			c.Regs = append(c.Regs, uint16(dst[i]))
			in.NDst = 1
		}
		c.Regs = append(c.Regs, src[i]...)
		in.NReg = uint8(len(c.Regs) - int(in.Reg))
		in.Reads = readsOf(src[i])
		in.Line = b[i].line
		c.Instr = append(c.Instr, in)
		c.Text = append(c.Text, b[i].text)
		c.Left = append(c.Left, uint8(min(len(b)-i, math.MaxUint8))) // in the last iteration
		ops[i] = b[i].op
	}
	return c, ops
}

// readsOf packs registers by their numbers.
func readsOf(regs []uint16) isa.Reads {
	list := make([]int, len(regs))
	for i, r := range regs {
		list[i] = int(r)
	}
	return isa.ReadsOf(list)
}

// counter is the register of the loop counter, which addresses are computed from.
const counter = 0

// registers assigns destinations (-1: none) and sources. Every result has a register
// of its own; an ALU instruction reads the one Dependence back, in the iteration
// before if need be. The result of a load is read by the first ALU instruction
// LoadUse later; the loads of a chase read their own, the pointer. The first integer
// instruction is the loop counter.
func (k *Kernel) registers(b []slot, c *isa.Code) (dst []int, src [][]uint16) {
	dst, src = make([]int, len(b)), make([][]uint16, len(b))
	results := -1 // ALU instructions but the counter
	for i := range b {
		if b[i].in.Kind == isa.ALU {
			results++
		}
	}
	next := results + 1 // first register of the loads
	counted, alu, newest := false, 0, counter
	for i := range b {
		s := &b[i]
		dst[i] = -1
		switch {
		case s.in.Kind == isa.ALU && s.text == "add" && !counted:
			counted, dst[i], src[i] = true, counter, []uint16{counter}
		case s.in.Kind == isa.ALU:
			dst[i] = 1 + alu
			src[i] = []uint16{uint16(1 + (alu+results-min(k.Dependence, results))%results)}
			newest = dst[i]
			alu++
		case s.in.Kind == isa.Load || s.in.Kind == isa.Atomic:
			dst[i] = next
			src[i] = []uint16{counter}
			if s.op.what == global && k.Accesses[s.op.access].pattern() == Chase {
				src[i] = []uint16{uint16(next)}
			}
			next++
		case s.in.Kind == isa.Store || s.in.Kind == isa.Reduce:
			src[i] = []uint16{counter, uint16(newest)}
		}
	}
	c.NumRegs = next
	k.consume(b, dst, src)
	return dst, src
}

// maxSources bounds the sources of one instruction: a warp instruction names few.
const maxSources = 8

// consume lets the result of every load be read: by the first ALU instruction (or,
// where the body has none but the counter, store) at least LoadUse later, in the
// next iteration if need be.
func (k *Kernel) consume(b []slot, dst []int, src [][]uint16) {
	reads := func(i int) bool { return b[i].in.Kind == isa.ALU && dst[i] != counter && len(src[i]) < maxSources }
	writes := func(i int) bool { return b[i].in.Kind == isa.Store && len(src[i]) < maxSources }
	for i := range b {
		if kind := b[i].in.Kind; kind != isa.Load && kind != isa.Atomic {
			continue
		}
		found := false
		for _, use := range []func(int) bool{reads, writes} {
			for d := range len(b) {
				if j := (i + k.LoadUse + d) % len(b); !found && use(j) {
					src[j], found = append(src[j], uint16(dst[i])), true
				}
			}
		}
	}
}

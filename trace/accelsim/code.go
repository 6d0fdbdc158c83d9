package accelsim

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/internal/kernelname"
	"github.com/heddle-sim/heddle/isa"
)

// maxCode bounds the distinct instructions of a kernel; the largest real kernels
// have some hundred thousand.
const maxCode = 1 << 20

// builder collects the distinct instructions of a kernel in order of appearance.
// An instruction is a PC with its opcode and registers: NVBit counts PCs from the
// start of a function, so those of a called function collide with the kernel's.
type builder struct {
	first  map[uint64]int32 // PC -> its first instruction
	static []static
	other  bool
	left   uint8 // as static.left, where a warp begins
}

// find is the number of the line's instruction, a new one where it is new.
func (b *builder) find(i *inst, line int) (id int32, msg string) {
	id, ok := b.first[i.pc]
	layer := int32(0)
	for ok && id >= 0 {
		d := &b.static[id]
		if d.op == string(i.op) && d.ndst == i.ndst && slices.Equal(d.regs, i.reg[:i.ndst+i.nsrc]) {
			return id, ""
		}
		layer++
		if d.next < 0 {
			break
		}
		id = d.next
	}
	if len(b.static) == maxCode {
		return 0, fmt.Sprintf("more than %d distinct instructions: this is not a trace of one kernel", maxCode)
	}
	n := int32(len(b.static))
	d := static{
		pc: i.pc, op: string(i.op), regs: slices.Clone(i.reg[:i.ndst+i.nsrc]), ndst: i.ndst, line: line,
		next: -1, layer: layer, left: math.MaxUint8,
	}
	if i.source > 0 {
		d.line = i.source
	}
	if !d.decode() && !b.other {
		return 0, fmt.Sprintf("opcode %s is not known, or traces lack its addresses: take such opcodes as "+
			"register-only instructions with the argument unknown=other, or add it to the table", d.op)
	}
	if ok {
		b.static[id].next = n
	} else {
		b.first[i.pc] = n
	}
	b.static = append(b.static, d)
	return n, ""
}

// code lays the instructions out in order of their PCs; place[id] is where
// instruction id ended up and exit the number of an EXIT for warps without records.
//
// The machine takes next = pc+1 for straight-line code, so where the recording
// skipped some code an entry that is never executed keeps the neighbours apart.
// Instructions of other functions with the same PCs follow in layers of their own.
func (b *builder) code(h *Header, file string) (c *isa.Code, place []int32, exit int32) {
	order := make([]int32, len(b.static))
	async := false
	for i := range order {
		order[i] = int32(i)
		async = async || b.static[i].async
	}
	slices.SortFunc(order, func(x, y int32) int {
		p, q := &b.static[x], &b.static[y]
		switch {
		case p.layer != q.layer:
			return int(p.layer - q.layer)
		case p.pc < q.pc:
			return -1
		}
		return 1 // PCs within a layer are distinct
	})
	c = &isa.Code{Kernel: kernelname.Plain(h.Name), File: file, NumRegs: 1}
	place = make([]int32, len(b.static))
	for k, id := range order {
		d := &b.static[id]
		if k > 0 {
			before := &b.static[order[k-1]]
			if before.layer != d.layer || d.pc-before.pc > instSize {
				c.Instr = append(c.Instr, isa.Instr{Reg: uint32(len(c.Regs))})
				c.Text, c.Left = append(c.Text, "(not executed)"), append(c.Left, 1)
			}
		}
		place[id] = int32(len(c.Instr))
		in := d.in
		if async && strings.HasPrefix(d.op, "DEPBAR") { // waits for copies, as cp.async.wait_all does
			in.Kind, in.Groups = isa.Await, isa.Groups{Open: true}
		}
		in.Reg, in.Line = uint32(len(c.Regs)), int32(min(d.line, 1<<31-1))
		for _, r := range d.dep {
			c.NumRegs = max(c.NumRegs, int(r)+1)
		}
		c.Regs = append(c.Regs, d.dep...)
		c.Instr = append(c.Instr, in)
		c.Text, c.Left = append(c.Text, d.text()), append(c.Left, d.left)
	}
	exit = int32(len(c.Instr))
	c.Instr = append(c.Instr, isa.Instr{Kind: isa.Exit, Reg: uint32(len(c.Regs))})
	c.Text, c.Left = append(c.Text, "EXIT (of a warp without records)"), append(c.Left, 1)
	c.Left[0] = min(c.Left[0], b.left) // the machine takes it for what a new warp executes
	return c, place, exit
}

// instSize is the largest distance of neighbouring instructions in bytes: 16 from
// sm_70 on; before, 8 and a control word in front of every third.
const instSize = 16

func (d *static) text() string {
	var s strings.Builder
	s.WriteString(d.op)
	for k, r := range d.regs {
		sep := ", "
		if k == 0 {
			sep = " "
		}
		s.WriteString(sep)
		switch {
		case r == noReg:
			s.WriteString("RZ")
		case r >= uniform:
			fmt.Fprintf(&s, "UR%d", r-uniform)
		default:
			fmt.Fprintf(&s, "R%d", r)
		}
	}
	return s.String()
}

package champsim

import (
	"encoding/binary"
	"fmt"

	"github.com/heddle-sim/heddle/isa/scalar"
)

// Bytes of a record.
const Bytes = 64

// Registers ChampSim gives a meaning to; the others are names. 0 is none.
const (
	stackPointer       = 6
	flags              = 25
	instructionPointer = 26
)

// Record is an instruction as the tracer writes it (input_instr of ChampSim's
// trace_instruction.h, little-endian): where it stands, 8 bytes; is it a branch and was it
// taken, a byte each; registers written, 2 bytes, and read, 4; addresses written, 2 of 8 bytes,
// and read, 4 of 8. A register or address 0 is none.
type Record struct {
	IP            uint64
	Branch, Taken bool
	Writes        [2]uint8
	Reads         [4]uint8
	Stores        [2]uint64
	Loads         [4]uint64
}

// Parse reads a record.
func (r *Record) Parse(b *[Bytes]byte) error {
	if b[8] > 1 || b[9] > 1 {
		return fmt.Errorf("is_branch is %d and branch_taken %d, where 0 or 1 must stand: this is no trace of %d-byte "+
			"records, or it is damaged", b[8], b[9], Bytes)
	}
	le := binary.LittleEndian
	r.IP, r.Branch, r.Taken = le.Uint64(b[:]), b[8] == 1, b[9] == 1
	copy(r.Writes[:], b[10:])
	copy(r.Reads[:], b[12:])
	for i := range r.Stores {
		r.Stores[i] = le.Uint64(b[16+8*i:])
	}
	for i := range r.Loads {
		r.Loads[i] = le.Uint64(b[32+8*i:])
	}
	return nil
}

// Append writes a record behind b.
func (r *Record) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, r.IP)
	for _, is := range [...]bool{r.Branch, r.Taken} {
		if is {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	b = append(append(b, r.Writes[:]...), r.Reads[:]...)
	for _, a := range r.Stores {
		b = le.AppendUint64(b, a)
	}
	for _, a := range r.Loads {
		b = le.AppendUint64(b, a)
	}
	return b
}

// most operations of a record: four loads, one on registers, two stores.
const most = 7

// operations makes those of a record, in place of its own, and returns how many there are. The
// loads of an instruction wait for the registers it reads; what it writes, to registers and
// memory, waits for the loads. None at all: nothing waits for it and it waits for nothing.
func (r *Record) operations(out []scalar.Inst) int {
	var in, result scalar.Inst
	r.registers(&in, &result)
	n, loads, stores := 0, 0, 0
	for _, a := range r.Loads {
		if a != 0 {
			loads++
		}
	}
	for _, a := range r.Stores {
		if a != 0 {
			stores++
		}
	}
	add := func(kind scalar.Kind, addr uint64, src [scalar.Operands]uint16, dst [scalar.Results]uint16) {
		out[n] = scalar.Inst{Kind: kind, Addr: addr, Site: r.IP, Src: src, Dst: dst, More: true}
		n++
	}
	if loads == 1 && stores == 0 {
		for _, a := range r.Loads {
			if a != 0 {
				add(scalar.Load, a, in.Src, result.Dst)
			}
		}
		out[0].More = false
		return 1
	}
	needs := in.Src
	if loads > 0 {
		needs = [scalar.Operands]uint16{}
	}
	for _, a := range r.Loads {
		if a != 0 {
			t := uint16(scalar.Temporary + n)
			needs[n] = t
			add(scalar.Load, a, in.Src, [scalar.Results]uint16{t})
		}
	}
	switch {
	case r.Branch:
		add(scalar.Branch, 0, needs, result.Dst)
		out[n-1].Conditional, out[n-1].Taken = r.conditional(), r.Taken
	case result.Dst[0] != 0 || n == 0 && stores == 0 && needs[0] != 0:
		add(scalar.Plain, 0, needs, result.Dst)
	}
	for _, a := range r.Stores {
		if a != 0 {
			add(scalar.Store, a, needs, [scalar.Results]uint16{})
		}
	}
	if n > 0 {
		out[n-1].More = false
	}
	return n
}

// registers are those that make one instruction wait for another. The instruction pointer does not: what
// follows a branch is predicted. The stack pointer is known without waiting behind calls, pushes and
// pops, and instructions that add a constant to it, as in cores with a stack engine and in ChampSim.
func (r *Record) registers(in, result *scalar.Inst) {
	n, other := 0, false
	for _, reg := range r.Reads {
		if reg == 0 || reg == instructionPointer {
			continue
		}
		in.Src[n] = uint16(reg)
		n++
		other = other || reg != stackPointer && reg != flags
	}
	memory := r.Loads != [4]uint64{} || r.Stores != [2]uint64{}
	n = 0
	for _, reg := range r.Writes {
		if reg == 0 || reg == instructionPointer || reg == stackPointer && (r.Branch || memory || !other) {
			continue
		}
		result.Dst[n] = uint16(reg)
		n++
	}
}

// conditional says that a branch may go on behind it: it reads where it stands, and flags or
// other registers but the stack pointer, and does not touch the stack.
func (r *Record) conditional() bool {
	ip, sp, other := false, false, false
	for _, reg := range r.Reads {
		ip = ip || reg == instructionPointer
		sp = sp || reg == stackPointer
		other = other || reg != 0 && reg != instructionPointer && reg != stackPointer
	}
	for _, reg := range r.Writes {
		sp = sp || reg == stackPointer
	}
	return ip && other && !sp
}

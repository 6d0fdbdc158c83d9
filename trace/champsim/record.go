package champsim

import (
	"encoding/binary"
	"fmt"

	"github.com/heddle-sim/heddle/isa/scalar"
)

// Bytes of a record in ChampSim's own layout, and in that of CloudSuite's traces.
const (
	Bytes           = 64
	CloudSuiteBytes = 96
)

// Registers ChampSim gives a meaning to; the others are names. 0 is none. CloudSuite's are names alone: its programs
// are SPARC's, where these numbers are registers as any other.
const (
	stackPointer       = 6
	flags              = 25
	instructionPointer = 26
)

// Record is an instruction as a tracer writes it, little-endian; a register or address 0 is none.
//
//	ChampSim (input_instr)   CloudSuite (cloudsuite_instr)
//	 0  IP                    0  IP
//	 8  is it a branch        8  is it a branch
//	 9  was it taken          9  was it taken
//	10  2 registers written  10  4 registers written
//	12  4 registers read     14  4 registers read
//	16  2 addresses written  24  4 addresses written
//	32  4 addresses read     56  4 addresses read
//	64                       88  address space, 2 bytes
//	                         96
type Record struct {
	IP            uint64
	Branch, Taken bool
	Writes        [2]uint8
	Reads         [4]uint8
	Stores        [2]uint64
	Loads         [4]uint64

	// CloudSuite is the rest of a CloudSuite record; nil: a record in ChampSim's layout.
	CloudSuite *CloudSuite
}

// CloudSuite is the part of a CloudSuite record that ChampSim's layout lacks.
type CloudSuite struct {
	Writes [2]uint8  // the third and the fourth register
	Stores [2]uint64 // the third and the fourth address
	ASID   [2]uint8  // has no effect: a core runs one program, in memory of its own
}

// bytes is the size of the record in its layout.
func (r *Record) bytes() int {
	if r.CloudSuite != nil {
		return CloudSuiteBytes
	}
	return Bytes
}

// Parse reads a record of Bytes, or where CloudSuite is set of CloudSuiteBytes.
func (r *Record) Parse(b []byte) error {
	if b[8] > 1 || b[9] > 1 {
		return fmt.Errorf("is_branch is %d and branch_taken %d; both must be 0 or 1: this is not a trace of %d-byte "+
			"records, or it is damaged", b[8], b[9], r.bytes())
	}
	r.IP, r.Branch, r.Taken = binary.LittleEndian.Uint64(b), b[8] == 1, b[9] == 1
	if c := r.CloudSuite; c != nil {
		copy(r.Writes[:], b[10:])
		copy(c.Writes[:], b[12:])
		copy(r.Reads[:], b[14:])
		addresses(b[24:], r.Stores[:], c.Stores[:], r.Loads[:])
		copy(c.ASID[:], b[88:])
		return nil
	}
	copy(r.Writes[:], b[10:])
	copy(r.Reads[:], b[12:])
	addresses(b[16:], r.Stores[:], r.Loads[:])
	return nil
}

// addresses reads lists of addresses that lie one behind the other.
func addresses(b []byte, lists ...[]uint64) {
	for _, list := range lists {
		for i := range list {
			list[i] = binary.LittleEndian.Uint64(b)
			b = b[8:]
		}
	}
}

// Append appends a record to b, in its layout.
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
	list := func(addresses []uint64) {
		for _, a := range addresses {
			b = le.AppendUint64(b, a)
		}
	}
	b = append(b, r.Writes[:]...)
	c := r.CloudSuite
	if c != nil {
		b = append(b, c.Writes[:]...)
	}
	b = append(b, r.Reads[:]...)
	if c != nil {
		b = append(b, make([]byte, 6)...) // addresses stand at multiples of 8
	}
	list(r.Stores[:])
	if c != nil {
		list(c.Stores[:])
	}
	list(r.Loads[:])
	if c != nil {
		b = append(append(b, c.ASID[:]...), make([]byte, 6)...)
	}
	return b
}

// most operations of a record: four loads, two on registers, four stores.
const most = 10

// operations makes those of a record, in place of its own, and returns how many there are. The
// loads of an instruction wait for the registers it reads; what it writes, to registers and
// memory, waits for the loads. None at all: nothing waits for it and it waits for nothing.
func (r *Record) operations(out []scalar.Inst) int {
	var in scalar.Inst
	var written [2][scalar.Results]uint16 // an operation writes two registers
	r.registers(&in, &written)
	stores := r.stores()
	n, loads := 0, 0
	for _, a := range r.Loads {
		if a != 0 {
			loads++
		}
	}
	add := func(kind scalar.Kind, addr uint64, src [scalar.Operands]uint16, dst [scalar.Results]uint16) {
		out[n] = scalar.Inst{Kind: kind, Addr: addr, Site: r.IP, Src: src, Dst: dst, More: true}
		n++
	}
	if loads == 1 && stores == [4]uint64{} && written[1][0] == 0 {
		for _, a := range r.Loads {
			if a != 0 {
				add(scalar.Load, a, in.Src, written[0])
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
		add(scalar.Branch, 0, needs, written[0])
		out[n-1].Conditional, out[n-1].Taken = r.conditional(), r.Taken
	case written[0][0] != 0 || n == 0 && stores == [4]uint64{} && needs[0] != 0:
		add(scalar.Plain, 0, needs, written[0])
	}
	if written[1][0] != 0 {
		add(scalar.Plain, 0, needs, written[1])
	}
	for _, a := range stores {
		if a != 0 {
			add(scalar.Store, a, needs, [scalar.Results]uint16{})
		}
	}
	if n > 0 {
		out[n-1].More = false
	}
	return n
}

// stores are the addresses written.
func (r *Record) stores() (all [4]uint64) {
	copy(all[:], r.Stores[:])
	if r.CloudSuite != nil {
		copy(all[2:], r.CloudSuite.Stores[:])
	}
	return all
}

// registers are those that make one instruction wait for another. The instruction pointer does not: the instruction
// after a branch is predicted. The stack pointer is known without waiting behind calls, pushes and pops, and
// instructions that add a constant to it, as in cores with a stack engine and in ChampSim.
func (r *Record) registers(in *scalar.Inst, written *[2][scalar.Results]uint16) {
	n, other, sparc := 0, false, r.CloudSuite != nil
	for _, reg := range r.Reads {
		if reg == 0 || reg == instructionPointer && !sparc {
			continue
		}
		in.Src[n] = uint16(reg)
		n++
		other = other || reg != stackPointer && reg != flags
	}
	n = 0
	write := func(reg uint8) {
		written[n/scalar.Results][n%scalar.Results] = uint16(reg)
		n++
	}
	if sparc {
		for _, list := range [...]*[2]uint8{&r.Writes, &r.CloudSuite.Writes} {
			for _, reg := range list {
				if reg != 0 {
					write(reg)
				}
			}
		}
		return
	}
	memory := r.Loads != [4]uint64{} || r.Stores != [2]uint64{}
	for _, reg := range r.Writes {
		if reg != 0 && reg != instructionPointer && (reg != stackPointer || !r.Branch && !memory && other) {
			write(reg)
		}
	}
}

// conditional says that a branch may go on behind it: it reads where it stands, and flags or other registers but the
// stack pointer, and does not touch the stack. CloudSuite's records do not tell: the direction of each of their
// branches must be predicted.
func (r *Record) conditional() bool {
	if r.CloudSuite != nil {
		return true
	}
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

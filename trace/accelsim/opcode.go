package accelsim

import (
	"strings"

	"github.com/heddle-sim/heddle/isa"
)

// opcode is what the first word of a SASS opcode says of an instruction.
type opcode struct {
	kind   isa.Kind
	unit   isa.Unit
	timing isa.Timing
	space  isa.Space // Generic: resolved by address
	wide   bool      // operates on pairs of registers (f64)
}

// opcodes holds the SASS opcodes of sm_60 to sm_90. Classes are those of
// GPGPU-Sim's trace-driven mode (INTP, ALU, SP, DP, SFU, tensor, branch, memory);
// within a class the latency row is that of the operation (add, max, mul, mad)
// because the machine sheets have one row for each. Differences, on purpose:
// branches and the uniform datapath, which GPGPU-Sim puts into specialised units
// that sheets do not have, run in the INT unit; constant loads are loads from the
// constant space; textures, surfaces and TMA are missing because a trace does not
// hold their addresses.
var opcodes = func() map[string]opcode {
	m := map[string]opcode{}
	add := func(o opcode, names string) {
		for _, n := range strings.Fields(names) {
			m[n] = o
		}
	}
	alu := func(u isa.Unit, t isa.Timing, names string) { add(opcode{unit: u, timing: t}, names) }
	alu(isa.SP, isa.FpAdd, "FADD FADD32I FSWZADD FSEL FSET FSETP FCMP FCHK RRO HADD2 HADD2_32I HSET2 HSETP2")
	alu(isa.SP, isa.FpMax, "FMNMX FMNMX3 HMNMX2")
	alu(isa.SP, isa.FpMul, "FMUL FMUL32I HMUL2 HMUL2_32I")
	alu(isa.SP, isa.FpMad, "FFMA FFMA32I HFMA2 HFMA2_32I")
	alu(isa.SFU, isa.Special, "MUFU")
	alu(isa.TENSOR, isa.Matrix, "HMMA IMMA BMMA DMMA")
	add(opcode{unit: isa.DP, timing: isa.DpAdd, wide: true}, "DADD DSET DSETP")
	add(opcode{unit: isa.DP, timing: isa.DpMax, wide: true}, "DMNMX")
	add(opcode{unit: isa.DP, timing: isa.DpMul, wide: true}, "DMUL")
	add(opcode{unit: isa.DP, timing: isa.DpMad, wide: true}, "DFMA")
	alu(isa.INT, isa.IntAdd, "IADD IADD3 IADD32I IABS ISCADD ISCADD32I ISETP ISET ICMP LEA LOP LOP3 LOP32I SHF SHL "+
		"SHR BMSK BREV FLO POPC BFE BFI VABSDIFF VABSDIFF4 VADD VIADD")
	alu(isa.INT, isa.IntMax, "IMNMX VMNMX VIMNMX VIMNMX3 VIADDMNMX")
	alu(isa.INT, isa.IntMul, "IMUL IMUL32I")
	alu(isa.INT, isa.IntMad, "IMAD IMAD32I IMADSP XMAD IDP IDP4A")
	alu(isa.INT, isa.IntAdd, "UIADD3 ULEA UCLEA ULOP ULOP3 ULOP32I USHF USHL USHR UISETP UBMSK UBREV UFLO UPOPC")
	alu(isa.INT, isa.IntMad, "UIMAD")
	alu(isa.INT, isa.TimeOther, "R2UR S2UR REDUX ULDC UMOV UF2FP UP2UR UPLOP3 UPRMT UPSETP UR2UP USEL USGXT VOTEU")
	alu(isa.INT, isa.TimeOther,
		"F2F F2FP F2I F2IP I2F I2FP I2I I2IP FRND MOV MOV32I MOVM PRMT SEL SGXT PLOP3 PSETP PSET P2R R2P CSET CSETP "+
			"MATCH QSPC")
	alu(isa.INT, isa.Shuffle, "SHFL")
	alu(isa.INT, isa.TimeOther,
		"B2R R2B S2R CS2R CSMTEST DEPBAR GETLMEMBASE SETLMEMBASE SETCTAID LEPC NOP PMTRIG VOTE VOTE_VTG "+
			"CCTL CCTLL CCTLT ERRBAR NANOSLEEP YIELD")
	add(opcode{kind: isa.Branch, unit: isa.INT},
		"BRA BRX BRXU BMOV BPT BREAK BSSY BSYNC CALL JMP JMX JMXU RET RPCMOV RTT WARPSYNC SSY SYNC CAL JCAL PRET BRK "+
			"PBK CONT PCNT PEXIT ELECT")
	add(opcode{kind: isa.Exit, unit: isa.INT}, "EXIT KILL")
	add(opcode{kind: isa.Commit, unit: isa.INT}, "LDGDEPBAR")
	add(opcode{kind: isa.Barrier, unit: isa.INT}, "BAR")
	add(opcode{kind: isa.Fence, unit: isa.LDST}, "MEMBAR FENCE")
	memory := func(k isa.Kind, s isa.Space, names string) { add(opcode{kind: k, unit: isa.LDST, space: s}, names) }
	memory(isa.Load, isa.Generic, "LD")
	memory(isa.Load, isa.Global, "LDG")
	memory(isa.Load, isa.Shared, "LDS LDSM")
	memory(isa.Load, isa.Local, "LDL")
	memory(isa.Load, isa.Const, "LDC")
	memory(isa.Store, isa.Generic, "ST")
	memory(isa.Store, isa.Global, "STG")
	memory(isa.Store, isa.Shared, "STS")
	memory(isa.Store, isa.Local, "STL")
	memory(isa.Atomic, isa.Generic, "ATOM")
	memory(isa.Atomic, isa.Global, "ATOMG")
	memory(isa.Atomic, isa.Shared, "ATOMS")
	memory(isa.Reduce, isa.Global, "RED REDG")
	memory(isa.AsyncCopy, isa.Generic, "LDGSTS")
	return m
}()

// Known says whether the table has an opcode ("LDG.E.64").
func Known(op string) bool {
	name, _, _ := strings.Cut(op, ".")
	_, ok := opcodes[name]
	return ok
}

// static is an instruction of the code.
type static struct {
	pc      uint64
	op      string
	regs    []uint16 // as recorded: destinations, sources
	ndst    int
	line    int // of the trace, or of the source with LineInfo
	next    int32
	layer   int32 // how many instructions of the same PC came before
	in      isa.Instr
	dep     []uint16 // registers of the scoreboard: destinations, sources
	async   bool     // LDGSTS: its two lines differ in address
	matrix  int      // LDSM: matrices
	arrive  bool     // BAR.ARV
	touches bool     // has addresses that count
	left    uint8    // fewest instructions a warp has left here, this one included; 255: or more
}

// decode fills in what the opcode says; false: the opcode is not known.
func (d *static) decode() bool {
	name, suffix, _ := strings.Cut(d.op, ".")
	o, ok := opcodes[name]
	d.in = isa.Instr{Kind: o.kind, Unit: o.unit, Timing: o.timing, Space: o.space}
	if !ok { // a register-only instruction of class other, where the user allows it
		d.in = isa.Instr{Unit: isa.INT}
	}
	mods := strings.Split(suffix, ".")
	d.touches = o.space != isa.NoSpace && o.space != isa.Const
	if o.space != isa.NoSpace {
		d.in.Width = width(mods)
		d.in.Cache = cache(mods)
	}
	has := func(m string) bool { return contains(mods, m) }
	switch name {
	case "LDSM":
		d.in.Width, d.matrix = 16, 1
		if n := mods[len(mods)-1]; n == "2" || n == "4" {
			d.matrix = int(n[0] - '0')
		}
	case "LDGSTS":
		d.async = true
	case "BAR":
		d.arrive = has("ARV")
	case "MEMBAR", "FENCE":
		switch d.in.Scope = isa.GPUScope; {
		case has("CTA"):
			d.in.Scope = isa.CTAScope
		case has("SYS"):
			d.in.Scope = isa.SystemScope
		}
	}
	d.depend(o.wide, has("WIDE"), o.unit == isa.TENSOR)
	return ok
}

// depend lists the registers an instruction waits for and makes ready. The trace
// names the first register of a vector only; the others follow from the opcode.
func (d *static) depend(pairs, wide, matrix bool) {
	dst, src := 1, 1
	switch {
	case pairs:
		dst, src = 2, 2
	case wide:
		dst = 2
	case matrix:
		dst = 2
		if strings.Contains(d.op, "F32") || strings.HasPrefix(d.op, "IMMA") {
			dst = 4
		}
	case d.matrix > 0:
		dst = d.matrix
	case d.in.Kind == isa.Load && d.in.Width > 4:
		dst = int(d.in.Width) / 4
	}
	put := func(r uint16, n int) {
		for k := range n {
			if r == noReg || k > 0 && int(r)+k >= 255 && r < uniform {
				return
			}
			d.dep = append(d.dep, r+uint16(k))
		}
	}
	for _, r := range d.regs[:d.ndst] {
		put(r, dst)
	}
	d.in.NDst = uint8(len(d.dep))
	for _, r := range d.regs[d.ndst:] {
		put(r, src)
	}
	d.in.NReg = uint8(len(d.dep))
	var numbers []int // of operands as recorded: a vector's is read at once
	for _, r := range d.regs[d.ndst:] {
		if r < uniform {
			numbers = append(numbers, int(r))
		}
	}
	d.in.Reads = isa.ReadsOf(numbers)
}

func contains(mods []string, m string) bool {
	for _, x := range mods {
		if x == m {
			return true
		}
	}
	return false
}

// width is the number of bytes a lane moves: .64, .U8, .S16, .F64; 4 without such a
// suffix.
func width(mods []string) uint8 {
	for _, m := range mods {
		if len(m) > 1 && (m[0] == 'U' || m[0] == 'S' || m[0] == 'F') {
			m = m[1:]
		}
		switch m {
		case "8":
			return 1
		case "16":
			return 2
		case "32":
			return 4
		case "64":
			return 8
		case "128":
			return 16
		}
	}
	return 4
}

// cache is the cache operator the modifiers say: strong accesses at GPU or system
// scope go past the L1.
func cache(mods []string) isa.Cache {
	has := func(m string) bool { return contains(mods, m) }
	switch {
	case has("STRONG") && (has("GPU") || has("SYS")), has("CG"), has("BYPASS"):
		return isa.CacheGlobal
	case has("CV"):
		return isa.CacheVolatile
	case has("CONSTANT"), has("CI"):
		return isa.CacheReadOnly
	case has("EF"), has("CS"), has("LU"):
		return isa.CacheStream
	}
	return isa.CacheAll
}

// Package readonly finds which memory a kernel only reads: the compiler support of NUBA (seed 001, section 5.2). Data
// that no instruction of a kernel writes may be replicated, and its ld.global become ld.global.nc (the paper's .ro).
//
// The verdict is per parameter and sound: a parameter is read-only when no store or atomic of the kernel, or of a
// function it calls, has an address that may derive from it. Where the address of a store comes from memory, from a
// number or from a function that is not in the module, it may be anything, and no parameter is read-only. What a load
// of unknown origin reads changes nothing. Only the launch knows whether the host binds two parameters to overlapping
// memory; it has to treat these as one. The same holds for a variable of the module whose address is passed as a
// parameter.
//
// A reader must know three types. Report is the verdict on one kernel. solver follows the origins of values through
// registers and memory until nothing changes. origins is a set of them: parameters, memory in .shared or .local, and
// the unknown.
package readonly

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// Report is what a kernel does with its parameters. Loads are the ld.global of the kernel and of
// the functions it calls, each counted once; LoadsReadOnly are those among them that read only
// memory which the kernel does not write: they have .nc, or Rewrite gives it to them.
type Report struct {
	Name          string  `json:"name"`
	Params        []Param `json:"params"`
	Loads         int     `json:"loads"`
	LoadsReadOnly int     `json:"loads_read_only"`

	readOnly map[*parse.Instr]bool  // by load: whether .nc is right
	through  map[*parse.Instr][]int // by load that could be given .nc: the parameters it reads through
	opaque   bool                   // something is called that is not seen
}

// Param is the verdict on one parameter; a structure is one parameter. Pointer: it is the base
// of an address, or is converted to one. Read and Written say what may happen through it.
type Param struct {
	Index    int    `json:"index"`
	Name     string `json:"name"`
	Pointer  bool   `json:"pointer"`
	Read     bool   `json:"read"`
	Written  bool   `json:"written"`
	ReadOnly bool   `json:"read_only"`
	Why      string `json:"why"` // file:line of the deciding instruction, and the reason
}

// Module analyses the kernels of m, in the order of the file.
func Module(m *parse.Module) []*Report {
	list := []*Report{}
	for _, f := range m.Funcs {
		if f.Entry && !f.Extern {
			list = append(list, Kernel(m, f))
		}
	}
	return list
}

// Kernel analyses one kernel of m.
func Kernel(m *parse.Module, f *parse.Func) *Report {
	s := newSolver(m, f)
	s.solve()
	v := newVerdict(s)
	return v.report()
}

// verdict collects what the accesses of a solved kernel do.
type verdict struct {
	*solver
	pointer, read, written []string // by parameter: why, or nothing
	unknown, opaque        string   // why everything may be written
}

func newVerdict(s *solver) *verdict {
	n := len(s.kernel.Params)
	v := &verdict{solver: s, pointer: make([]string, n), read: make([]string, n), written: make([]string, n)}
	for _, x := range s.insts { // pointers first: they decide what the rest of an address means
		s.accesses(x.in, func(a access) { v.base(x, s.bases(a)) })
		if x.in.Op == "cvta" && len(x.in.Args) == 2 {
			v.base(x, s.operand(&x.in.Args[1]).base)
		}
	}
	for _, x := range s.insts {
		if x.in.Op == "call" && s.opaque(x.in) {
			v.opaque = v.because(x, "calls a function that is not in the module: it may write anything")
		}
		s.accesses(x.in, func(a access) { v.account(x, a) })
	}
	return v
}

func (v *verdict) because(x inst, what string) string {
	return fmt.Sprintf("%s:%d %s (%s)", x.f.File, x.in.Line, what, x.in.Text)
}

func (v *verdict) base(x inst, bases []uint64) {
	for i := range v.pointer {
		if v.pointer[i] == "" && has(bases, i) {
			v.pointer[i] = v.because(x, "is an address")
		}
	}
}

func (v *verdict) account(x inst, a access) {
	touched := v.touched(a)
	if a.writes && has(touched, v.unknownBit()) && v.unknown == "" {
		v.unknown = v.because(x, "writes to an unknown address: it may be anywhere")
	}
	for i := range v.pointer {
		if !has(touched, i) {
			continue
		}
		if a.writes && v.written[i] == "" {
			v.written[i] = v.because(x, "writes")
		}
		if a.reads && v.read[i] == "" {
			v.read[i] = v.because(x, "reads, and nothing writes")
		}
	}
}

// touched are the origins an access may lie in: those its address is based on, and pointers
// that went into it some other way. Where a base is known, an unknown number beside it is an
// index.
func (v *verdict) touched(a access) []uint64 {
	t := append([]uint64(nil), v.bases(a)...)
	part := v.operand(a.address).part
	for i := range v.pointer {
		if v.pointer[i] != "" && has(part, i) {
			set(t, i)
		}
	}
	return t
}

func (v *verdict) report() *Report {
	r := &Report{
		Name: v.kernel.Called, Params: []Param{}, readOnly: map[*parse.Instr]bool{},
		through: map[*parse.Instr][]int{},
	}
	if r.opaque = v.opaque != ""; r.opaque && v.unknown == "" {
		v.unknown = v.opaque
	}
	for i, p := range v.kernel.Params {
		q := Param{Index: i, Name: p.Name, Pointer: v.pointer[i] != ""}
		q.Read = q.Pointer && v.read[i] != ""
		q.Written = q.Pointer && (v.written[i] != "" || v.unknown != "")
		q.ReadOnly = q.Pointer && !q.Written
		switch {
		case !q.Pointer:
			q.Why = fmt.Sprintf("%s:%d is never the base of an address", v.kernel.File, p.Line)
		case v.written[i] != "":
			q.Why = v.written[i]
		case q.Written:
			q.Why = v.unknown
		case q.Read:
			q.Why = v.read[i]
		default:
			q.Why = v.pointer[i]
		}
		r.Params = append(r.Params, q)
	}
	for _, x := range v.insts {
		if x.in.Op != "ld" || !x.in.Has("global") {
			continue
		}
		r.Loads++
		only := v.onlyReads(r, x.in)
		if p, known := v.reads(x.in); known && plain(x.in) && !cached(x.in) {
			r.through[x.in] = p
		}
		if r.readOnly[x.in] = only; cached(x.in) || only && plain(x.in) {
			r.LoadsReadOnly++
		}
	}
	return r
}

// Through are the parameters that a load of global memory reads through; ok is false where it
// reads anything else, is in the text as read-only already, or cannot be made so (Rewrite).
func (r *Report) Through(in *parse.Instr) (params []int, ok bool) {
	params, ok = r.through[in]
	return params, ok
}

// reads are the parameters that an access may lie in the memory of; known is false where it may
// lie elsewhere, too.
func (v *verdict) reads(in *parse.Instr) (params []int, known bool) {
	n := len(v.kernel.Params)
	known = true
	v.accesses(in, func(a access) {
		touched := v.touched(a)
		for bit := range v.bits() {
			if !has(touched, bit) {
				continue
			}
			if bit >= n {
				known = false
			} else if !slices.Contains(params, bit) {
				params = append(params, bit)
			}
		}
	})
	return params, known && len(params) > 0
}

// onlyReads reports whether a load reads nothing but parameters that are read-only.
func (v *verdict) onlyReads(r *Report, in *parse.Instr) bool {
	params, known := v.reads(in)
	return known && !slices.ContainsFunc(params, func(i int) bool { return !r.Params[i].ReadOnly })
}

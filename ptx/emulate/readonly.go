package emulate

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/readonly"
)

// What the compiler of NUBA does to a kernel (its section 5.2): loads of what the kernel only
// reads become ld.global.ro. The analysis knows what happens through each parameter; which
// parameters stand for the same memory only the launch knows.

// marking is what may be marked in a kernel, found out when the first launch asks.
type marking struct {
	once    sync.Once
	params  []readonly.Param
	pointer int    // bytes of an address
	loads   []load // that may become read-only

	mu    sync.Mutex
	codes []marked // made so far
}

// load is a load that reads through these parameters, and nothing else.
type load struct {
	pc      int32
	through []int
}

// marked is the code in which the loads through parameters of a set are marked.
type marked struct {
	only []bool // by parameter
	code *isa.Code
}

// find analyses the kernel.
func (m *marking) find(k *Kernel) {
	f := k.prog.source[0]
	r := readonly.Kernel(k.module.ast, f)
	m.params, m.pointer = r.Params, 8
	if k.module.ast.AddressSize == 32 {
		m.pointer = 4
	}
	for i, f := range k.prog.source {
		for j, in := range f.Instrs {
			pc := k.prog.funcs[i].start + int32(j)
			// A load that bypasses the L1 (.cg) stays one: the mark changes nothing but the mark.
			cache := k.Code.Instr[pc].Cache
			if through, ok := r.Through(in); ok && (cache == isa.CacheAll || cache == isa.CacheStream) {
				m.loads = append(m.loads, load{pc, through})
			}
		}
	}
}

// codeOf is the kernel's code for a launch. If that asks for it, loads that read nothing but
// memory which the kernel does not write say so, whatever pointers are bound to its parameters.
func (k *Kernel) codeOf(space *mem.Space, l *Launch) *isa.Code {
	if !l.ReadOnly {
		return k.Code
	}
	m := &k.marking
	m.once.Do(func() { m.find(k) })
	only := m.bound(k, space, l.Params)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.codes {
		if slices.Equal(c.only, only) {
			return c.code
		}
	}
	code := *k.Code
	code.Instr = slices.Clone(code.Instr)
	for _, l := range m.loads {
		if !slices.ContainsFunc(l.through, func(i int) bool { return !only[i] }) {
			code.Instr[l.pc].Cache = isa.CacheReadOnly
		}
	}
	m.codes = append(m.codes, marked{only, &code})
	return &code
}

// bound says which parameters are read-only in a launch. Two that point into one allocation
// count as one, and what points into a variable of the module is not read-only, as the kernel may
// write that by its name. A written pointer into no allocation may be meant for any of them.
func (m *marking) bound(k *Kernel, space *mem.Space, params []byte) []bool {
	only := make([]bool, len(m.params))
	var written []*mem.Region
	anything := false
	at := make([][]*mem.Region, len(m.params))
	for i, p := range m.params {
		if !p.Pointer {
			continue
		}
		var known bool
		at[i], known = m.regions(space, params[k.Params[i].Offset:][:k.Params[i].Size])
		if only[i] = p.ReadOnly && known; !p.ReadOnly {
			written = append(written, at[i]...)
			anything = anything || !known
		}
	}
	for i := range only {
		for _, r := range at[i] {
			only[i] = only[i] && r.Kind != mem.Symbol && !slices.Contains(written, r)
		}
		only[i] = only[i] && !anything
	}
	return only
}

// regions are the allocations that the addresses in a parameter point into; a structure may hold
// several. known is false if one points nowhere: below the first allocation there are numbers.
func (m *marking) regions(space *mem.Space, value []byte) (list []*mem.Region, known bool) {
	all := space.Regions()
	known = true
	for at := 0; at+m.pointer <= len(value); at += m.pointer {
		addr := uint64(binary.LittleEndian.Uint32(value[at:]))
		if m.pointer == 8 {
			addr = binary.LittleEndian.Uint64(value[at:])
		}
		if r := space.Find(addr); r != nil {
			list = append(list, r)
		} else if len(all) > 0 && addr >= all[0].Base {
			known = false
		}
	}
	return list, known
}

package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/isa/scalar"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// random is a program of all there is: dependences, several accesses to an instruction, hits
// and misses, stores and loads of the same words, branches.
func random(seed uint64) *endless {
	r := rand.New(rand.NewPCG(seed, 1))
	lines := uint64(1) << (4 + r.IntN(16))
	burst := r.Uint32N(400)
	more := false
	return &endless{make: func(_ uint64, in *scalar.Inst) {
		in.Kind = scalar.Kind(r.IntN(4))
		if !more && r.IntN(4) == 0 {
			in.Before = r.Uint32N(burst + 1)
		}
		in.Addr = r.Uint64N(lines)*64 + r.Uint64N(8)*8
		in.Site = 0x400000 + r.Uint64N(40)*5
		in.Taken, in.Conditional = r.IntN(2) == 0, r.IntN(8) == 0
		for k := range r.IntN(scalar.Operands + 1) {
			in.Src[k] = uint16(1 + r.IntN(12))
		}
		if in.Kind != scalar.Store {
			in.Dst[0] = uint16(1 + r.IntN(12))
		}
		more = r.IntN(10) == 0
		in.More = more
	}}
}

// roomy is more write-backs than there can be.
const roomy = 1000

// sheetOf is a core of a random size.
func sheetOf(seed uint64) *sheets.Machine {
	r := rand.New(rand.NewPCG(seed, 2))
	m := sheet()
	p := &m.CPU
	p.Width = 1 + r.IntN(8)
	p.Window = 8 + r.IntN(300)
	p.StoreBuffer = 1 + r.IntN(56)
	p.WriteBacks = 2 + r.IntN(16)
	if seed%2 == 0 {
		p.WriteBacks = roomy
	}
	p.LoadPorts = 1 + r.IntN(3)
	p.L1.Sets, p.L2.Sets = 1<<r.IntN(7), 1<<r.IntN(8)
	p.L1.MSHRs, p.L2.MSHRs = 1+r.IntN(16), 1+r.IntN(16)
	kind := [...]string{"none", "next-line", "stride"}[r.IntN(3)]
	p.Prefetch = sheets.CPUPrefetch{Kind: kind, Degree: 1 + r.IntN(4), Table: 64}
	if r.IntN(2) == 0 {
		p.Branch = sheets.CPUBranch{Mispredict: 1 + r.IntN(20), History: 10}
	}
	return m
}

// TestVisits: what a core does does not depend on how often it is asked to do it.
func TestVisits(t *testing.T) {
	for seed := range uint64(60) {
		var rows [3][]uint64
		var sent [3][]mem.Req
		var insts [3][]uint64
		for visits := range late + 1 {
			f := newFake(t, sheetOf(seed), 20+seed*7, random(seed), 1000+seed)
			f.keep = true
			for k := range uint64(40) {
				f.run((k+1)*500, visits)
				insts[visits] = append(insts[visits], f.row()[Insts])
			}
			if err := f.core.Err(); err != nil {
				t.Fatal(err)
			}
			rows[visits], sent[visits] = slices.Clone(f.row()), f.sent
			if f.row()[Insts] < 100 {
				t.Errorf("seed %d: %d instructions only: %v", seed, f.row()[Insts], f.row())
			}
		}
		for v := range late + 1 {
			if v == late && sheetOf(seed).CPU.WriteBacks != roomy {
				continue // a write-back that is taken away later makes room later
			}
			if !slices.Equal(rows[whenDue], rows[v]) || !slices.Equal(insts[whenDue], insts[v]) {
				t.Errorf("seed %d: counters differ:\n%v\n%v", seed, rows[whenDue], rows[v])
			}
			if !slices.Equal(sent[whenDue], sent[v]) {
				t.Errorf("seed %d: requests differ", seed)
			}
		}
	}
}

package accesses

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
)

// script is a grid of one warp, and its CTA, that goes through its code in the order given.
type script struct {
	code  isa.Code
	order []int32
	at    int
	done  []int32 // PCs executed
}

func (s *script) Code() *isa.Code { return &s.code }

func (s *script) Geometry() isa.Geometry {
	return isa.Geometry{GridDim: [3]uint32{1, 1, 1}, BlockDim: [3]uint32{32, 1, 1}, CTAs: 1, Threads: 32, Warps: 1}
}

func (s *script) Start(int, isa.Place) isa.CTA { return s }

func (s *script) PC(int) int32 {
	if s.at == len(s.order) {
		return -1
	}
	return s.order[s.at]
}

func (s *script) Step(_ int, _ uint64, st *isa.Step) error {
	s.done = append(s.done, s.order[s.at])
	st.Mask = 1
	if s.at++; len(s.order) == 1 { // endless
		s.at = 0
	}
	st.Next = s.PC(0)
	return nil
}

func (s *script) State(_ int, st *isa.State) { st.Set(uint64(len(s.done)), 0, 0) }

func (s *script) Release() {}

// program is a load, arithmetic, shared memory and a barrier, gone through in the order given.
func program(order ...int32) *script {
	add := isa.Instr{Kind: isa.ALU, NDst: 1, NReg: 3, Line: 1}
	return &script{order: order, code: isa.Code{
		Kernel: "k", NumRegs: 4, Regs: []uint16{0, 1, 2}, Instr: []isa.Instr{
			add,
			{Kind: isa.Load, Unit: isa.LDST, Space: isa.Global, NDst: 1, NReg: 2, Line: 2},
			{Kind: isa.Store, Unit: isa.LDST, Space: isa.Shared, NReg: 2, Line: 3},
			{Kind: isa.Barrier, Line: 4},
			add,
			{Kind: isa.Branch, Line: 5},
			{Kind: isa.Store, Unit: isa.LDST, Space: isa.Global, NReg: 2, Line: 6},
			{Kind: isa.Exit, Line: 7},
		},
	}}
}

// What is shown are accesses, barriers and what follows them, and the end; everything is executed, nothing behind a
// barrier before the warp is stepped again.
func TestAccessesOfALoop(t *testing.T) {
	s := program(0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6, 7)
	var f Filter
	g := f.Of(s)
	c := g.Code()
	var lines []int32
	for _, in := range c.Instr {
		if lines = append(lines, in.Line); in.NDst+in.NReg > 0 {
			t.Errorf("line %d has registers", in.Line)
		}
	}
	if want := []int32{2, 4, 1, 6, 7}; !slices.Equal(lines, want) {
		t.Fatalf("kept are lines %v, want %v", lines, want)
	}
	cta := g.Start(0, isa.Place{})
	var shown []int32
	for pc := cta.PC(0); pc >= 0; {
		before := len(s.done)
		var st isa.Step
		if cta.PC(0) != pc {
			t.Fatalf("at %d, the step before went to %d", cta.PC(0), pc)
		}
		if err := cta.Step(0, 0, &st); err != nil {
			t.Fatal(err)
		}
		if c.Instr[pc].Kind == isa.Barrier && len(s.done) != before+1 {
			t.Errorf("%d instructions executed with a barrier", len(s.done)-before)
		}
		shown = append(shown, c.Instr[pc].Line)
		pc = st.Next
	}
	if want := []int32{2, 4, 1, 2, 4, 1, 6, 7}; !slices.Equal(shown, want) {
		t.Errorf("shown %v, want %v", shown, want)
	}
	if !slices.Equal(s.done, s.order) {
		t.Errorf("executed %v of %v", s.done, s.order)
	}
	if f.Of(program(7)).Code() == c || f.Of(s).Code() != c {
		t.Error("a kernel is looked through once, and is not another one")
	}
}

// What cannot be followed says so: a warp that computes for ever, lanes that go on while others wait at a barrier.
func TestAccessesThatCannotBe(t *testing.T) {
	for _, x := range []struct {
		order []int32
		want  string
	}{
		{[]int32{0}, "without an access to memory"},
		{[]int32{3, 5, 5, 7}, "waits at a barrier while others"},
	} {
		var f Filter
		c := f.Of(program(x.order...)).Start(0, isa.Place{})
		if c.PC(0) < 0 {
			t.Errorf("%v: it has ended", x.order)
		}
		err := c.Step(0, 0, &isa.Step{})
		var fault *isa.Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %q", x.order, err, x.want)
		}
	}
}

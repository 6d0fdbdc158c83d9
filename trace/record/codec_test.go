package record

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/isa"
)

// testCode has one instruction of every sort the codec tells apart.
func testCode() *isa.Code {
	mem := func(k isa.Kind, s isa.Space, width uint8) isa.Instr {
		return isa.Instr{Kind: k, Unit: isa.LDST, Space: s, Width: width}
	}
	c := &isa.Code{Kernel: "k", File: "k.ptx", Instr: []isa.Instr{
		{Kind: isa.ALU},
		mem(isa.Load, isa.Global, 4),
		mem(isa.Store, isa.Shared, 8),
		mem(isa.Load, isa.Local, 4),
		mem(isa.Load, isa.Param, 8),
		mem(isa.Load, isa.Generic, 16),
		mem(isa.Atomic, isa.Global, 8),
		mem(isa.Fence, isa.NoSpace, 0),
		{Kind: isa.Barrier},
		{Kind: isa.Branch},
		{Kind: isa.Sleep},
	}}
	for range 40 { // room for runs
		c.Instr = append(c.Instr, isa.Instr{Kind: isa.ALU})
	}
	c.Instr = append(c.Instr, isa.Instr{Kind: isa.Exit})
	return c
}

// drawStep makes any step that instruction pc can take.
func drawStep(t *rapid.T, code *isa.Code, pc int32, before *isa.Step) isa.Step {
	s := isa.Step{Active: before.Active, Next: pc + 1}
	masks := rapid.SampledFrom([]uint32{0, 1, 0x80000000, 0xffff, ^uint32(0), 0x10101010})
	if rapid.IntRange(0, 3).Draw(t, "changes") == 0 {
		s.Active = rapid.OneOf(masks, rapid.Uint32()).Draw(t, "active")
	}
	s.Mask = s.Active
	if rapid.IntRange(0, 3).Draw(t, "guard") == 0 {
		s.Mask = s.Active & rapid.OneOf(masks, rapid.Uint32()).Draw(t, "mask")
	}
	last := int32(len(code.Instr) - 1)
	if pc == last || rapid.IntRange(0, 5).Draw(t, "jumps") == 0 {
		s.Next = rapid.Int32Range(0, last).Draw(t, "next")
	}
	in := &code.Instr[pc]
	if in.Kind == isa.Barrier {
		s.Bar, s.Arrive = rapid.Uint8Range(0, 15).Draw(t, "bar"), rapid.Bool().Draw(t, "arrive")
		s.Expect = 32 * rapid.Int32Range(0, 32).Draw(t, "expect")
	}
	if in.Kind == isa.Sleep && s.Mask != 0 {
		s.Nanos = rapid.Uint32Range(0, longestSleep).Draw(t, "nanos")
	}
	if in.Unit != isa.LDST || in.Kind == isa.Fence {
		return s
	}
	s.Space = in.Space
	if in.Space == isa.Generic {
		s.Space = rapid.SampledFrom([]isa.Space{isa.Global, isa.Shared, isa.Local, isa.NoSpace}).Draw(t, "space")
	}
	if addressed(s.Space) {
		drawAddresses(t, &s, uint64(in.Width))
	}
	return s
}

func drawAddresses(t *rapid.T, s *isa.Step, width uint64) {
	limit := limitOf(s.Space)
	switch rapid.IntRange(0, 2).Draw(t, "shape") {
	case 0:
		stride := rapid.Uint64Range(0, limit/64/width).Draw(t, "stride") * width
		base := rapid.Uint64Range(0, limit/2/width).Draw(t, "base") * width
		for i := range s.Addr {
			s.Addr[i] = base + uint64(i)*stride
		}
	case 1: // backwards
		base := limit - width
		for i := range s.Addr {
			s.Addr[i] = base - uint64(i)*width
		}
	default:
		most := rapid.SampledFrom([]uint64{200, 60000, limit}).Draw(t, "spread")
		for i := range s.Addr {
			s.Addr[i] = rapid.Uint64Range(0, min(most, limit)/width-1).Draw(t, "addr") * width
		}
	}
}

func equalSteps(a, b *isa.Step) bool {
	x, y := *a, *b
	for i := range x.Addr {
		if a.Mask>>i&1 == 0 || !addressed(a.Space) {
			x.Addr[i], y.Addr[i] = 0, 0
		}
	}
	return x == y
}

// What is encoded is decoded, whatever the steps and wherever the stream is cut into
// pieces.
func TestCodecRoundTrip(t *testing.T) {
	code := testCode()
	st := newStatic(code)
	rapid.Check(t, func(t *rapid.T) {
		var e stream
		e.begin(0)
		var want []isa.Step
		var pieces [][]byte
		last := isa.Step{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			s := drawStep(t, code, e.pc, &last)
			e.step(code.Instr, &s)
			want, last = append(want, s), s
			if rapid.IntRange(0, 30).Draw(t, "cut") == 0 {
				pieces = append(pieces, append([]byte(nil), e.buf...))
				e.buf = e.buf[:0]
			}
		}
		e.flush()
		pieces = append(pieces, e.buf)
		var c cursor
		s := &isa.Step{Bar: 7, Expect: 3, Arrive: true, Space: isa.Shared} // as an earlier step left it
		for i := range want {
			ok, err := c.run > 0, error(nil)
			if ok {
				c.plainStep(st, s)
			}
			for !ok {
				if ok, err = c.event(st, s); err != nil || !ok && len(pieces) == 0 {
					t.Fatalf("step %d of %d: the stream ends, or %v", i, len(want), err)
				}
				if !ok {
					c.buf, c.at, pieces = pieces[0], 0, pieces[1:]
				}
			}
			if !equalSteps(s, &want[i]) {
				t.Fatalf("step %d is %+v, was %+v", i, *s, want[i])
			}
		}
	})
}

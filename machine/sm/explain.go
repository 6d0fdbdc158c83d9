package sm

import (
	"fmt"
	"math/bits"
	"strings"
)

func (s warpState) String() string {
	return [...]string{
		"free", "running", "at a barrier", "at a fence", "exited, memory operations outstanding",
		"being restored", "at an atomic",
	}[s]
}

// Explain says what the warps of the SM wait for, one line per CTA and state.
func (s *SM) Explain() []string {
	var out []string
	for i := range s.pipe.ctas.blocks {
		b := &s.pipe.ctas.blocks[i]
		if b.k == nil {
			continue
		}
		groups := map[string][]int16{}
		var order []string
		for m := b.slots; m != 0; m &= m - 1 {
			wp := &s.pipe.warps.slot[bits.TrailingZeros64(m)]
			if wp.state == free {
				continue
			}
			what := wp.state.String()
			if wp.state == running {
				what = fmt.Sprintf("running, last stall: %s, %d loads outstanding", wp.cause, wp.loads)
			}
			if r := s.pipe.rations; r != nil && r.held>>bits.TrailingZeros64(m)&1 != 0 {
				what += ", held back by a quota"
			}
			if wp.pc >= 0 {
				what += fmt.Sprintf(", next %s:%d", b.k.Code.File, wp.code.Instr[wp.pc].Line)
			}
			if groups[what] == nil {
				order = append(order, what)
			}
			groups[what] = append(groups[what], wp.in)
		}
		var parts []string
		for _, w := range order {
			parts = append(parts, fmt.Sprintf("warps %v %s", groups[w], w))
		}
		out = append(out, fmt.Sprintf("SM %d: CTA of %s: %s", s.ID, b.k.Code.Kernel, strings.Join(parts, "; ")))
	}
	return out
}

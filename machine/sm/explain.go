package sm

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/mem"
)

func (s warpState) String() string {
	return [...]string{
		"free", "running", "at a barrier", "at a fence", "exited, memory operations outstanding",
		"being restored", "asleep", "at an atomic",
	}[s]
}

// Position is where a warp of a tenant stands: at the instruction it executes next.
type Position struct {
	Tenant mem.TenantID
	PC     int32
}

// Positions adds those of the resident warps of s to list, none while it is frozen.
func Positions(s *SM, list []Position) []Position {
	if s.pipe.frozen {
		return list
	}
	for i := range s.pipe.ctas.blocks {
		b := &s.pipe.ctas.blocks[i]
		for m := b.resident(); m != 0; m &= m - 1 {
			if wp := &s.pipe.warps.slot[bits.TrailingZeros64(m)]; wp.state != free && wp.pc >= 0 {
				list = append(list, Position{b.k.Tenant, wp.pc})
			}
		}
	}
	return list
}

// Explain says what the warps of a tenant on the SM wait for, one line per CTA and state.
func (s *SM) Explain(tenant mem.TenantID) []string {
	var out []string
	for i := range s.pipe.ctas.blocks {
		b := &s.pipe.ctas.blocks[i]
		if b.k == nil || b.k.Tenant != tenant {
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
			parts = append(parts, fmt.Sprintf("warps %s %s", spans(groups[w]), w))
		}
		out = append(out, fmt.Sprintf("SM %d: CTA of %s: %s", s.ID, b.k.Code.Kernel, strings.Join(parts, "; ")))
	}
	return out
}

// spans writes ascending numbers as 0-7 9 12-31.
func spans(list []int16) string {
	var b strings.Builder
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, list[i])
		if j > i {
			fmt.Fprintf(&b, "-%d", list[j])
		}
		i = j + 1
	}
	return b.String()
}

package sm

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/mem"
)

func (s warpState) String() string {
	return [...]string{
		"free", "running", "at a barrier", "at a fence", "waiting for its copies",
		"exited, memory operations outstanding", "being restored", "asleep", "at an atomic",
	}[s]
}

// Explain says what a tenant's warps on the SM wait for, a line for each CTA and state.
func (s *SM) Explain(tenant mem.TenantID) []string {
	var out []string
	for i := range s.pipe.ctas.blocks {
		b := &s.pipe.ctas.blocks[i]
		if b.k == nil || b.k.Tenant != tenant {
			continue
		}
		var g gathered
		for m := b.slots; m != 0; m &= m - 1 {
			wp := &s.pipe.warps.slot[bits.TrailingZeros64(m)]
			if wp.state == free {
				continue
			}
			what := wp.state.String()
			if wp.state == running {
				what = fmt.Sprintf("running, last stall: %s, %d loads outstanding", wp.cause, wp.loads)
			}
			if r := s.pipe.quotas; r != nil && r.held>>bits.TrailingZeros64(m)&1 != 0 {
				what += ", held back by a quota"
			}
			g.add(b.k, wp.in, wp.pc, what)
		}
		out = append(out, fmt.Sprintf("SM %d: CTA of %s: %s", s.ID, b.k.Code.Kernel, &g))
	}
	return out
}

// Explain says at which instructions the warps of a CTA that is off the SMs stand.
func (c *Context) Explain() string {
	var g gathered
	for in, w := range c.warps {
		if w.state != free && w.pc >= 0 {
			g.add(c.K, int16(in), w.pc, w.state.String())
		}
	}
	return fmt.Sprintf("off the SMs: CTA of %s: %s", c.K.Code.Kernel, &g)
}

// gathered are warps of a CTA by what they do.
type gathered struct {
	order []string
	warps map[string][]int16
}

func (g *gathered) add(k *Kernel, in int16, pc int32, what string) {
	if pc >= 0 {
		what += fmt.Sprintf(", next %s:%d", k.Code.File, k.Code.Instr[pc].Line)
	}
	if g.warps[what] == nil {
		g.order = append(g.order, what)
	}
	if g.warps == nil {
		g.warps = map[string][]int16{}
	}
	g.warps[what] = append(g.warps[what], in)
}

func (g *gathered) String() string {
	var parts []string
	for _, w := range g.order {
		parts = append(parts, fmt.Sprintf("warps %s %s", spans(g.warps[w]), w))
	}
	return strings.Join(parts, "; ")
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

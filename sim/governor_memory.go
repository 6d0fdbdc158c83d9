package sim

import (
	"fmt"
	"maps"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/sheets"
)

// Where the parameters of a policy and the memory that it divides meet.

// params are the policy's parameters: those of a hybrid memory that the run file leaves out are
// the machine's, whose memory begins as its sheet says.
func (g *Governor) params(e *control.Entry, m *sheets.Machine) control.Params {
	if !e.Sets("ways") || !m.Memory.Given() {
		return g.Params
	}
	h := &m.Memory.Hybrid
	p := control.Params{
		"ways": float64(h.Ways), "channels": float64(h.Channels), "cap": float64(h.Cap), "bw": float64(h.BW),
		"tok": float64(h.Tok),
	}
	maps.Copy(p, g.Params)
	return p
}

// shape refuses parameters that say of a hybrid memory what its machine does not.
func (g *Governor) shape(e *control.Entry, m *sheets.Machine) error {
	if !e.Sets("ways") || !m.Memory.Given() {
		return nil
	}
	for _, p := range []struct {
		name, path string
		of         int
	}{{"ways", "ways", m.Memory.Hybrid.Ways}, {"channels", "superchannels", m.Memory.Hybrid.Channels}} {
		if v, given := g.Params[p.name]; given && v != float64(p.of) {
			return fmt.Errorf("policy %s: %s = %g, and the memory of machine %s has %d: leave it out, or set "+
				"memory.hybrid.%s", e.Name, p.name, v, m.Name, p.of, p.path)
		}
	}
	return nil
}

// start brings the memory to where a policy begins, if that is not where the machine does.
func (c *controller) start(e *control.Entry, params control.Params) error {
	r, ok := e.StartWith(params)
	if h := &c.r.sheet.Memory.Hybrid; !ok || *r.CPUWays == h.Cap && *r.CPUChannels == h.BW && *r.Tokens == h.Tok {
		return nil
	}
	return c.r.gpu.Tiers().Split(&machine.MemorySplit{Ways: r.CPUWays, Channels: r.CPUChannels, Tokens: r.Tokens})
}

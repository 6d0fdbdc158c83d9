package sim

import (
	"fmt"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/sheets"
)

// Where the parameters of a policy and the memory that it divides meet.

// shape refuses parameters that contradict the machine's hybrid memory.
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

// start sets the division of memory with which a policy begins, if the machine begins with another one.
func (c *controller) start(e *control.Entry, params control.Params) error {
	r, ok := e.StartWith(params)
	if h := &c.r.sheet.Memory.Hybrid; !ok || *r.CPUWays == h.Cap && *r.CPUChannels == h.BW && *r.Tokens == h.Tok {
		return nil
	}
	return c.r.gpu.Tiers().Split(&backing.MemorySplit{Ways: r.CPUWays, Channels: r.CPUChannels, Tokens: r.Tokens})
}

package sim

import (
	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/stat"
)

// channelBytes is the number of bytes that each DRAM channel has moved so far, for all applications. The channels of
// all tiers follow one another.
func (c *collector) channelBytes() (out []uint64) {
	access := uint64(c.r.sheet.DRAM.Access)
	for _, t := range c.set {
		if !stat.OfKind(t.Owner, "dram") {
			continue
		}
		for k := range t.Instances {
			n := uint64(0)
			for row := range t.Rows() {
				x := t.Row(k, row)
				n += x[dram.CReadBursts] + x[dram.CWriteBursts]
			}
			out = append(out, n*access)
		}
	}
	return out
}

// sinceLast is the number of bytes that the channels have moved since the last epoch.
func (c *collector) sinceLast(e *Epoch) {
	now := c.channelBytes()
	e.ChannelBytes = make([]uint64, len(now))
	for k, n := range now {
		e.ChannelBytes[k] = n
		if k < len(c.lastBytes) {
			e.ChannelBytes[k] -= c.lastBytes[k]
		}
	}
	c.lastBytes = now
}

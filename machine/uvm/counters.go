package uvm

import "fmt"

// A block's register (5.2.3): 27 bits of accesses, local and remote, and above them 5 bits of
// round trips. A part that reaches its maximum is halved in all blocks at once, so that they
// stay comparable.
const (
	countBits = 27
	mostCount = 1<<countBits - 1
	mostTrips = 1<<(32-countBits) - 1
)

// CountersNames are the rules for which accesses count: all, as in the dissertation's framework, or remote, those of
// pages that are on the host, as Volta's hardware counts (5.2.3).
func CountersNames() []string { return []string{"all", "remote"} }

// CheckThreshold is the error of a threshold or penalty, given by name, that is too large for a register.
func CheckThreshold(name string, n int) error {
	if n < 1 || n > mostCount {
		return fmt.Errorf("%s is %d: use 1 to %d", name, n, mostCount)
	}
	return nil
}

// count records an access of a block.
func (r *Runtime) count(c *chunk, block int) {
	c.counter[block]++
	if c.counter[block]&mostCount == mostCount {
		r.eachBlock(c, func(v uint32) uint32 { return v&^mostCount | v&mostCount>>1 })
	}
}

// Retried counts further cycles in which an access had its translation and no room in the L1. Under Options.Public it
// counts in each of them, because the public simulator looks its page up again whenever it tries.
func (r *Runtime) Retried(addr, cycles uint64) {
	p, ok := r.find(addr)
	if !ok || !r.o.Public || r.remoteOnly {
		return
	}
	c, block := &r.chunks[p.chunk()], p.index()/PagesPerBlock
	room := uint64(mostCount - 1 - c.counter[block]&mostCount)
	c.counter[block] += uint32(min(cycles-1, room))
	r.count(c, block)
}

// trip records an eviction of a block.
func (r *Runtime) trip(c *chunk, block int) {
	c.counter[block] += 1 << countBits
	if c.counter[block]>>countBits == mostTrips {
		r.eachBlock(c, func(v uint32) uint32 { return v>>countBits>>1<<countBits | v&mostCount })
	}
}

// eachBlock changes the registers of all blocks, under Options.Public those of the chunk in which one is full.
func (r *Runtime) eachBlock(full *chunk, f func(uint32) uint32) {
	for i := range r.chunks {
		c := &r.chunks[i]
		if r.o.Public && c != full {
			continue
		}
		for b := range c.counter {
			c.counter[b] = f(c.counter[b])
		}
	}
}

// accesses is the sum over a chunk's blocks.
func (c *chunk) accesses() (n uint64) {
	for _, v := range c.counter {
		n += uint64(v & mostCount)
	}
	return n
}

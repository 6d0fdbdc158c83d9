package sharing

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/sheets"
)

// Replication says whether LLC slices keep copies of other partitions' read-only lines (NUBA, section 5).
type Replication uint8

const (
	// NoReplication keeps none.
	NoReplication Replication = iota
	// FullReplication keeps a copy of every such line that is read.
	FullReplication
	// DynamicReplication keeps them while Replicas says so; it begins without.
	DynamicReplication
)

// CanReplicate is the error of a machine whose slices cannot hold copies of other partitions' read-only lines; nil if
// they can.
func CanReplicate(m *sheets.Machine) error {
	if m.NoC.Shape() != sheets.NUBA {
		return fmt.Errorf("machine %s has noc.topology %s, and only the slices of nuba's partitions can keep copies "+
			"of each other's read-only lines: use machine nuba, or leave replication out", m.Name, m.NoC.Shape())
	}
	return nil
}

// Replicas turns copies of read-only lines on and off, and writes the LLC back and invalidates it at the ends of
// kernels: the next kernel may write a line that one kernel only reads, and copies are not told (NUBA, section 5.3).
// A kernel has ended when this flush is over.
type Replicas struct {
	sheet      *sheets.Machine
	interSlice *interconnect.InterSlice
	slices     []*cache.Slice
	layouts    *interconnect.Layouts
	wakeups    timing.Wakeups

	done func(k *Kernel, now uint64) // the flush for a kernel is over

	flushes      bool
	onlyReplicas bool      // only copies are flushed
	at           []int     // by slice: the next line to flush,
	until        []uint64  // and after the last one 1 + the count of Slice.Taken at which all write-backs have left
	ended        []*Kernel // whose last CTA has ended, in order,
	now          int       // and those of them that this flush is for; 0: there is none
	from         uint64    // cycle in which the next one may begin
}

// Set turns copies of read-only lines on or off: whether loads are looked up in the slices near the SM, and leave
// copies of lines from other slices there. Existing copies leave by replacement.
func (x *Replicas) Set(on bool) error {
	if err := CanReplicate(x.sheet); err != nil {
		return err
	}
	x.interSlice.Replicate = on
	if s := x.interSlice.Sampler; s != nil {
		s.Switch(on)
	}
	return nil
}

// On says whether copies are made.
func (x *Replicas) On() bool { return x.interSlice.Replicate }

// takes makes a kernel whose last CTA has ended wait for a flush; false if there is no flush to wait for.
func (x *Replicas) takes(k *Kernel, now uint64) bool {
	if !x.flushes {
		return false
	}
	x.ended = append(x.ended, k)
	x.from = now + 1
	x.wakeups.WakeMoves(now + 1)
	return true
}

// tick flushes a line of each slice and returns the next cycle with work.
func (x *Replicas) tick(now uint64) uint64 {
	if len(x.ended) == 0 {
		return engine.Never
	}
	if x.now == 0 {
		if now < x.from {
			return x.from
		}
		x.now = len(x.ended)
		clear(x.at)
		clear(x.until)
	}
	done := true
	for i, s := range x.slices {
		if x.until[i] == 0 {
			var end bool
			if x.at[i], end = s.FlushFrom(x.at[i], x.onlyReplicas); end {
				x.until[i] = s.Taken + uint64(s.Below.Len()) + 1
			}
			if s.Below.Len() > 0 {
				x.wakeups.WakeChannel(x.layouts.ChannelOf(i), now+1)
			}
		}
		done = done && x.until[i] != 0 && s.Taken+1 >= x.until[i]
	}
	if !done {
		return now + 1
	}
	for _, k := range x.ended[:x.now] {
		x.done(k, now)
	}
	x.ended = slices.Delete(x.ended, 0, x.now)
	x.now = 0
	if len(x.ended) > 0 {
		return now + 1
	}
	return engine.Never
}

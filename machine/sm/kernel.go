package sm

import (
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// Kernel is one launch.
type Kernel struct {
	ID        int
	Tenant    mem.TenantID
	Stream    int
	Grid      isa.Grid
	Code      *isa.Code
	Geo       isa.Geometry
	LocalBase uint64       // virtual address of the tenant's local-memory window
	Local     *LocalMemory // the places of its warps in it; nil: every warp slot has its own
	Most      int          // the most resident CTAs per SM, beside the resource limits; 0: no limit

	Away    int  // CTAs whose context is in memory
	Closing bool // all CTAs have ended; the kernel ends with the last of its stores (Progress.Posted)
	// shares are parts of the launch's progress; SM i counts in that of number i modulo their number.
	shares []Progress
	// Prof[pc] counts issues and, per Cause, the warp-cycles spent waiting to issue pc. Nil: not kept.
	Prof []PC
}

// Progress is the progress of a launch.
type Progress struct {
	WarpInsts, ThreadInsts uint64
	Finished               int    // CTAs that have ended
	Running                int    // resident warps that have not exited
	Posted                 int    // store packets under way of warps that have left
	CTACycles              uint64 // sum of the cycles CTAs were resident where they ended
	// Stall is, per Cause, the warp-cycles spent waiting to issue.
	Stall [NumCauses]uint64
}

// Share makes n SMs of a machine count the launch's progress apart, so that they may run at the same time.
func (k *Kernel) Share(n int) { k.shares = make([]Progress, n) }

// Ended adds the shares up: no SM counts any more.
func (k *Kernel) Ended() {
	if len(k.shares) > 1 {
		k.shares = []Progress{k.Progress()}
	}
}

// share is where an SM counts.
func (k *Kernel) share(sm int) *Progress {
	if k.shares == nil {
		k.Share(1)
	}
	return &k.shares[sm%len(k.shares)]
}

// Progress is the progress of the launch so far.
func (k *Kernel) Progress() (sum Progress) {
	for i := range k.shares {
		p := &k.shares[i]
		sum.WarpInsts += p.WarpInsts
		sum.ThreadInsts += p.ThreadInsts
		sum.Finished += p.Finished
		sum.Running += p.Running
		sum.Posted += p.Posted
		sum.CTACycles += p.CTACycles
		for c, n := range p.Stall {
			sum.Stall[c] += n
		}
	}
	return sum
}

// PC is the profile of one instruction.
type PC struct {
	Issues uint64
	Stall  [NumCauses]uint64
}

// Possible says whether a CTA can become resident on an empty s.
func (k *Kernel) Possible(s *SM) bool {
	c, g := s.pipe.ctas.cfg, &k.Geo
	return g.Warps*isa.Lanes <= c.Threads && g.Warps*c.RegsPerWarp(g.Regs) <= c.Regs && g.SharedBytes <= c.Shared
}

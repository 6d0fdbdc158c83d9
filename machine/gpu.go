// Package machine is the GPU: SMs, crossbars, LLC slices, DRAM channels and
// address translation, with the CPU cores beside it, and the one loop that advances them.
//
// A reader must know two types: GPU (the machine and its tick), and in package sharing Tenant (an application's
// share of the machine).
package machine

import (
	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/residency"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/stride"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/machine/translation"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// GPU is the machine. Its parts lie in it by value; connect.go says which parts use which other parts.
type GPU struct {
	Sheet   *sheets.Machine
	Tenants []*sharing.Tenant
	Tables  []*stat.Table // counters of every component kind
	Sharing sharing.Sharing

	clock       timing.Clock
	wakeups     timing.Wakeups
	fabric      interconnect.Fabric
	memory      backing.Memory
	host        transfer.HostLink
	strides     stride.Strides
	sms         stride.SMs
	CPUs        CPUs
	translation translation.Translation
	homes       residency.Homes // off where pages do not follow the accesses to them
	pageCopies  transfer.CopyEngine
	Unified     residency.Unified // unified memory; off if the run does not ask for it

	meters     timing.Meters
	Watchdog   Watchdog
	firstError timing.FirstError
}

// Run advances the machine until a kernel, an execution of CPU cores or a Migration ends, a program faults, the
// machine is stuck or cycle `until` is reached, and returns the kernels that finished.
//
// Within a cycle, in this order (`make docs` writes it into ARCHITECTURE.md):
//
//  1. DRAM channels take requests from their slices, issue commands, return data. HBM stacks migrate lines between
//     their channels.
//  2. LLC slices look up one request, answer hits and fills.
//  3. The reply crossbar moves answers to SMs and MMU. In a memory of two tiers, their channels issue commands and
//     return data then, and the controller before them looks up requests of the slices and moves blocks.
//  4. SMs: L1 pipeline, load/store unit, operand collectors, warps that wake, schedulers issue. CPU cores run the
//     cycles of their own clock up to this one.
//  5. The fault handler (vm.Driver, or unified memory) ends and begins faults. The MMU looks up its TLB and advances
//     page walks. Lines of pages and of programs' copies leave for the memory. Without translation, pages of managed
//     memory arrive.
//  6. The request crossbar moves requests to slices.
//  7. The dispatcher gives free SMs their next CTA.
//  8. Moves: SMs, channels and pages go on their way between applications, turns end, CTAs are evicted. This stage
//     sleeps unless something moves.
//
// A stage that hands something to a later one is seen in the same cycle, to an
// earlier one in the next: that is the pipeline register between them. Stages 1 to
// 3 are the memory side, the others the SM side; in a stride several cycles of each run
// before the next.
func (g *GPU) Run(until uint64) ([]*sharing.Kernel, error) {
	dispatch := &g.Sharing.Dispatch
	dispatch.Finished, g.clock.ReturnToHost = dispatch.Finished[:0], false
	for g.firstError.Err == nil && len(dispatch.Finished) == 0 && !g.clock.ReturnToHost {
		if end, yes := g.strides.Begun(); yes {
			g.strides.Run(end, until)
			continue
		}
		now := min(g.wakeups.Back.Next(), g.wakeups.Front.Next())
		if g.Watchdog.stuck(now, until) {
			return nil, g.diagnose(now)
		}
		if now >= until {
			g.clock.Now = until
			g.wakeups.Back.Skip(until)
			g.wakeups.Front.Skip(until)
			break
		}
		g.clock.Now = now
		if end := g.strides.Next(now, until); end > now {
			g.strides.Run(end, until)
			continue
		}
		g.wakeups.Back.Run(now, g.visitMemory)
		g.wakeups.Front.Run(now, g.visit)
		g.clock.Now = now + 1
	}
	g.Watchdog.look(g.clock.Now)
	return dispatch.Finished, g.firstError.Err
}

// visitMemory runs one component of the memory side at the current cycle and
// returns when it wants to run next.
func (g *GPU) visitMemory(i int) uint64 {
	now := g.wakeups.Back.Now()
	if i == g.wakeups.Reply {
		return g.fabric.TickReply(now)
	}
	return g.memory.Tick(i, now)
}

// visit is visitMemory for the SM side.
func (g *GPU) visit(i int) uint64 {
	now, w := g.wakeups.Front.Now(), &g.wakeups
	switch {
	case i < w.CPU:
		return g.sms.Tick(i, now)
	case i < w.MMU:
		return g.CPUs.tick(i-w.CPU, now)
	case i < w.Request:
		return min(g.translation.Tick(now), g.host.Tick(now))
	case i < w.Dispatch:
		return g.fabric.TickRequest(now)
	case i < w.Moves:
		return g.Sharing.Dispatch.Tick(now)
	}
	return g.tickMoves(now)
}

// tickMoves copies pages, moves SMs and channels between applications, and moves pages to their users.
func (g *GPU) tickMoves(now uint64) uint64 {
	return min(g.pageCopies.Tick(now), g.Sharing.Tick(now), g.homes.Tick(now))
}

// Now is the current core cycle.
func (g *GPU) Now() uint64 { return g.clock.Now }

// StrideCycles is the cycles so far that were run in strides.
func (g *GPU) StrideCycles() uint64 { return g.clock.InStrides }

// CoresUsed is the number of cores of the computer on which the machine ran lately.
func (g *GPU) CoresUsed() int { return g.strides.Cores() }

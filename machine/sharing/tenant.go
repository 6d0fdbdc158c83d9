package sharing

import (
	"slices"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/translation"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
)

// Tenant is an application's share of the machine.
type Tenant struct {
	Name   string
	SMs    []int // SMs its CTAs may run on
	Cores  []int // CPU cores its program runs on
	Groups []int // channel groups it owns; nil: all, shared

	Kernels  []*Kernel // launched and not finished, oldest first
	Account  interconnect.Account
	Useful   uint64      // last cycle at which it did something useful (watchdog)
	History  isa.History // what its warps have done (watchdog)
	Executed uint64      // executions of its CPU program
	Executes int         // of them under way

	busy  uint64 // cycles with a kernel on the GPU, or an execution on CPU cores, up to since
	since uint64
	local *sm.LocalMemory
}

// Works is the number of kernels and executions of CPU cores that are under way.
func (t *Tenant) Works() int { return len(t.Kernels) + t.Executes }

// Begins notes that one more begins.
func (t *Tenant) Begins(now uint64) {
	if t.Works() == 0 {
		t.since = now
	}
}

// Ends notes that one has ended.
func (t *Tenant) Ends(now uint64) {
	if t.Works() == 0 {
		t.busy += now - t.since
	}
}

// Busy is the number of cycles so far in which the tenant had a kernel on the GPU, or executed its program on CPU
// cores.
func (t *Tenant) Busy(now uint64) uint64 {
	if t.Works() > 0 {
		return t.busy + now - t.since
	}
	return t.busy
}

// Channels is the number of channels the tenant may use, of those there are.
func (t *Tenant) Channels(all int) (n int) {
	for ch := range all {
		if t.Account.Owns(ch) {
			n++
		}
	}
	return n
}

// Got notes that a page of the tenant has arrived. This is useful work if it arrives for the first time.
func (t *Tenant) Got(page uint64, c *timing.Clock) {
	if t.History.Own.State(isa.Mix(page, ofPages)) {
		c.Progress, t.Useful = c.Now, c.Now
	}
}

// ofPages distinguishes the states of pages from those of warps.
const ofPages = 1 << 63

// Kernel is a launch.
type Kernel struct {
	sm.Kernel
	Name         string
	Start, End   uint64 // first CTA issued; last store acknowledged
	Done         bool
	Next, Left   int    // CTAs dispatched; CTAs not finished
	Ready        uint64 // cycle from which its CTAs are dispatched
	InterCTASync bool   // its CTAs may communicate
	AtOnce       bool   // they may execute at the same time, on several cores of the computer

	chunks []chunk // [partition] CTAs to dispatch; nil: CTAs go in their order
}

// allow marks the channels of the tenant's groups.
func (t *Tenant) allow(amap *addrmap.Map) {
	t.Account.Channels = make([]uint64, (amap.Channels()+63)/64)
	for ch := range amap.Channels() {
		if slices.Contains(t.Groups, amap.GroupOf(ch)) {
			t.Account.Channels[ch>>6] |= 1 << (ch & 63)
		}
	}
}

// most is the number of CTAs of a grid that each SM of its tenant may get in all, so that they spread over all SMs.
// The grid of a tenant without an SM waits.
func (t *Tenant) most(geo *isa.Geometry) int {
	n := max(1, len(t.SMs))
	return (geo.CTAs + n - 1) / n
}

// NewKernel prepares the launch of a grid; its CTAs are dispatched as the sheet says (sm.dispatch) once Launch queues
// it.
func (p *Sharing) NewKernel(tenant, stream int, name string, grid isa.Grid) *Kernel {
	geo := grid.Geometry()
	t, s := p.Tenants[tenant], p.sheet
	_, independent := grid.(isa.Independent)
	concurrent, ok := grid.(isa.Concurrent)
	code := grid.Code()
	if s.SM.Ptxas && code.Machine != nil {
		code = code.Machine
	}
	k := &Kernel{
		Name: name, Left: geo.CTAs, InterCTASync: !independent && hasInterCTASync(grid.Code()),
		Ready:  p.clock.Now + uint64(s.SM.LaunchDelay),
		AtOnce: (independent || ok && concurrent.Concurrent()),
	}
	k.Kernel = sm.Kernel{
		ID: p.Dispatch.launched, Tenant: mem.TenantID(tenant), Stream: stream, Grid: grid, Code: code, Geo: geo,
		LocalBase: translation.LocalWindow, Most: t.most(&geo),
	}
	if p.Dispatch.apart {
		k.Share(s.SM.Count)
	}
	if geo.LocalBytes > 0 {
		if t.local == nil {
			t.local = sm.NewLocalMemory(s.SM.Count * s.SM.Threads / isa.Lanes)
		}
		k.Local = t.local
	}
	if p.Dispatch.profile {
		k.Prof = make([]sm.PC, len(k.Code.Instr))
	}
	p.firstError.Note(p.translation.MapLocal(k.Tenant, geo.LocalBytes))
	return k
}

// Launch queues a kernel. It is Done when its last CTA has ended and its last store is acknowledged.
func (p *Sharing) Launch(k *Kernel) { p.Dispatch.add(k, p.clock.Now) }

// hasInterCTASync says that CTAs of a kernel may wait for each other or observe the order of
// their accesses: there are atomics on global memory, fences or volatile accesses.
func hasInterCTASync(c *isa.Code) bool {
	for i := range c.Instr {
		in := &c.Instr[i]
		if in.Space == isa.Shared {
			continue
		}
		switch in.Kind {
		case isa.Atomic, isa.Reduce, isa.Fence:
			return true
		case isa.Load, isa.Store:
			if in.Cache == isa.CacheVolatile {
				return true
			}
		}
	}
	return false
}

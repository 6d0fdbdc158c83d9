package machine

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

	kernels  []*Kernel // launched and not finished, oldest first
	busy     uint64    // cycles with a kernel on the GPU, or an execution on CPU cores, up to since
	since    uint64
	account  interconnect.Account
	useful   uint64      // last cycle at which it did something useful (watchdog)
	history  isa.History // what its warps have done (watchdog)
	executed uint64      // executions of its CPU program
	executes int         // of them under way
	local    *sm.LocalMemory
}

// works is the number of kernels and executions of CPU cores that are under way.
func (t *Tenant) works() int { return len(t.kernels) + t.executes }

// begins notes that one more begins.
func (t *Tenant) begins(now uint64) {
	if t.works() == 0 {
		t.since = now
	}
}

// ended notes that one has ended.
func (t *Tenant) ended(now uint64) {
	if t.works() == 0 {
		t.busy += now - t.since
	}
}

// got notes that a page of the tenant has arrived. This is useful work if it arrives for the first time.
func (t *Tenant) got(page uint64, c *timing.Clock) {
	if t.history.Own.State(isa.Mix(page, ofPages)) {
		c.Progress, t.useful = c.Now, c.Now
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
	next, left   int     // CTAs dispatched; CTAs not finished
	chunks       []chunk // [partition] CTAs to dispatch; nil: CTAs go in their order
	ready        uint64
	interCTASync bool // its CTAs may communicate
}

// allow marks the channels of the tenant's groups.
func (t *Tenant) allow(amap *addrmap.Map) {
	t.account.Channels = make([]uint64, (amap.Channels()+63)/64)
	for ch := range amap.Channels() {
		if slices.Contains(t.Groups, amap.GroupOf(ch)) {
			t.account.Channels[ch>>6] |= 1 << (ch & 63)
		}
	}
}

// most is the number of CTAs of a grid that each SM of its tenant may get in all, so that they spread over all SMs.
// The grid of a tenant without an SM waits.
func (t *Tenant) most(geo *isa.Geometry) int {
	n := max(1, len(t.SMs))
	return (geo.CTAs + n - 1) / n
}

// Launch queues a grid; its CTAs are dispatched as the sheet says (sm.dispatch). The kernel is Done when
// its last CTA has ended and its last store is acknowledged.
func (g *GPU) Launch(tenant, stream int, name string, grid isa.Grid) *Kernel {
	geo := grid.Geometry()
	t := g.Tenants[tenant]
	_, independent := grid.(isa.Independent)
	code := grid.Code()
	if g.Sheet.SM.Ptxas && code.Machine != nil {
		code = code.Machine
	}
	k := &Kernel{
		Name: name, left: geo.CTAs, interCTASync: !independent && hasInterCTASync(grid.Code()),
		ready: g.Now() + uint64(g.Sheet.SM.LaunchDelay),
	}
	k.Kernel = sm.Kernel{
		ID: g.dispatch.launched, Tenant: mem.TenantID(tenant), Stream: stream, Grid: grid, Code: code, Geo: geo,
		LocalBase: translation.LocalWindow, Most: t.most(&geo),
	}
	if geo.LocalBytes > 0 {
		if t.local == nil {
			t.local = sm.NewLocalMemory(g.Sheet.SM.Count * g.Sheet.SM.Threads / isa.Lanes)
		}
		k.Local = t.local
	}
	if g.dispatch.profile {
		k.Prof = make([]sm.PC, len(k.Code.Instr))
	}
	g.firstError.Note(g.translation.MapLocal(k.Tenant, geo.LocalBytes))
	g.Unified.Launched(k.Tenant)
	g.host.BeginsWork(g.clock.Now)
	g.dispatch.add(k, g.clock.Now)
	return k
}

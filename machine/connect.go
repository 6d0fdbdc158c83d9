package machine

import (
	"github.com/heddle-sim/heddle/machine/translation"
	"github.com/heddle-sim/heddle/mem"
)

// connect makes every connection between the parts of the machine. A test keeps the list of these connections.
func (g *GPU) connect() {
	g.connectSides()
	g.connectMoving()
	g.connectPages()
	g.connectStrides()
}

// connectSides connects the parts that every cycle passes through.
func (g *GPU) connectSides() {
	fabric := &g.fabric
	fabric.Tables = g.translation.Tables
	for _, t := range g.Tenants {
		t.account.Name = t.Name
		fabric.Accounts = append(fabric.Accounts, &t.account)
	}
	for i := range g.sms.list {
		fabric.Sinks = append(fabric.Sinks, smPort{&g.sms, i})
	}
	for i := range g.CPUs.list {
		fabric.Sinks = append(fabric.Sinks, corePort{&g.CPUs, i})
	}
	fabric.Sinks = append(fabric.Sinks, &g.translation)
	fabric.Direct, fabric.Remote = &g.host, &g.Unified.Remote

	memory := &g.memory
	memory.OnMigrated, memory.OnWritten = g.pageCopies.Migrated, g.pageCopies.Written

	cpus := &g.CPUs
	cpus.tenants, cpus.fabric, cpus.firstError = g.Tenants, &g.fabric, &g.firstError
	cpus.clock, cpus.wakeups = &g.clock, g.wakeups

	sms := &g.sms
	sms.fabric, sms.dispatch, sms.firstError, sms.wakeups = &g.fabric, &g.dispatch, &g.firstError, g.wakeups

	addresses := &g.translation
	addresses.SMs = g.sms.list
	addresses.SMsOf = func(t mem.TenantID) []int { return g.Tenants[t].SMs }
	addresses.OnArrived = g.pageArrived
	addresses.Sources = []translation.Source{&g.pageCopies, &g.Unified.Pages}
	addresses.OnPager = g.strides.forbid

	watchdog := &g.Watchdog
	watchdog.cpus = &g.CPUs
	watchdog.tenants, watchdog.sms, watchdog.dispatch = g.Tenants, g.sms.list, &g.dispatch
	watchdog.clock, watchdog.firstError = &g.clock, &g.firstError
	watchdog.contexts = &g.contexts

	dispatch := &g.dispatch
	dispatch.tenants, dispatch.sms, dispatch.contexts = g.Tenants, g.sms.list, &g.contexts
	dispatch.evictor, dispatch.turns = &g.evictor, &g.turns
	dispatch.firstError, dispatch.clock, dispatch.wakeups = &g.firstError, &g.clock, g.wakeups
	dispatch.replicas = &g.Replicas

	replicas := &g.Replicas
	replicas.sheet, replicas.interSlice = g.Sheet, &g.fabric.Between
	replicas.slices, replicas.layouts = g.memory.Slices, &g.fabric.Layouts
	replicas.dispatch, replicas.wakeups = &g.dispatch, g.wakeups
}

// connectMoving connects the parts that move SMs and channels from one application to another.
func (g *GPU) connectMoving() {
	contexts := &g.contexts
	contexts.tenants, contexts.sms, contexts.tables = g.Tenants, g.sms.list, g.translation.Tables
	contexts.firstError, contexts.wakeups = &g.firstError, g.wakeups

	mover := &g.mover
	mover.tenants, mover.sms, mover.tlbs, mover.contexts = g.Tenants, g.sms.list, g.translation.TLBs, &g.contexts
	mover.dispatch, mover.groups, mover.holdings, mover.meters = &g.dispatch, &g.groups, &g.holdings, &g.meters
	mover.clock, mover.wakeups = &g.clock, g.wakeups

	groups := &g.groups
	groups.tenants, groups.sms, groups.tlbs, groups.slices, groups.memory =
		g.Tenants, g.sms.list, g.translation.TLBs, g.memory.Slices, &g.memory
	groups.mmu, groups.driver, groups.tables, groups.layouts =
		g.translation.MMU, g.translation.Driver, g.translation.Tables, &g.fabric.Layouts
	groups.holdings, groups.meters, groups.firstError = &g.holdings, &g.meters, &g.firstError
	groups.clock, groups.wakeups = &g.clock, g.wakeups

	turns := &g.turns
	turns.tenants, turns.sms, turns.mover = g.Tenants, g.sms.list, &g.mover
	turns.contexts, turns.dispatch = &g.contexts, &g.dispatch
	turns.meters, turns.clock = &g.meters, &g.clock

	evictor := &g.evictor
	evictor.tenants, evictor.sms, evictor.dispatch, evictor.contexts = g.Tenants, g.sms.list, &g.dispatch, &g.contexts
	evictor.meters, evictor.wakeups = &g.meters, g.wakeups
}

// connectPages connects the parts that move pages.
func (g *GPU) connectPages() {
	host := &g.host
	host.Apps, host.Busy = len(g.Tenants), g.works
	host.Memory, host.Fabric = &g.memory, &g.fabric
	host.Where = &g.translation
	host.Clock, host.Wakeups = &g.clock, g.wakeups
	g.CPUs.host, g.strides.host = host, host

	copies := &g.pageCopies
	copies.Apps, copies.PageArrived = len(g.Tenants), g.pageArrived
	copies.Driver, copies.Tables = g.translation.Driver, g.translation.Tables
	copies.Fabric = &g.fabric
	copies.Memory, copies.PageLeft, copies.Clock, copies.Wakeups = &g.memory, g.groups.leave, &g.clock, g.wakeups
}

// connectStrides connects the parts that run several cycles of one part of the machine before the next part.
func (g *GPU) connectStrides() {
	strides := &g.strides
	strides.tenants, strides.sms, strides.fabric, strides.dispatch = g.Tenants, &g.sms, &g.fabric, &g.dispatch
	strides.firstError, strides.clock, strides.wakeups = &g.firstError, &g.clock, g.wakeups
	strides.visitMemory, strides.tickDriver = g.visitMemory, g.tickDriver
}

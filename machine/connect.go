package machine

import (
	"github.com/heddle-sim/heddle/machine/translation"
	"github.com/heddle-sim/heddle/mem"
)

// connect makes every connection between the parts of the machine. A test keeps the list of these connections.
func (g *GPU) connect() {
	g.connectSides()
	g.connectPages()
	g.connectStrides()
}

// connectSides connects the parts that every cycle passes through.
func (g *GPU) connectSides() {
	fabric := &g.fabric
	fabric.Tables = g.translation.Tables
	for _, t := range g.Tenants {
		t.Account.Name = t.Name
		fabric.Accounts = append(fabric.Accounts, &t.Account)
	}
	for i := range g.sms.List {
		fabric.Sinks = append(fabric.Sinks, g.sms.Sink(i))
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
	sms.Fabric, sms.Dispatch, sms.FirstError, sms.Wakeups = &g.fabric, &g.Sharing.Dispatch, &g.firstError, g.wakeups

	addresses := &g.translation
	addresses.SMs = g.sms.List
	addresses.SMsOf = func(t mem.TenantID) []int { return g.Tenants[t].SMs }
	addresses.OnArrived = g.pageArrived
	addresses.Sources = []translation.Source{&g.pageCopies, &g.Unified.Pages}
	addresses.OnPager = g.strides.Forbid

	watchdog := &g.Watchdog
	watchdog.cpus = &g.CPUs
	watchdog.tenants, watchdog.sms, watchdog.dispatch = g.Tenants, g.sms.List, &g.Sharing.Dispatch
	watchdog.clock, watchdog.firstError = &g.clock, &g.firstError
	watchdog.contexts = &g.Sharing.Contexts
}

// connectPages connects the parts that move pages.
func (g *GPU) connectPages() {
	host := &g.host
	host.Apps, host.Busy = len(g.Tenants), g.Sharing.Works
	host.Memory, host.Fabric = &g.memory, &g.fabric
	host.Where = &g.translation
	host.Clock, host.Wakeups = &g.clock, g.wakeups
	g.CPUs.host, g.strides.Host = host, host

	copies := &g.pageCopies
	copies.Apps, copies.PageArrived = len(g.Tenants), g.pageArrived
	copies.Driver, copies.Tables = g.translation.Driver, g.translation.Tables
	copies.Fabric = &g.fabric
	copies.Memory, copies.Clock, copies.Wakeups = &g.memory, &g.clock, g.wakeups
}

// connectStrides connects the parts that run several cycles of one part of the machine before the next part.
func (g *GPU) connectStrides() {
	strides := &g.strides
	strides.Tenants, strides.SMs, strides.Fabric, strides.Dispatch = g.Tenants, &g.sms, &g.fabric, &g.Sharing.Dispatch
	strides.FirstError, strides.Clock, strides.Wakeups = &g.firstError, &g.clock, g.wakeups
	strides.VisitMemory, strides.TickMoves = g.visitMemory, g.tickMoves
}

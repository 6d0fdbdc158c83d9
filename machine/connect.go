package machine

// connect names every wire between the parts of the machine: what each knows of others.
// What it says a test holds as a list.
func (g *GPU) connect() {
	g.connectSides()
	g.connectMoving()
	g.connectLookahead()
}

// connectSides wires what every cycle passes through.
func (g *GPU) connectSides() {
	f := &g.fabric
	f.tenants, f.sms, f.slices, f.tables = g.Tenants, g.sms.list, g.memory.slices, g.translation.tables
	f.translation, f.lookahead, f.agenda = &g.translation, &g.lookahead, g.agenda

	m := &g.memory
	m.fabric, m.copies, m.layouts, m.pace, m.agenda = &g.fabric, &g.copies, &g.fabric.layouts, &g.pace, g.agenda

	y := &m.tiers
	y.slices, y.memory, y.agenda = m.slices, m, g.agenda

	p := &g.CPUs
	p.tenants, p.fabric, p.dispatch, p.verdict = g.Tenants, &g.fabric, &g.dispatch, &g.verdict
	p.pace, p.agenda = &g.pace, g.agenda
	f.cpus = p

	s := &g.sms
	s.fabric, s.dispatch, s.verdict = &g.fabric, &g.dispatch, &g.verdict

	x := &g.translation
	x.tenants, x.sms, x.slices, x.fabric = g.Tenants, g.sms.list, g.memory.slices, &g.fabric
	x.copies, x.contexts, x.groups, x.unified = &g.copies, &g.contexts, &g.groups, &g.Unified
	x.lookahead, x.meters, x.verdict, x.pace, x.agenda = &g.lookahead, &g.meters, &g.verdict, &g.pace, g.agenda

	if x.driver != nil {
		x.driver.Moves, x.driver.Copy = x.pagesMove, g.agenda.wakeDriver
		x.tables.Shootdown, x.tables.Freed = x.forget, x.freed
	}

	w := &g.Watchdog
	w.cpus = &g.CPUs
	w.tenants, w.sms, w.dispatch, w.pace, w.verdict = g.Tenants, g.sms.list, &g.dispatch, &g.pace, &g.verdict
	w.contexts = &g.contexts

	d := &g.dispatch
	d.tenants, d.sms, d.contexts, d.evictor, d.turns = g.Tenants, g.sms.list, &g.contexts, &g.evictor, &g.turns
	d.verdict, d.pace, d.agenda = &g.verdict, &g.pace, g.agenda
	d.replicas = &g.Replicas

	r := &g.Replicas
	r.sheet, r.across, r.slices, r.layouts = g.Sheet, &g.fabric.across, g.memory.slices, &g.fabric.layouts
	r.dispatch, r.agenda = &g.dispatch, g.agenda
}

// connectMoving wires what takes SMs, channels and pages from one application to another.
func (g *GPU) connectMoving() {
	c := &g.contexts
	c.tenants, c.sms, c.tables, c.verdict, c.agenda = g.Tenants, g.sms.list, g.translation.tables, &g.verdict, g.agenda

	v := &g.mover
	v.tenants, v.sms, v.tlbs, v.contexts = g.Tenants, g.sms.list, g.translation.tlbs, &g.contexts
	v.dispatch, v.groups, v.holdings, v.meters = &g.dispatch, &g.groups, &g.holdings, &g.meters
	v.pace, v.agenda = &g.pace, g.agenda

	h := &g.groups
	h.tenants, h.sms, h.tlbs, h.slices, h.channels =
		g.Tenants, g.sms.list, g.translation.tlbs, g.memory.slices, g.memory.channels
	h.mmu, h.driver, h.tables, h.layouts =
		g.translation.mmu, g.translation.driver, g.translation.tables, &g.fabric.layouts
	h.holdings, h.meters, h.verdict, h.pace, h.agenda = &g.holdings, &g.meters, &g.verdict, &g.pace, g.agenda

	u := &g.Unified
	f := &g.fabric
	f.unified, u.remote.fabric, u.remote.pace, u.remote.agenda = u, f, &g.pace, g.agenda
	u.sheet, u.tables, u.mmu = g.Sheet, g.translation.tables, g.translation.mmu
	u.driver, u.dispatch, u.pace, u.agenda = g.translation.driver, &g.dispatch, &g.pace, g.agenda
	m := &u.dma
	m.unified, m.memory, m.fabric, m.tables, m.mmu, m.host = u, &g.memory, &g.fabric, u.tables, u.mmu, &f.host
	m.verdict, m.pace, m.agenda, u.faults.agenda, u.faults.mmu = &g.verdict, &g.pace, g.agenda, g.agenda, u.mmu

	q := &f.host
	q.tenants, q.memory, q.fabric, q.unified, q.where = g.Tenants, &g.memory, f, u, &g.translation
	q.dispatch, q.pace, q.agenda = &g.dispatch, &g.pace, g.agenda
	g.translation.host, g.CPUs.host, g.lookahead.host = q, q, q

	y := &g.copies
	y.tenants = g.Tenants
	y.driver, y.tables, y.fabric, y.layouts = g.translation.driver, g.translation.tables, &g.fabric, &g.fabric.layouts
	y.memory, y.groups, y.pace, y.agenda = &g.memory, &g.groups, &g.pace, g.agenda

	o := &g.translation.homes
	o.tables, o.driver = g.translation.tables, g.translation.driver
	o.pace, o.agenda = &g.pace, g.agenda
	if o.decide != nil {
		o.driver.Homes.Ended, o.driver.Homes.Reclaim = o.ended, o.reclaim
		o.tables.ShootdownIn = o.forget
		c := &o.carrier
		c.tenants, c.fabric, c.slices = g.Tenants, &g.fabric, g.memory.slices
		c.tables, c.driver, c.pace, c.agenda = o.tables, o.driver, &g.pace, g.agenda
		g.fabric.across.carrier = c
	}
	o.mmu, o.tlbs = g.translation.mmu, g.translation.tlbs

	t := &g.turns
	t.tenants, t.sms, t.mover, t.contexts, t.dispatch = g.Tenants, g.sms.list, &g.mover, &g.contexts, &g.dispatch
	t.meters, t.pace = &g.meters, &g.pace

	e := &g.evictor
	e.tenants, e.sms, e.dispatch, e.contexts = g.Tenants, g.sms.list, &g.dispatch, &g.contexts
	e.meters, e.agenda = &g.meters, g.agenda
}

// connectLookahead wires what runs parts of the machine ahead of others.
func (g *GPU) connectLookahead() {
	l := &g.lookahead
	l.tenants, l.slices, l.sms, l.fabric, l.dispatch = g.Tenants, g.memory.slices, &g.sms, &g.fabric, &g.dispatch
	l.groups, l.contexts, l.driver, l.unified = &g.groups, &g.contexts, g.translation.driver, &g.Unified
	l.verdict = &g.verdict
	l.mover, l.pace, l.agenda = &g.mover, &g.pace, g.agenda
	l.visit, l.visitMemory, l.tickDriver = g.visit, g.visitMemory, g.tickDriver
}

package machine

// connect names every wire between the parts of the machine: what each knows of others.
func (g *GPU) connect() {
	g.contexts.tenants, g.contexts.sms, g.contexts.tables = g.Tenants, g.sm, g.tables
	g.contexts.verdict, g.contexts.agenda = &g.verdict, g.agenda

	d := &g.dispatch
	d.tenants, d.sms, d.contexts, d.evictor, d.turns = g.Tenants, g.sm, &g.contexts, &g.evictor, &g.turns
	d.verdict, d.pace, d.agenda = &g.verdict, &g.pace, g.agenda
	d.flushEach = g.Sheet.L1D.FlushEach

	v := &g.mover
	v.tenants, v.sms, v.tlbs, v.contexts, v.dispatch = g.Tenants, g.sm, g.tlbs, &g.contexts, &g.dispatch
	v.groups, v.holdings, v.meters, v.pace, v.agenda = &g.hand, &g.holdings, &g.meters, &g.pace, g.agenda
	if v.period = 1; g.tables == nil {
		v.period = movePeriod
	}

	h := &g.hand
	h.tenants, h.sms, h.tlbs, h.slices, h.channels = g.Tenants, g.sm, g.tlbs, g.slice, g.channel
	h.mmu, h.driver, h.tables, h.layouts = g.mmu, g.driver, g.tables, &g.layouts
	h.holdings, h.meters, h.verdict, h.pace, h.agenda = &g.holdings, &g.meters, &g.verdict, &g.pace, g.agenda

	t := &g.turns
	t.tenants, t.sms, t.mover, t.contexts, t.dispatch = g.Tenants, g.sm, &g.mover, &g.contexts, &g.dispatch
	t.meters, t.pace = &g.meters, &g.pace

	e := &g.evictor
	e.tenants, e.sms, e.dispatch, e.contexts = g.Tenants, g.sm, &g.dispatch, &g.contexts
	e.meters, e.agenda, e.line = &g.meters, g.agenda, g.Sheet.L1D.Line
}

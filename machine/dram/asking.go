package dram

import "github.com/heddle-sim/heddle/mem"

// asking measures how fast a channel serves a tenant while it has requests: the clocks in which a tenant has requests
// here, from acceptance to their last command, and the commands of those clocks. Clocks in which pages move, too, are
// left out: the service that the channel gives an application then says nothing of what it could give.
type asking struct {
	by     []interval // by row of counters
	moving int        // ends of migrations, and requests of rows that move, under way
}

// interval is an open stretch of clocks with requests.
type interval struct {
	since    uint64 // clock up to which it has been counted
	requests int32
	mover    bool // requests of traffic that moves data, not of an application
}

func newAsking(cfg *Config) asking {
	a := asking{by: make([]interval, max(cfg.Tenants, 1))}
	for i := range a.by {
		a.by[i].mover = cfg.Movers > 0 && i >= cfg.Movers
	}
	return a
}

// enter follows an accepted request.
func (c *Channel) enter(tenant mem.TenantID, now uint64) {
	in := &c.asking.by[tenant]
	if in.requests++; in.requests == 1 || in.mover {
		c.begin(in, now)
	}
}

// leave follows a request's last command, at clock t.
func (c *Channel) leave(tenant mem.TenantID, t uint64) {
	in := &c.asking.by[tenant]
	if in.requests--; in.requests == 0 || in.mover {
		c.end(in, tenant, t+1)
	}
}

// begin opens an interval with its first request, and leaves clocks out from a mover's on.
func (c *Channel) begin(in *interval, now uint64) {
	if in.requests == 1 {
		in.since = max(in.since, now)
	}
	if in.mover {
		c.disturb(now)
	}
}

// end closes an interval with its last request at clock end.
func (c *Channel) end(in *interval, tenant mem.TenantID, end uint64) {
	if in.mover { // its own intervals are left out
		in.since = end
		c.calm(end - 1)
		return
	}
	c.ask(int(tenant), end)
}

// ask counts the open interval of a tenant up to clock end, unless pages move.
func (c *Channel) ask(tenant int, end uint64) {
	in := &c.asking.by[tenant]
	if end <= in.since {
		return
	}
	if c.asking.moving == 0 && !in.mover {
		c.rows[tenant][CAskingClocks] += end - in.since
	}
	in.since = end
}

// askAll counts all open intervals up to clock end.
func (c *Channel) askAll(end uint64) {
	for i := range c.asking.by {
		if c.asking.by[i].requests > 0 {
			c.ask(i, end)
		}
	}
}

// disturb and calm bracket the traffic that moves pages. They take effect after clock t, up to which counters may
// have been read already: counters do not depend on when they are read.
func (c *Channel) disturb(t uint64) {
	c.askAll(t + 1)
	c.asking.moving++
}

func (c *Channel) calm(t uint64) {
	c.askAll(t + 1)
	c.asking.moving--
}

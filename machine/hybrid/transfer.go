package hybrid

import (
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
)

// leg is the way of a block from one place to another through a buffer.
type leg struct {
	set, index uint32 // the block
	from, to   place
	want       uint32 // units: all, or none when nothing has to be copied
	asked      uint32 // of them: reads sent,
	here       uint32 // in the buffer,
	gone       uint32 // writes sent
}

// transfer is a register for blocks that move: one, or two that change places or of which one leaves for the other.
// The remap table already has their new places. Requests for them wait here meanwhile, and are answered from the
// buffer.
type transfer struct {
	leg     [2]leg
	used    int   // legs
	start   int   // unit to be read first
	bucket  int32 // next one with the same hash, or the next free one
	waiters parts
	asker   mem.TenantID // the application that caused it: the units asked for are its own,
	asked   uint32
	tenant  mem.TenantID // and the others count in this row
	buffers int
}

// transfers are the registers.
type transfers struct {
	list    []transfer
	free    int32
	left    int     // free ones
	buffers int     // free ones
	heads   []int32 // by a hash of the group of sets
	groupOf uint
	busy    []uint64 // those that may have something to send, a bit each
	roused  bool     // some of them
}

func newTransfers(n, buffers int, groupOf uint) transfers {
	m := transfers{
		list: make([]transfer, n), left: n, buffers: buffers, groupOf: groupOf, busy: make([]uint64, (n+63)/64),
		heads: make([]int32, 1<<bits.Len(uint(4*n))),
	}
	for i := range m.list {
		m.list[i].bucket = int32(i) - 1
	}
	m.free = int32(n - 1)
	for i := range m.heads {
		m.heads[i] = none
	}
	return m
}

// head is the list of the transfers of a set and others.
func (m *transfers) head(set uint32) *int32 {
	h := set >> m.groupOf * 0x9E3779B1
	return &m.heads[h>>16&uint32(len(m.heads)-1)]
}

// of is the transfer that moves a block; none.
func (m *transfers) of(set, index uint32) int32 {
	for i := *m.head(set); i != none; i = m.list[i].bucket {
		t := &m.list[i]
		for l := range t.used {
			if t.leg[l].index == index && t.leg[l].set == set {
				return i
			}
		}
	}
	return none
}

// ways are those of a set that transfers read or write.
func (m *transfers) ways(set uint32, ways int) (mask uint16) {
	for i := *m.head(set); i != none; i = m.list[i].bucket {
		t := &m.list[i]
		for l := range t.used {
			for _, p := range [2]place{t.leg[l].from, t.leg[l].to} {
				if p.set == set && int(p.pos) < ways {
					mask |= 1 << p.pos
				}
			}
		}
	}
	return mask
}

// uses says whether some transfer reads or writes a place.
func (m *transfers) uses(at place) bool {
	for i := *m.head(at.set); i != none; i = m.list[i].bucket {
		t := &m.list[i]
		for l := range t.used {
			if t.leg[l].from == at || t.leg[l].to == at {
				return true
			}
		}
	}
	return false
}

// any is a transfer of a set's group; none.
func (m *transfers) any(set uint32) int32 {
	for i := *m.head(set); i != none; i = m.list[i].bucket {
		if m.list[i].leg[0].set>>m.groupOf == set>>m.groupOf {
			return i
		}
	}
	return none
}

// room says whether a transfer can begin that needs a number of buffers.
func (m *transfers) room(buffers int) bool { return m.left > 0 && m.buffers >= buffers }

// begin takes a register for one or two legs; the blocks belong to one group of sets. Reads begin
// with the units asked for.
func (m *transfers) begin(asker, tenant mem.TenantID, asked uint32, legs []leg) int32 {
	i := m.free
	t := &m.list[i]
	m.free = t.bucket
	m.left--
	head := m.head(legs[0].set)
	*t = transfer{
		used: len(legs), start: bits.TrailingZeros32(asked), waiters: parts{none, none}, bucket: *head,
		asker: asker, asked: asked, tenant: tenant,
	}
	for l := range legs {
		t.leg[l] = legs[l]
		if legs[l].want != 0 {
			t.buffers++
		}
	}
	m.buffers -= t.buffers
	*head = i
	m.rouse(i)
	return i
}

// rouse says that a transfer may have something to send.
func (m *transfers) rouse(i int32) {
	m.busy[i>>6] |= 1 << (i & 63)
	m.roused = true
}

// all is every unit of a block.
func (c *Controller) all() uint32 { return uint32(1)<<c.table.units - 1 }

// moveOn sends the accesses of transfers, as far as the channels take them.
func (c *Controller) moveOn() {
	m := &c.moving
	m.roused = false
	for k := range m.busy {
		for word := m.busy[k]; word != 0; word &= word - 1 {
			i := int32(k<<6 + bits.TrailingZeros64(word))
			if c.advance(i) {
				m.busy[k] &^= word & -word
			} else {
				m.roused = true
			}
		}
	}
}

// advance sends the accesses of a transfer. True if it only waits for data now, or has ended.
func (c *Controller) advance(i int32) bool {
	t := &c.moving.list[i]
	quiet, over := true, true
	for l := range t.used {
		g := &t.leg[l]
		for m := g.want &^ g.asked; m != 0; {
			u := first(m, t.start)
			m &^= 1 << u
			tenant := t.tenant
			if l == 0 && t.asked>>u&1 != 0 {
				tenant = t.asker
			}
			if c.out.try(g.from, u, false, bufferOf(i, l, u), tenant) {
				g.asked |= 1 << u
			} else {
				quiet = false
			}
		}
		for m := g.here &^ g.gone & t.clear(l); m != 0; m &= m - 1 {
			u := bits.TrailingZeros32(m)
			if c.readers[c.table.hold(g.to)] == 0 && c.out.try(g.to, u, true, bufferOf(i, l, u), t.tenant) {
				g.gone |= 1 << u
			} else {
				quiet = false
			}
		}
		if g.want == 0 && c.readers[c.table.hold(g.to)] > 0 {
			quiet, over = false, false // as a write to this place would: the block there now may be written at once
		}
		over = over && g.gone == g.want
	}
	if over {
		c.end(i)
	}
	return quiet
}

// bufferOf is the buffer of a unit of a leg of a transfer.
func bufferOf(i int32, l, unit int) int32 {
	return ofTransfer | i<<(unitBits+1) | int32(l)<<unitBits | int32(unit)
}

// first is the first unit of a mask from a unit on, round the block.
func first(mask uint32, start int) int {
	if later := mask >> start << start; later != 0 {
		return bits.TrailingZeros32(later)
	}
	return bits.TrailingZeros32(mask)
}

// clear are the units that can be written at the end of a leg. If another leg begins there, these are only the units
// that it has read.
func (t *transfer) clear(l int) uint32 {
	o := &t.leg[1-l]
	if t.used == 2 && o.want != 0 && o.from == t.leg[l].to {
		return o.here
	}
	return ^uint32(0)
}

// unitArrived puts a unit into the buffer of a leg.
func (c *Controller) unitArrived(i int32, l, unit int, now uint64) {
	t := &c.moving.list[i]
	t.leg[l].here |= 1 << unit
	c.moving.rouse(i)
	c.answerWaiters(i, l, now)
}

// join lets a part wait for the transfer that moves its block.
func (c *Controller) join(i, h int32, now uint64) {
	t, p := &c.moving.list[i], &c.parts[h]
	c.rows[c.requests[p.request].fetch.Tenant][Merged]++
	c.parts.push(&t.waiters, h)
	if !p.write {
		for l := range t.used {
			c.answerWaiters(i, l, now)
		}
	}
}

// answerWaiters gives units in the buffer of a leg to reads of its block that wait, up to the first write, whose
// bytes the buffer does not have.
func (c *Controller) answerWaiters(i int32, l int, now uint64) {
	t := &c.moving.list[i]
	g := &t.leg[l]
	before := none
	for h := t.waiters.first; h != none && !c.parts[h].write; {
		p := &c.parts[h]
		after := p.next
		if p.blocked || p.set != g.set || p.index != g.index {
			before, h = h, after
			continue
		}
		for m := p.units & g.here; m != 0; m &= m - 1 {
			u := bits.TrailingZeros32(m)
			c.answer(h, u, bufferOf(i, l, u), now)
		}
		if p.units != 0 {
			before, h = h, after
			continue
		}
		if before == none {
			t.waiters.first = after
		} else {
			c.parts[before].next = after
		}
		if after == none {
			t.waiters.last = before
		}
		c.putPart(h)
		h = after
	}
}

// end frees a transfer; parts that still wait are looked up again, in their order. They come before parts that wait
// there already: of their block, these had waited behind them for the transfer before this one. They need no entry from
// the table: while they waited for one, later parts of their block, whose entry is there, would overtake them.
func (c *Controller) end(i int32) {
	m := &c.moving
	t := &m.list[i]
	for l := &t.waiters; l.first != none; {
		h := c.parts.pop(l)
		p := &c.parts[h]
		p.missed = p.missed && p.blocked
		p.blocked, p.granted, p.known = false, false, true
		b := &c.banks[c.bankOf(p.set, p.index)]
		c.parts.push(&b.freed, h)
	}
	for k := range c.banks {
		b := &c.banks[k]
		c.parts.prepend(&b.again, &b.freed)
	}
	at := m.head(t.leg[0].set)
	for *at != i {
		at = &m.list[*at].bucket
	}
	*at = t.bucket
	t.bucket, m.free = m.free, i
	t.used = 0
	m.left++
	m.buffers += t.buffers
}

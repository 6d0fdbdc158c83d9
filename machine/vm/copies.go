package vm

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/invariants"
	"github.com/heddle-sim/heddle/mem"
)

// noFrame says that a partition has no copy.
const noFrame = ^uint64(0)

// copyEntryBytes is a partition's entry in the line that says which copies a page has: a frame's number.
const copyEntryBytes = 4

// Partitions is the driver's record of a machine's partitions: the copies that pages have beside their home (page
// replication), each for the SMs of a partition. The leaf of the page table goes on naming the home. Entries of the
// driver's, in memory, list the copies; a walk reads them after the leaf.
type Partitions struct {
	tab    *Tables
	n      int     // partitions of the machine; 0: pages stay where they are
	ofPool []int   // [pool] the partition it is in
	of     []int32 // [frame] number of the set it belongs to as a home or a copy, and 1; 0: to none
	sets   []copySet
	spare  []int32
	frames int        // taken by copies
	room   [][]uint64 // [tenant] addresses of entries that are free again
	lives  []uint32   // [tenant] times it has given everything back: addresses of an earlier life are void
}

// copySet is a page that has copies, or is about to.
type copySet struct {
	vpn     uint64
	home    uint64
	frame   []uint64 // [partition]
	coming  []bool   // [partition] a copy is being made; the home is read meanwhile
	entries uint64   // physical address
	n       int      // copies
	making  int      // copies that are being made; the page may not be written
	life    uint32
	tenant  mem.TenantID
}

// Divide says that the machine's channel groups belong to partitions, in order, and lets pages keep copies in them or
// change homes. Pages must lie in channel groups.
func (c *Partitions) Divide(parts int) {
	c.n = parts
	for g := range c.tab.frames.Pools() {
		c.ofPool = append(c.ofPool, g*parts/c.tab.frames.Pools())
	}
	c.of = make([]int32, c.tab.frames.per*uint64(c.tab.frames.Pools()))
	c.room, c.lives = make([][]uint64, len(c.tab.pt)), make([]uint32, len(c.tab.pt))
}

// Part is the partition of a frame.
func (c *Partitions) Part(ppn uint64) int { return c.ofPool[c.tab.frames.Pool(ppn)] }

// CopyFrames is the number of frames that are copies of pages.
func (c *Partitions) CopyFrames() int { return c.frames }

// set is the set a frame belongs to, nil if to none.
func (c *Partitions) set(ppn uint64) *copySet {
	if f := ppn & (1<<c.tab.LayoutBit() - 1); f < uint64(len(c.of)) && c.of[f] > 0 {
		return &c.sets[c.of[f]-1]
	}
	return nil
}

// Copies lists, by partition, the frames of the copies of the page in a frame, beside the frame of its home; nil if
// it has no copy. Do not change the list.
func (c *Partitions) Copies(ppn uint64) (frames []uint64, home uint64) {
	if s := c.set(ppn); s != nil && s.n > 0 {
		return s.frame, s.home
	}
	return nil, ppn
}

// Shared says that the page in a frame has copies, or is getting some: it must not be written.
func (c *Partitions) Shared(ppn uint64) bool {
	s := c.set(ppn)
	return s != nil && s.n+s.making > 0
}

// Served says for which partitions the page in a frame has a copy, or is getting one, by setting those elements of
// has.
func (c *Partitions) Served(ppn uint64, has []bool) {
	s := c.set(ppn)
	for part := range has {
		has[part] = s != nil && (s.frame[part] != noFrame || s.coming[part])
	}
}

// HasCopy says that Copies listed a frame for a partition.
func HasCopy(frames []uint64, part int) bool { return frames != nil && frames[part] != noFrame }

// near is the frame of a page that a partition uses: its copy, or the home.
func (c *Partitions) near(ppn uint64, part int) uint64 {
	if s := c.set(ppn); s != nil && s.frame[part] != noFrame {
		return s.frame[part]
	}
	return ppn
}

// takeNear takes a frame for a tenant in a partition, in the least used of the channel groups that it
// has there.
func (c *Partitions) takeNear(tenant mem.TenantID, part int) (ppn uint64, err error) {
	best := -1
	for _, g := range c.tab.groups[tenant] {
		if c.ofPool[g] == part && c.tab.frames.Free(g) > 0 &&
			(best < 0 || c.tab.pages[tenant][g] < c.tab.pages[tenant][best]) {
			best = g
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("tenant %d: %w: no free frame in partition %d", tenant, ErrNoFrame, part)
	}
	ppn, _ = c.tab.frames.Alloc(best)
	c.tab.pages[tenant][best]++
	c.tab.hold(ppn, tenant)
	return ppn, nil
}

// resident finds the leaf of a page that is on the device and not on its way.
func (c *Partitions) resident(tenant mem.TenantID, vpn uint64) (p *PageTable, at int, err error) {
	p = c.tab.pt[tenant]
	if at = p.leaf(vpn); at < 0 || State(p.ent[at]&stateMask) != Resident {
		return p, at, fmt.Errorf("tenant %d: virtual page 0x%x is not resident and cannot move", tenant, vpn)
	}
	return p, at, nil
}

// leave makes accesses to a page wait: translated accesses end, the others find the page Moving.
func (c *Partitions) leave(p *PageTable, at int, tenant mem.TenantID, vpn uint64) {
	p.ent[at] = p.ent[at]&^stateMask | uint64(Moving)
	c.tab.shoot(tenant, vpn)
}

// BeginRehome takes a frame for a page in another partition, as BeginMove does in a channel group.
// Accesses that have been translated still reach the old one until Drained.
func (c *Partitions) BeginRehome(tenant mem.TenantID, vpn uint64, part int) (id int32, err error) {
	p, i, err := c.resident(tenant, vpn)
	if err != nil {
		return 0, err
	}
	to, err := c.takeNear(tenant, part)
	if err != nil {
		return 0, err
	}
	from := p.ent[i] >> valueAt
	c.leave(p, i, tenant, vpn)
	return c.tab.record(Move{VPN: vpn, From: from, To: to, Tenant: tenant, Kind: Rehome, drains: true}), nil
}

// BeginCopies takes frames for copies of a page in partitions, leaves out those without a free frame, and appends a
// move for each to ids. The page is Moving until Drained; then its home is read, and each partition switches to its
// copy when that is there. It is an error if it gets none.
func (c *Partitions) BeginCopies(tenant mem.TenantID, vpn uint64, parts []int, ids []int32) ([]int32, error) {
	p, i, err := c.resident(tenant, vpn)
	if err != nil {
		return ids, err
	}
	home, begun := p.ent[i]>>valueAt, len(ids)
	s := c.set(home)
	for _, part := range parts {
		if part == c.Part(home) || s != nil && (s.frame[part] != noFrame || s.coming[part]) {
			continue
		}
		var to uint64
		if to, err = c.takeNear(tenant, part); err == nil {
			m := Move{VPN: vpn, From: home, To: to, Tenant: tenant, Kind: Copy, drains: true}
			ids = append(ids, c.tab.record(m))
		}
	}
	if len(ids) == begun {
		return ids, fmt.Errorf("tenant %d: virtual page 0x%x gets no copy: %w", tenant, vpn, ErrNoFrame)
	}
	if s == nil {
		if err = c.newSet(tenant, vpn, home); err != nil {
			for _, id := range ids[begun:] {
				c.tab.moves[id].live = false
				c.tab.release(tenant, c.tab.moves[id].To)
			}
			c.tab.tell(tenant)
			return ids[:begun], err
		}
	}
	c.frames += len(ids) - begun
	for _, id := range ids[begun:] {
		c.set(home).coming[c.Part(c.tab.moves[id].To)] = true
	}
	c.leave(p, i, tenant, vpn)
	return ids, nil
}

// newSet makes room for the record of a page's copies.
func (c *Partitions) newSet(tenant mem.TenantID, vpn, home uint64) error {
	if len(c.room[tenant]) == 0 { // a node's worth of them
		node, err := c.tab.node(int(tenant))
		if err != nil {
			return err
		}
		for at := 0; at+c.n*copyEntryBytes <= nodeBytes; at += c.n * copyEntryBytes {
			c.room[tenant] = append(c.room[tenant], node+uint64(at))
		}
	}
	n := int32(len(c.sets))
	if k := len(c.spare); k > 0 {
		n, c.spare = c.spare[k-1], c.spare[:k-1]
	} else {
		c.sets = append(c.sets, copySet{frame: make([]uint64, c.n), coming: make([]bool, c.n)})
	}
	s, last := &c.sets[n], len(c.room[tenant])-1
	s.vpn, s.home, s.tenant, s.life = vpn, home, tenant, c.lives[tenant]
	s.n, s.making, s.entries = 0, 0, c.room[tenant][last]
	c.room[tenant] = c.room[tenant][:last]
	for i := range s.frame {
		s.frame[i], s.coming[i] = noFrame, false
	}
	c.of[home] = n + 1
	return nil
}

// BeginCollapse makes a page lose its copies: it is Moving until EndMove. Until then accesses that have been
// translated still reach the copies, whose frames are appended to frames. Copies that are being made are given up,
// and the page stays Moving until the last of them has ended, too.
func (c *Partitions) BeginCollapse(tenant mem.TenantID, vpn uint64, frames []uint64) (int32, []uint64, error) {
	p, i, err := c.resident(tenant, vpn)
	if err != nil {
		return 0, frames, err
	}
	home := p.ent[i] >> valueAt
	for _, f := range c.set(home).frame {
		if f != noFrame {
			frames = append(frames, f)
		}
	}
	for k := range c.tab.moves {
		if m := &c.tab.moves[k]; m.live && m.Kind == Copy && m.Tenant == tenant && m.From == home {
			m.void = true
		}
	}
	c.leave(p, i, tenant, vpn)
	return c.tab.record(Move{VPN: vpn, From: home, To: home, Tenant: tenant, Kind: Collapse, drains: true}), frames, nil
}

// Drained says that no translated access reaches the old frame of a move any longer. A page that gets copies may be
// read again.
func (c *Partitions) Drained(id int32) {
	m := &c.tab.moves[id]
	m.drains = false
	if m.Kind == Copy && !m.Void() {
		c.set(m.From).making++
		c.stay(m)
	}
}

// stay makes the page of a move Resident where it is.
func (c *Partitions) stay(m *Move) {
	p := c.tab.pt[m.Tenant]
	i := p.leaf(m.VPN)
	p.ent[i] = p.ent[i]&^stateMask | uint64(Resident)
}

// copying says that copies of the page in a frame are being made, and marks them as given up by their owner
// where die says so.
func (c *Partitions) copying(tenant mem.TenantID, home uint64, die bool) (any bool) {
	if c.set(home) == nil {
		return false
	}
	for i := range c.tab.moves {
		if m := &c.tab.moves[i]; m.live && m.Tenant == tenant && m.From == home {
			any = true
			m.dead = m.dead || die
		}
	}
	return any
}

// endCopy notes a copy whose bytes are there, or copies that are dropped. A page that has lost its copies
// is Resident again when nothing of it is on its way.
func (c *Partitions) endCopy(m *Move) {
	s := c.set(m.From)
	switch {
	case m.Kind == Collapse && !m.dead:
		c.drop(s)
	case m.Kind == Copy && m.Void():
		c.frames--
		c.tab.release(m.Tenant, m.To)
	case m.Kind == Copy:
		part := c.Part(m.To)
		s.frame[part], s.coming[part] = m.To, false
		s.n++
		s.making--
		c.of[m.To] = c.of[m.From]
		if c.tab.ShootdownIn != nil {
			c.tab.ShootdownIn(m.Tenant, m.VPN, part)
		}
		return
	}
	if c.OnItsWay(m) {
		return
	}
	if m.dead {
		c.tab.release(m.Tenant, m.From)
		return
	}
	c.stay(m)
}

// OnItsWay says that other moves of a move's page have not ended.
func (c *Partitions) OnItsWay(m *Move) bool { return c.tab.moving(m.Tenant, m.From) }

// drop gives the frames of a set's copies back, and the set.
func (c *Partitions) drop(s *copySet) {
	n := c.of[s.home]
	c.of[s.home] = 0
	for i, f := range s.frame {
		if f != noFrame {
			s.frame[i], c.of[f] = noFrame, 0
			c.frames--
			c.tab.release(s.tenant, f)
		}
	}
	if s.n = 0; s.life == c.lives[s.tenant] {
		c.room[s.tenant] = append(c.room[s.tenant], s.entries)
	}
	c.spare = append(c.spare, n-1)
}

// First is a page that has copies and is not on its way; false if there is none.
func (c *Partitions) First() (tenant mem.TenantID, vpn uint64, ok bool) {
	for i := range c.sets {
		s := &c.sets[i]
		if s.n == 0 {
			continue
		}
		if _, state := c.tab.Lookup(s.tenant, s.vpn); state == Resident {
			return s.tenant, s.vpn, true
		}
	}
	return 0, 0, false
}

// CopyRoom is the number of frames that copies of pages may still take: a tenth of memory stays free once all
// allocations have their frames.
func (c *Partitions) CopyRoom() int {
	all, free := 0, 0
	for g := range c.tab.frames.Pools() {
		all += c.tab.frames.PerPool()
		free += c.tab.frames.Free(g)
	}
	for _, p := range c.tab.pt {
		if len(p.addr) > 0 {
			free -= p.awaited(0, 0)
		}
	}
	return max(0, free-all/10)
}

// awaited is the number of pages under a node that get a frame when they are touched.
func (p *PageTable) awaited(node, depth int) (n int) {
	for _, e := range p.ent[node*nodeEntries : (node+1)*nodeEntries] {
		switch s := State(e & stateMask); {
		case depth == p.levels-1 && s == Host:
			n++
		case depth < p.levels-1 && s == Resident:
			n += p.awaited(int(e>>valueAt), depth+1)
		}
	}
	return n
}

// checkWrite fails, in builds with the invariants tag, when a page that has copies is written: the others
// would be stale.
func (c *Partitions) checkWrite(tenant mem.TenantID, ppn uint64) {
	if s := c.set(ppn); s != nil && s.n+s.making > 0 {
		invariants.Fail("tenant %d writes to frame %#x, whose page has %d copies, and gets %d", tenant, ppn, s.n,
			s.making)
	}
}

// view is the number under which the L2 TLB has a page that has copies, as a partition sees it: above
// those of pages, which have fewer bits.
func view(vpn uint64, part int) uint64 { return vpn | uint64(part+1)<<viewAt }

const viewAt = 48

// near is the frame in which an SM finds a page whose walk has ended; the L2 TLB gets it as its
// partition's view.
func (m *MMU) near(e *miss, sm int16) uint64 {
	if m.tab.Parts.set(e.ppn) == nil {
		return e.ppn
	}
	part := m.cfg.Part[sm]
	ppn := m.tab.Parts.near(e.ppn, part)
	m.l2.Insert(e.tenant, view(e.vpn, part), ppn)
	return ppn
}

// InvalidateView removes the L2 TLB's translations of a page for a partition, which now has another frame of it.
func (m *MMU) InvalidateView(tenant mem.TenantID, vpn uint64, part int) {
	m.row[tenant][Shootdowns]++
	m.l2.InvalidatePage(tenant, view(vpn, part))
}

// Again looks up a translation again that was answered and must not be used.
func (m *MMU) Again(r *Reply) {
	m.bankOf(r.VPN).retry.Push(request{vpn: r.VPN, token: r.Token, sm: r.SM, tenant: r.Tenant})
	m.active[r.Tenant]++
}

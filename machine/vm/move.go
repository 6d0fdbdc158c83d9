package vm

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/internal/invariants"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
)

// Move is a page, or a frame of page-table nodes, on its way to another frame.
type Move struct {
	VPN, From, To uint64
	Tenant        mem.TenantID
	Kind          MoveKind
	Node          bool // a frame of table nodes: VPN means nothing
	live          bool
	dead          bool // its owner gave the page up meanwhile
	void          bool // the page loses its copies, this one, which is being made, among them
	drains        bool // accesses that had been translated may still reach From
}

// Void says that the bytes of a move are no longer needed.
func (m *Move) Void() bool { return m.dead || m.void }

// MoveKind is the reason for which a page moves.
type MoveKind uint8

const (
	// Follow: it follows channel groups that change hands.
	Follow MoveKind = iota
	// Rehome: it goes to another partition.
	Rehome
	// Copy: it stays, and gets a copy.
	Copy
	// Collapse: it stays, and loses its copies. No byte is copied, and To is From.
	Collapse
)

// BeginMove takes a frame for a resident page in the group of the mask that holds
// the fewest pages of the tenant. The page is Moving until EndMove: the caller
// copies the bytes. The error wraps ErrNoFrame when the groups are full.
func (t *Tables) BeginMove(tenant mem.TenantID, vpn, groups uint64) (id int32, err error) {
	p := t.pt[tenant]
	i := p.leaf(vpn)
	if i < 0 || State(p.ent[i]&stateMask) != Resident {
		return 0, fmt.Errorf("tenant %d: virtual page 0x%x is not resident and cannot move", tenant, vpn)
	}
	from := p.ent[i] >> valueAt
	to, err := t.target(tenant, from, groups)
	if err != nil {
		return 0, err
	}
	p.ent[i] = p.ent[i]&^stateMask | uint64(Moving)
	t.shoot(tenant, vpn)
	return t.record(Move{VPN: vpn, From: from, To: to, Tenant: tenant}), nil
}

// BeginNodeMove takes a frame for one frame of table nodes outside the groups of the mask; none is true if there is
// none left. No walk of the tenant may be in progress until EndMove.
func (t *Tables) BeginNodeMove(tenant mem.TenantID, groups uint64) (id int32, none bool, err error) {
	for _, from := range t.nodes[tenant] {
		if !t.outside(tenant, from, groups) || t.moving(tenant, from) {
			continue
		}
		to, err := t.target(tenant, from, groups)
		if err != nil {
			return 0, false, err
		}
		return t.record(Move{From: from, To: to, Tenant: tenant, Node: true}), false, nil
	}
	return 0, true, nil
}

// outside says that a frame has to be left: it is not in the groups of the mask,
// or, where pages span channels, not of the tenant's present layout.
func (t *Tables) outside(tenant mem.TenantID, ppn, groups uint64) bool {
	if !t.frames.PerGroup() {
		return t.old(tenant, ppn)
	}
	return groups>>t.frames.Pool(ppn)&1 == 0
}

// target is where a page's bytes go: a new frame, or the same one with another layout.
func (t *Tables) target(tenant mem.TenantID, from, groups uint64) (to uint64, err error) {
	if t.frames.PerGroup() {
		return t.takeIn(tenant, groups)
	}
	to = from&(1<<t.LayoutBit()-1) | t.layout[tenant]<<t.LayoutBit()
	t.hold(to, tenant)
	return to, nil
}

// LayoutBit is the lowest bit of a frame number that names an address map.
func (t *Tables) LayoutBit() uint { return addrmap.TenantShift - t.bits }

// old says that a frame belongs to an earlier layout of the tenant.
func (t *Tables) old(tenant mem.TenantID, ppn uint64) bool {
	return ppn>>t.LayoutBit() != t.layout[tenant]
}

// SetLayout gives a tenant's new pages an address map of their own: the bits of their addresses from
// addrmap.TenantShift on (UGPU-Ori, and every isolated slice if pages span all channels). Its existing pages belong
// to an earlier layout from then on.
func (t *Tables) SetLayout(tenant mem.TenantID, index uint64) {
	t.layout[tenant] = index
	t.stale[tenant] = 0
	for _, n := range t.pages[tenant] {
		t.stale[tenant] += n
	}
	t.carve[tenant] = span{} // the rest of a frame of nodes stays unused
}

// Layout is the index that SetLayout set last.
func (t *Tables) Layout(tenant mem.TenantID) uint64 { return t.layout[tenant] }

// takeIn takes a frame in the least used group of the mask that has one.
func (t *Tables) takeIn(tenant mem.TenantID, groups uint64) (ppn uint64, err error) {
	v := t.place.view(int(tenant), t.turn[tenant], -1)
	for m := groups; m != 0; m &= m - 1 {
		if g := bits.TrailingZeros64(m); t.frames.Free(g) > 0 {
			v.Add(g, t.pages[tenant][g])
		}
	}
	if len(v.Groups) == 0 {
		return 0, fmt.Errorf("tenant %d: %w: no free frame in the channel groups of mask %#x", tenant, ErrNoFrame,
			groups)
	}
	best := v.Groups[t.place.again(v)]
	ppn, _ = t.frames.Alloc(best)
	t.pages[tenant][best]++
	t.hold(ppn, tenant)
	return ppn, nil
}

func (t *Tables) record(m Move) int32 {
	m.live = true
	for i := range t.moves {
		if !t.moves[i].live {
			t.moves[i] = m
			return int32(i)
		}
	}
	t.moves = append(t.moves, m)
	return int32(len(t.moves) - 1)
}

// MoveOf describes a move in flight.
func (t *Tables) MoveOf(id int32) *Move { return &t.moves[id] }

// EndMove says that the bytes are at their new place: the page is Resident there
// and the old frame free.
func (t *Tables) EndMove(id int32) {
	m := &t.moves[id]
	m.live = false
	if m.Kind >= Copy {
		t.Parts.endCopy(m)
		t.tell(m.Tenant)
		return
	}
	if t.frames.PerGroup() {
		t.release(m.Tenant, m.From)
	} else {
		t.relaid(m)
	}
	switch {
	case m.dead:
		t.release(m.Tenant, m.To)
	case m.Node:
		t.rebase(m)
	default:
		p := t.pt[m.Tenant]
		i := p.leaf(m.VPN)
		p.ent[i] = m.To<<valueAt | p.ent[i]&(refsMask<<refsAt) | uint64(Resident)
	}
	t.tell(m.Tenant)
}

// relaid records a frame whose bytes now lie as its tenant's new layout has them.
func (t *Tables) relaid(m *Move) {
	t.stale[m.Tenant]--
	t.freed = append(t.freed, m.From)
	if invariants.On {
		delete(t.holder, m.From)
	}
}

// rebase points the nodes in a frame that has moved to their new addresses.
func (t *Tables) rebase(m *Move) {
	p, c := t.pt[m.Tenant], &t.carve[m.Tenant]
	for i, a := range p.addr {
		if a>>t.bits == m.From {
			p.addr[i] = m.To<<t.bits | a&(1<<t.bits-1)
		}
	}
	if c.end == (m.From+1)<<t.bits {
		c.next, c.end = (m.To+1)<<t.bits-(c.end-c.next), (m.To+1)<<t.bits
	}
	n := t.nodes[m.Tenant]
	n[slices.Index(n, m.From)] = m.To
}

// moving says whether a frame is the source of a move in flight.
func (t *Tables) moving(tenant mem.TenantID, from uint64) bool {
	for i := range t.moves {
		if m := &t.moves[i]; m.live && m.Tenant == tenant && m.From == from {
			return true
		}
	}
	return false
}

// hold notes the tenant that has a frame, for CheckAccess.
func (t *Tables) hold(ppn uint64, tenant mem.TenantID) {
	if !invariants.On {
		return
	}
	if t.holder == nil {
		t.holder = map[uint64]mem.TenantID{}
	}
	if was, taken := t.holder[ppn]; taken {
		invariants.Fail("frame %#x of tenant %d is given to tenant %d", ppn, was, tenant)
	}
	t.holder[ppn] = tenant
}

// CheckAccess fails, in builds with the invariants tag, when an application's
// access goes to a frame it does not have, or to one whose bytes are on their way
// elsewhere, or when it writes to a page that has copies: a write there would be lost, a read might miss one.
func (t *Tables) CheckAccess(tenant mem.TenantID, paddr uint64, write bool) {
	ppn := paddr >> t.bits
	if who, taken := t.holder[ppn]; !taken || who != tenant {
		invariants.Fail("tenant %d reaches frame %#x, which it does not have", tenant, ppn)
	}
	if write {
		t.Parts.checkWrite(tenant, ppn)
	}
	for i := range t.moves {
		switch m := &t.moves[i]; {
		case !m.live || m.Kind == Collapse:
		case m.From == ppn && m.Tenant == tenant && !m.drains && (m.Kind != Copy || m.dead):
			invariants.Fail("tenant %d reaches frame %#x, whose page is being moved", tenant, ppn)
		case m.To == ppn:
			invariants.Fail("tenant %d reaches frame %#x before its page has arrived", tenant, ppn)
		}
	}
}

// giveUp frees what an entry that goes away holds.
func (t *Tables) giveUp(tenant mem.TenantID, vpn, entry uint64) {
	switch State(entry & stateMask) {
	case Resident:
		if !t.Parts.copying(tenant, entry>>valueAt, true) {
			t.release(tenant, entry>>valueAt)
		}
		t.shoot(tenant, vpn)
	case Moving: // the frames are free when the copy ends
		for i := range t.moves {
			if m := &t.moves[i]; m.live && !m.Node && m.Tenant == tenant && m.VPN == vpn {
				m.dead = true
			}
		}
	}
}

// NextIn finds the first resident page at or after vpn in a group of the mask; with
// an empty mask, of an earlier layout.
func (t *Tables) NextIn(tenant mem.TenantID, vpn, groups uint64) (found uint64, ok bool) {
	p := t.pt[tenant]
	if len(p.addr) == 0 {
		return 0, false
	}
	return t.nextIn(tenant, p, 0, 0, vpn, groups)
}

func (t *Tables) nextIn(tenant mem.TenantID, p *PageTable, node, depth int, vpn, groups uint64) (uint64, bool) {
	shift := uint(levelBits * (p.levels - 1 - depth))
	for i := vpn >> shift & (nodeEntries - 1); i < nodeEntries; i++ {
		e := p.ent[uint64(node*nodeEntries)+i]
		at := vpn>>(shift+levelBits)<<(shift+levelBits) | i<<shift // the first page under this entry
		at = max(at, vpn)
		switch {
		case depth < p.levels-1:
			if e != 0 {
				if v, ok := t.nextIn(tenant, p, int(e>>valueAt), depth+1, at, groups); ok {
					return v, true
				}
			}
		case State(e&stateMask) == Resident && (groups == 0 && t.old(tenant, e>>valueAt) ||
			groups>>t.frames.Pool(e>>valueAt)&1 != 0):
			return at, true
		}
	}
	return 0, false
}

// GroupMask is the groups a tenant may use, as a bit mask.
func (t *Tables) GroupMask(tenant mem.TenantID) (mask uint64) {
	for _, g := range t.groups[tenant] {
		mask |= 1 << g
	}
	return mask
}

// Outside is the number of frames the tenant still has in groups it may not use, or
// of an earlier layout.
func (t *Tables) Outside(tenant mem.TenantID) (n int) {
	if !t.frames.PerGroup() {
		return t.stale[tenant]
	}
	mask := t.GroupMask(tenant)
	for g, k := range t.pages[tenant] {
		if mask>>g&1 == 0 {
			n += k
		}
	}
	return n
}

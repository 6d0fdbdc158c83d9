package vm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/internal/invariants"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
)

// ErrNoFrame says that no group of the tenant has a free frame: the caller evicts
// or gives up.
var ErrNoFrame = errors.New("out of device memory")

// Tables is the driver's view of memory: every tenant's page table, the frames and the page placement. It takes no
// time; the MMU adds time.
type Tables struct {
	bits   uint // log2 of the page size
	pt     []*PageTable
	frames *Frames
	place  pageplacer
	groups [][]int                 // [tenant] channel groups it may use, ascending
	turn   []int                   // [tenant] pages placed so far
	pages  [][]int                 // [tenant][pool] pages it has
	carve  []span                  // [tenant] rest of the frame its table nodes are cut from
	nodes  [][]uint64              // [tenant] frames that hold table nodes
	moves  []Move                  // by id; those in flight are live
	Parts  Partitions              // copies of pages beside their homes
	layout []uint64                // [tenant] address map of its new pages, where pages span channels
	stale  []int                   // [tenant] pages, and frames of nodes, of an earlier layout
	holder map[uint64]mem.TenantID // the tenant that has each frame, in builds with the invariants tag
	// Shootdown is called with every translation that is no longer valid, Freed with the frames, in order, that no
	// longer hold a page or node of a tenant.
	Shootdown func(tenant mem.TenantID, vpn uint64)
	Freed     func(tenant mem.TenantID, frames []uint64)
	// ShootdownIn is called with a partition whose translation of a page is out of date, but not wrong: the partition
	// has a copy now, and may still use the home.
	ShootdownIn func(tenant mem.TenantID, vpn uint64, part int)
	freed       []uint64 // Freed will be called with
}

type span struct{ next, end uint64 }

// NewTables makes empty page tables for a number of tenants, each of which may use
// all channel groups until SetGroups says otherwise.
func NewTables(s *sheets.Machine, m *addrmap.Map, tenants int) (*Tables, error) {
	levels := s.VM.Levels
	switch s.VM.Page {
	case 4096:
	case 2 << 20:
		levels-- // the last level's 9 bits are part of the offset
	default:
		return nil, fmt.Errorf("machine %s: vm.page is %d bytes: use 4096 or 2097152", s.Name, s.VM.Page)
	}
	if levels < 1 || s.VM.Levels > 5 {
		return nil, fmt.Errorf("machine %s: vm.levels is %d: use 2 to 5", s.Name, s.VM.Levels)
	}
	f, err := NewFrames(s, m)
	if err != nil {
		return nil, err
	}
	place, err := newPageplacer(s, f, tenants)
	if err != nil {
		return nil, err
	}
	t := &Tables{
		bits: f.bits, frames: f, place: place, turn: make([]int, tenants), carve: make([]span, tenants),
		nodes: make([][]uint64, tenants), layout: make([]uint64, tenants), stale: make([]int, tenants),
	}
	for range tenants {
		all := make([]int, f.Pools())
		for i := range all {
			all[i] = i
		}
		t.groups = append(t.groups, all)
		t.pages = append(t.pages, make([]int, f.Pools()))
	}
	t.Parts.tab = t
	t.pt = make([]*PageTable, tenants)
	for i := range t.pt {
		t.pt[i] = &PageTable{levels: levels, node: func() (uint64, error) { return t.node(i) }}
	}
	return t, nil
}

// SetGroups names the channel groups a tenant's new pages (and table nodes) may
// use. Pages it already has stay where they are. With one pool for all channels
// only the address map can isolate (addrmap.Map.Restrict), and this does nothing.
func (t *Tables) SetGroups(tenant mem.TenantID, groups []int) error {
	if len(groups) == 0 {
		return fmt.Errorf("tenant %d must own at least one channel group", tenant)
	}
	if !t.frames.PerGroup() {
		return nil
	}
	own := slices.Clone(groups)
	slices.Sort(own)
	if own[0] < 0 || own[len(own)-1] >= t.frames.Pools() || len(slices.Compact(own)) != len(groups) {
		return fmt.Errorf("channel groups %v of tenant %d: give distinct numbers from 0 to %d", groups, tenant,
			t.frames.Pools()-1)
	}
	t.groups[tenant] = own
	return nil
}

// Color gives each tenant pages, and nodes of its tables, of some colors only: owner has the
// pool of each color, pool that of each tenant. Nothing may be mapped yet.
func (t *Tables) Color(owner []uint8, pool []int) error {
	pools := slices.Max(pool) + 1
	for _, p := range owner {
		pools = max(pools, int(p)+1)
	}
	if err := t.frames.Color(owner, pools); err != nil {
		return err
	}
	for tenant, p := range pool {
		t.groups[tenant], t.pages[tenant] = []int{p}, make([]int, pools)
	}
	return nil
}

// node cuts a 4 KB table node from a frame of the tenant's own groups, so that its
// walks stay in its channels.
func (t *Tables) node(tenant int) (uint64, error) {
	c := &t.carve[tenant]
	if c.next == c.end {
		ppn, err := t.frame(tenant, -1)
		if err != nil {
			return 0, err
		}
		t.nodes[tenant] = append(t.nodes[tenant], ppn)
		c.next, c.end = ppn<<t.bits, (ppn+1)<<t.bits
	}
	c.next += nodeBytes
	return c.next - nodeBytes, nil
}

// frame takes a frame in the group that the page placement chooses.
func (t *Tables) frame(tenant, near int) (uint64, error) {
	v := t.place.view(tenant, t.turn[tenant], near)
	for _, g := range t.groups[tenant] {
		if t.frames.Free(g) > 0 {
			v.Add(g, t.pages[tenant][g])
		}
	}
	if len(v.Groups) == 0 {
		return 0, fmt.Errorf("tenant %d: %w: no free frame in channel groups %v", tenant, ErrNoFrame, t.groups[tenant])
	}
	t.turn[tenant]++
	g := v.Groups[t.place.first(v)]
	t.pages[tenant][g]++
	ppn, _ := t.frames.Alloc(g) // Free(g) > 0 was checked above
	ppn |= t.layout[tenant] << t.LayoutBit()
	t.hold(ppn, mem.TenantID(tenant))
	return ppn, nil
}

// table is the tenant's page table, with its root.
func (t *Tables) table(tenant mem.TenantID) (*PageTable, error) {
	p := t.pt[tenant]
	if len(p.addr) == 0 {
		if _, err := p.grow(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// MapPage gives a reserved page a frame if it has none, and returns the frame; near is the channel group nearest to
// the SM that asks, or -1. The error wraps ErrNoFrame when memory is exhausted.
func (t *Tables) MapPage(tenant mem.TenantID, vpn uint64, near int) (uint64, error) {
	p := t.pt[tenant]
	i := p.leaf(vpn)
	if i < 0 || p.ent[i] == 0 {
		return 0, fmt.Errorf("tenant %d: no allocation covers virtual page 0x%x", tenant, vpn)
	}
	if s := State(p.ent[i] & stateMask); s == Resident || s == Moving {
		return p.ent[i] >> valueAt, nil
	}
	ppn, err := t.frame(int(tenant), near)
	if err != nil {
		return 0, err
	}
	p.ent[i] = ppn<<valueAt | p.ent[i]&(refsMask<<refsAt) | uint64(Resident)
	return ppn, nil
}

func (t *Tables) release(tenant mem.TenantID, ppn uint64) {
	if s := t.Parts.set(ppn); s != nil && s.home == ppn {
		t.Parts.drop(s)
	}
	t.pages[tenant][t.frames.Pool(ppn)]--
	if invariants.On {
		delete(t.holder, ppn)
	}
	if t.old(tenant, ppn) {
		t.stale[tenant]--
	}
	t.frames.Release(ppn & (1<<t.LayoutBit() - 1))
	t.freed = append(t.freed, ppn)
}

// tell reports the frames that a tenant has given back.
func (t *Tables) tell(tenant mem.TenantID) {
	if t.Freed != nil && len(t.freed) > 0 {
		slices.Sort(t.freed)
		t.Freed(tenant, t.freed)
	}
	t.freed = t.freed[:0]
}

func (t *Tables) shoot(tenant mem.TenantID, vpn uint64) {
	if t.Shootdown != nil {
		t.Shootdown(tenant, vpn)
	}
}

// pageRange is the first page of a region and the first one past it.
func (t *Tables) pageRange(base, bytes uint64) (first, end uint64) {
	return base >> t.bits, (base + bytes + 1<<t.bits - 1) >> t.bits
}

// MapRegion gives every page of a region a frame now (cudaMalloc). On error nothing
// of it stays mapped.
func (t *Tables) MapRegion(tenant mem.TenantID, base, bytes uint64) error {
	if err := t.Reserve(tenant, base, bytes); err != nil {
		return err
	}
	first, end := t.pageRange(base, bytes)
	for vpn := first; vpn < end; vpn++ {
		if _, err := t.MapPage(tenant, vpn, -1); err != nil {
			t.Unmap(tenant, base, bytes)
			return fmt.Errorf("mapping %d bytes at 0x%x, %d bytes done: %w", bytes, base, (vpn-first)<<t.bits, err)
		}
	}
	return nil
}

// Reserve makes a region legal without frames: the first access to a page faults
// and places it (managed memory, or placement on first touch).
func (t *Tables) Reserve(tenant mem.TenantID, base, bytes uint64) error {
	p, err := t.table(tenant)
	if err != nil {
		return err
	}
	first, end := t.pageRange(base, bytes)
	for vpn := first; vpn < end; vpn++ {
		i, err := p.make(vpn)
		if err == nil && p.ent[i]>>refsAt&refsMask == refsMask {
			err = fmt.Errorf("virtual page 0x%x is part of too many allocations", vpn)
		}
		if err != nil {
			t.unmapPages(tenant, first, vpn)
			return err
		}
		if State(p.ent[i]&stateMask) == Absent {
			p.ent[i] = uint64(Host)
		}
		p.ent[i] += 1 << refsAt
	}
	return nil
}

// Unmap frees a region (cudaFree). A page stays as long as another region touches it.
func (t *Tables) Unmap(tenant mem.TenantID, base, bytes uint64) {
	first, end := t.pageRange(base, bytes)
	t.unmapPages(tenant, first, end)
	t.tell(tenant)
}

func (t *Tables) unmapPages(tenant mem.TenantID, first, end uint64) {
	p := t.pt[tenant]
	for vpn := first; vpn < end; vpn++ {
		i := p.leaf(vpn)
		if i < 0 || p.ent[i]>>refsAt&refsMask == 0 {
			continue
		}
		p.ent[i] -= 1 << refsAt
		if p.ent[i]>>refsAt&refsMask > 0 {
			continue // another region touches the page
		}
		t.giveUp(tenant, vpn, p.ent[i])
		p.ent[i] = 0
	}
}

// ReleaseTenant frees everything of a tenant, table nodes included. The caller has drained its requests and
// invalidates its TLB entries (TLB.InvalidateTenant, MMU.InvalidateTenant).
func (t *Tables) ReleaseTenant(tenant mem.TenantID) {
	p := t.pt[tenant]
	for i := range t.moves { // their frames go when the copies end
		if m := &t.moves[i]; m.live && m.Tenant == tenant {
			m.dead = true
		}
	}
	t.releaseLeaves(tenant, p, 0, 0)
	for _, ppn := range t.nodes[tenant] {
		if !t.moving(tenant, ppn) {
			t.release(tenant, ppn)
		}
	}
	p.ent, p.addr = p.ent[:0], p.addr[:0]
	if t.Parts.n > 0 {
		t.Parts.room[tenant] = nil
		t.Parts.lives[tenant]++
	}
	t.nodes[tenant], t.carve[tenant], t.turn[tenant] = t.nodes[tenant][:0], span{}, 0
	t.tell(tenant)
}

func (t *Tables) releaseLeaves(tenant mem.TenantID, p *PageTable, node, depth int) {
	if len(p.addr) == 0 {
		return
	}
	for _, e := range p.ent[node*nodeEntries : (node+1)*nodeEntries] {
		if State(e&stateMask) != Resident { // of a page that moves, the move's end releases the frames
			continue
		}
		if depth < p.levels-1 {
			t.releaseLeaves(tenant, p, int(e>>valueAt), depth+1)
		} else if !t.Parts.copying(tenant, e>>valueAt, false) {
			t.release(tenant, e>>valueAt)
		}
	}
}

// UnmapToHost moves the resident pages of a region to the host and returns their number; the next access faults.
// Pages that the region shares with a neighbour move, too.
func (t *Tables) UnmapToHost(tenant mem.TenantID, base, bytes uint64) int {
	p := t.pt[tenant]
	first, end := t.pageRange(base, bytes)
	n := 0
	for vpn := first; vpn < end; vpn++ {
		i := p.leaf(vpn)
		if i < 0 || State(p.ent[i]&stateMask) != Resident && State(p.ent[i]&stateMask) != Moving {
			continue
		}
		t.giveUp(tenant, vpn, p.ent[i])
		p.ent[i] = p.ent[i]&(refsMask<<refsAt) | uint64(Host)
		n++
	}
	t.tell(tenant)
	return n
}

// Translate translates one address without taking time.
func (t *Tables) Translate(tenant mem.TenantID, va uint64) (pa uint64, s State) {
	ppn, s := t.Lookup(tenant, va>>t.bits)
	return ppn<<t.bits | va&(1<<t.bits-1), s
}

// Lookup is the frame and state of a page.
func (t *Tables) Lookup(tenant mem.TenantID, vpn uint64) (ppn uint64, s State) {
	return t.pt[tenant].Lookup(vpn)
}

// PageBits is log2 of the page size.
func (t *Tables) PageBits() uint { return t.bits }

// Frames is the frame allocator.
func (t *Tables) Frames() *Frames { return t.frames }

// Pages is the number of frames a tenant has in a pool, table nodes included.
func (t *Tables) Pages(tenant mem.TenantID, pool int) int { return t.pages[tenant][pool] }

// Groups is the list of channel groups a tenant may use; it must not be changed.
func (t *Tables) Groups(tenant mem.TenantID) []int { return t.groups[tenant] }

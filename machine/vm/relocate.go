package vm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// relocator is the driver's part of a change of channel groups (UGPU, section 4.4). A page touched
// in a lost group moves to the least used group left; a page touched outside the gained groups
// moves into them until the tenant's pages are spread evenly. Each move costs the driver a fixed
// time (section 4.5: 1000 GPU cycles), as many at once as it handles far faults, and then the copy,
// which is the machine's: it takes ids from NextCopy and answers with Copied. Where the sheet has
// vm.driver_turns, the driver and the copies take the applications in turn.
//
// A page that is not touched stays in a lost group until its frame is needed: then the driver moves
// pages out in the background, from the group that holds most, a few at a time.
type relocator struct {
	tab      *Tables
	mmu      *MMU
	cost     uint64               // core cycles of the driver per page
	slots    int                  // touched pages at once
	sweepMax int                  // pages in the background at once
	turns    bool                 // applications are served in turn, not in order of arrival
	asked    turnQueue[pageFault] // touched where they may not stay
	work     mem.Ring[pageFault]  // in the driver's hands, oldest first
	copies   turnQueue[int32]     // moves the machine has not begun
	late     mem.Queue[pageFault] // resolved while their tenant was held
	held     []bool               // [tenant] in the middle of a hand-over
	inFlight []int                // [tenant] moves from the driver's first look to the end of the copy
	swept    []bool               // by move id
	sweeping int                  // swept pages on the move
	cursor   []uint64             // [tenant] page the search for the next one starts at
	laid     int                  // tenant whose page got another layout last
	low      int                  // free frames of a group below which untouched pages of others have to go

	// Moves is called when pages begin (n > 0) or end to be on the move, Copy when one waits to be
	// copied.
	Moves func(now uint64, n int)
	Copy  func(now uint64)
	// Homes is the part for pages that get other homes, or copies.
	Homes homing

	// Touched, Swept and Gained count pages moved, [tenant][group]: left the group
	// because they were touched there or because the frame was needed, came into it.
	Touched, Swept, Gained [][]uint64
}

// homing is the driver's part in pages that get other homes, or copies.
type homing struct {
	// Ended gets every move of such a page when it has ended.
	Ended func(now uint64, m *Move)
	// Reclaim begins to give back frames that are only copies; false if there are none. Reclaimed follows.
	Reclaim func(now uint64) bool
	short   mem.Queue[pageFault] // handled, but every frame is taken: they wait for some that Reclaim gives back
}

func (r *relocator) init(s *sheets.Machine, slots int, m *MMU) {
	n, pools := len(m.tab.pt), m.tab.frames.Pools()
	r.tab, r.mmu = m.tab, m
	r.cost, r.sweepMax, r.slots = uint64(s.VM.DriverCycles), s.VM.SweepPages, slots
	r.turns, r.laid = s.VM.DriverTurns, n-1
	r.asked, r.copies = newTurnQueue[pageFault](n, r.turns), newTurnQueue[int32](n, r.turns)
	r.Copy = func(uint64) {}
	r.work = mem.NewRing[pageFault](slots + r.sweepMax)
	r.cursor = make([]uint64, n)
	r.held, r.inFlight = make([]bool, n), make([]int, n)
	r.low = max(1, int(m.tab.frames.per/16))
	for range n {
		r.Touched = append(r.Touched, make([]uint64, pools))
		r.Swept = append(r.Swept, make([]uint64, pools))
		r.Gained = append(r.Gained, make([]uint64, pools))
	}
}

// Hold keeps resolved pages from the MMU until Release, so that the tenant's walks come to rest.
func (r *relocator) Hold(tenant mem.TenantID) { r.held[tenant] = true }

// Release ends Hold.
func (r *relocator) Release(now uint64, tenant mem.TenantID) {
	r.held[tenant] = false
	for n := r.late.Len(); n > 0; n-- {
		f := r.late.Pop()
		r.resolve(now, f.tenant, f.vpn)
	}
}

// InMotion is the number of pages of a tenant that the driver or the machine is
// moving.
func (r *relocator) InMotion(tenant mem.TenantID) int { return r.inFlight[tenant] }

// count notes that pages of a tenant begin or end to move.
func (r *relocator) count(now uint64, tenant mem.TenantID, n int) {
	r.inFlight[tenant] += n
	if r.Moves != nil {
		r.Moves(now, n)
	}
}

func (r *relocator) resolve(now uint64, tenant mem.TenantID, vpn uint64) {
	if r.held[tenant] {
		r.late.Push(pageFault{vpn: vpn, tenant: tenant})
		return
	}
	r.mmu.Resolve(now, tenant, vpn)
}

// startMoves puts touched pages, then untouched ones whose frames are needed, into
// the driver's hands.
func (r *relocator) startMoves(now uint64) {
	for r.asked.Len() > 0 && r.work.Len() < r.slots {
		r.take(now, r.asked.Pop())
	}
	for r.sweeping < r.sweepMax {
		f, ok := r.sweep()
		if !ok {
			return
		}
		r.sweeping++
		r.take(now, f)
	}
}

func (r *relocator) take(now uint64, f pageFault) {
	f.end = now + r.cost
	r.count(now, f.tenant, 1)
	r.work.Push(f)
}

// sweep chooses an untouched page to move: of the group, short of frames, that
// holds most pages of a tenant which has lost it.
func (r *relocator) sweep() (f pageFault, ok bool) {
	if !r.tab.frames.PerGroup() {
		return r.sweepOld()
	}
	most, group := 0, 0
	for t := range r.held {
		own := r.tab.GroupMask(mem.TenantID(t))
		for g, n := range r.tab.pages[t] {
			if own>>g&1 == 0 && n > most && !r.held[t] && r.tab.frames.Free(g) < r.low {
				most, group, f.tenant = n, g, mem.TenantID(t)
			}
		}
	}
	if most == 0 {
		return f, false
	}
	return r.pick(f.tenant, 1<<group)
}

// sweepOld chooses the next page of an earlier layout: without PageMove's map all of them need another layout,
// touched or not (UGPU, section 6.2).
func (r *relocator) sweepOld() (f pageFault, ok bool) {
	for t := range r.held {
		if r.turns {
			t = (r.laid + 1 + t) % len(r.held)
		}
		if !r.held[t] && r.tab.stale[t] > r.inFlight[t] {
			if f, ok = r.pick(mem.TenantID(t), 0); ok {
				r.laid = t
				return f, true
			}
		}
	}
	return f, false
}

// pick finds the next page of a tenant in the groups of the mask, from where the
// last search ended and then from the beginning.
func (r *relocator) pick(tenant mem.TenantID, groups uint64) (f pageFault, ok bool) {
	for range 2 {
		vpn, ok := r.tab.NextIn(tenant, r.cursor[tenant], groups)
		for ok && r.inHand(tenant, vpn) {
			vpn, ok = r.tab.NextIn(tenant, vpn+1, groups)
		}
		if ok {
			r.cursor[tenant] = vpn + 1
			return pageFault{vpn: vpn, tenant: tenant, swept: true}, true
		}
		r.cursor[tenant] = 0
	}
	return f, false
}

// inHand says whether the driver already works on a page.
func (r *relocator) inHand(tenant mem.TenantID, vpn uint64) bool {
	for i := range r.work.Len() {
		if f := r.work.At(i); f.tenant == tenant && f.vpn == vpn {
			return true
		}
	}
	return false
}

// tickMoves ends the driver's part of moves and returns the next cycle with work.
func (r *relocator) tickMoves(now uint64) uint64 {
	for r.work.Len() > 0 && r.work.Head().end <= now {
		r.begin(now, r.work.Pop())
	}
	r.startMoves(now)
	if r.work.Len() == 0 {
		return never
	}
	return r.work.Head().end
}

// begin gives a page its new frame and hands the copy to the machine, unless the move is no longer needed.
func (r *relocator) begin(now uint64, f pageFault) {
	ppn, state := r.tab.Lookup(f.tenant, f.vpn)
	s := &r.mmu.status[f.tenant]
	if state != Resident || !s.on || !r.mmu.misplaced(f.tenant, f.vpn, ppn) {
		r.count(now, f.tenant, -1)
		r.sweeping -= b2i(f.swept)
		if state != Moving { // moved meanwhile, or gone: the walk sees
			r.resolve(now, f.tenant, f.vpn)
		}
		return
	}
	to, lost := s.keep, r.tab.outside(f.tenant, ppn, s.keep)
	if !lost {
		to = s.gain
	}
	id, err := r.tab.BeginMove(f.tenant, f.vpn, to)
	switch {
	// The plan checked that the pages fit: others' still lie there.
	case err != nil && lost && r.occupiedByOthers(f.tenant):
		r.count(now, f.tenant, -1)
		r.sweeping -= b2i(f.swept)
		if !f.swept {
			r.asked.Push(f.tenant, f)
		}
	case err != nil && lost:
		r.mmu.fail(err)
	case err != nil: // nothing can be gained until frames are free; new pages go there then
		r.count(now, f.tenant, -1)
		r.sweeping -= b2i(f.swept)
		s.gain = 0
		r.resolve(now, f.tenant, f.vpn)
	default:
		for int(id) >= len(r.swept) {
			r.swept = append(r.swept, false)
		}
		r.swept[id] = f.swept
		r.copies.Push(f.tenant, id)
		r.Copy(now)
	}
}

// occupiedByOthers says that pages of other tenants are still in a tenant's groups.
func (r *relocator) occupiedByOthers(tenant mem.TenantID) bool {
	own := r.tab.GroupMask(tenant)
	for t := range r.held {
		for g, n := range r.tab.pages[t] {
			if t != int(tenant) && own>>g&1 != 0 && n > 0 {
				return true
			}
		}
	}
	return false
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// MoveNodes begins to move one frame of a tenant's table nodes out of groups it
// loses; none says that there is none left.
func (r *relocator) MoveNodes(now uint64, tenant mem.TenantID, keep uint64) (none bool, err error) {
	id, none, err := r.tab.BeginNodeMove(tenant, keep)
	if none || err != nil {
		return none, err
	}
	r.count(now, tenant, 1)
	r.copies.Push(tenant, id)
	r.Copy(now)
	return false, nil
}

// SetStatus writes the tenant's register after a change of channels: its pages
// outside the gained groups move there when touched, unless they are balanced
// already or there are none.
func (r *relocator) SetStatus(tenant mem.TenantID, gained uint64) {
	if !r.tab.frames.PerGroup() {
		r.mmu.status[tenant] = status{on: r.tab.Outside(tenant) > 0}
		return
	}
	keep := r.tab.GroupMask(tenant)
	gain := (r.mmu.status[tenant].gain | gained) & keep
	if gain == keep || r.balanced(tenant, gain) {
		gain = 0
	}
	r.mmu.status[tenant] = status{
		on: gain != 0 || r.tab.Outside(tenant) > 0, keep: keep, gain: gain,
		owned: uint64(bits.OnesCount64(keep)), gained: uint64(bits.OnesCount64(gain)),
	}
}

// NextCopy takes the next move whose bytes must be copied, of the application whose turn it is; Tables.MoveOf
// describes it.
func (r *relocator) NextCopy() (id int32, ok bool) {
	if r.copies.Len() == 0 {
		return 0, false
	}
	return r.copies.Pop(), true
}

// Copied says that a move's bytes are at their new place.
func (r *relocator) Copied(now uint64, id int32) {
	m := *r.tab.MoveOf(id)
	r.count(now, m.Tenant, -1)
	r.tab.EndMove(id)
	wasSwept := int(id) < len(r.swept) && r.swept[id]
	if wasSwept {
		r.swept[id] = false
		r.sweeping--
	}
	if m.Kind != Follow {
		r.ended(now, &m)
		return
	}
	if m.Node || m.dead {
		return
	}
	from, to := r.tab.frames.Pool(m.From), r.tab.frames.Pool(m.To)
	s := &r.mmu.status[m.Tenant]
	switch {
	case wasSwept:
		r.Swept[m.Tenant][from]++
	case s.keep>>from&1 == 0 || !r.tab.frames.PerGroup():
		r.Touched[m.Tenant][from]++
	}
	if s.gain>>to&1 != 0 {
		r.Gained[m.Tenant][to]++
		if r.balanced(m.Tenant, s.gain) {
			s.gain = 0
		}
	}
	if s.gain == 0 && r.tab.Outside(m.Tenant) == 0 {
		s.on = false
	}
	r.resolve(now, m.Tenant, m.VPN)
	r.startMoves(now)
}

// Carry says that no access reaches a page that gets another home any more, or that no access writes a page that gets
// copies. The machine may then copy its bytes, and answers with Copied. Accesses that waited to read a page that gets
// copies continue.
func (r *relocator) Carry(now uint64, id int32) {
	m := r.tab.MoveOf(id)
	r.tab.Parts.Drained(id)
	r.count(now, m.Tenant, 1)
	if m.Kind == Copy && !m.Void() {
		r.resolve(now, m.Tenant, m.VPN)
	}
}

// Collapsed notes that a page has lost its copies.
func (r *relocator) Collapsed(now uint64, id int32) {
	m := *r.tab.MoveOf(id)
	r.tab.EndMove(id)
	r.ended(now, &m)
}

// ended serves the accesses that waited for a page, and reports the end of its move.
func (r *relocator) ended(now uint64, m *Move) {
	if _, s := r.tab.Lookup(m.Tenant, m.VPN); s != Moving {
		r.resolve(now, m.Tenant, m.VPN)
	}
	r.Homes.Ended(now, m)
}

// balanced says that the gained groups hold their share of the tenant's pages.
func (r *relocator) balanced(tenant mem.TenantID, gain uint64) bool {
	in, all := 0, 0
	for g, n := range r.tab.pages[tenant] {
		all += n
		if gain>>g&1 != 0 {
			in += n
		}
	}
	return in*len(r.tab.groups[tenant]) >= all*bits.OnesCount64(gain)
}

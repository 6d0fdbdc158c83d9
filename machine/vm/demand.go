package vm

import "github.com/heddle-sim/heddle/mem"

// Pages that come and go while kernels run (unified memory): a frame is taken before the bytes
// are on their way and given back when they have left, and the page is Resident in between only.

// TakeFrame takes a frame for a page of a tenant that is to come.
func (t *Tables) TakeFrame(tenant mem.TenantID) (ppn uint64, err error) {
	return t.frame(int(tenant), -1)
}

// Enter says that a page of the host has its bytes in a frame: from now on accesses find it.
// False if no allocation covers the page any more; the frame is still the caller's then.
func (t *Tables) Enter(tenant mem.TenantID, vpn, ppn uint64) bool {
	p := t.pt[tenant]
	i := p.leaf(vpn)
	if i < 0 || State(p.ent[i]&stateMask) != Host {
		return false
	}
	p.ent[i] = ppn<<valueAt | p.ent[i]&(refsMask<<refsAt) | uint64(Resident)
	return true
}

// Withdraw makes a resident page one of the host, and has every TLB forget it: from now on
// accesses fault. The frame, with the bytes in it, is the caller's. False if the page is not
// resident.
func (t *Tables) Withdraw(tenant mem.TenantID, vpn uint64) (ppn uint64, ok bool) {
	p := t.pt[tenant]
	i := p.leaf(vpn)
	if i < 0 || State(p.ent[i]&stateMask) != Resident {
		return 0, false
	}
	ppn = p.ent[i] >> valueAt
	p.ent[i] = p.ent[i]&(refsMask<<refsAt) | uint64(Host)
	t.shoot(tenant, vpn)
	return ppn, true
}

// Shoot has every TLB forget a page.
func (t *Tables) Shoot(tenant mem.TenantID, vpn uint64) { t.shoot(tenant, vpn) }

// GiveFrames gives back frames that TakeFrame or Withdraw had left to the caller.
func (t *Tables) GiveFrames(tenant mem.TenantID, frames []uint64) {
	for _, f := range frames {
		t.release(tenant, f)
	}
	t.tell(tenant)
}

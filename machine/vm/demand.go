package vm

import "github.com/heddle-sim/heddle/mem"

// Pages that come and go while kernels run (unified memory): a frame is taken before the bytes
// are on their way and given back when they have left, and the page is Resident in between only.

// TakeFrame takes a frame for a tenant's page that is about to arrive.
func (t *Tables) TakeFrame(tenant mem.TenantID) (ppn uint64, err error) {
	return t.frame(int(tenant), -1)
}

// Enter says that a page of the host has its bytes in a frame: from now on accesses find it. False if no allocation
// covers the page any longer; the caller then still has the frame.
func (t *Tables) Enter(tenant mem.TenantID, vpn, ppn uint64) bool {
	p := t.pt[tenant]
	i := p.leaf(vpn)
	if i < 0 || State(p.ent[i]&stateMask) != Host {
		return false
	}
	p.ent[i] = ppn<<valueAt | p.ent[i]&(refsMask<<refsAt) | uint64(Resident)
	return true
}

// Withdraw makes a resident page one of the host, and makes every TLB drop it: from now on accesses fault. The caller
// gets the frame, with the bytes in it. False if the page is not resident.
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

// Shoot makes every TLB drop a page.
func (t *Tables) Shoot(tenant mem.TenantID, vpn uint64) { t.shoot(tenant, vpn) }

// GiveFrames returns frames that the caller had from TakeFrame or Withdraw.
func (t *Tables) GiveFrames(tenant mem.TenantID, frames []uint64) {
	for _, f := range frames {
		t.release(tenant, f)
	}
	t.tell(tenant)
}

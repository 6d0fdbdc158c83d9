package residency

import (
	"github.com/heddle-sim/heddle/machine/link"
	"github.com/heddle-sim/heddle/machine/transfer"
)

// What may begin on the link.

// mayCome says that a transfer to the device has frames, and that its pages are no longer on their way to the host.
// (The public simulator does not check the latter.)
func (d *dmaEngine) mayCome(t *link.Transfer) bool {
	if t.ID >= transfer.HostCopies {
		return true
	}
	j := &d.jobs[t.ID]
	if d.used+len(j.pages) > d.runtime.Capacity() || d.early && d.freeFrames() < len(j.pages) {
		return false
	}
	if d.early {
		return true
	}
	for _, key := range j.pages {
		if d.runtime.Leaving(key) {
			return false
		}
	}
	return true
}

// arrives says that a transfer to the device is under way, or can begin.
func (d *dmaEngine) arrives() bool {
	for _, i := range d.stream.Active() {
		if !d.jobs[i].toHost {
			return true
		}
	}
	if d.inOrder {
		t := d.host.Ways[0].Head()
		return t != nil && d.mayCome(t)
	}
	for i := range d.jobs {
		if j := &d.jobs[i]; j.state == jobWaiting && !j.toHost && d.mayCome(&link.Transfer{ID: int32(i)}) {
			return true
		}
	}
	return false
}

// mayLeave says that no page of a transfer to the host is being moved inside the device.
func (d *dmaEngine) mayLeave(t *link.Transfer) bool {
	return t.ID >= transfer.HostCopies || d.still(&d.jobs[t.ID])
}

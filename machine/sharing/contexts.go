package sharing

import (
	"fmt"

	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/sheets"
)

// ContextStore keeps the contexts of CTAs that were taken off SMs, as images in the memory of their tenants. SMs that
// change hands, turns (time slicing) and evictions (SMK) all use it.
type ContextStore struct {
	tenants    []*Tenant
	sms        []*sm.SM
	tables     *vm.Tables // nil where addresses are not translated
	firstError *timing.FirstError
	wakeups    timing.Wakeups
	page       int // bytes an image is a multiple of
	line       int // bytes of a line of an image

	waiting   [][]*sm.Context // [tenant] CTAs off the machine, oldest first
	returning [][]*sm.Context // [SM] CTAs that are back and whose images may still be read
	end       []uint64        // [tenant] of the images in the context window
	images    []int           // [tenant] in use
}

// contextWindow is the virtual address of a tenant's saved contexts, above its
// local memory.
const contextWindow = 3 << 38

func newContextStore(s *sheets.Machine, tenants int) ContextStore {
	return ContextStore{
		page: max(s.VM.Page, s.LLC.Line), line: s.L1D.Line,
		waiting: make([][]*sm.Context, tenants), returning: make([][]*sm.Context, s.SM.Count),
		end: make([]uint64, tenants), images: make([]int, tenants),
	}
}

// image finds memory for the context of a CTA of k, in the context window of its
// tenant, and returns its virtual address.
func (c *ContextStore) image(k *sm.Kernel, bytes int) uint64 {
	n := c.size(bytes)
	addr := contextWindow + c.end[k.Tenant]
	c.end[k.Tenant] += n
	c.images[k.Tenant]++
	if c.tables == nil {
		return addr
	}
	if err := c.tables.MapRegion(k.Tenant, addr, n); err != nil {
		c.firstError.Note(fmt.Errorf("no memory for the context of a CTA of %s: %w", c.tenants[k.Tenant].Name, err))
	}
	return addr
}

// size is the memory for an image of a number of bytes: whole pages.
func (c *ContextStore) size(bytes int) uint64 { return uint64((bytes + c.page - 1) / c.page * c.page) }

// Waiting lists the CTAs of a tenant that are off the machine, oldest first; Images is the number of images in its
// memory.
func (c *ContextStore) Waiting(tenant int) []*sm.Context { return c.waiting[tenant] }

// Images is described at Waiting.
func (c *ContextStore) Images(tenant int) int { return c.images[tenant] }

// Forget gives up the images of a tenant whose memory is freed.
func (c *ContextStore) Forget(tenant int) { c.end[tenant] = 0 }

// keep takes contexts of a tenant whose images are complete.
func (c *ContextStore) keep(tenant int, saved ...*sm.Context) {
	c.waiting[tenant] = append(c.waiting[tenant], saved...)
}

// oldest is the context of a tenant that goes back first; nil when none waits.
func (c *ContextStore) oldest(tenant int) *sm.Context {
	if q := c.waiting[tenant]; len(q) > 0 {
		return q[0]
	}
	return nil
}

// restore puts a saved CTA of a tenant back on SM i, before any new one goes
// there; false when none waits or the oldest does not fit.
func (c *ContextStore) restore(tenant, i int, now uint64) bool {
	q := c.waiting[tenant]
	if len(q) == 0 || !c.sms[i].Fits(q[0].K) {
		return false
	}
	x := q[0]
	c.waiting[tenant] = append(q[:0], q[1:]...)
	c.firstError.Note(c.sms[i].Restore(x, now))
	c.returning[i] = append(c.returning[i], x)
	c.wakeups.WakeSM(i, now+1)
	return true
}

// Free gives back the memory of contexts that are complete again on SM i.
func (c *ContextStore) Free(i int) {
	keep := c.returning[i][:0]
	for _, x := range c.returning[i] {
		if !x.Loaded() {
			keep = append(keep, x)
			continue
		}
		t := x.K.Tenant
		n := c.size(x.Lines * c.line)
		if c.tables != nil {
			c.tables.Unmap(t, x.Addr, n)
		}
		if x.Addr+n == contextWindow+c.end[t] {
			c.end[t] -= n
		}
		if c.images[t]--; c.images[t] == 0 {
			c.end[t] = 0
		}
	}
	c.returning[i] = keep
}

package residency

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/uvm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// faultServer brings far faults to the driver, and serves them: the hardware's buffer, interrupts
// every quantum, and the driver, which handles one batch after the other.
type faultServer struct {
	managed
	quantum, cost, perDMA uint64 // cycles
	retryAfter            uint64 // cycles after which faults without room are looked at again
	buffer                mem.Ring[enqueued]
	most                  int        // faults of a batch
	batch                 []enqueued // being handled
	keys                  []uint64   // of these
	end                   uint64     // of its handling; 0: the driver is idle
	next                  uint64     // next cycle with work, parked faults left out
	row                   [][]uint64
	high                  int // tenant whose faults are taken first; -1: none's
	twice                 *duplicates
	parked                mem.Queue[parkedFault] // by their ends
}

// parkedFault is a fault for a page that thrashes, which is looked at again in a later cycle.
type parkedFault struct {
	enqueued
	until uint64
}

// enqueued is a fault, and the cycle in which it was reported.
type enqueued struct{ key, since uint64 }

// build makes an idle one. With onLink faults are handled on the link, one after the other, and the plan for
// them is made at once.
func (f *faultServer) build(m managed, twice *duplicates, s *sheets.Machine, t *stat.Table, onLink bool) {
	f.managed, f.twice = m, twice
	f.quantum = max(1, cyclesOf(s.UVM.Quantum, s))
	f.cost, f.perDMA = cyclesOf(s.UVM.FaultUs, s), cyclesOf(s.UVM.DMAUs, s)
	f.buffer, f.most, f.next = mem.NewRing[enqueued](s.UVM.Buffer), max(1, s.UVM.Batch), engine.Never
	f.high = -1
	f.retryAfter = f.quantum
	if onLink {
		f.quantum, f.cost, f.most = 1, 0, s.UVM.Buffer
	}
	for k := range t.Tenants {
		f.row = append(f.row, t.Row(0, k))
	}
}

// file puts a fault into the buffer; false when that is full: the walk's miss stays, and reports it again when the
// driver has taken a batch.
func (f *faultServer) file(now, key uint64) bool {
	if !f.buffer.Push(enqueued{key, now}) {
		f.row[keyTenant(key)][uvmOverflows]++
		return false
	}
	f.row[keyTenant(key)][uvmFaults]++
	f.interrupt(now)
	f.wakeups.WakeMMU(f.next)
	return true
}

// fileWrite is file for a write to a page that host and device both have, whose fault is reported once.
func (f *faultServer) fileWrite(now, key uint64) bool {
	c := f.twice.frames[key]
	if !c.enqueued {
		c.enqueued = f.file(now, key)
		f.twice.frames[key] = c
	}
	return c.enqueued
}

// requeue puts a fault back if there was no room in memory for its page.
func (f *faultServer) requeue(now, key uint64) {
	f.row[keyTenant(key)][uvmDeferred]++
	f.batch = append(f.batch, enqueued{key, now})
	if f.end == 0 && f.next == engine.Never {
		f.next = (now/f.retryAfter + 1) * f.retryAfter
	}
}

// interrupt plans the driver's next interrupt, at the end of the quantum.
func (f *faultServer) interrupt(now uint64) {
	if f.end == 0 && f.next == engine.Never {
		f.next = (now/f.quantum + 1) * f.quantum
	}
}

// served is the plan of a batch whose handling ends now; nil if none does. The driver takes the next batch at its
// next interrupt.
func (f *faultServer) served(now uint64) (p *uvm.Plan) {
	f.unpark(now)
	if f.next > now {
		return nil
	}
	f.next = engine.Never
	if f.end == 0 {
		f.take()
		if len(f.batch) > 0 {
			f.end = now + f.cost
			f.next = f.end
		}
		if f.cost > 0 || len(f.batch) == 0 {
			return nil
		}
		f.next = engine.Never
	}
	f.keys = f.keys[:0]
	if len(f.batch) > 0 {
		row := f.row[keyTenant(f.batch[0].key)]
		row[uvmBatches]++
		row[uvmDriver] += f.cost
	}
	for _, b := range f.batch {
		if f.serviced(now, b) {
			f.keys = append(f.keys, b.key)
			f.row[keyTenant(b.key)][uvmHandling] += now - b.since
		}
	}
	f.batch, f.end = f.batch[:0], 0
	p = f.runtime.Plan(f.keys)
	if busy := uint64(len(p.In)+len(p.Out)) * f.perDMA; f.buffer.Len() > 0 || busy > 0 {
		f.next = max(now+busy, (now/f.quantum+1)*f.quantum)
	}
	return p
}

// serviced says that a fault's page shall come. If the page thrashes, the fault is parked, or the device uses the
// page on the host.
func (f *faultServer) serviced(now uint64, b enqueued) bool {
	row := f.row[keyTenant(b.key)]
	if f.twice.end(now, b.key) {
		return false
	}
	switch w, until := f.runtime.Waits(now, b.key); w {
	case uvm.Throttled:
		f.parked.Push(parkedFault{b, until})
		row[uvmThrottles]++
	case uvm.Pinned, uvm.Placed:
		f.runtime.MapRemote(b.key)
		f.mmu.ResolveTo(now, keyTenant(b.key), keyPage(b.key), remotePage(b.key), true)
		if w == uvm.Pinned {
			row[uvmPins]++
		}
	default:
		return true
	}
	return false
}

// unpark puts the faults that have waited long enough into the next batch.
func (f *faultServer) unpark(now uint64) {
	for f.end == 0 && f.parked.Len() > 0 && f.parked.Head().until <= now {
		f.batch = append(f.batch, f.parked.Pop().enqueued)
		f.interrupt(now)
	}
}

// due is the next cycle with work.
func (f *faultServer) due() uint64 {
	if f.end == 0 && f.parked.Len() > 0 {
		return min(f.next, f.parked.Head().until)
	}
	return f.next
}

// take fills a batch from the buffer: with the faults of the application that goes first, then with the oldest.
func (f *faultServer) take() {
	for n := f.buffer.Len(); f.high >= 0 && n > 0; n-- {
		b := f.buffer.Pop()
		if int(keyTenant(b.key)) == f.high && len(f.batch) < f.most {
			f.batch = append(f.batch, b)
		} else {
			f.buffer.Push(b)
		}
	}
	for len(f.batch) < f.most && f.buffer.Len() > 0 {
		f.batch = append(f.batch, f.buffer.Pop())
	}
}

// Counters of unified memory, per tenant.
const (
	uvmFaults = iota
	uvmOverflows
	uvmDeferred
	uvmBatches
	uvmHandling
	uvmDriver
	uvmMigrated
	uvmPrefetched
	uvmThrashed
	uvmEvicted
	uvmWritten
	uvmKept
	uvmReturned
	uvmFallbacks
	uvmThrottles
	uvmPins
	uvmDuplicated
	uvmCollapsed
	uvmVoided
	uvmCopied
)

// UnifiedCounters describes the counters of unified memory, per application.
func UnifiedCounters() []stat.Desc {
	return []stat.Desc{
		{Name: "faults", Unit: "faults", Doc: "page faults reported to the driver, one for each page"},
		{Name: "overflows", Unit: "faults", Doc: "page faults that found the buffer full and were reported again"},
		{Name: "deferred", Unit: "faults", Doc: "faults put off to the next batch, because every page on the device " +
			"was waited for"},
		{Name: "batches", Unit: "batches", Doc: "batches of faults; a batch belongs to the tenant of its first fault"},
		{Name: "handling_cycles", Unit: "cycles", Doc: "cycles from faults to the ends of their batches, summed"},
		{Name: "driver_cycles", Unit: "cycles", Doc: "cycles in which the driver handled batches"},
		{Name: "migrated_pages", Unit: "pages", Doc: "pages of 4 KB that came to the device"},
		{Name: "prefetched_pages", Unit: "pages", Doc: "pages that came to the device without a fault of their own " +
			"(prefetched)"},
		{Name: "thrashed_pages", Unit: "pages", Doc: "pages that came to the device after they had been evicted"},
		{Name: "evicted_pages", Unit: "pages", Doc: "pages that left the device"},
		{Name: "written_pages", Unit: "pages", Doc: "evicted pages that were written back over the link"},
		{Name: "kept_pages", Unit: "pages", Doc: "pages chosen for eviction and used before it began"},
		{Name: "returned_pages", Unit: "pages", Doc: "pages that went back to the host, because it touched them or " +
			"waited"},
		{Name: "fallbacks", Unit: "evictions", Doc: "evictions for which the policy had no candidate"},
		{Name: "throttles", Unit: "faults", Doc: "faults that waited because host and device took the page from " +
			"each other"},
		{Name: "pins", Unit: "pages", Doc: "pages pinned on the host for a while for the same reason"},
		{Name: "duplicated_pages", Unit: "pages", Doc: "pages of which the device got a copy; the host kept the " +
			"page for reading"},
		{Name: "collapsed_pages", Unit: "pages", Doc: "copies that became the only page because the device wrote it"},
		{Name: "voided_pages", Unit: "pages", Doc: "copies that the device dropped because the host wrote the page"},
		{Name: "copied_pages", Unit: "pages", Doc: "pages of which the host got a copy; the device kept the page"},
	}
}

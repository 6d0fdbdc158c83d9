package residency

import (
	"slices"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/link"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/machine/uvm"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// dmaEngine moves pages between host and DRAM, one transfer at a time in each direction of the link. It decides which
// transfer begins when; transfer.PageStream carries the lines.
type dmaEngine struct {
	managed
	memory     *backing.Memory
	firstError *timing.FirstError
	twice      *duplicates
	spans      *spanLog
	atHost     hostPages

	host     *transfer.HostLink
	stream   *transfer.PageStream
	arrived  func(tenant mem.TenantID, page uint64)
	order    link.Arbiter
	may      [2]func(t *link.Transfer) bool // a transfer of a direction may begin: mayCome, mayLeave
	taken    link.Transfer                  // off the queue of a direction last
	jobs     []dmaJob
	spare    []int32
	live     int
	drops    []int32 // jobs of clean pages that wait for moves inside the device
	used     int     // frames of managed pages, of those on their way included
	inFlight framesInFlight
	perFault uint64 // cycles of a direction for each page that has faulted, where the driver handles none
	early    bool   // a frame may be planned for again when the write-back of its page begins
	inOrder  bool   // the oldest transfer goes first, or none does (link.Oldest)
	row      [][]uint64
}

// The states of a job.
const (
	jobFree     = iota
	jobWaiting  // in the link's queue
	jobDraining // pages are no longer mapped; accesses that had been translated end
	jobCopying  // lines are on their way
	jobReading  // to the host: all lines are read, the last are on the link
)

// dmaJob is one transfer, or pages that are dropped without one.
type dmaJob struct {
	state   uint8
	toHost  bool
	dead    bool // its allocation was freed
	freed   bool // its frames do not count as used any more
	tenant  mem.TenantID
	in      uvm.Transfer
	out     uvm.Eviction
	asker   *Migration // nil: an access, or an eviction
	pages   []uint64   // keys of them
	frames  []uint64
	planned link.Transfer
}

func (d *dmaEngine) build(m *managed, pages *transfer.PageStream, b *Parts, t *stat.Table) {
	s := b.Sheet
	d.managed, d.memory, d.arrived = *m, b.Memory, b.OnArrived
	d.host, d.stream, d.firstError = b.Host, pages, b.FirstError
	for k := range t.Tenants {
		d.row = append(d.row, t.Row(0, k))
	}
	d.stream.Apps, d.stream.Fabric, d.stream.Host, d.stream.Wakeups = b.Apps, b.Fabric, b.Host, b.Wakeups
	d.stream.Build(s, pageBits)
	d.may = [2]func(t *link.Transfer) bool{d.mayCome, d.mayLeave}
	d.inFlight = newFramesInFlight(s.MemoryBytes()/uvm.PageSize, pageBits, d.tables.LayoutBit())
}

// count records n requests of SMs for a line.
func (d *dmaEngine) count(line uint64, n int) {
	if line&mem.Remote == 0 {
		d.inFlight.count(line, n)
	}
}

// busy says that there are jobs.
func (d *dmaEngine) busy() bool { return d.live > 0 }

// leaving says that a job takes pages away.
func (d *dmaEngine) leaving() bool {
	for i := range d.jobs {
		if d.jobs[i].state != jobFree && d.jobs[i].toHost {
			return true
		}
	}
	return false
}

func (d *dmaEngine) job() int32 {
	d.live++
	if n := len(d.spare); n > 0 {
		i := d.spare[n-1]
		d.spare = d.spare[:n-1]
		return i
	}
	d.jobs = append(d.jobs, dmaJob{})
	return int32(len(d.jobs) - 1)
}

// fetch queues a transfer to the device.
func (d *dmaEngine) fetch(now uint64, t *uvm.Transfer) {
	i := d.job()
	j := &d.jobs[i]
	*j = dmaJob{state: jobWaiting, tenant: keyTenant(t.Addr), in: *t, pages: j.pages[:0], frames: j.frames[:0]}
	for k := range t.Pages {
		j.pages = append(j.pages, t.Addr+uint64(k)*uvm.PageSize)
		d.unmap(j.pages[k])
	}
	d.queue(now, i, 0)
	row := d.row[j.tenant]
	row[uvmMigrated] += uint64(t.Pages)
	row[uvmThrashed] += uint64(t.Again)
	row[uvmPrefetched] += uint64(t.Pages - t.Faults)
}

// evict queues pages that leave; those of clean chunks leave without a transfer.
// An asker waits for their end.
func (d *dmaEngine) evict(now uint64, e *uvm.Eviction, asker *Migration) {
	i := d.job()
	j := &d.jobs[i]
	*j = dmaJob{
		state: jobWaiting, toHost: true, tenant: keyTenant(e.Addr), out: *e, asker: asker,
		pages: j.pages[:0], frames: j.frames[:0],
	}
	j.pages = d.runtime.Append(j.pages, e)
	if e.Fallback {
		d.row[j.tenant][uvmFallbacks]++
	}
	d.book(j, uint64(len(j.pages)))
	switch {
	case e.WriteBack:
		d.queue(now, i, 1)
	case d.still(j):
		d.drain(i)
	default:
		d.drops = append(d.drops, i)
		d.wakeups.WakeMMU(now)
	}
}

func (d *dmaEngine) queue(now uint64, i int32, way int) {
	j := &d.jobs[i]
	t := link.Transfer{ID: i, Bytes: int64(len(j.pages)) * uvm.PageSize, Queued: now, Tenant: j.tenant}
	if way == 0 {
		t.Setup = uint64(j.in.Faults) * d.perFault
	}
	d.host.Ways[way].Push(t)
	d.wakeups.WakeMMU(now)
}

// book counts n pages that leave, or minus n that stay after all.
func (d *dmaEngine) book(j *dmaJob, n uint64) {
	row := d.row[j.tenant]
	switch {
	case j.out.Stays:
		row[uvmCopied] += n
		return
	case j.out.Returned && j.out.WriteBack:
		row[uvmReturned] += n
		return
	case j.out.Returned:
		row[uvmVoided] += n
		return
	}
	row[uvmEvicted] += n
	if j.out.WriteBack {
		row[uvmWritten] += n
	}
}

// of notes the request of the host for which the last n transfers were queued.
func (d *dmaEngine) of(m *Migration, n int) {
	for i := range d.jobs {
		if j := &d.jobs[i]; n > 0 && j.state == jobWaiting && !j.toHost && j.in.Faults == 0 && j.asker == nil &&
			j.in.Addr < m.at && j.in.Addr >= m.at-uvm.ChunkSize {
			j.asker = m
			n--
		}
	}
}

// keep takes the evictions of a chunk that have not begun back, in the public simulator those of a page.
func (d *dmaEngine) keep(chunk int32, key uint64) {
	for i := range d.jobs {
		j := &d.jobs[i]
		if j.state != jobWaiting || !j.toHost || j.out.Stays || !j.out.Of(chunk) {
			continue
		}
		if d.early && !slices.Contains(j.pages, key&^(uvm.PageSize-1)) {
			continue
		}
		d.host.Ways[1].Cancel(int32(i))
		d.runtime.Keep(&j.out)
		d.row[j.tenant][uvmKept] += uint64(len(j.pages))
		d.book(j, -uint64(len(j.pages)))
		d.done(int32(i))
	}
}

// abandon gives up the jobs for addresses whose allocation is freed.
func (d *dmaEngine) abandon(base, end uint64) {
	for i := range d.jobs {
		j := &d.jobs[i]
		if j.state == jobFree || j.pages[0] < base || j.pages[0] >= end {
			continue
		}
		if j.state != jobWaiting { // its frames go when its last line has come
			j.dead = true
			continue
		}
		way := 0
		if j.toHost {
			way = 1
		}
		d.host.Ways[way].Cancel(int32(i))
		d.done(int32(i))
	}
}

func (d *dmaEngine) done(i int32) {
	j := &d.jobs[i]
	j.state = jobFree
	if j.asker != nil {
		j.asker.left--
	}
	d.spare = append(d.spare, i)
	d.live--
}

// drain takes pages out of tables and TLBs. Their frames stay until all accesses that had been
// translated have ended, and their bytes are read.
func (d *dmaEngine) drain(i int32) {
	j := &d.jobs[i]
	j.state = jobDraining
	d.runtime.Leave(&j.out)
	for _, key := range j.pages {
		ppn, ok := d.tables.Withdraw(j.tenant, keyPage(key))
		if !ok { // a write waits for the host's copy of it to be void
			ppn, ok = d.twice.take(key)
		}
		if ok {
			j.frames = append(j.frames, ppn)
		}
	}
	d.inFlight.mark(j.frames, leaves)
	d.stream.Open(i, j.tenant, true)
}

// copyOut carries copies of pages to the host, which stay on the device: those that are still there.
func (d *dmaEngine) copyOut(now uint64, i int32) {
	j := &d.jobs[i]
	for _, key := range j.pages {
		if ppn, state := d.tables.Lookup(j.tenant, keyPage(key)); state == vm.Resident {
			j.frames = append(j.frames, ppn)
		}
	}
	d.stream.Open(i, j.tenant, true)
	d.copy(now, i)
}

// copy begins to carry the pages of a job.
func (d *dmaEngine) copy(now uint64, i int32) {
	j := &d.jobs[i]
	j.state = jobCopying
	d.stream.Begin(i, now, &j.planned, j.frames)
}

// pageBits is log2 of a page.
const pageBits = 12

// start begins transfers while their directions are idle, and returns the next cycle with work.
func (d *dmaEngine) start(now uint64) (next uint64) {
	next = engine.Never
	if d.drop(); len(d.drops) > 0 {
		next = now + drainPoll
	}
	switch t := &d.taken; {
	case !d.take(0, now):
	case t.ID >= transfer.HostCopies:
		d.host.Take(now, t, &d.host.Ways[0])
		next = min(next, max(now+1, d.host.Ways[0].Free()))
	default:
		j := &d.jobs[t.ID]
		j.planned = *t
		d.takeFrames(j)
		d.stream.Open(t.ID, j.tenant, false)
		d.copy(now, t.ID)
	}
	switch t := &d.taken; {
	case d.preparing() || !d.take(1, now):
	case t.ID >= transfer.HostCopies:
		d.host.Take(now, t, &d.host.Ways[1])
		next = min(next, max(now+1, d.host.Ways[1].Free()))
	default:
		d.jobs[t.ID].planned = *t
		if d.jobs[t.ID].out.Stays {
			d.copyOut(now, t.ID)
		} else {
			d.drain(t.ID)
		}
	}
	for k := range d.host.Ways {
		if d.host.Ways[k].Waiting() > 0 && d.host.Ways[k].Free() > now {
			next = min(next, d.host.Ways[k].Free())
		}
	}
	for _, i := range d.stream.Active() {
		next = min(next, d.due(i, now))
	}
	return next
}

// due is the next cycle in which an open job has work other than sending lines.
func (d *dmaEngine) due(i int32, now uint64) uint64 {
	switch {
	case d.jobs[i].state == jobDraining:
		return (now/drainPoll + 1) * drainPoll
	case !d.stream.Carried(i):
		return engine.Never // its last answer wakes us
	}
	return max(now+1, d.stream.End(i))
}

// take takes the next transfer that may go off the queue of an idle direction.
func (d *dmaEngine) take(way int, now uint64) (ok bool) {
	d.taken, ok = d.host.Ways[way].Take(now, d.may[way])
	return ok
}

// preparing says that pages drain for the direction to the host.
func (d *dmaEngine) preparing() bool {
	for _, i := range d.stream.Active() {
		if j := &d.jobs[i]; j.state == jobDraining && j.out.WriteBack {
			return true
		}
	}
	return false
}

// drop takes away clean pages that had to wait for a move inside the device.
func (d *dmaEngine) drop() {
	kept := d.drops[:0]
	for _, i := range d.drops {
		switch j := &d.jobs[i]; {
		case j.state != jobWaiting || !j.toHost || j.out.WriteBack: // kept, or given up
		case d.still(j):
			d.drain(i)
		default:
			kept = append(kept, i)
		}
	}
	d.drops = kept
}

// still says that no page of a job is on its way inside the device.
func (d *dmaEngine) still(j *dmaJob) bool {
	for _, key := range j.pages {
		if _, s := d.tables.Lookup(j.tenant, keyPage(key)); s == vm.Moving {
			return false
		}
	}
	return true
}

func (d *dmaEngine) takeFrames(j *dmaJob) {
	for _, key := range j.pages {
		ppn, ok := d.atHost.take(key)
		if !ok {
			var err error
			ppn, err = d.tables.TakeFrame(j.tenant)
			d.firstError.Note(err)
		}
		j.frames = append(j.frames, ppn)
	}
	d.used += len(j.frames)
}

// finish advances the jobs that have begun.
func (d *dmaEngine) finish(now uint64) {
	d.stream.Sweep(func(i int32) bool { return d.advance(i, now) })
}

// advance takes a job one state further where it can; true when it has ended.
func (d *dmaEngine) advance(i int32, now uint64) bool {
	j := &d.jobs[i]
	switch j.state {
	case jobDraining:
		if !d.inFlight.quiet(j.frames) {
			return false
		}
		d.inFlight.mark(j.frames, 0)
		if !j.out.WriteBack {
			d.giveFrames(j)
			d.done(i)
			return true
		}
		if j.freed = d.early; j.freed {
			d.used -= len(j.frames)
		}
		d.copy(now, i)
		return false
	case jobCopying:
		if !d.stream.Carried(i) {
			return false
		}
		d.stream.Rest(i)
		if j.toHost && !j.out.Stays {
			d.giveFrames(j)
		}
		j.state = jobReading
	}
	if now < d.stream.End(i) {
		return false
	}
	d.arrive(j, d.stream.Begun(i), now)
	d.done(i)
	return true
}

// arrive records that the last byte of a job, which began in a cycle, is at its new place.
func (d *dmaEngine) arrive(j *dmaJob, begun, now uint64) {
	kind := ToDevice
	if j.toHost {
		kind = ToHost
	}
	d.spans.add(kind, begun, now, len(j.pages), j.tenant)
	switch {
	case j.toHost && !j.dead:
		d.runtime.Gone(&j.out)
		if j.out.Returned {
			d.runtime.Taken(now, j.pages, true)
		}
	case j.toHost:
		d.runtime.Lost(&j.out)
	case j.dead:
		d.giveFrames(j)
	default:
		d.runtime.Arrive(&j.in)
		if j.asker == nil {
			d.runtime.Taken(now, j.pages, false)
		}
		d.twice.arrived(j)
		for k, key := range j.pages {
			d.arrived(j.tenant, key)
			d.tables.Enter(j.tenant, keyPage(key), j.frames[k])
			d.mmu.Resolve(now, j.tenant, keyPage(key))
		}
	}
}

// freeFrames is how many frames the device has left.
func (d *dmaEngine) freeFrames() (n int) {
	f := d.tables.Frames()
	for k := range f.Pools() {
		n += f.Free(k)
	}
	return n
}

// giveFrames gives the frames of a job back. What the LLC holds of those that were read is of no use
// any more; the others' lines, and those of L1s, the tables have forgotten.
func (d *dmaEngine) giveFrames(j *dmaJob) {
	if j.toHost && j.out.WriteBack {
		for _, f := range j.frames {
			d.stream.Lines(f, d.memory.Drop)
		}
	}
	d.tables.GiveFrames(j.tenant, j.frames)
	if !j.freed {
		d.used -= len(j.frames)
	}
	j.frames = j.frames[:0]
}

package transfer

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/link"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// PageStream carries the lines of pages that pass the link to the host. They are written or read through the memory
// system, each when the link has it, at the MMU's port. Which pages come and leave, and when, is decided above; the
// caller numbers the jobs.
type PageStream struct {
	Apps    int
	Fabric  *interconnect.Fabric
	Host    *HostLink
	Wakeups timing.Wakeups

	jobs     []streamJob // by the caller's number
	active   []int32     // jobs that are open, oldest first
	perPage  uint64      // lines
	bits     uint        // log2 of a page
	lineSize uint64
	whole    uint8 // all sectors of a line
}

// streamJob is pages on the link.
type streamJob struct {
	linkJob
	carrying bool
	toHost   bool
	frames   []uint64 // the caller's
}

// Build makes an idle stream of pages of 1<<bits bytes.
func (p *PageStream) Build(s *sheets.Machine, bits uint) {
	p.bits, p.lineSize, p.whole = bits, uint64(s.LLC.Line), uint8(1<<(s.LLC.Line/s.LLC.Sector)-1)
	p.perPage = 1 << bits / p.lineSize
}

// Lines are the addresses of a page's lines, given its frame.
func (p *PageStream) Lines(frame uint64, do func(line uint64)) {
	for n := range p.perPage {
		do(frame<<p.bits + n*p.lineSize)
	}
}

// LineSize is the size of a line in bytes.
func (p *PageStream) LineSize() int { return int(p.lineSize) }

// Open gives a job its place among those whose lines share the port: the oldest goes first.
func (p *PageStream) Open(i int32, tenant mem.TenantID, toHost bool) {
	for int(i) >= len(p.jobs) {
		p.jobs = append(p.jobs, streamJob{})
	}
	j := &p.jobs[i]
	*j = streamJob{toHost: toHost}
	j.row = mem.Moving(tenant, p.Apps)
	p.active = append(p.active, i)
}

// Begin begins to carry the pages in the given frames, whose turn on the link has come.
func (p *PageStream) Begin(i int32, now uint64, t *link.Transfer, frames []uint64) {
	j, way := &p.jobs[i], 0
	j.latency = p.Host.Config.Latency
	if j.lead = j.latency; j.toHost {
		way, j.lead = 1, 0
	}
	j.carrying, j.frames = true, frames
	j.begun, j.cycles = now, p.Host.Ways[way].Start(now, t)
	j.lines = uint64(len(frames)) * p.perPage
}

// Sweep asks about every open job whether it is over, and closes those that are.
func (p *PageStream) Sweep(over func(i int32) bool) {
	kept := p.active[:0]
	for _, i := range p.active {
		if !over(i) {
			kept = append(kept, i)
		}
	}
	p.active = kept
}

// Active lists the open jobs, the oldest first.
func (p *PageStream) Active() []int32 { return p.active }

// Carried says that every line of a job has been written or read.
func (p *PageStream) Carried(i int32) bool { return p.jobs[i].done() }

// Rest ends the part of a job in which other traffic of the link delays it: its lines have been written or read.
func (p *PageStream) Rest(i int32) { p.jobs[i].carrying = false }

// Begun is the cycle in which a job began to be carried, End the one in which its last byte has passed the link.
func (p *PageStream) Begun(i int32) uint64 { return p.jobs[i].begun }

// End is described at Begun.
func (p *PageStream) End(i int32) uint64 { return p.jobs[i].end() }

// Send implements translation.Source: the next line that is due.
func (p *PageStream) Send(now uint64, busy bool) (next uint64, more bool) {
	if len(p.active) == 0 {
		return engine.Never, busy
	}
	if busy {
		return now + 1, busy
	}
	next = engine.Never
	sent := false
	for _, i := range p.active {
		j := &p.jobs[i]
		if !j.carrying || !j.unsent() {
			continue
		}
		if at := j.due(j.next); at > now || sent {
			next = min(next, max(at, now+1))
			continue
		}
		r := mem.Req{
			Line: j.frames[j.next/p.perPage]<<p.bits + j.next%p.perPage*p.lineSize, Sectors: p.whole, Op: mem.Read,
			Tenant: j.row, Origin: mem.OfPageTransfer, Tag: i,
		}
		if !j.toHost {
			r.Op, r.Full = mem.Write, p.whole
		}
		if !p.Fabric.InjectMMU(r, now) {
			next = now + 1
			continue
		}
		j.send()
		sent = true
		if j.unsent() {
			next = min(next, max(j.due(j.next), now+1))
		} else {
			next = now + 1
		}
	}
	return next, busy
}

// Answered implements translation.Source: a line has been read or written.
func (p *PageStream) Answered(r *mem.Req, now uint64) {
	if p.jobs[r.Tag].arrive() {
		p.Wakeups.WakeMMU(now)
	}
}

// Delay makes the job under way in a direction take more cycles, because remote accesses share it.
func (p *PageStream) Delay(way int, cycles uint64) {
	for _, i := range p.active {
		if j := &p.jobs[i]; j.carrying && j.toHost == (way == 1) {
			j.cycles += cycles
			return
		}
	}
}

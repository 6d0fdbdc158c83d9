package transfer

import "github.com/heddle-sim/heddle/mem"

// Job is a transfer of lines, whatever their route: the one to send next, and those that are on their way. Each route
// keeps what it must know beside it: through the MMU's port and inside a stack (pages.go), between partitions
// (partitions.go), and over the link to the host (host.go, stream.go).
type Job struct {
	row      mem.TenantID // of the counters of its requests
	lines    uint64       // all
	next     uint64       // line to send
	inFlight int          // lines that have been sent and have not arrived
}

// unsent says that there are lines to send.
func (j *Job) unsent() bool { return j.next < j.lines }

// send notes that the next line is on its way.
func (j *Job) send() {
	j.next++
	j.inFlight++
}

// arrive notes that a line is at its new place; true if it was the last.
func (j *Job) arrive() bool {
	j.inFlight--
	return j.done()
}

// cut leaves out the lines that have not been sent; true if no line is on its way.
func (j *Job) cut() bool {
	j.lines = j.next
	return j.done()
}

// done says that every line is at its new place.
func (j *Job) done() bool { return j.next == j.lines && j.inFlight == 0 }

// pageJob carries a page from one frame to another.
type pageJob struct {
	Job
	id       int32 // of the move
	live     bool
	from, to uint64 // addresses of the frames
}

// linkJob passes the link to the host, which carries its lines at an even rate.
type linkJob struct {
	Job
	begun   uint64 // cycle
	cycles  uint64 // on the link
	latency uint64 // of the link
	lead    uint64 // from begun until the first line is on the device's side: the latency, for a job to the device
}

// due is the cycle in which line k is on the device's side of the link, or the link takes its bytes.
func (j *linkJob) due(k uint64) uint64 { return j.begun + k*j.cycles/j.lines + j.lead }

// end is the cycle in which the last byte has passed the link, if memory is not late.
func (j *linkJob) end() uint64 { return j.begun + j.cycles + j.latency }

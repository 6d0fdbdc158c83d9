package dram

import "github.com/heddle-sim/heddle/mem"

// reply is a finished or finishing request.
type reply struct {
	depart uint64
	id     int32
	write  bool
	tenant mem.TenantID
}

// replies are finished requests.
type replies struct {
	arrival uint64 // when the first of pending is there
	pending ring   // reads on their way, in order of issue
	done    ring   // for Pop
	limit   int    // of done, above which no column command issues; 0: none
}

// send puts a read on its way.
func (o *replies) send(r reply) {
	if o.pending.n == 0 {
		o.arrival = r.depart
	}
	o.pending.push(r)
}

// deliver completes the reads that are there, at least one.
func (o *replies) deliver(t uint64) {
	for o.arrival <= t {
		o.done.push(o.pending.pop())
		if o.pending.n == 0 {
			o.arrival = Never
			return
		}
		o.arrival = o.pending.first().depart
	}
}

// stalled means finished requests fill the return queue.
func (o *replies) stalled() bool { return o.limit > 0 && o.done.n >= o.limit }

// ring is a FIFO that grows when it must, which is never in steady state.
type ring struct {
	buf     []reply
	head, n int
}

func (r *ring) init(n int) {
	size := 1
	for size < n {
		size *= 2
	}
	r.buf = make([]reply, size)
}

func (r *ring) push(x reply) {
	if r.n == len(r.buf) {
		r.grow()
	}
	r.buf[(r.head+r.n)&(len(r.buf)-1)] = x
	r.n++
}

func (r *ring) first() *reply { return &r.buf[r.head] }

func (r *ring) grow() {
	big := make([]reply, 2*len(r.buf))
	for i := range r.n {
		big[i] = r.buf[(r.head+i)&(len(r.buf)-1)]
	}
	r.buf, r.head = big, 0
}

func (r *ring) pop() reply {
	x := *r.first()
	r.head = (r.head + 1) & (len(r.buf) - 1)
	if r.n--; r.n == 0 {
		r.head = 0
	}
	return x
}

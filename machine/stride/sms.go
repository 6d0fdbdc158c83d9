package stride

import (
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/stat"
)

// SMs has the SMs of the machine, with their requests and answers.
type SMs struct {
	Fabric     *interconnect.Fabric
	Dispatch   *sharing.Dispatcher
	FirstError *timing.FirstError
	Wakeups    timing.Wakeups

	List     []*sm.SM
	Counters *stat.Table
	Every    bool // they are run in every cycle

	mail mail
}

// Sink takes the answers for SM i.
func (a *SMs) Sink(i int) interconnect.Sink { return port{a, i} }

// mail holds the messages between SMs and the rest of the machine in a stride. The two sides do not run its cycles at
// the same time, so each message carries its cycle, and is taken when the other side gets there.
type mail struct {
	open  bool         // there is a stride
	ahead bool         // the memory side runs the one after it
	in    [][]message  // [SM] answers, in the order of their cycles,
	later [][]message  // and those of the memory side while it is ahead
	out   [][]message  // [SM] requests, in that order
	sent  [][]outgoing // [cycle of the stride] requests, in the order of SMs
}

// message is an answer for an SM, or a request of it, and its cycle.
type message struct {
	at uint64
	h  int32
}

// outgoing is a request of an SM.
type outgoing struct {
	h    int32
	port int32
}

// meet gives the SMs the answers of a memory side that was ahead.
func (m *mail) meet() {
	m.ahead = false
	for i, later := range m.later {
		m.in[i] = append(m.in[i], later...)
		m.later[i] = later[:0]
	}
}

// sort puts the requests that SMs have sent since cycle from in the order of their cycles, and of the SMs.
func (m *mail) sort(from uint64) {
	for i, out := range m.out {
		for _, d := range out {
			at := &m.sent[d.at-from]
			*at = append(*at, outgoing{d.h, int32(i)})
		}
		m.out[i] = out[:0]
	}
}

// port takes the answers for an SM.
type port struct {
	sms *SMs
	sm  int
}

// Deliver hands an answer to the SM, or keeps it until the SM gets there.
func (p port) Deliver(h int32, now uint64) {
	a := p.sms
	switch {
	case a.mail.ahead:
		a.mail.later[p.sm] = append(a.mail.later[p.sm], message{now, h})
		return
	case a.mail.open:
		a.mail.in[p.sm] = append(a.mail.in[p.sm], message{now, h})
		return
	}
	s := a.List[p.sm]
	s.Deliver(h, now)
	a.Wakeups.WakeSM(p.sm, s.Due())
}

// Tick advances SM i to core cycle now.
func (a *SMs) Tick(i int, now uint64) uint64 {
	next := a.run(i, now)
	s := a.List[i]
	if len(s.Done) > 0 {
		a.Dispatch.Retire(s, now)
	}
	if len(s.Settled) > 0 {
		a.Dispatch.Settle(s, now)
	}
	a.FirstError.Note(s.Err)
	return next
}

// run is Tick without the parts that concern other components.
func (a *SMs) run(i int, now uint64) uint64 {
	s := a.List[i]
	next := s.Due()
	if next <= now || a.Every {
		next = s.Tick(now)
	}
	if s.Out().Len() == 0 {
		return next
	}
	if s.LinkFree() <= now && a.send(i, *s.Out().Head(), now) {
		s.Sent(now)
		next = min(next, s.Due())
	}
	if s.Out().Len() > 0 {
		next = min(next, max(now+1, s.LinkFree()))
	}
	return next
}

// send gives the interconnect a request of SM i. In a stride, the interconnect takes it when it gets to that cycle,
// and has room for all that an SM can send meanwhile. False if there is no room.
func (a *SMs) send(i int, h int32, now uint64) bool {
	if a.mail.open {
		a.mail.out[i] = append(a.mail.out[i], message{now, h})
		return true
	}
	return a.Fabric.Inject(i, h, now)
}

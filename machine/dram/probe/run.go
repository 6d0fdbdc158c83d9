package probe

import (
	"github.com/heddle-sim/heddle/machine/dram"
)

// Options say how requests are sent.
type Options struct {
	Inject int // requests per clock at most
	Window int // outstanding requests at most; 0: no limit
	// Trace, when set, sees every command of every channel.
	Trace func(channel int, now uint64, cmd dram.Cmd, at dram.Loc)

	everyClock bool // tests: visit every clock
}

// runner is the state of one run.
type runner struct {
	opt      Options
	mapper   *Mapper
	channels []*dram.Channel
	next     []uint64 // of each channel
	src      Source
	clock    uint64

	accepted []uint64 // accept clock by request id
	ids      []int32  // free ids
	inFlight int

	reads, writes uint64
	hist          []uint32 // requests by latency
	sum           uint64
	end           uint64 // clock of the last completion

	more    bool // a request waits to be sent: write, to channel i at at
	write   bool
	refused bool // its channel has refused it
	i       int
	at      dram.Loc
	eof     bool
}

// Run sends all requests of src to a device and waits for the last to complete.
func Run(d *Device, m *Mapper, src Source, opt Options) (*Result, error) {
	r := &runner{opt: opt, mapper: m, src: src}
	if r.opt.Inject < 1 {
		r.opt.Inject = 1
	}
	if r.opt.Window < 1 {
		r.opt.Window = int(^uint(0) >> 1)
	}
	for i := range d.Channels {
		c, err := dram.Build(&d.Config)
		if err != nil {
			return nil, err
		}
		if opt.Trace != nil {
			c.Trace = func(now uint64, cmd dram.Cmd, at dram.Loc) { opt.Trace(i, now, cmd, at) }
		}
		r.channels = append(r.channels, c)
		r.next = append(r.next, dram.Never)
	}
	for {
		r.clock++
		if err := r.inject(); err != nil {
			return nil, err
		}
		r.tick()
		if !r.more && r.eof && r.inFlight == 0 {
			break
		}
		if r.blocked() && !opt.everyClock {
			r.skip()
		}
	}
	for _, c := range r.channels {
		c.Sync(r.end)
	}
	return r.result(d), nil
}

// inject sends what may be sent before the current tick.
func (r *runner) inject() error {
	for range r.opt.Inject {
		if r.inFlight >= r.opt.Window {
			return nil
		}
		if !r.more {
			if r.eof {
				return nil
			}
			addr, write, ok, err := r.src.Next()
			if err != nil {
				return err
			}
			r.write, r.more, r.eof, r.refused = write, ok, !ok, false
			if !ok {
				return nil
			}
			r.i, r.at = r.mapper.Map(addr)
		}
		if !r.send() {
			return nil
		}
	}
	return nil
}

// blocked tells that nothing can be sent before a channel does something.
func (r *runner) blocked() bool {
	if r.inFlight >= r.opt.Window || r.eof && !r.more {
		return true
	}
	if !r.more {
		return false
	}
	return !r.channels[r.i].CanPush(r.write)
}

// send tries to hand the waiting request to its channel. One that was refused is
// tried again when there is room: nothing else can make it acceptable, as no later
// request overtakes it.
func (r *runner) send() bool {
	c := r.channels[r.i]
	if r.refused && !c.CanPush(r.write) {
		return false
	}
	if len(r.ids) == 0 {
		r.ids = append(r.ids, int32(len(r.accepted)))
		r.accepted = append(r.accepted, 0)
	}
	id := r.ids[len(r.ids)-1]
	// Field by field: the processor stalls on reading in one piece what Map wrote in several.
	at := dram.Loc{Rank: r.at.Rank, BankGroup: r.at.BankGroup, Bank: r.at.Bank, Row: r.at.Row, Col: r.at.Col}
	if !c.Push(r.clock, at, r.write, 1, id, 0) {
		r.refused = true
		return false
	}
	r.ids = r.ids[:len(r.ids)-1]
	r.accepted[id] = r.clock - 1
	r.inFlight++
	r.more = false
	r.next[r.i] = r.clock
	if r.write {
		r.writes++
	} else {
		r.reads++
	}
	if c.Completed() > 0 { // a coalesced write is done before the tick
		r.collect(c, r.clock-1)
	}
	return true
}

// tick runs the channels that have something to do.
func (r *runner) tick() {
	for i, c := range r.channels {
		if r.next[i] > r.clock && !r.opt.everyClock {
			continue
		}
		r.next[i] = c.Tick(r.clock)
		if c.Completed() > 0 {
			r.collect(c, r.clock)
		}
	}
}

// skip moves to just before the next clock at which a channel does something.
func (r *runner) skip() {
	at := dram.Never
	for _, n := range r.next {
		at = min(at, n)
	}
	if at != dram.Never && at > r.clock+1 {
		r.clock = at - 1
	}
}

// collect takes completed requests off a channel.
func (r *runner) collect(c *dram.Channel, now uint64) {
	for {
		id, write, ok := c.Pop()
		if !ok {
			return
		}
		lat := now - r.accepted[id]
		r.ids = append(r.ids, id)
		r.inFlight--
		r.end = max(r.end, now)
		if write {
			continue
		}
		r.sum += lat
		for uint64(len(r.hist)) <= lat {
			r.hist = append(r.hist, make([]uint32, max(256, len(r.hist)))...)
		}
		r.hist[lat]++
	}
}

package exec

import (
	"math"

	"github.com/heddle-sim/heddle/cuda/shim"
	"github.com/heddle-sim/heddle/host"
)

// stream is a stream of the program; those that it destroys are used again.
type stream struct {
	s     *host.Stream
	flags uint64
	polls int
}

// event is an event of the program.
type event struct {
	e      *host.Event
	timing bool
	polls  int
}

// gate is a host function in a stream.
type gate struct {
	gate *host.Gate
	v    [shim.Values]uint64 // function, data, whether it is a callback, stream
}

// streamOf is a stream by its handle: 0 and 1 are the default stream, 2 that of a thread.
func (c *call) streamOf(h uint64) (*stream, int32) {
	if h <= 2 {
		return &stream{s: c.s.c.DefaultStream()}, success
	}
	if s := c.s.streams[h]; s != nil {
		return s, success
	}
	return nil, invalidHandle
}

func (s *session) handle() uint64 {
	s.next += 0x10
	return s.next
}

// runGates runs the host functions that have been asked for, in the order in which they were.
func (s *session) runGates(c *call) int32 {
	for len(s.gates) > 0 {
		g := s.gates[0]
		if err := g.gate.Wait(); err != nil {
			return c.failed(err, launchFailed)
		}
		s.gates = s.gates[1:]
		if e := s.runGate(c, g); e != success {
			return e
		}
	}
	return success
}

// runGate has the program run a host function, and answers what it asks meanwhile.
func (s *session) runGate(c *call, g *gate) int32 {
	defer g.gate.Open()
	if err := s.revoke(); err != nil {
		c.broken = err
		return launchFailed
	}
	outer := s.call
	defer func() { s.call = outer }()
	if err := s.push(shim.HostCall, packet{v: g.v}); err != nil {
		c.broken = err
		return launchFailed
	}
	for {
		p, err := s.receive()
		if err == nil && shim.Call(p.kind) != shim.Done {
			err = s.answer(&p)
		} else if err == nil {
			return success
		}
		if err != nil {
			c.broken = err
			return launchFailed
		}
	}
}

// hostFunction puts function v[1] with data v[2] into stream v[0]; v[3] says that it is a callback.
func (c *call) hostFunction() int32 {
	s, e := c.streamOf(c.v[0])
	if e != success {
		return e
	}
	if len(c.s.gates) >= mostHandles {
		return outOfMemory
	}
	g, err := c.s.d.Gate(s.s)
	if err != nil {
		return c.failed(err, launchFailed)
	}
	c.s.gates = append(c.s.gates, &gate{g, [shim.Values]uint64{c.v[1], c.v[2], c.v[3], c.v[0]}})
	if c.s.d.Properties().Timeless { // the rest of the stream runs at once
		return c.s.runGates(c)
	}
	return success
}

// finish waits for everything.
func (c *call) finish() int32 {
	if e := c.s.runGates(c); e != success {
		return e
	}
	return c.failed(c.s.c.Finish(), launchFailed)
}

func (c *call) sync() int32 {
	s, e := c.streamOf(c.v[0])
	if e != success {
		return e
	}
	if e := c.s.runGates(c); e != success {
		return e
	}
	return c.failed(s.s.Synchronize(), launchFailed)
}

func (c *call) syncAll() int32 {
	if e := c.s.runGates(c); e != success {
		return e
	}
	return c.failed(c.s.c.DeviceSynchronize(), launchFailed)
}

// stream makes a stream with flags v[0].
func (c *call) stream() int32 {
	if len(c.s.streams) >= mostStreams {
		return c.refused(outOfMemory, "a program has at most %d streams: destroy those it is done with", mostStreams)
	}
	h := c.s.handle()
	s := &stream{flags: c.v[0]}
	if c.v[0]&1 != 0 {
		s.s = c.s.d.StreamApart()
	} else {
		s.s = c.s.c.NewStream()
	}
	c.s.streams[h] = s
	c.v[0] = h
	return success
}

// mostStreams is how many streams there are at once.
const mostStreams = 4096

// streamEnd destroys stream v[0] once what is in it is done, without waiting for that.
func (c *call) streamEnd() int32 {
	if c.s.streams[c.v[0]] == nil {
		return invalidHandle
	}
	delete(c.s.streams, c.v[0])
	return success
}

func (c *call) streamFlags() int32 {
	s, e := c.streamOf(c.v[0])
	if e == success {
		c.v[0] = s.flags
	}
	return e
}

// mostPolls is how often a program may ask whether something is done before it waits for it.
const mostPolls = 100_000

// poll answers whether something is done, a microsecond later if it is not yet.
func (c *call) poll(polls *int, done func() bool, wait func() error) int32 {
	if done() {
		*polls = 0
		return success
	}
	if e := c.s.runGates(c); e != success {
		return e
	}
	if *polls++; *polls > mostPolls {
		return c.failed(wait(), launchFailed)
	}
	if err := c.s.d.Pass(c.s.d.Properties().CoreMHz); err != nil {
		return c.failed(err, launchFailed)
	}
	if done() {
		*polls = 0
		return success
	}
	return notReady
}

func (c *call) streamQuery() int32 {
	s, e := c.streamOf(c.v[0])
	if e != success {
		return e
	}
	return c.poll(&s.polls, s.s.Idle, s.s.Synchronize)
}

// streamWait has stream v[0] wait for event v[1].
func (c *call) streamWait() int32 {
	s, e := c.streamOf(c.v[0])
	ev := c.s.events[c.v[1]]
	if e != success || ev == nil {
		return invalidHandle
	}
	return c.failed(s.s.WaitFor(ev.e), launchFailed)
}

// event makes an event with flags v[0].
func (c *call) event() int32 {
	if len(c.s.events) >= mostHandles {
		return outOfMemory
	}
	h := c.s.handle()
	c.s.events[h] = &event{e: c.s.c.NewEvent(), timing: c.v[0]&2 == 0}
	c.v[0] = h
	return success
}

func (c *call) eventEnd() int32 {
	if c.s.events[c.v[0]] == nil {
		return invalidHandle
	}
	delete(c.s.events, c.v[0])
	return success
}

// eventRecord records event v[0] in stream v[1].
func (c *call) eventRecord() int32 {
	s, e := c.streamOf(c.v[1])
	ev := c.s.events[c.v[0]]
	if e != success || ev == nil {
		return invalidHandle
	}
	return c.failed(ev.e.Record(s.s), launchFailed)
}

func (c *call) eventQuery() int32 {
	ev := c.s.events[c.v[0]]
	if ev == nil {
		return invalidHandle
	}
	return c.poll(&ev.polls, ev.e.Done, ev.e.Synchronize)
}

func (c *call) eventSync() int32 {
	ev := c.s.events[c.v[0]]
	if ev == nil {
		return invalidHandle
	}
	if e := c.s.runGates(c); e != success {
		return e
	}
	return c.failed(ev.e.Synchronize(), launchFailed)
}

// eventTime is the simulated microseconds from event v[0] to event v[1], as the bits of a double.
func (c *call) eventTime() int32 {
	from, to := c.s.events[c.v[0]], c.s.events[c.v[1]]
	switch {
	case from == nil || to == nil || !from.timing || !to.timing || !from.e.Recorded() || !to.e.Recorded():
		return invalidHandle
	case !from.e.Done() || !to.e.Done():
		return notReady
	}
	us, err := from.e.Elapsed(to.e)
	if err != nil {
		return c.failed(err, launchFailed)
	}
	c.v[0] = math.Float64bits(us)
	return success
}

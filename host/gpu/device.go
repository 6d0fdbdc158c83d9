package gpu

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// Device is one program's context on the board.
type Device struct {
	b     *Board
	ctx   context.Context
	o     Options
	arena uint64 // the GPU's memory that holds the program's, by the same addresses
	bytes pinned
	help  *helpers
	queue []*host.Op // what the GPU has not been given yet

	streams  []uintptr // by host stream; the first is CUDA's legacy default stream
	modules  map[*host.Module]uintptr
	symbols  map[*mem.Region]uint64 // where a module's variable really is
	kernels  map[*host.Kernel]uintptr
	pending  [][]*work // enqueued and not known to be done, by stream
	events   map[*host.Op]uintptr
	unused   []uintptr // events
	latest   uintptr   // the event whose time was taken last: the next one's is counted from there, in short steps,
	latestNS float64   // as the driver's floats hold no long ones exactly
	launches []Launch
}

// Launch is the time of one kernel, measured by events before and after it. It includes what the GPU needs to begin
// and to end the kernel.
type Launch struct {
	Kernel string
	Start  float64 // ns since the device was made
	NS     float64
}

// work is an operation that the GPU has been given.
type work struct {
	op          *host.Op
	begin, done uintptr // events; 0: none
	apply       func()  // when it is done
}

// Nanoseconds is the clock in MHz with which a host.Context reads this device's time.
const Nanoseconds = 1000

// Options of a Device.
type Options struct {
	Arena int64 // bytes for the program's arrays
	Timed bool  // each launch lies between two events
	Cold  bool  // the L2 is filled with other bytes before each launch
}

// Device makes a program's context. Close it.
func (b *Board) Device(ctx context.Context, o Options) (*Device, *mem.Space, error) {
	d := &Device{
		b: b, ctx: ctx, o: o, streams: []uintptr{0}, pending: [][]*work{nil},
		modules: map[*host.Module]uintptr{}, symbols: map[*mem.Region]uint64{}, kernels: map[*host.Kernel]uintptr{},
		events: map[*host.Op]uintptr{},
	}
	if err := b.lib.check("cuMemAlloc", b.lib.mem.memAlloc(&d.arena, uint64(o.Arena))); err != nil {
		return nil, nil, fmt.Errorf("%d MB for the program's arrays: %w", o.Arena>>20, err)
	}
	space := mem.NewSpaceAt(d.arena, o.Arena)
	d.bytes = pinned{b.lib, map[uint64]unsafe.Pointer{}}
	space.BackBy(d.bytes)
	var err error
	if d.help, err = newHelpers(b); err == nil {
		d.latest, err = d.mark(0)
	}
	if err != nil {
		d.Close()
		return nil, nil, err
	}
	return d, space, nil
}

// Launches are the timed launches that are done, in the order in which they ended.
func (d *Device) Launches() []Launch { return d.launches }

// Close releases everything, the bytes of the program's arrays included.
func (d *Device) Close() {
	l := d.b.lib
	l.dev.ctxSynchronize()
	for _, m := range d.modules {
		l.mod.moduleUnload(m)
	}
	for _, s := range d.streams[1:] {
		l.ord.streamDestroy(s)
	}
	for _, e := range d.events {
		l.ord.eventDestroy(e)
	}
	for _, e := range d.unused {
		l.ord.eventDestroy(e)
	}
	for _, p := range d.bytes.at {
		l.mem.memFreeHost(p)
	}
	l.mem.memFree(d.arena)
	if d.help != nil {
		d.help.close()
	}
}

// Loaded lets the driver compile the module.
func (d *Device) Loaded(m *host.Module, symbols []*mem.Region) error {
	src := m.Sources()
	if len(src) != 1 {
		return fmt.Errorf("a module of %d files is not measured: link them into one", len(src))
	}
	h, err := d.b.lib.compile(src[0].Text)
	if err != nil {
		return fmt.Errorf("%s: %w", src[0].File, err)
	}
	d.modules[m] = h
	for _, r := range symbols {
		var at, n uint64
		if err := d.b.lib.check("cuModuleGetGlobal", d.b.lib.mod.getGlobal(&at, &n, h, r.Name)); err == nil {
			d.symbols[r] = at
		} // a variable of the module alone has no name outside it, and the program cannot ask for it
	}
	return nil
}

// stream is the driver's stream for one of the program's.
func (d *Device) stream(n int) (uintptr, error) {
	for len(d.streams) <= n {
		var s uintptr
		if err := d.b.lib.check("cuStreamCreate", d.b.lib.ord.streamCreate(&s, 0)); err != nil {
			return 0, err
		}
		d.streams, d.pending = append(d.streams, s), append(d.pending, nil)
	}
	return d.streams[n], nil
}

// mark records an event at the tail of a stream.
func (d *Device) mark(stream uintptr) (uintptr, error) {
	var e uintptr
	if n := len(d.unused); n > 0 {
		e, d.unused = d.unused[n-1], d.unused[:n-1]
	} else if err := d.b.lib.check("cuEventCreate", d.b.lib.ord.eventCreate(&e, 0)); err != nil {
		return 0, err
	}
	return e, d.b.lib.check("cuEventRecord", d.b.lib.ord.eventRecord(e, stream))
}

// Enqueue notes an operation. The GPU gets it, with those after it, when the program waits.
func (d *Device) Enqueue(op *host.Op) error {
	if d.ctx.Err() != nil {
		return host.ErrStopped
	}
	if op.Kind == host.OpCopy && op.Dst.Kind != mem.Host && op.Src.Kind == mem.Host && op.Src.Data == nil {
		return d.write(op)
	}
	d.queue = append(d.queue, op)
	return nil
}

// Nanoseconds of the pause that precedes operations: this process needs less to give them to the GPU.
const (
	pauseNS   = 100_000
	pauseNSOp = 10_000
)

// issue gives the GPU what is queued. Where time matters a pause goes before it, so that all is there when the GPU
// begins: what it takes is then its own time, without the computer's.
func (d *Device) issue() error {
	queue := d.queue
	d.queue = nil
	marks := 0
	for _, op := range queue {
		if err := d.prepare(op); err != nil {
			return err
		}
		if op.Kind == host.OpEvent || op.Kind == host.OpLaunch && d.o.Timed {
			marks++
		}
	}
	if marks > 0 {
		if err := d.help.pause(pauseNS + pauseNSOp*uint64(len(queue))); err != nil {
			return err
		}
	}
	for _, op := range queue {
		if err := d.give(op); err != nil {
			op.Err = err
			return err
		}
	}
	return nil
}

// prepare does what would make the driver wait for the GPU: it makes streams and loads kernels.
func (d *Device) prepare(op *host.Op) error {
	if _, err := d.stream(op.Stream); err != nil {
		return err
	}
	if op.Kernel == nil {
		return nil
	}
	_, err := d.function(op.Kernel)
	return err
}

// give gives the GPU an operation.
func (d *Device) give(op *host.Op) error {
	s, err := d.stream(op.Stream)
	if err != nil {
		return err
	}
	w := &work{op: op}
	switch op.Kind {
	case host.OpLaunch:
		err = d.launch(w, s)
	case host.OpCopy:
		err = d.copy(w, s)
	case host.OpEvent:
		if w.done, err = d.mark(s); err == nil {
			d.events[op] = w.done
		}
	case host.OpWait:
		if e, ok := d.events[op.After]; ok { // else the default stream's rule, which the driver knows
			err = d.b.lib.check("cuStreamWaitEvent", d.b.lib.ord.streamWaitEvent(s, e, 0))
		}
	default:
		err = fmt.Errorf("%s: not measured on a GPU", op.Name)
	}
	if err == nil {
		d.pending[op.Stream] = append(d.pending[op.Stream], w)
	}
	return err
}

func (d *Device) launch(w *work, s uintptr) (err error) {
	op := w.op
	if op.Kernel == nil {
		return fmt.Errorf("%s is no kernel of a module: only PTX runs on a GPU", op.Name)
	}
	f, err := d.function(op.Kernel)
	if err != nil {
		return err
	}
	l, lib := &op.Shape, d.b.lib
	if l.SharedDynamic > 48<<10 {
		set := lib.mod.funcSet(f, attributeSharedUp, int32(l.SharedDynamic))
		if err := lib.check("cuFuncSetAttribute", set); err != nil {
			return fmt.Errorf("%s: %d bytes of shared memory: %w", op.Name, l.SharedDynamic, err)
		}
	}
	params := make([]unsafe.Pointer, len(op.Kernel.Params)+1)
	for i, p := range op.Kernel.Params {
		params[i] = unsafe.Pointer(&l.Params[p.Offset])
	}
	if d.o.Cold {
		if err := d.help.sweep(d.b.L2, s); err != nil {
			return err
		}
	}
	if d.o.Timed {
		if w.begin, err = d.mark(s); err != nil {
			return err
		}
	}
	shared := uint32(l.SharedDynamic)
	if l.Workspace != 0 && lib.mod.launchJoint == nil {
		return fmt.Errorf("launch of %s: this driver has no cuLaunchCooperativeKernel", op.Name)
	} else if l.Workspace != 0 {
		err = lib.check("cuLaunchCooperativeKernel", lib.mod.launchJoint(f, l.Grid[0], l.Grid[1], l.Grid[2],
			l.Block[0], l.Block[1], l.Block[2], shared, s, &params[0]))
	} else {
		err = lib.check("cuLaunchKernel", lib.mod.launch(f, l.Grid[0], l.Grid[1], l.Grid[2], l.Block[0], l.Block[1],
			l.Block[2], shared, s, &params[0], nil))
	}
	if err != nil {
		return fmt.Errorf("launch of %s: %w", op.Name, err)
	}
	if d.o.Timed {
		w.done, err = d.mark(s)
	}
	return err
}

func (d *Device) function(k *host.Kernel) (uintptr, error) {
	if f, ok := d.kernels[k]; ok {
		return f, nil
	}
	var f uintptr
	code := d.b.lib.mod.getFunction(&f, d.modules[k.Module()], k.Name)
	if err := d.b.lib.check("cuModuleGetFunction", code); err != nil {
		return 0, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	// The driver loads a kernel when it is first needed, and asking for its registers is a need.
	var registers int32
	code = d.b.lib.mod.funcGet(&registers, attributeRegisters, f)
	if err := d.b.lib.check("cuFuncGetAttribute", code); err != nil {
		return 0, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	d.kernels[k] = f
	return f, nil
}

// Synchronize waits for all streams.
func (d *Device) Synchronize() error {
	if err := d.issue(); err != nil {
		return err
	}
	if err := d.b.lib.check("cuCtxSynchronize", d.b.lib.dev.ctxSynchronize()); err != nil {
		return err
	}
	for s := range d.pending {
		if err := d.finish(s, len(d.pending[s])); err != nil {
			return err
		}
	}
	return nil
}

// Wait waits for an operation and those before it in its stream.
func (d *Device) Wait(op *host.Op) error {
	if op.Done {
		return nil
	}
	if err := d.issue(); err != nil {
		return err
	}
	if err := d.b.lib.check("cuStreamSynchronize", d.b.lib.ord.streamSync(d.streams[op.Stream])); err != nil {
		return err
	}
	return d.finish(op.Stream, len(d.pending[op.Stream]))
}

// finish notes that the first n operations of a stream are done.
func (d *Device) finish(stream, n int) error {
	for _, w := range d.pending[stream][:n] {
		if w.apply != nil {
			w.apply()
		}
		if err := d.note(w); err != nil {
			return err
		}
		w.op.Done = true
	}
	d.pending[stream] = append(d.pending[stream][:0], d.pending[stream][n:]...)
	return nil
}

// note takes the times of an operation.
func (d *Device) note(w *work) error {
	if w.done == 0 {
		return nil
	}
	step, err := d.since(d.latest, w.done)
	if err != nil {
		return err
	}
	end := d.latestNS + step
	w.op.Start, w.op.End = uint64(end), uint64(end)
	if w.begin == 0 {
		d.latest, d.latestNS = w.done, end
		return nil
	}
	took, err := d.since(w.begin, w.done)
	if err != nil {
		return err
	}
	w.op.Start = uint64(end - took)
	d.launches = append(d.launches, Launch{Kernel: w.op.Name, Start: end - took, NS: took})
	d.unused = append(d.unused, w.begin, w.done)
	return nil
}

// since is the ns between two events.
func (d *Device) since(from, to uintptr) (float64, error) {
	var ms float32
	err := d.b.lib.check("cuEventElapsedTime", d.b.lib.ord.eventElapsed(&ms, from, to))
	return float64(ms) * 1e6, err
}

// Resident gives no limit: the driver refuses a cooperative launch that does not fit.
func (d *Device) Resident(isa.Geometry) int { return 1 << 30 }

// Touch has no pages to move: managed memory is refused.
func (d *Device) Touch(*mem.Region, int64, int64, bool) error { return nil }

// Advise has no effect.
func (d *Device) Advise(*mem.Region, host.Advice) error { return nil }

// SetQoS has no effect.
func (d *Device) SetQoS(string, float64) error { return nil }

// Cycle is the time in ns at the last event that has been waited for; programs do not ask for it.
func (d *Device) Cycle() uint64 { return 0 }

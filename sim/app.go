package sim

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/heddle-sim/heddle/apps/reference"
	"github.com/heddle-sim/heddle/cuda"
	"github.com/heddle-sim/heddle/cuda/shim"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/host/exec"
	"github.com/heddle-sim/heddle/host/script"
	"github.com/heddle-sim/heddle/isa/accesses"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/trace/accelsim"
	"github.com/heddle-sim/heddle/trace/record"
	"github.com/heddle-sim/heddle/workload"
)

// ErrStopped ends a run that was interrupted.
var ErrStopped = host.ErrStopped

// Deadlock is the error of a run that cannot continue; Msg says which part waits for which.
type Deadlock = host.Deadlock

// app is one application of a run. Its program runs on a separate goroutine, in turns with the scheduler, never at
// the same time.
type app struct {
	id      int
	spec    App
	prog    host.Program
	dev     *device
	ctx     *host.Context
	log     printed
	resume  chan struct{}
	yielded chan struct{}
	ended   chan error
	gone    chan struct{} // closed when the program is given up because it does not react
	live    bool          // the goroutine exists
	broken  error         // the answer of Wait: a fault, a deadlock, the end of the run
	err     error         // how the program ended
	counted bool          // its end has been booked
	runs    int
	checks  []Check
	targets []kernelTarget // of its kernels, the one set last at the end

	advices advices // that it has given

	filter  accesses.Filter // of AccessesOnly
	traces  []io.Closer     // of its CPU cores
	running bool            // its CPU cores go through its program over and over

	arrived, begun uint64 // begun: of the present execution
	done           bool   // its work is done: finished once, or executed its instructions
}

// load reads the application's program.
func (a *app) load(spec *Spec) error {
	if a.spec.Program != nil {
		a.prog = a.spec.Program
		return nil
	}
	if a.spec.CPU != nil {
		a.prog = &cpuProgram{a}
		return a.spec.CPU.Check()
	}
	if a.spec.Exec != nil {
		return a.compiled()
	}
	if is, err := record.Is(a.spec.Path); err == nil && is { // script.Load has the error for other paths
		if len(a.spec.Args) > 0 {
			return fmt.Errorf("%s is a recording: it replays what was recorded and takes no arguments", a.spec.Path)
		}
		p, err := record.Load(a.spec.Path)
		if err != nil {
			return err
		}
		a.prog = p
		if d := p.DeviceMemory(); d != "" && spec.Sharing.Memory.Unified.All {
			return fmt.Errorf("memory.unified.all: %s in the recording %s is device memory, and its addresses are "+
				"those of device memory: run the program itself, or record it with memory.unified.all", d, a.spec.Path)
		}
		return nil
	}
	if is, err := workload.Is(a.spec.Path); err == nil && is {
		a.prog, err = workload.Load(a.spec.Path, a.spec.Args, spec.Seed)
		return err
	}
	if list, ok := accelsim.Find(a.spec.Path); ok {
		p, err := accelsim.Load(list, a.spec.Args, accelsim.Options{})
		if err != nil {
			return err
		}
		a.prog = p
		if n, _ := p.Allocations(); n == 0 && spec.Sharing.Memory.Unified.All {
			return fmt.Errorf("memory.unified.all: %s has no lines cudaMalloc,0x<address>,<bytes>: without them a "+
				"trace does not say what was allocated, and none of its memory can be managed", list)
		}
		return nil
	}
	refs := make(map[string]host.Reference, len(reference.All))
	for n, f := range reference.All {
		refs[n] = f
	}
	p, err := script.Load(a.spec.Path, script.Options{
		Args: a.spec.Args, OutDir: spec.OutDir, References: refs,
		Seed: spec.Seed, Log: &a.log, Taken: IsResultFile,
	})
	if err != nil {
		return err
	}
	a.prog = p
	return nil
}

// compiled makes a program of an executable. What it prints is its log.
func (a *app) compiled() error {
	headers, err := cuda.Headers()
	if err != nil {
		return err
	}
	lib, err := shim.Build(context.Background(), headers, "")
	if err != nil {
		return &host.Error{Err: err}
	}
	a.prog = &exec.Program{Args: a.spec.Exec, Dir: a.spec.Path, Shim: lib, Stdout: &a.log, Stderr: &a.log}
	return nil
}

// begin starts the program, again on fresh memory if it ran before.
func (a *app) begin(ctx host.Options, dev host.Device, space *mem.Space) {
	a.ctx = host.New(dev, space, ctx)
	a.resume, a.yielded, a.gone = make(chan struct{}), make(chan struct{}), make(chan struct{})
	a.live, a.counted, a.broken, a.err = true, false, nil, nil
	if a.dev != nil {
		a.dev.streams = nil
	}
	a.ended = make(chan error, 1)
	go func() {
		<-a.resume
		a.ended <- a.execute()
	}()
}

// execute runs the program to its end.
func (a *app) execute() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error in the host program of %s: %v\n%s", a.spec.Name, p, debug.Stack())
		}
	}()
	if err := a.prog.Run(a.ctx); err != nil {
		return err
	}
	return a.ctx.Finish()
}

// step lets the program run until it waits or ends.
func (a *app) step() {
	a.resume <- struct{}{}
	a.await(a.ctx.Done())
}

// mercy is how long a program may continue to compute on the host, as for a check or a sort of a long list, when the
// run shall stop.
const mercy = time.Second

// await waits until the program yields or ends. Once the run shall stop, it gives the program up after a while,
// because its computation cannot be ended from outside. Such a program ends at its next call.
func (a *app) await(stop <-chan struct{}) {
	var late <-chan time.Time
	for {
		select {
		case <-a.yielded:
			return
		case a.err = <-a.ended:
			a.live = false
			return
		case <-stop:
			late, stop = time.After(mercy), nil
		case <-late:
			close(a.gone)
			a.live, a.err = false, ErrStopped
			return
		}
	}
}

// present is called in every call of the program to the device. A program that was given up ends there.
func (a *app) present() {
	if a.givenUp() {
		runtime.Goexit()
	}
}

// yield gives control back to the scheduler and returns when it is given back.
func (a *app) yield() {
	select {
	case a.yielded <- struct{}{}:
		<-a.resume
	case <-a.gone:
		runtime.Goexit()
	}
}

// stop ends a program that waits, with err as the answer of its Wait.
func (a *app) stop(err error) {
	a.broken = err
	for a.live {
		a.step()
	}
}

func (a *app) givenUp() bool {
	select {
	case <-a.gone:
		return true
	default:
		return false
	}
}

// collect records the checks of the run that just ended; a repetition is reported
// only where it fails.
func (a *app) collect() {
	if a.givenUp() {
		return
	}
	for _, c := range a.ctx.Checks() {
		if a.runs == 0 || !c.OK {
			a.checks = append(a.checks, Check{App: a.spec.Name, What: c.What, OK: c.OK, Msg: c.Msg})
		}
	}
}

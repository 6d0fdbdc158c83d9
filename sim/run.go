package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/trace/record"
)

// run is one simulation in progress.
type run struct {
	spec  *Spec
	sheet *sheets.Machine
	given MachineSheet // as resolved
	gpu   *machine.GPU
	apps  []*app
	col   *collector
	ctl   *controller       // nil: no policy governs the run
	first []*sharing.Tenant // the owners at the start
	ctx   context.Context
	watch func(Progress)
	pace  pace
	begun time.Time
	over  bool           // the length is used up
	rec   *record.Writer // nil: the run is not recorded

	progress progressWatch
}

// Run simulates a Spec. watch, if not nil, gets the progress from time to time. An interrupted, stuck or faulting run
// returns its partial result, marked incomplete, together with the error: ErrStopped, *Deadlock, *isa.Fault or a
// *host.Error of a program.
func Run(ctx context.Context, spec Spec, watch func(Progress)) (*Result, error) {
	r := &run{spec: &spec, ctx: ctx, watch: watch, begun: time.Now()}
	for i := range spec.Apps {
		a := &app{id: i, spec: spec.Apps[i], counted: true}
		if a.spec.Name == "" {
			a.spec.Name = fmt.Sprintf("app%d", i)
		}
		if err := a.load(&spec); err != nil {
			return nil, err
		}
		r.apps = append(r.apps, a)
	}
	if len(r.apps) == 0 {
		return nil, errors.New("nothing to run: the specification names no application")
	}
	sheet, from, err := sheets.Resolve(spec.Machine, spec.Set)
	if err != nil {
		return nil, err
	}
	r.sheet, r.given = sheet, MachineSheet{Name: sheet.Name, Numbers: from.List(sheet)}
	if spec.Record != "" {
		return r.record()
	}
	return r.simulate()
}

// simulate does what the Spec says.
func (r *run) simulate() (*Result, error) {
	if r.spec.Functional {
		return r.functional()
	}
	if r.spec.Touches {
		if err := CheckTouches(r.sheet); err != nil {
			return nil, err
		}
	}
	if err := r.build(); err != nil {
		return nil, err
	}
	err := r.loop()
	r.stopAll(err)
	for _, a := range r.apps {
		err = errors.Join(err, a.closeSources())
	}
	cold := r.cold()
	res := r.result()
	switch {
	case errors.Is(err, ErrStopped):
		err = stopped(r.ctx)
	case err == nil:
		if err = cold; err == nil {
			err = r.unknownKernel()
		}
	}
	if err != nil {
		res.Complete, res.Why = false, why(err)
	}
	return res, err
}

func (r *run) build() error {
	r.sheet = r.spec.Sharing.placed(r.sheet)
	amap, err := addrmap.New(r.sheet)
	if err != nil {
		return err
	}
	apps := make([]App, len(r.apps))
	for i, a := range r.apps {
		apps[i] = a.spec
	}
	if err := r.spec.Sharing.CheckApps(r.sheet, amap.Groups(), apps); err != nil {
		return err
	}
	shares, err := r.spec.Sharing.shares(r.sheet, amap.Groups(), apps)
	if err != nil {
		return err
	}
	if mode, err := r.spec.Sharing.mode(len(apps)); err == nil && mode.targetLarge {
		targetFirst(apps, shares)
	}
	r.first = tenants(apps, shares, r.spec.Sharing.together())
	unified, err := r.unified()
	if err != nil {
		return err
	}
	r.gpu, err = machine.New(r.sheet, tenants(apps, shares, r.spec.Sharing.together()), machine.Options{
		Every: r.spec.NoSkip, Watchdog: r.spec.Watchdog, Profile: r.spec.Profile, Copying: r.spec.Sharing.copying(),
		Lockstep: r.spec.Lockstep, Cores: r.spec.Cores, Quantum: r.spec.Sharing.Turn(r.sheet),
		Touches: r.spec.Touches, Replication: r.spec.Sharing.replication(), Unified: unified,
		Homes: r.spec.Sharing.homes(),
	})
	if err != nil {
		return err
	}
	if r.ctl, err = newController(r); err != nil {
		return err
	}
	r.gpu.Watchdog.Governed = r.ctl != nil
	if err := r.setTargets(); err != nil {
		return err
	}
	for _, a := range r.apps {
		a.dev = &device{r: r, a: a}
		a.arrived = a.spec.Arrive
	}
	r.col, err = newCollector(r)
	return err
}

// setTargets sets the targets of the Spec.
func (r *run) setTargets() error {
	for _, a := range r.apps {
		if a.spec.QoSShare > 0 && a.spec.QoS == 0 {
			return fmt.Errorf("application %s: its target is %.4g %% of its IPC alone, but there is no alone-run",
				a.spec.Name, 100*a.spec.QoSShare)
		}
		if a.spec.QoSKernel != "" {
			a.setTarget(a.spec.QoSKernel, a.spec.QoS)
		}
	}
	return r.checkTargets()
}

// loop alternates between the programs and the machine until every application
// has finished once, or the length is used up.
func (r *run) loop() error {
	if !r.spec.Length.Warms() {
		r.col.warmed()
	}
	for {
		if err := r.programs(); err != nil {
			return err
		}
		if r.finished() {
			return nil
		}
		now := r.gpu.Now()
		if r.ctl != nil { // launches
			r.ctl.tick(now)
		}
		until := r.nextStop(now)
		kernels, err := r.gpu.Run(until)
		if err != nil {
			return r.failed(err)
		}
		for _, k := range kernels {
			r.col.kernel(k)
			r.ctl.happened(control.KernelEnd)
		}
		if err := r.boundaries(); err != nil {
			return err
		}
	}
}

// programs continues every program that can continue, and starts the operations of their streams, until nothing
// changes in this cycle.
func (r *run) programs() error {
	for changed := true; changed; {
		changed = false
		now := r.gpu.Now()
		for _, a := range r.apps {
			if !a.live && r.wants(a, now) {
				if a.runs > 0 && a.spec.CPU == nil { // it starts over on fresh memory
					r.gpu.Release(a.id)
				}
				a.begun = now
				r.col.began(a.id)
				a.begin(r.options(), r.recorded(a.dev), r.space())
				changed = true
			}
			for a.live && (a.dev.waiting == nil || a.dev.waiting.Done) {
				a.step()
				changed = true
			}
			if !a.live && !a.counted {
				if err := r.ended(a, now); err != nil {
					return err
				}
			}
			c, err := a.dev.pump(now)
			if err != nil {
				return err
			}
			changed = changed || c
		}
	}
	return nil
}

// wants says whether the application shall start (again) now.
func (r *run) wants(a *app, now uint64) bool {
	if now < a.arrived || r.over {
		return false
	}
	if !a.done {
		return true
	}
	l := &r.spec.Length
	return (a.spec.Repeat || l.Budget || l.Instructions > 0) && !r.everyone()
}

// everyone says whether all applications have finished once and no budget runs.
func (r *run) everyone() bool {
	if r.spec.Length.Budget {
		return false
	}
	for _, a := range r.apps {
		if !a.done {
			return false
		}
	}
	return true
}

func (r *run) finished() bool { return r.over || r.everyone() }

// ended records a program that has come to its end; its error ends the run.
func (r *run) ended(a *app, now uint64) error {
	a.counted = true
	a.collect()
	if a.err != nil {
		var check *host.CheckError
		if !errors.As(a.err, &check) {
			return r.blamed(a)
		}
	}
	a.runs++
	r.col.executed(a.id)
	a.done = a.done || r.spec.Length.Instructions == 0
	if now == a.begun && r.wants(a, now) {
		remedy := "let it launch a kernel or copy something"
		if a.spec.CPU != nil {
			remedy = "give it more instructions"
		}
		return &host.Error{Err: fmt.Errorf("application %s: its program ends in the cycle in which it begins, so "+
			"repeating "+
			"it would never end; %s", a.spec.Name, remedy)}
	}
	return nil
}

// countEvery is the number of core cycles between two counts in a run that ends after a number of instructions: a
// percent of a run of 50,000, and no cost.
const countEvery = 500

// warms says whether the warm-up ends at this cycle.
func (r *run) warms(now uint64) bool {
	l := &r.spec.Length
	if r.col.warm() || l.WarmupInstructions == 0 {
		return !r.col.warm() && now == l.Warmup
	}
	for _, a := range r.apps {
		if r.col.insts(a.id) < l.WarmupInstructions {
			return false
		}
	}
	return now%countEvery == 0
}

// counted finds the applications that have executed the instructions asked for.
func (r *run) counted() {
	for _, a := range r.apps {
		if !a.done && r.col.insts(a.id) >= r.spec.Length.Instructions {
			a.done = true
			r.col.reached(a.id)
		}
	}
}

// nextStop is the cycle at which the machine must give control back: for a look at it and the context, a transfer's
// end, an arrival, an epoch's end, the end of the run.
func (r *run) nextStop(now uint64) uint64 {
	n := r.gpu.Watchdog.Next()
	for _, a := range r.apps {
		n = min(n, a.dev.next(now))
		if a.arrived > now {
			n = min(n, a.arrived)
		}
	}
	if e := r.col.period; e > 0 {
		n = min(n, (now/e+1)*e)
	}
	if r.ctl != nil {
		n = min(n, r.ctl.next(now))
	}
	if m := r.spec.Length.MaxCycles; m > 0 {
		n = min(n, m)
	}
	if l := &r.spec.Length; l.Instructions > 0 || l.WarmupInstructions > 0 && !r.col.warm() {
		n = min(n, (now/countEvery+1)*countEvery)
	}
	if w := r.spec.Length.Warmup; w > now {
		n = min(n, w)
	}
	return n
}

// boundaries does the work that is due at the cycle that the machine has reached.
func (r *run) boundaries() error {
	now := r.gpu.Now()
	counting := now%countEvery == 0 && r.col.warm()
	if r.warms(now) {
		r.col.warmed()
	}
	if e := r.col.period; e > 0 && now%e == 0 && now > r.col.sampled {
		r.col.epoch(now)
	}
	if r.ctl != nil {
		r.ctl.tick(now)
	}
	if counting && r.spec.Length.Instructions > 0 {
		r.counted()
	}
	if m := r.spec.Length.MaxCycles; m > 0 && now >= m {
		r.over = true
		if !r.spec.Length.Budget && !r.allDone() {
			return &Unfinished{Cycles: m}
		}
	}
	if r.ctx.Err() != nil {
		return ErrStopped
	}
	r.report()
	return r.starved(now)
}

// stopped is the error of a run whose context has ended: with its cause if the cause is not an interruption (a limit
// of memory).
func stopped(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return fmt.Errorf("%w: %w", ErrStopped, cause)
	}
	return ErrStopped
}

// why is the reason in a partial result for its end: the cause for which it was stopped, if there is one.
func why(err error) string {
	if text, ok := strings.CutPrefix(err.Error(), ErrStopped.Error()+": "); ok {
		return text
	}
	return err.Error()
}

func (r *run) allDone() bool {
	for _, a := range r.apps {
		if !a.done {
			return false
		}
	}
	return true
}

// starved finds programs that wait for ever: a stream that waits for an operation behind itself.
func (r *run) starved(now uint64) error {
	if r.gpu.Running() > 0 {
		return nil
	}
	blocked := ""
	for _, a := range r.apps {
		if a.arrived > now || a.dev.next(now) != engine.Never {
			return nil
		}
		if a.live && a.dev.waiting != nil && !a.dev.waiting.Done {
			blocked = fmt.Sprintf("application %s waits for %q in stream %d, and nothing in its streams can proceed",
				a.spec.Name, a.dev.waiting.Name, a.dev.waiting.Stream)
		}
	}
	if blocked != "" {
		for _, a := range r.apps { // a pump may still complete it at this very cycle
			for i := range len(a.dev.streams) + 1 {
				if s := a.dev.stream(i); len(s.ops) > 0 && (s.kernel != nil && s.kernel.Done || s.active &&
					s.kernel == nil) {
					return nil
				}
			}
		}
		return &Deadlock{Msg: blocked}
	}
	return nil
}

// stopAll ends the programs that are still alive.
func (r *run) stopAll(err error) {
	if err == nil || errors.Is(err, ErrStopped) {
		err = ErrStopped
	}
	for _, a := range r.apps {
		a.stop(err)
	}
}

func (r *run) report() {
	if r.watch == nil {
		return
	}
	now := r.gpu.Now()
	p := Progress{Cycle: now, MaxCycles: r.spec.Length.MaxCycles, Cores: r.gpu.CoresUsed()}
	for _, a := range r.apps {
		p.Tenants = append(p.Tenants, a.spec.Name)
		cycles := float64(now - r.col.tallies[a.id].launch.cycle)
		if m := r.gpu.Sheet; a.spec.CPU != nil {
			cycles *= m.CPU.Clock / m.Clock.Core
		}
		p.IPC = append(p.IPC, ratio(float64(r.col.insts(a.id)), cycles))
	}
	p.CyclesPerS = r.pace.look(time.Now(), now)
	p.Waits = r.progress.look(r)
	r.watch(p)
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

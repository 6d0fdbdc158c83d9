// Package characterise measures properties of an application, and says whether it belongs to the class in which the
// papers put it.
//
// A reader must know four types. An Observer notes, during a functional execution, which SMs touch which pages and
// lines, and where the lanes of an access lie in memory. A Profile is everything measured of one application at one
// preset: the Observer's Memory, Traffic from the counters of a timed run, and the Conditions of another. A Claim is
// what a paper says of the application (seeds.yaml).
//
// The timed run is alone on the ugpu machine (UGPU's Table 1: 80 SMs, 6 MiB of LLC, 900 GB/s) with address
// translation off: page walks would count as LLC accesses and, at small presets, outnumber the data's. Nothing
// faults. A second run, with the sheet's translation, gives the Conditions under which studies run it.
package characterise

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/heddle-sim/heddle/apps/reference"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/host/script"
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// Options say how to measure.
type Options struct {
	Machine string // machine sheet; "": ugpu
	Size    string // preset, the application's argument size
	Jobs    int    // simulations at once
	// Limit is the number of warp instructions after which an application is observed no
	// longer; it is then not run in time either (Profile.Skipped says so), unless Cycles
	// bounds that run. 0: none.
	Limit uint64
	// Cycles ends the timed run of each application after a number of core cycles (Traffic.Stopped); 0: it runs to
	// its end.
	Cycles uint64
	// Functional leaves the timed run out: only memory is observed, at presets that take too long to time.
	Functional bool
	// Args are further arguments of every application.
	Args map[string]string
	// Set are parameters of the machine that differ from the sheet's.
	Set map[string]string
	// Sweep also measures IPC against the number of SMs and of channels.
	Sweep bool
	// Start follows the simulations as lab.Runner.Start does, by label; nil: they are not followed.
	Start func(label string, alone bool) (watch func(sim.Progress), done func())
}

// Profile is one application at one preset.
type Profile struct {
	App     string `json:"app"` // <suite>/<app>
	Size    string `json:"size"`
	Machine string `json:"machine"`
	// Args and Set are the arguments and the machine parameters of the options.
	Args map[string]string `json:"args,omitempty"`
	Set  map[string]string `json:"set,omitempty"`

	Memory  *Memory  `json:"memory,omitempty"`
	Traffic *Traffic `json:"traffic,omitempty"`
	// Conditions come from a second run, with address translation as in the sheet.
	Conditions *Conditions `json:"conditions,omitempty"`
	SMs        []Point     `json:"ipc_by_sms,omitempty"`      // half of the channels
	Channel    []Point     `json:"ipc_by_channels,omitempty"` // half of the SMs
	// Skipped says why Memory describes only the beginning, and why Traffic may be missing, although there is no
	// error.
	Skipped string `json:"skipped,omitempty"`
	Err     string `json:"error,omitempty"`
}

// Point is one simulation of a sweep.
type Point struct {
	N   int     `json:"n"` // SMs or channels
	IPC float64 `json:"ipc"`
}

// sweepSMs are the SM counts of a sweep on a machine of 80, with half of the channels;
// sweepGroups the channel groups (UGPU's unit, 4 channels of 32), with half of the SMs:
// the axes of UGPU's Figures 2 and 3.
func sweepSMs() []int    { return []int{10, 20, 40, 60, 80} }
func sweepGroups() []int { return []int{1, 2, 4, 6, 8} }

// Run measures the applications in the folders of paths. The profiles come in
// their order; an application that fails has its Err set and does not stop the
// others. The error names a wrong option.
func Run(ctx context.Context, paths []string, o Options) ([]Profile, error) {
	if o.Machine == "" {
		o.Machine = usual
	}
	if o.Size == "" {
		return nil, errors.New("no preset to characterise at: give a size")
	}
	plain := map[string]string{"vm.enabled": "false"}
	maps.Copy(plain, o.Set)
	sheet, _, err := sheets.Resolve(o.Machine, plain)
	if err != nil {
		return nil, err
	}
	whole, _, err := sheets.Resolve(o.Machine, o.Set)
	if err != nil {
		return nil, err
	}
	out := make([]Profile, len(paths))
	for i, p := range paths {
		out[i] = Profile{App: Name(p), Size: o.Size, Machine: o.Machine, Args: o.Args, Set: o.Set}
	}
	args := map[string]string{"size": o.Size}
	maps.Copy(args, o.Args)
	observeAll(ctx, paths, out, &o, args)
	if o.Functional {
		return out, nil
	}
	var jobs []lab.Job
	var put []func(*sim.Result)
	for i, p := range paths {
		if out[i].Err != "" || out[i].Skipped != "" && o.Cycles == 0 {
			continue
		}
		base := sim.Spec{
			Machine: o.Machine, Set: plain, Seed: 1, Sharing: sim.Sharing{Mode: "alone"},
			Apps: []sim.App{{Name: out[i].App, Path: p, Args: args}},
		}
		base.Length.MaxCycles = o.Cycles
		jobs = append(jobs, lab.Job{Label: out[i].App, Spec: base, Machine: sheet})
		put = append(put, func(r *sim.Result) { out[i].Traffic = newTraffic(r, sheet) })
		base.Set = o.Set
		jobs = append(jobs, lab.Job{Label: out[i].App + " translated", Spec: base, Machine: whole})
		put = append(put, func(r *sim.Result) { out[i].Conditions = newConditions(r, whole, &out[i]) })
		if o.Sweep {
			j, f := sweep(&out[i], base, whole, o.Set)
			jobs, put = append(jobs, j...), append(put, f...)
		}
	}
	runner := &lab.Runner{Run: sim.Run, Jobs: o.Jobs}
	if o.Start != nil {
		runner.Start = func(t *lab.Task) (func(sim.Progress), func()) { return o.Start(t.Job.Label, t.Alone) }
	}
	collectAll(ctx, runner, jobs, put, out)
	return out, nil
}

// collectAll does the jobs, which are in the order of the profiles, and puts each result
// where it belongs.
func collectAll(ctx context.Context, runner *lab.Runner, jobs []lab.Job, put []func(*sim.Result), out []Profile) {
	next := 0
	for n, res := range runner.All(ctx, jobs) {
		for out[next].App != res.Job.Spec.Apps[0].Name {
			next++
		}
		var stopped *sim.Unfinished
		switch {
		case res.Err != nil && !errors.As(res.Err, &stopped):
			out[next].fail(fmt.Errorf("%s: %w", res.Job.Label, res.Err))
		case res.Result != nil:
			put[n](res.Result)
		}
	}
}

// fail keeps the first error.
func (p *Profile) fail(err error) {
	if p.Err == "" {
		p.Err = err.Error()
	}
}

// sweep plans the simulations of one application in isolated slices of the machine.
// Slices of channels are made of pages, so translation is on, as the sheet says.
func sweep(p *Profile, base sim.Spec, m *sheets.Machine,
	set map[string]string,
) (jobs []lab.Job, put []func(*sim.Result)) {
	groups := sweepGroups()
	all := groups[len(groups)-1]
	half := sim.Sharing{Mode: "slices", SMs: []int{m.SM.Count / 2}, Groups: []int{all / 2}}
	add := func(sms, group int, to ...*float64) {
		s := base
		s.Set = set
		s.Sharing = half
		s.Sharing.SMs, s.Sharing.Groups = []int{sms}, []int{group}
		label := fmt.Sprintf("%s on %d SMs, %d channels", p.App, sms, m.DRAM.Channels/all*group)
		jobs = append(jobs, lab.Job{Label: label, Spec: s, Machine: m})
		put = append(put, func(r *sim.Result) {
			for _, x := range to {
				*x = r.Tenants[0].BusyIPC
			}
		})
	}
	for _, n := range sweepSMs() {
		if n <= m.SM.Count {
			p.SMs = append(p.SMs, Point{N: n})
		}
	}
	for _, g := range groups {
		p.Channel = append(p.Channel, Point{N: m.DRAM.Channels / all * g})
	}
	var both *float64 // of the slice that lies on both axes
	for i := range p.SMs {
		if p.SMs[i].N == half.SMs[0] {
			both = &p.SMs[i].IPC
			continue
		}
		add(p.SMs[i].N, half.Groups[0], &p.SMs[i].IPC)
	}
	for i, g := range groups {
		if g == half.Groups[0] && both != nil {
			add(half.SMs[0], g, &p.Channel[i].IPC, both)
			continue
		}
		add(half.SMs[0], g, &p.Channel[i].IPC)
	}
	return jobs, put
}

// Name is the name of an application in a folder: <suite>/<app>.
func Name(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil { // no working directory
		abs = path
	}
	return filepath.Base(filepath.Dir(abs)) + "/" + filepath.Base(abs)
}

// observeAll executes every application functionally, o.Jobs at once.
func observeAll(ctx context.Context, paths []string, out []Profile, o *Options, args map[string]string) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(max(o.Jobs, 1), max(len(paths), 1)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				done := func() {}
				if o.Start != nil {
					_, done = o.Start(out[i].App+" observed", false)
				}
				out[i].observe(ctx, paths[i], o.Limit, args)
				done()
			}
		}()
	}
	for i := range paths {
		next <- i
	}
	close(next)
	wg.Wait()
}

// observe fills in p.Memory, or says why not.
func (p *Profile) observe(ctx context.Context, path string, most uint64, args map[string]string) {
	defer func() {
		if x := recover(); x != nil { // one broken application must not take the others along
			p.fail(fmt.Errorf("internal error: %v\n%s", x, debug.Stack()))
		}
	}()
	m, err := Observe(ctx, path, args, most)
	var limit *host.Deadlock
	switch {
	case err == nil:
		p.Memory = m
	case errors.As(err, &limit) && most > 0 && strings.Contains(limit.Msg, "limit"):
		p.Memory = m
		p.Skipped = fmt.Sprintf("only the first %d warp instructions were observed (the limit given)", most)
	default:
		p.fail(err)
	}
}

// Observe executes the application in a folder functionally and reports how its kernels used memory. More than limit
// warp instructions (0: no limit) are a *host.Deadlock, and Memory describes the instructions up to there; a check
// that fails is an error.
func Observe(ctx context.Context, path string, args map[string]string, limit uint64) (*Memory, error) {
	refs := make(map[string]host.Reference, len(reference.All))
	for n, f := range reference.All {
		refs[n] = f
	}
	prog, err := script.Load(path, script.Options{Args: args, References: refs, Seed: 1})
	if err != nil {
		return nil, err
	}
	o := NewObserver()
	space := mem.NewSpace(0)
	c := host.New(o.Device(host.NewFunctional(ctx, limit)), space, host.Options{Ctx: ctx})
	if err = prog.Run(c); err == nil {
		err = c.DeviceSynchronize()
	}
	m := o.Memory()
	for _, r := range space.Regions() {
		if r.Kind != mem.Host {
			m.Allocated += uint64(r.Len())
		}
	}
	return &m, err
}

package silicon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// Options say how to measure.
type Options struct {
	Jobs int                 // simulations at once
	Set  map[string]string   // overrides of every board's sheet
	Done func(done, all int) // called after each simulation; may be nil
}

// emptyProgram launches a kernel without work: what a launch by itself takes.
const emptyProgram = "whole"

// run is one simulation that rows need.
type run struct {
	row *Row
	job lab.Job
	err error
	out *sim.Result
}

// plan is the simulations that rows need, each once.
type plan struct {
	set  *Set
	o    *Options
	runs []*run
	at   map[string]*run
}

// Measure simulates rows and returns the results in their order. The error names a wrong option, or an interruption.
func (s *Set) Measure(ctx context.Context, rows []*Row, o Options) ([]Result, error) {
	p := &plan{set: s, o: &o, at: map[string]*run{}}
	for _, r := range rows {
		for i := range r.Runs {
			p.add(r, r.Program, r.Runs[i])
		}
		if r.Launches > 0 {
			p.add(r, emptyProgram, emptyArgs())
		}
	}
	if err := simulate(ctx, p.runs, &o); err != nil {
		return nil, err
	}
	out := make([]Result, len(rows))
	for i, r := range rows {
		out[i] = p.result(r)
	}
	return out, nil
}

func emptyArgs() map[string]string { return map[string]string{"what": "empty"} }

func (p *plan) key(r *Row, program string, args map[string]string) string {
	return fmt.Sprint(r.Board, " ", program, " ", args, " ", r.Set) // maps are printed in order of keys
}

// add plans a simulation of a program on a row's board.
func (p *plan) add(r *Row, program string, args map[string]string) {
	key := p.key(r, program, args)
	if p.at[key] != nil {
		return
	}
	set := maps.Clone(r.Set)
	maps.Copy(set, p.o.Set)
	x := &run{row: r}
	x.job = lab.Job{Label: r.Board + " " + r.Name, Bare: true, Spec: sim.Spec{
		Machine: p.set.Boards[r.Board].File, Set: set, Sharing: sim.Sharing{Mode: "alone", Name: "alone"}, Seed: 1,
		Apps: []sim.App{{Name: program, Path: filepath.Join(p.set.Dir, "kernels", program+".star"), Args: args}},
	}}
	if r.Group == "uvm" {
		x.job.Spec.Sharing.Memory.Unified.Runtime = "driver-today"
	}
	x.job.Machine, _, x.err = sheets.Resolve(x.job.Spec.Machine, set)
	p.at[key], p.runs = x, append(p.runs, x)
}

// simulate runs what has no error yet.
func simulate(ctx context.Context, runs []*run, o *Options) error {
	done := 0
	ended := func() {
		if done++; o.Done != nil {
			o.Done(done, len(runs))
		}
	}
	var todo []*run
	for _, x := range runs {
		if x.err != nil {
			ended()
			continue
		}
		todo = append(todo, x)
	}
	results := make(chan *run)
	next := make(chan *run)
	for range max(1, o.Jobs) {
		go func() {
			runner := &lab.Runner{Run: sim.Run, Jobs: 1}
			for x := range next {
				o := runner.All(ctx, []lab.Job{x.job})[0]
				if x.out, x.err = slim(o.Result), o.Err; x.err == nil {
					x.err = failed(o.Result)
				}
				results <- x
			}
		}()
	}
	go func() {
		for _, x := range todo {
			next <- x
		}
		close(next)
	}()
	for range todo {
		<-results
		ended()
	}
	return ctx.Err()
}

// slim is what of a result is needed: hundreds are kept.
func slim(r *sim.Result) *sim.Result {
	if r == nil || len(r.Tenants) == 0 {
		return nil
	}
	out := &sim.Result{}
	for i := range r.Tenants {
		t := &r.Tenants[i]
		out.Tenants = append(out.Tenants, sim.Tenant{Log: slices.Clone(t.Log), Kernels: slices.Clone(t.Kernels)})
	}
	return out
}

// failed is why a finished run has no figures.
func failed(r *sim.Result) error {
	if r != nil {
		for i := range r.Tenants {
			if e := r.Tenants[i].Err; e != "" {
				return errors.New(e)
			}
		}
	}
	if r == nil || !r.Complete {
		return errors.New("the simulation did not reach its end")
	}
	return nil
}

// result is what the simulations of a row say.
func (p *plan) result(r *Row) Result {
	out := Result{Row: r, Machine: p.set.Boards[r.Board].Machine, Soft: r.Soft}
	var err error
	if out.Heddle, err = p.evaluate(r); err != nil {
		out.Err = firstLine(err)
		return out
	}
	out.NetSilicon, out.NetHeddle = r.Silicon, out.Heddle
	if r.Launches == 0 {
		return out
	}
	empty := p.at[p.key(r, emptyProgram, emptyArgs())]
	if empty.err != nil {
		out.Err = "empty launch: " + firstLine(empty.err)
		return out
	}
	one := empty.out.Tenants[0].Kernels[0]
	out.NetSilicon -= float64(r.Launches) * r.Floor
	out.NetHeddle = max(out.NetHeddle-float64(r.Launches)*float64(one.End-one.Launch), 1e-9)
	if out.NetSilicon < leastLeft*r.Silicon {
		out.NetSilicon, out.NetHeddle = r.Silicon, out.Heddle
		if out.Soft == "" {
			out.Soft = "mostly launch"
		}
	}
	return out
}

// leastLeft is the part of a figure that must be left without launches for the row to say
// something of the kernel.
const leastLeft = 0.35

func (p *plan) evaluate(r *Row) (float64, error) {
	board := p.set.Boards[r.Board]
	known := Figures{"mhz": board.MHz, "sms": float64(board.SMs)}
	for i, args := range r.Runs {
		x := p.at[p.key(r, r.Program, args)]
		if x.err != nil {
			return 0, x.err
		}
		suffix := ""
		if i > 0 {
			suffix = fmt.Sprintf("_%d", i+1)
		}
		if err := known.simulated(x.out, suffix); err != nil {
			return 0, err
		}
	}
	return r.Value.Value(known)
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}

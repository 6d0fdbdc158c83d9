package paper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/lab/mixes"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// Book holds the results of runs. When a figure asks for a run that is not simulated yet, the Book notes it and
// answers errPending. Once the noted runs are done, the figures are computed again, until none is missing. So a
// figure is plain code over results, in any order.
type Book struct {
	Study  *Study
	Scale  *Scale
	Runner *lab.Runner
	Apps   string // folder of the applications
	Code   string // hash of the simulator's sources, written with the numbers
	Runs   *Runs  // finished runs of figures about tasks; nil: only the runs that the runner keeps
	Kept   bool   // simulate nothing: figures show the kept runs

	set     map[string]string
	own     map[string]string // of set, the part that the study does not have itself
	machine *sheets.Machine
	*ledger
}

// ledger has the runs of a book: those that are done, and those that are wanted.
type ledger struct {
	have  map[string]*lab.Outcome
	noted map[string]bool
	want  []lab.Job
}

// on is the book for the machine of a figure or scheme: its sheet ("": the study's), and the numbers that differ from
// the sheet.
func (b *Book) on(machine string, set map[string]string) (*Book, error) {
	if machine == "" && len(set) == 0 {
		return b, nil
	}
	own, study := *b, *b.Study
	if machine != "" {
		study.Machine = machine
	}
	var err error
	if own.set, own.machine, err = study.Sheet(b.Scale, overlay(set, b.own)); err != nil {
		return nil, err
	}
	own.Study = &study
	return &own, nil
}

// errPending is the answer for a run that is not done yet.
var errPending = errors.New("not simulated yet")

// NewBook opens an empty book; set overrides the study's machine.
func NewBook(s *Study, scale *Scale, set map[string]string, apps string, r *lab.Runner) (*Book, error) {
	b := &Book{Study: s, Scale: scale, Runner: r, Apps: apps, own: set}
	b.ledger = &ledger{have: map[string]*lab.Outcome{}, noted: map[string]bool{}}
	var err error
	b.set, b.machine, err = s.Sheet(scale, set)
	return b, err
}

// Do computes the figures and simulates the runs that are missing. Its error is sim.ErrStopped, or lab.ErrLater if
// the runner's pool has accepted simulations whose results are not there yet.
func (b *Book) Do(ctx context.Context, figures []*Figure) ([]*Reproduced, error) {
	for {
		var out []*Reproduced
		for _, f := range figures {
			out = append(out, modelled{b.inputs(f), f}.compute())
		}
		if len(b.want) == 0 || b.Kept {
			b.want = nil
			return out, nil
		}
		later := false
		for _, o := range b.Runner.All(ctx, b.batch()) {
			b.have[key(&o.Job.Spec)] = &o
			later = later || errors.Is(o.Err, lab.ErrLater) || errors.Is(o.AloneErr, lab.ErrLater)
		}
		b.want, b.noted = nil, map[string]bool{}
		if ctx.Err() != nil {
			return nil, sim.ErrStopped
		}
		if later {
			return nil, lab.ErrLater
		}
	}
}

// inputs is the book for a figure whose programs have other inputs than the scale's.
func (b *Book) inputs(f *Figure) *Book {
	name := f.Inputs[b.Scale.Name]
	if name == "" {
		return b
	}
	own, scale := *b, *b.Scale
	scale.Inputs = name
	own.Scale = &scale
	return &own
}

// batch is the list of runs that are simulated before figures are computed again. If finished runs are kept in a
// file, it has as many runs as are simulated at once, and each is in the file before the next begins. A pool gets all
// runs.
func (b *Book) batch() []lab.Job {
	if b.Runs == nil || b.Runner.Pool != nil {
		return b.want
	}
	return b.want[:min(len(b.want), max(1, b.Runner.Jobs))]
}

// key names a run within a book.
func key(s *sim.Spec) string {
	text, err := json.Marshal(s)
	if err != nil { // a Spec is plain data
		panic(err)
	}
	return string(text)
}

// result answers for one run on the study's machine.
func (b *Book) result(label string, spec sim.Spec) (*sim.Result, error) {
	res, err := b.resultOf(lab.Job{Label: label, Spec: spec, Machine: b.machine})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// resultOf answers for one run. If an application executed nothing in it (lab.Nothing), there are both an error and
// the result.
func (b *Book) resultOf(job lab.Job) (*sim.Result, error) {
	label, k := job.Label, key(&job.Spec)
	o := b.have[k]
	switch {
	case o == nil:
		if !b.noted[k] {
			b.noted[k] = true
			b.want = append(b.want, job)
		}
		return nil, errPending
	case o.Err != nil:
		return nil, fmt.Errorf("%s: %w", label, o.Err)
	case o.AloneErr != nil:
		return o.Result, fmt.Errorf("%s: %w", label, o.AloneErr)
	}
	return o.Result, nil
}

// spec is a run of programs under a sharing mode for the scale's budget.
func (b *Book) spec(keys []string, s sim.Sharing) sim.Spec {
	spec := sim.Spec{Machine: b.Study.Machine, Set: b.set, Sharing: s, Length: sim.Length{
		MaxCycles: b.Scale.Budget,
		Budget:    !b.Scale.Whole,
	}, Seed: 1}
	for _, k := range keys {
		folder := filepath.FromSlash(b.Study.list.Program(k).App)
		spec.Apps = append(spec.Apps, sim.App{
			Name: k, Path: filepath.Join(b.Apps, folder),
			Args: b.Study.program(k).Inputs[b.Scale.Inputs], Repeat: b.Scale.Whole && len(keys) > 1,
			AccessesOnly: b.Study.AccessesOnly,
		})
	}
	return spec
}

// Alone is the IPC of a program alone on the whole machine while it has a kernel there. Policies compare targets with
// it.
func (b *Book) Alone(program string) (float64, error) {
	spec := b.spec([]string{program}, sim.Sharing{})
	r, err := b.result(program+" alone", lab.AloneSpec(&spec, 0))
	if _, err := ipc(r, err); err != nil {
		return 0, err
	}
	return r.Tenants[0].BusyIPC, nil
}

// Slice is the IPC of a program alone on a slice, over the scale's profile cycles.
func (b *Book) Slice(program string, sms, groups int) (float64, error) {
	spec := b.spec([]string{program}, sim.Sharing{
		Mode: "slices", Name: "slices", SMs: []int{sms},
		Groups: []int{groups},
	})
	spec.Length.MaxCycles = b.Scale.Profile
	r, err := b.result(fmt.Sprintf("%s on %d SMs, %d groups", program, sms, groups), spec)
	return ipc(r, err)
}

// Whole is Slice on the whole machine.
func (b *Book) Whole(program string) (float64, error) {
	return b.Slice(program, b.machine.SM.Count, b.groups())
}

func ipc(r *sim.Result, err error) (float64, error) {
	if err != nil {
		return 0, err
	}
	if !(r.Tenants[0].IPC > 0) {
		return 0, fmt.Errorf("%s executed no instruction within %d cycles", r.Tenants[0].Name, r.Cycles)
	}
	return r.Tenants[0].IPC, nil
}

// Mix is a mix under a scheme; its result has metrics. high is the class with priority, if the scheme has one.
func (b *Book) Mix(m *mixes.Mix, scheme *Scheme, high string) (*sim.Result, error) {
	b, err := b.on(scheme.Machine, scheme.Set)
	if err != nil {
		return nil, err
	}
	spec, err := b.mixSpec(m, scheme, high)
	if err != nil {
		return nil, err
	}
	return whole(b.result(m.Name+" "+scheme.Name, spec))
}

// mixSpec is the run of a mix under a scheme.
func (b *Book) mixSpec(m *mixes.Mix, scheme *Scheme, high string) (spec sim.Spec, err error) {
	sharing := sim.Sharing{Mode: scheme.Mode, Name: scheme.Mode, Memory: scheme.Memory.Resolve()}
	if scheme.Dynamic {
		sharing.Epoch = b.Scale.Period
		sharing.Params = control.Params(maps.Clone(scheme.Params))
	}
	if len(scheme.Offline) > 0 {
		best, err := (&offline{b, scheme}).best(m.Apps)
		if err != nil {
			return spec, err
		}
		sharing.Mode, sharing.Name = "slices", "slices"
		for _, a := range best {
			sharing.SMs, sharing.Groups = append(sharing.SMs, a.SMs), append(sharing.Groups, a.Groups)
		}
	}
	first := b.priority(m, high)
	if scheme.High > 0 {
		b.divide(&sharing, scheme, len(m.Apps), first)
	}
	spec = b.spec(m.Apps, sharing)
	if scheme.QoS > 0 {
		alone, err := b.Alone(m.Apps[first])
		if err != nil {
			return spec, err
		}
		spec.Apps[first].QoS = scheme.QoS * alone
	}
	if scheme.Demand {
		order, err := b.byDemand(&spec)
		if err != nil {
			return spec, err
		}
		spec.Sharing.Memory.Unified.High = order[0]
	}
	return spec, nil
}

// whole refuses a result of a run that was stopped early.
func whole(r *sim.Result, err error) (*sim.Result, error) {
	if err == nil && !r.Complete {
		return nil, fmt.Errorf("%s did not reach its end: %s", r.Tenants[0].Name, r.Why)
	}
	return r, err
}

// byDemand are the positions of a mix's programs by the bandwidth each attains when it is alone, lowest first: the
// application that asks most of the link. By equation 6 (Ganguly, 7.2.1) it is proportional to the intensity over the
// transfers for the memory allocated; the profiling is offline (7.1.1, 7.3.2).
func (b *Book) byDemand(spec *sim.Spec) ([]int, error) {
	var order []int
	demand := make([]float64, len(spec.Apps))
	pending := false
	for i := range spec.Apps {
		r, err := whole(b.result(spec.Apps[i].Name+" alone", lab.AloneSpec(spec, i)))
		if err != nil && !errors.Is(err, errPending) {
			return nil, err
		}
		if pending = pending || err != nil; err == nil {
			demand[i] = transfersPerMB(r, 0) / linkIntensity(r, 0)
		}
		order = append(order, i)
	}
	if pending {
		return nil, errPending
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(demand[j], demand[i]) })
	return order, nil
}

// priority is the position of the high-priority program: the last of its class.
func (b *Book) priority(m *mixes.Mix, class string) int {
	first := len(m.Apps) - 1
	for i, k := range m.Apps {
		if b.Study.list.Program(k).Class == class {
			first = i
		}
	}
	return first
}

// divide gives the high-priority program its fraction and the others the rest.
func (b *Book) divide(s *sim.Sharing, scheme *Scheme, n, first int) {
	split := func(total int) []int {
		big := int(scheme.High * float64(total))
		out := make([]int, n)
		for i, rest := 0, 0; i < n; i++ {
			if i == first {
				out[i] = big
				continue
			}
			out[i] = (rest+1)*(total-big)/(n-1) - rest*(total-big)/(n-1)
			rest++
		}
		return out
	}
	s.SMs = split(b.machine.SM.Count)
	if s.Mode == "slices" {
		s.Groups = split(b.groups())
	}
}

// groups is the number of channel groups of the machine.
func (b *Book) groups() int { return runfile.ChannelGroups(b.machine) }

package paper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"heddle/control"
	"heddle/lab"
	"heddle/lab/mixes"
	"heddle/sheets"
	"heddle/sim"
	"heddle/sim/runfile"
)

// Book knows what runs gave. Asked for one that nobody has done, it notes it and
// answers errPending: figures are computed again once those are done, until none is
// missing. So a figure is plain code over results, in whatever order it needs them.
type Book struct {
	Study  *Study
	Scale  *Scale
	Runner *lab.Runner
	Apps   string // folder of the applications
	Code   string // identity of the simulator, written beside the numbers

	set     map[string]string
	own     map[string]string // of set, what the study does not say itself
	machine *sheets.Machine
	*ledger
}

// ledger is the runs of a book: those that are done, and those that are wanted.
type ledger struct {
	have  map[string]*lab.Outcome
	noted map[string]bool
	want  []lab.Job
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

// Do computes the figures, simulating what is missing.
func (b *Book) Do(ctx context.Context, figures []*Figure) ([]*Reproduced, error) {
	for {
		var out []*Reproduced
		for _, f := range figures {
			out = append(out, b.figure(f))
		}
		if len(b.want) == 0 {
			return out, nil
		}
		for _, o := range b.Runner.All(ctx, b.want) {
			b.have[key(&o.Job.Spec)] = &o
		}
		b.want = nil
		if ctx.Err() != nil {
			return nil, sim.ErrStopped
		}
	}
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
	return b.resultOf(lab.Job{Label: label, Spec: spec, Machine: b.machine})
}

// resultOf answers for one run.
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
		return nil, fmt.Errorf("%s: %w", label, o.AloneErr)
	}
	return o.Result, nil
}

// spec is a run of programs under a sharing mode for the scale's budget.
func (b *Book) spec(keys []string, s sim.Sharing) sim.Spec {
	spec := sim.Spec{Machine: b.Study.Machine, Set: b.set, Sharing: s, Length: sim.Length{
		MaxCycles: b.Scale.Budget,
		Budget:    true,
	}, Seed: 1}
	for _, k := range keys {
		folder := filepath.FromSlash(b.Study.list.Program(k).App)
		spec.Apps = append(spec.Apps, sim.App{
			Name: k, Path: filepath.Join(b.Apps, folder),
			Args: b.Study.program(k).Inputs[b.Scale.Inputs],
		})
	}
	return spec
}

// Alone is the IPC of a program alone on the whole machine while it has a kernel there,
// which is what policies measure against targets.
func (b *Book) Alone(program string) (float64, error) {
	spec := b.spec([]string{program}, sim.Sharing{})
	r, err := b.result(program+" alone", lab.AloneSpec(&spec, 0))
	if _, err := ipc(r, err); err != nil {
		return 0, err
	}
	return r.Tenants[0].BusyIPC, nil
}

// Slice is the IPC of a program alone on a slice, for as long as profiling takes.
func (b *Book) Slice(program string, sms, groups int) (float64, error) {
	spec := b.spec([]string{program}, sim.Sharing{
		Mode: "slices", Name: "slices", SMs: []int{sms},
		Groups: []int{groups},
	})
	spec.Length.MaxCycles = b.Scale.Profile
	r, err := b.result(fmt.Sprintf("%s on %d SMs, %d groups", program, sms, groups), spec)
	return ipc(r, err)
}

// Whole is Slice with everything the machine has.
func (b *Book) Whole(program string) (float64, error) {
	return b.Slice(program, b.machine.SM.Count, b.groups())
}

func ipc(r *sim.Result, err error) (float64, error) {
	if err != nil {
		return 0, err
	}
	if !(r.Tenants[0].IPC > 0) {
		return 0, fmt.Errorf("%s ran no instruction within %d cycles", r.Tenants[0].Name, r.Cycles)
	}
	return r.Tenants[0].IPC, nil
}

// Mix is a mix under a scheme; its result has metrics. high is the class with
// priority, where the scheme knows one.
func (b *Book) Mix(m *mixes.Mix, scheme *Scheme, high string) (*sim.Result, error) {
	label := m.Name + " " + scheme.Name
	sharing := sim.Sharing{Mode: scheme.Mode, Name: scheme.Mode}
	if scheme.Dynamic {
		sharing.Epoch = b.Scale.Epoch
		sharing.Params = control.Params(maps.Clone(scheme.Params))
	}
	if len(scheme.Offline) > 0 {
		best, err := b.best(m.Apps, scheme)
		if err != nil {
			return nil, err
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
	spec := b.spec(m.Apps, sharing)
	if scheme.QoS > 0 {
		alone, err := b.Alone(m.Apps[first])
		if err != nil {
			return nil, err
		}
		spec.Apps[first].QoS = scheme.QoS * alone
	}
	return b.result(label, spec)
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

// best profiles every program alone on the scheme's slices and chooses.
func (b *Book) best(programs []string, scheme *Scheme) ([]control.Alloc, error) {
	var tables [][]control.Point
	pending := false
	for _, p := range programs {
		alone, err := b.Whole(p)
		if err != nil && !errors.Is(err, errPending) {
			return nil, err
		}
		pending = pending || err != nil
		var table []control.Point
		points := scheme.Offline[b.Study.list.Program(p).Class]
		if len(points) == 0 {
			return nil, fmt.Errorf("scheme %s has no slices to profile %s on", scheme.Name, p)
		}
		for _, at := range points {
			x, err := b.Slice(p, at[0], at[1])
			if err != nil && !errors.Is(err, errPending) {
				return nil, err
			}
			if pending = pending || err != nil; !pending {
				table = append(table, control.Point{
					Alloc:    control.Alloc{SMs: at[0], Groups: at[1]},
					Progress: x / alone,
				})
			}
		}
		tables = append(tables, table)
	}
	if pending {
		return nil, errPending
	}
	best, _, err := control.BestStatic(control.Machine{SMs: b.machine.SM.Count, Groups: b.groups()}, tables)
	return slices.Clone(best), err
}

// groups is the number of channel groups of the machine.
func (b *Book) groups() int { return runfile.ChannelGroups(b.machine) }

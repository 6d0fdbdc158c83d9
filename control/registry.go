package control

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// Entry describes a policy, and makes it.
type Entry struct {
	Name     string
	Source   string   // paper and section
	What     string   // one sentence
	Settings []string // settings of the machine that it changes: names of Settings
	// Period is the number of core cycles between two samples if the run file gives none; 0: the policy has no
	// period. On lists the other events that bring a sample.
	Period uint64
	// Epoch names the parameter that holds the period instead, in cycles of the CPU; such samples count CPU cycles.
	Epoch  string
	On     []Trigger
	Params []Param
	// Choices are the names of the values 0, 1 and so on of whole-numbered parameters, by parameter.
	Choices map[string][]string
	// OfMachine are parameters that take the machine's own number if the run file gives none: Make then gets 0.
	OfMachine []string
	// Targets is the number of applications with a target that the policy can serve; 0: any number.
	Targets int
	// Aims says that the policy works towards targets: without one it does nothing.
	Aims bool
	// Needs are keys that a sample in a file must have, because 0 would mean something else. Those of each
	// application are written apps.KEY.
	Needs []string
	// Machine is the sheet to use when no machine is given: the paper's. "": qv100.
	Machine string
	// Files are the files of package control that implement the policy, besides the one named after it (with _ for
	// -). A change of one of them makes kept results of runs under it void.
	Files []string
	// Check reports parameters that do not fit together, though each is in its range; nil: there is nothing to check.
	Check func(get func(string) float64) error
	// Start is the division of a hybrid memory before the first sample: ways, channels and tokens, all three; nil:
	// the machine's own.
	Start func(get func(string) float64) Request
	// Make makes the policy; get gives checked parameters by name.
	Make func(m Machine, get func(string) float64) Policy
}

// Trigger is an event that brings a sample, beside the end of a period.
type Trigger string

// The events there are.
const (
	Launch    Trigger = "launch"     // a kernel was launched
	KernelEnd Trigger = "kernel_end" // a kernel has ended
)

// Find finds a policy by name.
func Find(name string) (*Entry, error) {
	var names []string
	for _, e := range All() {
		if e.Name == name {
			return &e, nil
		}
		names = append(names, e.Name)
	}
	return nil, fmt.Errorf("no policy %q; the policies are %s%s", name, strings.Join(names, ", "),
		yamldoc.Guess(name, names))
}

// New makes the policy for a machine. An unknown parameter, a value out of range or a
// machine without SMs, channels, clock or bandwidth is an error.
func (e *Entry) New(m Machine, p Params) (Policy, error) {
	if m.SMs < 1 || m.Groups < 1 || m.Channels < 1 || m.Line < 1 ||
		!(m.IPCMax > 0 && m.CoreHz > 0 && m.ArrayBytes > 0 && m.LLCBytes > 0 && m.MemBytes > 0) {
		return nil, fmt.Errorf("policy %s: the machine has no SMs, channel groups, clock or bandwidth: %+v", e.Name, m)
	}
	values, err := e.check(p)
	if err != nil {
		return nil, err
	}
	get := func(n string) float64 { return values[n] }
	if e.Check != nil {
		if err := e.Check(get); err != nil {
			return nil, fmt.Errorf("policy %s: %w", e.Name, err)
		}
	}
	return e.Make(m, get), nil
}

// PeriodOn is the core cycles between two samples on a machine where the run file does not
// say.
func (e *Entry) PeriodOn(m Machine, p Params) uint64 {
	if e.Epoch == "" || m.CPUHz == 0 {
		return e.Period
	}
	values, err := e.check(p)
	if err != nil {
		return e.Period // New refuses them
	}
	return max(1, uint64(values[e.Epoch]*m.CoreHz/m.CPUHz+0.5))
}

// EpochOf is the number of CPU cycles between two samples; 0 if samples count core cycles.
func (e *Entry) EpochOf(p Params) uint64 {
	if e.Epoch == "" {
		return 0
	}
	values, err := e.check(p)
	if err != nil {
		return 0 // New refuses them
	}
	return uint64(values[e.Epoch])
}

// StartWith is the division that a policy wants before its first sample, with parameters that New has accepted; false
// if it wants the machine's own.
func (e *Entry) StartWith(p Params) (r Request, ok bool) {
	values, err := e.check(p)
	if err != nil || e.Start == nil {
		return r, false
	}
	return e.Start(func(n string) float64 { return values[n] }), true
}

// check fills in defaults and refuses parameters that the policy does not have.
func (e *Entry) check(p Params) (Params, error) {
	values := Params{}
	var names []string
	for _, q := range e.Params {
		values[q.Name] = q.Default
		names = append(names, q.Name)
	}
	for _, n := range slices.Sorted(maps.Keys(p)) {
		i := slices.Index(names, n)
		if i < 0 && len(names) == 0 {
			return nil, fmt.Errorf("policy %s has no parameter %q; it has none", e.Name, n)
		} else if i < 0 {
			near := yamldoc.DidYouMean(n, names)
			if near == "" {
				near = "; it has " + strings.Join(names, ", ")
			}
			return nil, fmt.Errorf("policy %s has no parameter %q%s", e.Name, n, near)
		}
		if err := e.Params[i].check(p[n], e.Choices[n]); err != nil {
			return nil, fmt.Errorf("policy %s: %w", e.Name, err)
		}
		values[n] = p[n]
	}
	return values, nil
}

// SourceFiles are the files of package control that implement the policy.
func (e *Entry) SourceFiles() []string {
	return append([]string{strings.ReplaceAll(e.Name, "-", "_") + ".go"}, e.Files...)
}

// sources is the text of this package.
//
//go:embed *.go
var sources embed.FS

// Digest identifies what the policy does, by the text of its files. A change of it makes kept results of runs under
// this policy void, and no others.
func (e *Entry) Digest() (string, error) {
	h := sha256.New()
	for _, name := range e.SourceFiles() {
		text, err := sources.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("policy %s: %w", e.Name, err)
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// IsPolicyFile says whether a file of this package belongs to a policy or lists the policies. Runs under other
// policies do not depend on such a file.
func IsPolicyFile(name string) bool {
	return name == "policies.go" ||
		slices.ContainsFunc(All(), func(e Entry) bool { return slices.Contains(e.SourceFiles(), name) })
}

// Counter is one counter of a policy's samples.
type Counter struct {
	Field   string // in JSON
	Counter string // owner.name, or two of them with / between; -: no machine has this counter yet
	PerApp  bool
	// PerKernel counters exist for each kernel of each application.
	PerKernel bool
}

// Counters lists the counters a policy reads.
func (e *Entry) Counters() (out []Counter) {
	p := e.Make(anyMachine(), func(n string) float64 {
		return e.Params[slices.IndexFunc(e.Params, func(q Param) bool { return q.Name == n })].Default
	})
	if err := eachField(p, func(f sampleField) error {
		counter := f.counter
		if f.over != "" {
			counter += "/" + f.over
		}
		out = append(out, Counter{f.name, counter, f.app, f.kernels != nil})
		return nil
	}); err != nil {
		panic(err) // Check has looked at every policy's samples when the program began
	}
	return out
}

// anyMachine is a machine for policies that are made only to list their counters.
func anyMachine() Machine { return Machine{SMs: 1, Groups: 1, Channels: 1} }

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
	Settings []string // of the machine that it sets: names of Settings
	// Period is the core cycles between two samples where the run file does not say; 0:
	// the policy has no period. On lists what else brings a sample.
	Period uint64
	// Epoch is the parameter that is the period instead, in cycles of the CPU, which samples then count.
	Epoch  string
	On     []Trigger
	Params []Param
	// Choices are the names of what a whole-numbered parameter chooses from, by the parameter: of 0, 1 and so on.
	Choices map[string][]string
	// OfMachine are parameters that are the machine's number where the run file does not say: Make gets 0.
	OfMachine []string
	// Targets is how many applications with a target it can serve; 0: any number.
	Targets int
	// Aims says that it holds targets: without one it has nothing to do.
	Aims bool
	// Needs are keys of a sample, those of each application as apps.KEY, that one of a file cannot lack:
	// nothing is not what they mean.
	Needs []string
	// Machine is the sheet whose numbers it is made with where no machine is given: the
	// paper's. "": qv100.
	Machine string
	// Files of package control it is made of, besides the one that is called as it is (with
	// _ for -): kept results of runs under it are void when one of them changes.
	Files []string
	// Check says what is wrong with parameters that are in range each; nil: nothing ever is.
	Check func(get func(string) float64) error
	// Start is how a hybrid memory is divided before the first sample: ways, channels and tokens, all three; nil:
	// as the machine begins.
	Start func(get func(string) float64) Request
	// Make makes it; get gives checked parameters by name.
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
		yamldoc.DidYouMean(name, names))
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

// EpochOf is the CPU cycles from one sample to the next; 0 where samples count core cycles.
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

// StartWith is what a policy with parameters that New has taken wants in force before its first sample; false
// where that is what the machine begins with.
func (e *Entry) StartWith(p Params) (r Request, ok bool) {
	values, err := e.check(p)
	if err != nil || e.Start == nil {
		return r, false
	}
	return e.Start(func(n string) float64 { return values[n] }), true
}

// check fills in defaults and refuses what the policy does not know.
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

// SourceFiles are the files of package control that say what the policy does.
func (e *Entry) SourceFiles() []string {
	return append([]string{strings.ReplaceAll(e.Name, "-", "_") + ".go"}, e.Files...)
}

// sources is the text of this package.
//
//go:embed *.go
var sources embed.FS

// Digest is the identity of what the policy does, by the text of its files: kept results
// of runs under it are void when it changes, and no others.
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

// IsPolicyFile says whether a file of this package is a policy's, or the list of them: nothing
// that runs under other policies depend on.
func IsPolicyFile(name string) bool {
	return name == "policies.go" ||
		slices.ContainsFunc(All(), func(e Entry) bool { return slices.Contains(e.SourceFiles(), name) })
}

// Counter is one counter of a policy's samples.
type Counter struct {
	Field   string // in JSON
	Counter string // owner.name, or two of them with / between; -: no machine has one yet
	PerApp  bool
	// PerKernel: of each kernel of each application.
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

// anyMachine is good enough to ask a policy what it reads.
func anyMachine() Machine { return Machine{SMs: 1, Groups: 1, Channels: 1} }

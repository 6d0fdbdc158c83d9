package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sim"
)

// Kinds of rows.
const (
	kindResult    = "result"
	kindFailed    = "failed"    // a simulation that ended with an error on a cluster
	kindMalformed = "malformed" // a file that cannot be read
)

// Row is a result in the list.
type Row struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`
	Place    string    `json:"place"` // the result directory; "" in the store
	When     time.Time `json:"when"`  // of the file
	Apps     []string  `json:"apps"`
	Machine  string    `json:"machine"`
	Sharing  string    `json:"sharing"`
	Detail   string    `json:"detail,omitempty"` // settings of the machine, and arguments of applications
	Policies []string  `json:"policies,omitempty"`
	Complete bool      `json:"complete"`
	Problem  string    `json:"problem,omitempty"`
	Cycles   uint64    `json:"cycles"`
	PerS     float64   `json:"cycles_per_s"` // simulated cycles per second of wall time
	IPC      []float64 `json:"ipc"`          // of each application
	STP      float64   `json:"stp,omitempty"`
	ANTT     float64   `json:"antt,omitempty"`

	file    string
	words   string   // lower case, what a search looks at
	alone   string   // identity as an alone-run; "" of other runs
	needs   []string // identities of the alone-runs its metrics need, where it has none
	tenants []sim.Tenant
}

// outline has the parts of a result that the list needs.
type outline struct {
	version  int
	spec     sim.Spec
	complete bool
	why      string
	cycles   uint64
	tenants  []sim.Tenant
	metrics  *sim.Metrics
	policies []sim.PolicyUse
	machine  json.RawMessage
	wall     sim.Wall
}

// decode takes the members of a result that the list needs.
func (o *outline) decode(text []byte) error {
	wanted := map[string]any{
		"version": &o.version, "spec": &o.spec, "complete": &o.complete, "why": &o.why, "run_cycles": &o.cycles,
		"tenants": &o.tenants, "metrics": &o.metrics, "policies": &o.policies, "machine": &o.machine, "wall": &o.wall,
	}
	return members(text, func(name string, value []byte) error {
		if to := wanted[name]; to != nil {
			return json.Unmarshal(value, to)
		}
		return nil
	})
}

// identity is a short name for a long one, the same every time.
func identity(long string) string {
	sum := sha256.Sum256([]byte(long))
	return hex.EncodeToString(sum[:])[:16]
}

// readRow makes the row of a file. It never fails: a file that cannot be read gets a row that says so.
func readRow(f found, when time.Time) *Row {
	r := &Row{ID: identity(f.path), Kind: kindResult, When: when.UTC(), file: f.path, Place: f.place()}
	err := r.fill(f)
	if err != nil {
		r.Kind, r.Problem = kindMalformed, err.Error()
	}
	r.words = strings.ToLower(strings.Join(slices.Concat([]string{
		r.Machine, r.Sharing, r.Kind, r.Place, r.Problem, r.Detail,
	}, r.Apps, r.Policies), "\n"))
	return r
}

func (r *Row) fill(f found) error {
	var text []byte
	var code string
	var err error
	switch f.kind {
	case inStore:
		text, code, err = lab.ReadEntry(f.path)
	case inFailed:
		failed, err := lab.ReadFailed(f.path)
		if err != nil {
			return err
		}
		r.Kind, r.Problem, r.Apps = kindFailed, failed.Message, []string{failed.Label}
		if len(failed.Result) == 0 {
			return nil
		}
		text = failed.Result
	default:
		if text, err = os.ReadFile(f.path); err == nil && !json.Valid(text) { // no checksum tells
			err = fmt.Errorf("%s is damaged: it is not JSON", f.path)
		}
	}
	if err != nil {
		return err
	}
	var o outline
	if err := o.decode(text); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if o.version != sim.ResultVersion {
		return fmt.Errorf("%s has version %d of the layout, this heddle reads version %d", f.path, o.version,
			sim.ResultVersion)
	}
	if len(o.tenants) == 0 {
		return errors.New(f.path + " holds no application")
	}
	r.outline(&o)
	if code != "" {
		r.identify(&o, code)
	}
	return nil
}

// outline takes the values that the list shows.
func (r *Row) outline(o *outline) {
	r.Machine, r.Complete, r.Cycles, r.PerS = o.spec.Machine, o.complete, o.cycles, o.wall.CyclesPerS
	if r.Sharing = o.spec.Sharing.Mode; r.Sharing == "" {
		r.Sharing = "alone"
	}
	if n := o.spec.Sharing.Name; n != "" && n != r.Sharing {
		r.Sharing = n + " (" + r.Sharing + ")"
	}
	for _, p := range o.policies {
		if !slices.Contains(r.Policies, p.Policy) {
			r.Policies = append(r.Policies, p.Policy)
		}
	}
	r.Apps = nil
	for i := range o.tenants {
		t := &o.tenants[i]
		name := t.Name
		if i < len(o.spec.Apps) && name == "alone" { // the name of alone-runs; their application says more
			name = program(&o.spec.Apps[i])
		}
		r.Apps, r.IPC = append(r.Apps, name), append(r.IPC, t.IPC)
		if t.Err != "" && r.Problem == "" {
			r.Problem = t.Name + ": " + t.Err
		}
	}
	r.Detail = detail(&o.spec)
	if !o.complete && r.Problem == "" {
		r.Problem = o.why
	}
	if o.metrics != nil {
		r.STP, r.ANTT = o.metrics.STP, o.metrics.ANTT
	}
}

// program is a short name of what an application runs.
func program(a *sim.App) string {
	switch {
	case a.CPU == nil:
		return filepath.Base(a.Path)
	case a.CPU.Model != "":
		return a.CPU.Model
	}
	return filepath.Base(a.CPU.Trace)
}

// maxDetail bounds Row.Detail, in bytes.
const maxDetail = 240

// detail distinguishes runs of the same applications, machine and sharing.
func detail(s *sim.Spec) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(s.Set)) {
		out = append(out, k+"="+s.Set[k])
	}
	for i := range s.Apps {
		var args []string
		for _, k := range slices.Sorted(maps.Keys(s.Apps[i].Args)) {
			args = append(args, k+"="+s.Apps[i].Args[k])
		}
		if len(args) > 0 && len(s.Apps) > 1 {
			out = append(out, s.Apps[i].Name+" "+strings.Join(args, " "))
		} else {
			out = append(out, args...)
		}
	}
	text := strings.Join(out, ", ")
	if len(text) > maxDetail {
		text = strings.ToValidUTF8(text[:maxDetail], "") + "..."
	}
	return text
}

// identify notes the identities that link shared runs of the store to their alone-runs: the simulator, the
// machine's numbers and the spec. Entries of the store have no metrics of their own.
func (r *Row) identify(o *outline, code string) {
	identity := func(s *sim.Spec) string {
		plain := *s
		plain.Machine, plain.Set = "", nil
		text, err := json.Marshal(plain)
		if err != nil { // a Spec is plain data
			return ""
		}
		h := sha256.New()
		fmt.Fprintf(h, "%s\n%s\n", code, o.machine)
		h.Write(text)
		return hex.EncodeToString(h.Sum(nil))
	}
	if len(o.spec.Apps) == 1 && o.spec.Sharing.Mode == "alone" {
		r.alone = identity(&o.spec)
	}
	if len(o.spec.Apps) > 1 && o.metrics == nil && o.complete {
		for a := range o.spec.Apps {
			alone := lab.AloneSpec(&o.spec, a)
			r.needs = append(r.needs, identity(&alone))
		}
	}
	if r.alone != "" || r.needs != nil {
		for i := range o.tenants {
			t := o.tenants[i]
			t.Kernels, t.Log = nil, nil // the larger part, which progress does not need
			r.tenants = append(r.tenants, t)
		}
	}
}

// measure fills in the metrics of a row if each of its alone-runs is there exactly once: if two have the same
// identity, the application has changed, and it is unknown which one is meant.
func (r *Row) measure(alone map[string][]*Row) {
	runs := aloneRuns(r, alone)
	if runs == nil || len(r.tenants) != len(runs) {
		return
	}
	var names []string
	var shared, base []float64
	for i, a := range runs {
		_, s, b := lab.Progress(&r.tenants[i], &a.tenants[0])
		names, shared, base = append(names, r.tenants[i].Name), append(shared, s), append(base, b)
	}
	if m, err := lab.Compare(names, shared, base); err == nil {
		r.STP, r.ANTT = m.STP, m.ANTT
	}
}

// aloneRuns are the rows of a shared run's alone-runs; nil when one is missing or not known for sure.
func aloneRuns(r *Row, alone map[string][]*Row) (out []*Row) {
	for _, key := range r.needs {
		have := alone[key]
		if len(have) != 1 || len(have[0].tenants) != 1 {
			return nil
		}
		out = append(out, have[0])
	}
	return out
}

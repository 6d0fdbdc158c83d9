package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// Sweep is a run file and the values that vary in it.
type Sweep struct {
	Run    string     // the run file
	Paths  []string   // the values that vary, in the order of the file
	Points []RunPoint // the cross product of the axes, the last axis fastest
}

// RunPoint is one combination of values.
type RunPoint struct {
	Values []string // of Sweep.Paths, as written
	File   *runfile.File
}

// sweepAxis is one entry of vary: paths whose values advance together.
type sweepAxis struct {
	paths  []string
	values [][]*yamldoc.Node // per path
}

// maxPoints bounds a sweep: a slip in a list must not fill a disk.
const maxPoints = 100000

// LoadSweep reads a sweep file and resolves each of its points, thousands a second. tell, if not nil, is called after
// each point with the number done and the total; ctx ends it. Every error in the sweep file and in the run file
// itself names its line; an error of a point names the point.
func LoadSweep(ctx context.Context, path string, o runfile.Overrides, tell func(done, of int)) (*Sweep, error) {
	src, err := yamldoc.ReadFile(path)
	if err != nil {
		return nil, err
	}
	root, err := yamldoc.Parse(path, src)
	if err != nil {
		return nil, err
	}
	if err := root.Instead("a sweep file"); err != nil {
		return nil, err
	}
	if err := root.Only("a sweep", "run", "vary"); err != nil {
		return nil, err
	}
	run, vary := root.Get("run"), root.Get("vary")
	if run == nil || run.Kind != yamldoc.Text || vary == nil || vary.Kind != yamldoc.List || len(vary.Items) == 0 {
		return nil, root.Errorf("a sweep needs run, a run file, and vary, a list such as [{machine.dram.channels: " +
			"[16, 32]}]")
	}
	s := &Sweep{Run: run.Raw}
	if !filepath.IsAbs(s.Run) {
		s.Run = filepath.Join(filepath.Dir(path), s.Run)
	}
	var axes []sweepAxis
	points := 1
	for _, n := range vary.Items {
		a, err := readAxis(n)
		if err != nil {
			return nil, err
		}
		axes = append(axes, a)
		s.Paths = append(s.Paths, a.paths...)
		if points *= len(a.values[0]); points > maxPoints {
			return nil, n.Errorf("more than %d points", maxPoints)
		}
	}
	if tell == nil {
		tell = func(int, int) {}
	}
	return s, s.expand(ctx, axes, o, func(done int) { tell(done, points) })
}

func readAxis(n *yamldoc.Node) (a sweepAxis, err error) {
	if n.Kind != yamldoc.Map || len(n.Keys) == 0 {
		return a, n.Errorf("an entry of vary maps paths of the run file to lists of values")
	}
	for _, k := range n.Keys {
		if k.Value.Kind != yamldoc.List || len(k.Value.Items) == 0 {
			return a, k.At.Errorf("%s needs a list of values", k.Name)
		}
		if len(a.values) > 0 && len(k.Value.Items) != len(a.values[0]) {
			return a, k.At.Errorf("%s has %d values and %s %d: paths of one entry advance together; for a "+
				"cross product make two entries", k.Name, len(k.Value.Items), a.paths[0], len(a.values[0]))
		}
		a.paths = append(a.paths, k.Name)
		a.values = append(a.values, k.Value.Items)
	}
	return a, nil
}

// expand resolves every combination. Points with the same machine share it.
func (s *Sweep) expand(ctx context.Context, axes []sweepAxis, o runfile.Overrides, tell func(done int)) error {
	machines := map[string]*sheets.Machine{}
	if o.Shelf == nil {
		o.Shelf = new(sheets.Shelf)
	}
	src, err := yamldoc.ReadFile(s.Run)
	if err != nil {
		return err
	}
	root, err := yamldoc.Parse(s.Run, src)
	if err != nil {
		return err
	}
	at := make([]int, len(axes))
	for {
		p, err := s.point(root, axes, at, o, machines)
		if err != nil {
			return err
		}
		s.Points = append(s.Points, p)
		tell(len(s.Points))
		if ctx.Err() != nil {
			return sim.ErrStopped
		}
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < len(axes[i].values[0]) {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return nil
		}
	}
}

// point resolves the combination of the given value of each axis. machines holds the machines there are already.
func (s *Sweep) point(root *yamldoc.Node, axes []sweepAxis, at []int, o runfile.Overrides,
	machines map[string]*sheets.Machine,
) (p RunPoint, err error) {
	doc, ok := plain(root).(map[string]any)
	if !ok {
		return p, root.Errorf("a run file must be a mapping")
	}
	delete(doc, "outputs") // a sweep leaves a table, not result directories
	var told []string
	for i, a := range axes {
		for j, path := range a.paths {
			v := a.values[j][at[i]]
			if err := setPath(doc, path, plain(v)); err != nil {
				return p, v.Errorf("%v", err)
			}
			p.Values = append(p.Values, written(v))
			told = append(told, path+"="+written(v))
		}
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return p, err
	}
	if p.File, err = runfile.Parse(s.Run, text, o); err != nil {
		return p, s.blame(root, axes, at, o, fmt.Sprintf("%s with %s: %s", s.Run, strings.Join(told, ", "), bare(err)))
	}
	key, err := json.Marshal([]any{doc["machine"], doc["set"]})
	if err != nil {
		return p, err
	}
	if m := machines[string(key)]; m != nil {
		p.File.Machine = m
	}
	machines[string(key)] = p.File.Machine
	p.File.Sheet = nil // the sources of numbers are not needed here, and are the larger part of a point
	return p, nil
}

// bare is the message of an error without its line, which is one of a text made here.
func bare(err error) string {
	var at *yamldoc.Error
	if errors.As(err, &at) {
		return at.Msg
	}
	return err.Error()
}

// blame is the error of a point that is no run file, at its place: in the run file itself if that is wrong in the same
// way, else at the first value that makes it wrong without the others, else at the last value.
func (s *Sweep) blame(root *yamldoc.Node, axes []sweepAxis, at []int, o runfile.Overrides, msg string) error {
	wrong := func(doc map[string]any) error {
		delete(doc, "outputs")
		text, err := json.Marshal(doc)
		if err == nil {
			_, err = runfile.Parse(s.Run, text, o)
		}
		return err
	}
	if doc, ok := plain(root).(map[string]any); ok {
		if err := wrong(doc); err != nil && strings.HasSuffix(msg, bare(err)) {
			_, err = runfile.Load(s.Run, o)
			return err
		}
	}
	var last *yamldoc.Node
	for i, a := range axes {
		for j, path := range a.paths {
			last = a.values[j][at[i]]
			doc, ok := plain(root).(map[string]any)
			if ok && setPath(doc, path, plain(last)) == nil && wrong(doc) != nil {
				return last.Errorf("%s", msg)
			}
		}
	}
	return last.Errorf("%s", msg)
}

// plain is a document's value as encoding/json writes it, which is YAML as well.
func plain(n *yamldoc.Node) any {
	switch n.Kind {
	case yamldoc.Null:
		return nil
	case yamldoc.Bool:
		return n.Bool
	case yamldoc.Int:
		return n.Int
	case yamldoc.Float:
		return n.Float
	case yamldoc.List:
		out := make([]any, len(n.Items))
		for i, it := range n.Items {
			out[i] = plain(it)
		}
		return out
	case yamldoc.Map:
		out := map[string]any{}
		for _, k := range n.Keys {
			out[k.Name] = plain(k.Value)
		}
		return out
	}
	return n.Raw
}

// written is a value in one line, for tables.
func written(n *yamldoc.Node) string {
	if n.Kind != yamldoc.List && n.Kind != yamldoc.Map {
		return n.Raw
	}
	text, err := json.Marshal(plain(n))
	if err != nil { // a document holds nothing that JSON cannot
		return err.Error()
	}
	return string(text)
}

// setPath sets a value in a document. Numbers index lists; entries of lists can also be named by
// their name, a policy's entry by the policy and a sharing entry by its mode. The rest after set
// (or machine) is one key with dots.
func setPath(doc map[string]any, path string, v any) error {
	if rest, ok := strings.CutPrefix(path, "machine."); ok {
		path = "set." + rest
	}
	parts := strings.Split(path, ".")
	if parts[0] == "set" && len(parts) > 2 {
		parts = []string{"set", strings.Join(parts[1:], ".")}
	}
	var at any = doc
	for i, part := range parts {
		last := i == len(parts)-1
		switch x := at.(type) {
		case map[string]any:
			if last {
				x[part] = v
				return nil
			}
			if x[part] == nil {
				if kindKey(part) != "" {
					return fmt.Errorf("path %s: the run file has no list %s", path, noList(parts, i))
				}
				x[part] = map[string]any{}
			}
			at = x[part]
		case []any:
			list := strings.Join(parts[:i], ".")
			k := listEntry(x, part)
			if k < 0 {
				return fmt.Errorf("path %s: no entry %q in the list %s, which has %s", path, part, list, entries(x))
			}
			if last {
				x[k] = v
				return nil
			}
			if text, ok := x[k].(string); ok && kindKey(parts[i-1]) != "" { // short for an entry of that alone
				x[k] = map[string]any{kindKey(parts[i-1]): text}
			}
			at = x[k]
		default:
			return fmt.Errorf("path %s: %s is a plain value", path, strings.Join(parts[:i], "."))
		}
	}
	return nil
}

// kindKey is the key that every entry of a list of a run file has. It names an entry that has no name, and may be
// written alone. It is empty for any other list.
func kindKey(list string) string {
	switch list {
	case "policies":
		return "policy"
	case "sharing":
		return "mode"
	}
	return ""
}

// noList names the missing list that part i of a path refers to, and what to write instead.
func noList(parts []string, i int) string {
	list := strings.Join(parts[:i+1], ".")
	if parts[i] != "policies" {
		return list
	}
	rest := strings.Join(parts[i+1:], ".")
	if i == 0 {
		return fmt.Sprintf("policies; the policies of a sharing entry are varied by sharing.NAME.policies.%s, "+
			"the period and parameters of its mode's own policy by sharing.NAME.period and "+
			"sharing.NAME.params.PARAMETER", rest)
	}
	of := strings.Join(parts[:i], ".")
	return fmt.Sprintf("%s; the period and parameters of the mode's own policy are varied by %s.period and "+
		"%s.params.PARAMETER", list, of, of)
}

// listEntry finds an entry of a list by its number or its name; -1: none.
func listEntry(list []any, name string) int {
	if k, err := strconv.Atoi(name); err == nil {
		if k < 0 || k >= len(list) {
			return -1
		}
		return k
	}
	return slices.IndexFunc(list, func(x any) bool { return entryName(x) == name })
}

// entryName is the name of a list's entry in paths; empty if only its number can name it.
func entryName(x any) string {
	m, ok := x.(map[string]any)
	if !ok {
		name, _ := x.(string)
		return name
	}
	for _, key := range []string{"name", "policy", "mode"} {
		if name, ok := m[key].(string); ok {
			return name
		}
	}
	return ""
}

// entries lists how the entries of a list are named.
func entries(list []any) string {
	var names []string
	for i, x := range list {
		name := entryName(x)
		if name == "" {
			name = strconv.Itoa(i)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

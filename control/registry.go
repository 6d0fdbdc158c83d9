package control

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"heddle/sheets/yamldoc"
)

// Doc describes a policy for `heddle inspect policies`.
type Doc struct {
	Name   string
	Paper  string
	Doc    string
	Params []ParamDoc
}

// ParamDoc describes one parameter of a policy.
type ParamDoc struct {
	Name    string
	Default float64
	Unit    string
	Doc     string
	Whole   bool // only whole numbers
	Least   float64
	Most    float64 // 0: no limit
}

// entry is a policy with its maker. get gives checked parameters by name.
type entry struct {
	doc  Doc
	make func(m Machine, get func(string) float64) Policy
}

var (
	deltaSMs    = ParamDoc{"delta_sms", 0, "SMs", "SMs of one move; 0: as many as a group has channels", true, 0, 0}
	stepSMs     = ParamDoc{"delta_sms", 0, "SMs", "SMs of one step of the search; 0: SMs of the machine over its channel groups", true, 0, 0}
	deltaGroups = ParamDoc{"delta_groups", 1, "groups", "channel groups of one move", true, 1, 0}
	flip        = ParamDoc{"flip", 0, "flag", "a move may change the class of an application, as printed in Figure 5", true, 0, 1}
	smOnlyTail  = ParamDoc{"sm_only_tail", 0, "flag", "when channels are at their floor, go on with SMs alone", true, 0, 1}
)

// entries lists every policy there is, by name.
func entries() []entry {
	const ugpuPaper = "Zhao et al., UGPU, ISCA 2025"
	return []entry{
		{
			Doc{
				"cd-search", "Zhao et al., Classification-Driven Search, ICS 2018, as BP(CD-Search) of UGPU, section 6.4",
				"SMs move from memory-bound to compute-bound slices by search; channels stay",
				[]ParamDoc{stepSMs},
			},
			func(m Machine, get func(string) float64) Policy {
				return (&cdSearch{m: m, sms: orElse(get("delta_sms"), m.SMs/m.Groups)}).decide
			},
		},
		{
			Doc{
				"ugpu", ugpuPaper + ", section 3.2, Figure 5",
				"SMs move to the most compute-bound, channel groups to the most memory-bound application",
				[]ParamDoc{deltaGroups, deltaSMs, flip, smOnlyTail},
			},
			func(m Machine, get func(string) float64) Policy { return newUGPU(m, get).decide },
		},
		{
			Doc{
				"ugpu-qos", ugpuPaper + ", section 6.7",
				"applications with a target keep what it needs, the others share the rest as under ugpu",
				[]ParamDoc{deltaGroups, deltaSMs, flip, {"headroom", 2, "ratio", "DRAM bandwidth planned for over what the target needs without LLC hits", false, 1, 0}, {"margin", 0.05, "fraction", "IPC planned for beyond the target", false, 0, 0}, smOnlyTail},
			},
			func(m Machine, get func(string) float64) Policy { return newUGPU(m, get).decideQoS },
		},
	}
}

func newUGPU(m Machine, get func(string) float64) *ugpu {
	return &ugpu{
		m: m, sms: orElse(get("delta_sms"), m.Channels), groups: max(1, int(get("delta_groups"))), smsAlone: get("sm_only_tail") != 0, flip: get("flip") != 0,
		qosMargin: get("margin"), headroom: get("headroom"),
	}
}

// orElse is a number of SMs as asked for, or the usual one.
func orElse(asked float64, usual int) int {
	if asked > 0 {
		return int(asked)
	}
	return max(1, usual)
}

// List describes every policy, by name.
func List() []Doc {
	var out []Doc
	for _, e := range entries() {
		out = append(out, e.doc)
	}
	return out
}

// New makes a policy. An unknown name or parameter, a value out of range or a
// machine without SMs, channels, clock or bandwidth is an error.
func New(name string, m Machine, p Params) (Policy, error) {
	if m.SMs < 1 || m.Groups < 1 || m.Channels < 1 || m.Line < 1 || !(m.IPCMax > 0 && m.CoreHz > 0 && m.LLCBytes > 0 && m.MemBytes > 0) {
		return nil, fmt.Errorf("policy %s: the machine has no SMs, channel groups, clock or bandwidth: %+v", name, m)
	}
	var names []string
	for _, e := range entries() {
		if e.doc.Name == name {
			values, err := e.doc.check(p)
			if err != nil {
				return nil, err
			}
			return e.make(m, func(n string) float64 { return values[n] }), nil
		}
		names = append(names, e.doc.Name)
	}
	return nil, fmt.Errorf("no policy %q; the policies are %s%s", name, strings.Join(names, ", "), suggest(name, names))
}

// check fills in defaults and refuses what the policy does not know.
func (d *Doc) check(p Params) (Params, error) {
	values := Params{}
	var names []string
	for _, q := range d.Params {
		values[q.Name] = q.Default
		names = append(names, q.Name)
	}
	for _, n := range slices.Sorted(maps.Keys(p)) {
		i := slices.Index(names, n)
		if i < 0 {
			return nil, fmt.Errorf("policy %s has no parameter %q; it has %s%s", d.Name, n, strings.Join(names, ", "), suggest(n, names))
		}
		q, v := &d.Params[i], p[n]
		if !(v >= q.Least && v <= 1e6) || (q.Whole && v != math.Trunc(v)) || (q.Most > 0 && v > q.Most) {
			return nil, fmt.Errorf("policy %s: %s = %g (%s: %s) is out of range", d.Name, n, v, q.Unit, q.Doc)
		}
		values[n] = v
	}
	return values, nil
}

func suggest(name string, known []string) string {
	if s := yamldoc.Nearest(name, known); s != "" {
		return "; did you mean " + s + "?"
	}
	return ""
}

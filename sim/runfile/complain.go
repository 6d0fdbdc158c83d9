package runfile

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim"
)

// Where in a run file an error points.

// complain makes an error at a key of the run file (the nearest that exists).
func (r *resolver) complain(err error, keys ...string) error {
	if r.bare {
		return err
	}
	at := r.root
	for _, k := range keys {
		if next := at.Get(k); next != nil {
			at = next
		}
	}
	return at.Errorf("%v", err)
}

// complainAt is complain for entry i of a list (or the one entry that stands for it).
func (r *resolver) complainAt(err error, list string, i int, key string) error {
	n := r.root.Get(list)
	if r.bare || n == nil {
		return err
	}
	if n.Kind == yamldoc.List && i < len(n.Items) {
		n = n.Items[i]
	}
	if k := n.Get(key); k != nil {
		n = k
	}
	return n.Errorf("%v", err)
}

// complainSharing is complainAt for sharing entry i: at the key of its memory, or of that of all entries, if the
// error is about one.
func (r *resolver) complainSharing(err error, i int) error {
	var about *sim.About
	if errors.As(err, &about) && !r.bare {
		n := r.root.Get("sharing")
		if n != nil && n.Kind == yamldoc.List && i < len(n.Items) {
			n = n.Items[i]
		}
		if n == nil || n.Get("memory") == nil {
			n = r.root
		}
		if n = n.Get("memory"); n != nil {
			if k := n.Get(about.Key); k != nil {
				n = k
			}
			return n.Errorf("%v", err)
		}
	}
	var policy *sim.PolicyError
	if errors.As(err, &policy) && !r.bare {
		if n := r.policy(policy.Policy, err.Error(), i); n != nil {
			return n.Errorf("%v", err)
		}
	}
	if policies := r.root.Get("policies"); r.root.Get("sharing") == nil && policies != nil && !r.bare {
		return policies.Errorf("%v", err)
	}
	return r.complainAt(err, "sharing", i, "mode")
}

// policy is the place of a policy in the list of sharing entry i, or in that of all entries: of the parameter that
// an error names, if it names one. nil where the mode brings the policy.
func (r *resolver) policy(name, text string, i int) *yamldoc.Node {
	n := r.root.Get("sharing")
	if n != nil && n.Kind == yamldoc.List && i < len(n.Items) {
		n = n.Items[i]
	}
	if n == nil || n.Get("policies") == nil {
		n = r.root
	}
	if n = n.Get("policies"); n == nil {
		return nil
	}
	items := n.Items
	if n.Kind != yamldoc.List { // the one that stands for it
		items = []*yamldoc.Node{n}
	}
	for _, x := range items {
		p := x.Get("policy")
		if p == nil && x.Raw == name { // a name alone
			return x
		}
		if p == nil || p.Raw != name {
			continue
		}
		if params := x.Get("params"); params != nil {
			for _, k := range params.Keys {
				if strings.Contains(text, " "+k.Name+" = ") || strings.Contains(text, `"`+k.Name+`"`) {
					return k.Value
				}
			}
		}
		return p
	}
	return nil
}

// complainSet is complain for an impossible machine: at the key of set that the error is about, if there is one.
func (r *resolver) complainSet(err error) error {
	for _, k := range slices.Sorted(maps.Keys(r.doc.Set)) {
		path := strings.TrimPrefix(k, "machine.")
		if _, over := r.o.Set[path]; !r.bare && !over && strings.Contains(err.Error(), path+" ") {
			return r.root.Get("set").At(k).Errorf("%v", err)
		}
	}
	return r.complain(err, "machine")
}

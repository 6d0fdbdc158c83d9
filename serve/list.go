package serve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// query is a request for a part of the list.
type query struct {
	words  []term
	order  string
	offset int
	limit  int
}

// term is a word to look for: anywhere, or in one field.
type term struct {
	field string // "" anywhere
	text  string // lower case
	not   bool
}

const (
	pageRows = 100  // rows of a page of the list
	maxRows  = 1000 // at most in one request
)

// fields are those a search may name.
func fields() map[string]func(*Row) []string {
	return map[string]func(*Row) []string{
		"machine": func(r *Row) []string { return []string{r.Machine} },
		"app":     func(r *Row) []string { return r.Apps },
		"policy":  func(r *Row) []string { return append([]string{r.Sharing}, r.Policies...) },
		"dir":     func(r *Row) []string { return []string{r.Place} },
		"is": func(r *Row) []string {
			state := []string{r.Kind}
			if r.Kind == kindResult && !r.Complete {
				state = append(state, "partial")
			}
			if len(r.Apps) == 1 {
				return append(state, "alone")
			}
			return append(state, "shared")
		},
	}
}

// parseTerms reads a search: words, all of which must be found; field:word in one field; a minus
// in front turns it around.
func parseTerms(q string) (out []term, err error) {
	known := fields()
	for _, w := range strings.Fields(strings.ToLower(q)) {
		t := term{text: w}
		t.text, t.not = strings.CutPrefix(w, "-")
		if name, rest, ok := strings.Cut(t.text, ":"); ok && known[name] != nil {
			t.field, t.text = name, rest
		} else if ok && rest != "" && !strings.ContainsAny(name, "/\\.") {
			return nil, fmt.Errorf("no field %q; there are machine, app, policy, dir and is", name)
		}
		if t.text != "" {
			out = append(out, t)
		}
	}
	return out, nil
}

func (t *term) matches(r *Row, of map[string]func(*Row) []string) bool {
	hit := false
	if t.field == "" {
		hit = strings.Contains(r.words, t.text)
	} else {
		hit = slices.ContainsFunc(of[t.field](r), func(s string) bool {
			return strings.Contains(strings.ToLower(s), t.text)
		})
	}
	return hit != t.not
}

// orders are the ways to sort, each with the largest or the first first.
func orders() map[string]func(a, b *Row) int {
	return map[string]func(a, b *Row) int{
		"when":    nil, // as the index has it
		"stp":     func(a, b *Row) int { return cmp.Compare(b.STP, a.STP) },
		"antt":    func(a, b *Row) int { return cmp.Compare(b.ANTT, a.ANTT) },
		"cycles":  func(a, b *Row) int { return cmp.Compare(b.Cycles, a.Cycles) },
		"speed":   func(a, b *Row) int { return cmp.Compare(b.PerS, a.PerS) },
		"machine": func(a, b *Row) int { return cmp.Compare(a.Machine, b.Machine) },
		"sharing": func(a, b *Row) int { return cmp.Compare(a.Sharing, b.Sharing) },
		"apps":    func(a, b *Row) int { return slices.Compare(a.Apps, b.Apps) },
	}
}

// pick is the part of the rows that a query wants, and how many match it.
func pick(rows []*Row, q *query) (page []*Row, matching int) {
	if len(q.words) > 0 {
		of := fields()
		var hits []*Row
		for _, r := range rows {
			if !slices.ContainsFunc(q.words, func(t term) bool { return !t.matches(r, of) }) {
				hits = append(hits, r)
			}
		}
		rows = hits
	}
	name, back := strings.CutPrefix(q.order, "-")
	if by := orders()[name]; by != nil {
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, by)
	}
	if back {
		rows = slices.Clone(rows)
		slices.Reverse(rows)
	}
	from := min(max(q.offset, 0), len(rows))
	to := min(from+min(max(q.limit, 0), maxRows), len(rows))
	return append([]*Row{}, rows[from:to]...), len(rows)
}

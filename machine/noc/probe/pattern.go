package probe

import (
	"fmt"
	"strconv"
	"strings"
)

// Pattern picks destinations.
type Pattern struct {
	Name    string
	ports   int
	nodes   []int // hotspot destinations; none: uniform
	weights []int
	total   int
}

// ParsePattern reads `uniform` or a hotspot: `hotspot:0` sends everything to
// output 0; `hotspot:0,1,2;8,1,1` weighs outputs 0, 1 and 2 by 8, 1 and 1. The
// reference's own notation, hotspot({0}) and hotspot({{0,1,2},{8,1,1}}), is read
// as well.
func ParsePattern(s string, ports int) (*Pattern, error) {
	p := &Pattern{Name: s, ports: ports}
	if s == "uniform" {
		return p, nil
	}
	arg, ok := strings.CutPrefix(s, "hotspot")
	bad := func(why string) (*Pattern, error) {
		return nil, fmt.Errorf("pattern %q: %s; use uniform, hotspot:NODE,... or hotspot:NODE,...;WEIGHT,...", s, why)
	}
	if !ok || arg == "" {
		return bad("unknown")
	}
	if arg[0] == ':' {
		arg = arg[1:]
	} else {
		if !strings.HasPrefix(arg, "({") || !strings.HasSuffix(arg, "})") {
			return bad("unbalanced braces")
		}
		arg = strings.ReplaceAll(arg[2:len(arg)-2], "},{", ";")
		arg = strings.TrimSuffix(strings.TrimPrefix(arg, "{"), "}")
	}
	nodes, weights, weighted := strings.Cut(arg, ";")
	var err error
	if p.nodes, err = numbers(nodes); err != nil {
		return bad(err.Error())
	}
	for _, n := range p.nodes {
		if n >= ports {
			return bad(fmt.Sprintf("node %d of %d ports", n, ports))
		}
		if !weighted {
			p.weights = append(p.weights, 1)
		}
	}
	if weighted {
		if p.weights, err = numbers(weights); err != nil {
			return bad(err.Error())
		}
	}
	if len(p.weights) != len(p.nodes) {
		return bad(fmt.Sprintf("%d nodes and %d weights", len(p.nodes), len(p.weights)))
	}
	for _, w := range p.weights {
		p.total += w
	}
	if p.total == 0 {
		return bad("weights are all zero")
	}
	return p, nil
}

func numbers(s string) ([]int, error) {
	var out []int
	for _, f := range strings.Split(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is not a number", f)
		}
		out = append(out, n)
	}
	return out, nil
}

// dest draws a destination.
func (p *Pattern) dest(g *integers) int {
	switch len(p.nodes) {
	case 0:
		return g.below(p.ports)
	case 1:
		return p.nodes[0]
	}
	r := g.below(p.total)
	for i, w := range p.weights {
		if r < w {
			return p.nodes[i]
		}
		r -= w
	}
	return p.nodes[len(p.nodes)-1]
}

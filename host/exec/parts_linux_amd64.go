package exec

import (
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// part is the PTX of one source of the program. Sources that use each other's functions and variables
// (nvcc -rdc=true) become one module, the others one each.
type part struct {
	src    emulate.Source
	linked bool
	module uint64
	status int32
}

// names are what a part defines for others and what it leaves to others.
type names struct{ has, wants map[string]bool }

func namesOf(s emulate.Source) names {
	n := names{map[string]bool{}, map[string]bool{}}
	m, err := parse.File(s.File, s.Text)
	if err != nil {
		return n // linking says why
	}
	put := func(name string, l parse.Linkage, extern bool) {
		if extern {
			n.wants[name] = true
		} else if l.Visible {
			n.has[name] = true
		}
	}
	for _, v := range m.Vars {
		put(v.Name, v.Linkage, v.Extern)
	}
	for _, f := range m.Funcs {
		put(f.Name, f.Linkage, f.Extern)
	}
	return n
}

// groups are the parts that use each other, by their places in list.
func groups(list []names) [][]int {
	of := make([]int, len(list)) // the first part of its group
	for i := range of {
		of[i] = i
	}
	for i, n := range list {
		for j, other := range list {
			if !n.uses(other) {
				continue
			}
			from, to := max(of[i], of[j]), min(of[i], of[j])
			for k := range of {
				if of[k] == from {
					of[k] = to
				}
			}
		}
	}
	byFirst := make([][]int, len(list))
	for i, first := range of {
		byFirst[first] = append(byFirst[first], i)
	}
	var out [][]int
	for _, g := range byFirst {
		if len(g) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// uses says whether other defines something that n leaves to others.
func (n names) uses(other names) bool {
	for name := range n.wants {
		if other.has[name] {
			return true
		}
	}
	return false
}

// linkParts makes modules of the parts that are in none.
func (c *call) linkParts() {
	var waiting []*part
	var list []names
	for _, p := range c.s.parts {
		if !p.linked {
			waiting, list = append(waiting, p), append(list, namesOf(p.src))
		}
	}
	for _, g := range groups(list) {
		var src []emulate.Source
		for _, i := range g {
			src = append(src, waiting[i].src)
		}
		m, err := c.s.c.LinkModules(src)
		status, number := success, uint64(len(c.s.modules))
		if err != nil {
			status = int(c.failed(err, invalidPTX))
		} else {
			c.s.modules = append(c.s.modules, &module{m, map[string]uint64{}})
		}
		for _, i := range g {
			waiting[i].linked, waiting[i].module, waiting[i].status = true, number, int32(status)
		}
	}
}

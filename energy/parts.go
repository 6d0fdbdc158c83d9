package energy

import "github.com/heddle-sim/heddle/stat"

// Part is the energy of one part of the machine.
type Part struct {
	Name string // "sm", "l1", "llc", a network ("noc_request"), a memory ("dram"), "migration", "cpu", "static"
	J    float64
}

// Parts is energy by part, in a fixed order; a machine with another network or memory has
// another part.
type Parts []Part

// add adds joules to a part.
func (p *Parts) add(name string, j float64) {
	for i := range *p {
		if (*p)[i].Name == name {
			(*p)[i].J += j
			return
		}
	}
	*p = append(*p, Part{name, j})
}

// Plus is the sum of two, in the order of the first.
func (p Parts) Plus(q Parts) Parts {
	out := append(Parts(nil), p...)
	for _, x := range q {
		out.add(x.Name, x.J)
	}
	return out
}

// Total is the sum of the parts.
func (p Parts) Total() (sum float64) {
	for _, x := range p {
		sum += x.J
	}
	return sum
}

// Of is the sum of the parts of a kind: "noc" is all networks, "dram" all memories.
func (p Parts) Of(kind string) (sum float64) {
	for _, x := range p {
		if stat.OfKind(x.Name, kind) {
			sum += x.J
		}
	}
	return sum
}

// Split is the energy of the GPU chip and of the memory beside it (UGPU paper,
// Figure 12b: "GPU with 80 SMs" and "HBM system", migration included).
func (p Parts) Split() (gpu, memory float64) {
	memory = p.Of("dram") + p.Of("migration")
	return p.Total() - memory, memory
}

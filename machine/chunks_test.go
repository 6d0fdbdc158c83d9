package machine

import (
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/sheets"
)

// placed is a grid that notes on which SM each of its CTAs begins, and in which order.
type placed struct {
	isa.Grid
	sm    map[int]int
	order []int
}

func (g *placed) Start(cta int, at isa.Place) isa.CTA {
	if _, twice := g.sm[cta]; twice {
		panic(fmt.Sprintf("CTA %d is dispatched twice", cta))
	}
	g.sm[cta] = at.SM
	g.order = append(g.order, cta)
	return g.Grid.Start(cta, at)
}

// place launches the counting kernel with so many CTAs and runs it to its end.
func (r *rig) place(tenant, ctas int) *placed {
	r.t.Helper()
	k, err := r.mod.Kernel("count")
	if err != nil {
		r.t.Fatal(err)
	}
	out := r.alloc(tenant, int64(4*ctas*64), mem.Device)
	b := make([]byte, k.ParamBytes)
	for i := range 8 {
		b[k.Params[0].Offset+i] = byte(out.Base >> (8 * i))
	}
	b[k.Params[1].Offset] = 40
	grid, err := r.in[tenant].Grid(k, emulate.Launch{
		Grid: [3]uint32{uint32(ctas), 1, 1}, Block: [3]uint32{64, 1, 1}, Params: b,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	p := &placed{Grid: grid, sm: map[int]int{}}
	r.g.Launch(tenant, 0, "count", p)
	if err := r.finish(); err != nil {
		r.t.Fatal(err)
	}
	if len(p.sm) != ctas {
		r.t.Fatalf("%d of %d CTAs were dispatched", len(p.sm), ctas)
	}
	return p
}

func dispatching(order string, parts int) func(*sheets.Machine) {
	return func(m *sheets.Machine) {
		small(m)
		m.SM.Dispatch, m.SM.DispatchParts = order, parts
	}
}

// Each SM, or each partition, runs a contiguous chunk of the grid: partition = CTA * P / CTAs.
// Within a partition, neighbours go to different SMs.
func TestDistributedDispatch(t *testing.T) {
	for _, ctas := range []int{1, 16, 37, 200} {
		bySM := newRig(t, "qv100", Options{}, dispatching("distributed", 0), tenant("a", upTo(16)))
		byPart := newRig(t, "qv100", Options{}, dispatching("distributed", 4), tenant("a", upTo(16)))
		for cta, sm := range bySM.place(0, ctas).sm {
			if sm*ctas/16 > cta || cta >= (sm+1)*ctas/16 {
				t.Errorf("%d CTAs: CTA %d is on SM %d", ctas, cta, sm)
			}
		}
		p := byPart.place(0, ctas)
		for cta, sm := range p.sm {
			if part := sm / 4; part*ctas/4 > cta || cta >= (part+1)*ctas/4 {
				t.Errorf("%d CTAs: CTA %d is on SM %d of partition %d", ctas, cta, sm, part)
			}
		}
		if ctas == 200 && (p.sm[0] == p.sm[1] || p.sm[1] == p.sm[2]) {
			t.Errorf("neighbours are on SMs %d, %d, %d", p.sm[0], p.sm[1], p.sm[2])
		}
	}
}

// Breadth first is as without a word about it: CTA i is the i-th to be dispatched.
func TestBreadthFirstDispatch(t *testing.T) {
	for _, order := range []string{"", "breadth"} {
		r := newRig(t, "qv100", Options{}, dispatching(order, 0), tenant("a", upTo(16)))
		for i, cta := range r.place(0, 50).order {
			if i != cta {
				t.Fatalf("%q: CTA %d is the %d-th", order, cta, i)
			}
		}
	}
}

// An application with some of the SMs has chunks on those alone.
func TestDistributedDispatchOfAShare(t *testing.T) {
	r := newRig(t, "qv100", Options{}, dispatching("distributed", 4), tenant("a", between(0, 6)),
		tenant("b", between(6, 16)))
	for cta, sm := range r.place(0, 60).sm {
		if sm >= 6 || (cta < 30) != (sm < 4) {
			t.Errorf("CTA %d is on SM %d", cta, sm)
		}
	}
	for cta, sm := range r.place(1, 60).sm { // partitions 1 to 3
		if want := 1 + cta/20; sm/4 != want {
			t.Errorf("CTA %d is on SM %d, not in partition %d", cta, sm, want)
		}
	}
}

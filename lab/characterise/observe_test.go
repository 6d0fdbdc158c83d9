package characterise

import (
	"math"
	"testing"

	"github.com/heddle-sim/heddle/isa"
)

// walk is a grid of one warp per CTA whose warps make the given accesses.
type walk struct {
	code isa.Code
	ctas int
	addr func(cta, step int) (lane0 uint64, stride uint64)
}

func (w *walk) Code() *isa.Code { return &w.code }
func (w *walk) Geometry() isa.Geometry {
	return isa.Geometry{CTAs: w.ctas, Threads: isa.Lanes, Warps: 1}
}
func (w *walk) Start(cta int, _ isa.Place) isa.CTA { return &walker{w: w, cta: cta} }

type walker struct {
	w       *walk
	cta, pc int
}

func (c *walker) PC(int) int32 {
	if c.pc == len(c.w.code.Instr) {
		return -1
	}
	return int32(c.pc)
}

func (c *walker) Step(_ int, _ uint64, s *isa.Step) error {
	*s = isa.Step{Mask: ^uint32(0), Space: c.w.code.Instr[c.pc].Space}
	at, stride := c.w.addr(c.cta, c.pc)
	for l := range s.Addr {
		s.Addr[l] = at + uint64(l)*stride
	}
	c.pc++
	return nil
}
func (c *walker) State(_ int, s *isa.State) { s.Set(uint64(c.pc), 0, 0) }

func (c *walker) Release() {}

func execute(t *testing.T, o *Observer, g isa.Grid) {
	t.Helper()
	g = o.Grid(g)
	var s isa.Step
	for n := range g.Geometry().CTAs {
		c := g.Start(n, isa.Place{})
		for c.PC(0) >= 0 {
			if err := c.Step(0, 0, &s); err != nil {
				t.Fatal(err)
			}
		}
		c.Release()
	}
}

func load(space isa.Space) isa.Instr { return isa.Instr{Kind: isa.Load, Space: space, Width: 4} }
func store() isa.Instr               { return isa.Instr{Kind: isa.Store, Space: isa.Global, Width: 4} }

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s = %g, want %g", what, got, want)
	}
}

const base = 1 << 30

// 64 CTAs on 64 SMs: each writes a line of a page of its own and reads a line of one
// page they share.
func TestSharing(t *testing.T) {
	o := NewObserver()
	execute(t, o, &walk{
		code: isa.Code{Instr: []isa.Instr{store(), load(isa.Global), load(isa.Shared)}}, ctas: 64,
		addr: func(cta, step int) (uint64, uint64) {
			if step == 0 {
				return base + uint64(cta)*pageBytes, 4
			}
			return base + 64*pageBytes, 4
		},
	})
	m := o.Memory()
	if m.Pages != 65 || m.Bytes != 65*lineBytes || m.ReadOnlyShared != lineBytes || m.Accesses != 128 || m.CTAs != 64 {
		t.Errorf("%+v: want 65 pages, a line in each, one read-only and shared, 128 accesses", m)
	}
	near(t, "pages of one SM", m.SharedBy[0], 64.0/65)
	near(t, "pages of 26 SMs and more", m.SharedBy[3], 1.0/65)
	if m.Sharing() != LowSharing {
		t.Errorf("sharing %s: 64 of 65 pages have one SM", m.Sharing())
	}
}

// With 128 CTAs, neighbours in pairs share a page: an SM's own in contiguous groups,
// two SMs' when dealt one by one.
func TestPlacement(t *testing.T) {
	o := NewObserver()
	execute(t, o, &walk{
		code: isa.Code{Instr: []isa.Instr{store()}}, ctas: 128,
		addr: func(cta, _ int) (uint64, uint64) {
			return base + uint64(cta)*pageBytes/2, 4
		},
	})
	m := o.Memory()
	near(t, "contiguous", m.SharedBy[0], 1)
	near(t, "dealt", m.DealtBy[1], 1)
}

// What one launch writes another may share read-only; what the same launch writes is
// not read-only.
func TestReadOnlyIsByLaunch(t *testing.T) {
	one := func(cta, _ int) (uint64, uint64) { return base, 4 }
	o := NewObserver()
	execute(t, o, &walk{code: isa.Code{Instr: []isa.Instr{load(isa.Global), store()}}, ctas: 2, addr: one})
	if n := o.Memory().ReadOnlyShared; n != 0 {
		t.Errorf("%d bytes read-only after a launch that writes them", n)
	}
	o = NewObserver()
	execute(t, o, &walk{code: isa.Code{Instr: []isa.Instr{store()}}, ctas: 2, addr: one})
	execute(t, o, &walk{code: isa.Code{Instr: []isa.Instr{load(isa.Global)}}, ctas: 2, addr: one})
	m := o.Memory()
	if m.ReadOnlyShared != lineBytes {
		t.Errorf("%d bytes read-only, want the line the second launch reads", m.ReadOnlyShared)
	}
	near(t, "repeat", m.Repeat, 0.5)
}

func TestPatterns(t *testing.T) {
	const pages = 1000
	row := func(stride uint64, page func(cta int) int) *walk {
		return &walk{
			code: isa.Code{Instr: []isa.Instr{load(isa.Global)}}, ctas: pages,
			addr: func(cta, _ int) (uint64, uint64) { return base + uint64(page(cta))*16*pageBytes, stride },
		}
	}
	dense := row(64, func(c int) int { return c }) // half of each page's lines
	thin := row(4, func(c int) int { return c })   // one
	mixed := row(64, func(c int) int { return c * 387 % pages })
	column := &walk{code: dense.code, ctas: 4, addr: func(cta, _ int) (uint64, uint64) {
		return base + uint64(cta)*4,
			pageBytes
	}}
	for _, c := range []struct {
		what  string
		grids []*walk
		want  string
	}{
		{"once through", []*walk{dense}, Streaming},
		{"three times through", []*walk{dense, dense, dense}, Regular},
		{"a line of each page", []*walk{thin}, Irregular},
		{"blocks out of order", []*walk{mixed}, Irregular},
		{"columns", []*walk{column}, Random},
	} {
		o := NewObserver()
		for _, g := range c.grids {
			execute(t, o, g)
		}
		m := o.Memory()
		if got := m.Pattern(); got != c.want {
			t.Errorf("%s: %s, want %s (%+v)", c.what, got, c.want, m)
		}
	}
}

func TestStepsCostNothing(t *testing.T) {
	o := NewObserver()
	g := o.Grid(&walk{
		code: isa.Code{Instr: []isa.Instr{load(isa.Global), load(isa.Global)}}, ctas: 64,
		addr: func(int, int) (uint64, uint64) { return base, 4 },
	})
	c := g.Start(1, isa.Place{})
	inner := c.(*cta).CTA.(*walker)
	var s isa.Step
	if n := testing.AllocsPerRun(100, func() {
		inner.pc = 0
		if err := c.Step(0, 0, &s); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%g allocations per observed step", n)
	}
}

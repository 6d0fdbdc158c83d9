package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
)

// source is a grid that does what a seed says: every warp takes steps random loads,
// then exits.
type source struct {
	code  *isa.Code
	geo   isa.Geometry
	steps int
	seed  uint64
}

type sourceCTA struct {
	g   *source
	rng []*rand.Rand
	n   []int
}

func newSource(ctas, warps, steps int, seed uint64) *source {
	code := &isa.Code{
		Kernel: "scatter", File: "scatter.ptx", NumRegs: 2, Left: []uint8{2, 1}, Regs: []uint16{0, 1},
		Text: []string{"ld.global.u32", "exit"}, Instr: []isa.Instr{
			{Kind: isa.Load, Unit: isa.LDST, Space: isa.Global, Width: 4, NDst: 1, NReg: 2, Line: 3},
			{Kind: isa.Exit, Line: 4},
		},
	}
	geo := isa.Geometry{
		GridDim: [3]uint32{uint32(ctas), 1, 1}, BlockDim: [3]uint32{uint32(warps) * isa.Lanes, 1, 1},
		CTAs: ctas, Threads: warps * isa.Lanes, Warps: warps, Regs: 8,
	}
	return &source{code: code, geo: geo, steps: steps, seed: seed}
}

func (g *source) Code() *isa.Code        { return g.code }
func (g *source) Geometry() isa.Geometry { return g.geo }

func (g *source) Start(cta int, _ isa.Place) isa.CTA {
	c := &sourceCTA{g: g, n: make([]int, g.geo.Warps)}
	for w := range g.geo.Warps {
		c.rng = append(c.rng, rand.New(rand.NewPCG(g.seed, uint64(cta<<8|w))))
	}
	return c
}

func (c *sourceCTA) PC(w int) int32 {
	switch {
	case c.n[w] < c.g.steps:
		return 0
	case c.n[w] == c.g.steps:
		return 1
	}
	return -1
}

func (c *sourceCTA) Step(w int, _ uint64, s *isa.Step) error {
	*s = isa.Step{Active: ^uint32(0), Mask: ^uint32(0), Addr: s.Addr}
	if c.PC(w) == 0 {
		s.Space = isa.Global
		for i := range s.Addr {
			s.Addr[i] = 0xc0000000 + uint64(c.rng[w].Uint32N(1<<28))*4
		}
	}
	c.n[w]++
	s.Next = c.PC(w)
	return nil
}

func (c *sourceCTA) State(w int, s *isa.State) { s.Set(uint64(c.n[w]), 0, 0) }

func (c *sourceCTA) Release() {}

// run steps all CTAs of g, many at a time and out of order.
func run(t testing.TB, g isa.Grid, each func(cta, w int, s *isa.Step)) {
	t.Helper()
	geo := g.Geometry()
	const resident = 24
	for from := 0; from < geo.CTAs; from += resident {
		n := min(resident, geo.CTAs-from)
		ctas := make([]isa.CTA, n)
		for i := range ctas {
			ctas[i] = g.Start(from+i, isa.Place{})
		}
		s := &isa.Step{}
		for live := true; live; {
			live = false
			for i, c := range ctas {
				for w := range geo.Warps {
					if c.PC(w) < 0 {
						continue
					}
					live = true
					if err := c.Step(w, 0, s); err != nil {
						t.Fatal(err)
					}
					each(from+i, w, s)
				}
			}
		}
		for i := range ctas {
			ctas[n-1-i].Release()
		}
	}
}

// sample writes a recording of two launches: one of many small CTAs, one of long
// warps whose streams are spilled.
func sample(t testing.TB) (path string, grids []*source) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "sample.rec")
	w, err := Create(path, "sample")
	if err != nil {
		t.Fatal(err)
	}
	grids = []*source{newSource(200, 2, 5, 1), newSource(5, 3, 700, 2)}
	for _, s := range grids {
		g, err := w.Grid("scatter", s)
		if err != nil {
			t.Fatal(err)
		}
		run(t, g, func(int, int, *isa.Step) {})
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return path, grids
}

// What goes through a file, pages and pieces comes out again; memory is bounded by
// the piece size, not by the length of the warps.
func TestFileRoundTrip(t *testing.T) {
	path, grids := sample(t)
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if len(r.x.codes) != 1 || r.Launches() != 2 || r.App() != "sample" {
		t.Fatalf("%d codes, %d launches, app %q", len(r.x.codes), r.Launches(), r.App())
	}
	if n := len(r.x.launches[1].pieces); n < 5*3*4 {
		t.Errorf("%d pieces: long warps are not spilled", n)
	}
	for i, want := range grids {
		model := map[int]isa.CTA{}
		n := 0
		run(t, r.Grid(i), func(cta, w int, s *isa.Step) {
			if model[cta] == nil {
				model[cta] = want.Start(cta, isa.Place{})
			}
			exp := &isa.Step{}
			if err := model[cta].Step(w, 0, exp); err != nil {
				t.Fatal(err)
			}
			if !equalSteps(s, exp) {
				t.Fatalf("launch %d, CTA %d, warp %d: %+v, was %+v", i, cta, w, *s, *exp)
			}
			n++
		})
		if exp := want.geo.CTAs * want.geo.Warps * (want.steps + 1); n != exp {
			t.Errorf("launch %d: %d steps, were %d", i, n, exp)
		}
	}
	for _, c := range r.free {
		for i := range c.warps {
			if cap(c.warps[i].spill) > 2*pieceBytes {
				t.Fatalf("a warp holds %d bytes", cap(c.warps[i].spill))
			}
		}
	}
}

// Replaying allocates nothing once the resident CTAs have their buffers.
func TestReplayAllocatesNothing(t *testing.T) {
	path, _ := sample(t)
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	g, s := r.Grid(1), &isa.Step{}
	walk := func() {
		c := g.Start(1, isa.Place{})
		for w := range 3 {
			for c.PC(w) >= 0 {
				if err := c.Step(w, 0, s); err != nil {
					t.Fatal(err)
				}
			}
		}
		c.Release()
	}
	walk()
	if n := testing.AllocsPerRun(5, walk); n > 0 {
		t.Errorf("%v allocations to replay a CTA", n)
	}
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// A recording that is given up, or that is not complete, leaves no file and does not
// touch the one that was there.
func TestNothingIsLeftBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.rec")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := Create(path, "a")
	if err != nil {
		t.Fatal(err)
	}
	if len(files(t, dir)) != 2 {
		t.Fatalf("%v while recording", files(t, dir))
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
	if w, err = Create(path, "a"); err != nil {
		t.Fatal(err)
	}
	g, err := w.Grid("k", newSource(2, 1, 3, 1))
	if err != nil {
		t.Fatal(err)
	}
	g.Start(0, isa.Place{}).Release()
	if err := w.Commit(); err == nil || !strings.Contains(err.Error(), "1 CTAs have not ended") {
		t.Errorf("a recording of half a grid: %v", err)
	}
	if err := w.Abort(); err != nil {
		t.Errorf("Abort after a failed Commit: %v", err)
	}
	if old, err := os.ReadFile(path); err != nil || string(old) != "old" || len(files(t, dir)) != 1 {
		t.Errorf("%q, %v, %v after giving up", old, err, files(t, dir))
	}
	if _, err := Create(filepath.Join(dir, "nowhere", "x.rec"), "a"); err == nil {
		t.Error("a recording in a folder that does not exist")
	}
}

// use opens a file and walks everything in it; the first error is the answer.
func use(b []byte) error {
	r, err := open("x.rec", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	s := &isa.Step{}
	defer r.Close()
	for i := range r.Launches() {
		g := r.Grid(i)
		geo := g.Geometry()
		for n := range geo.CTAs {
			c := g.Start(n, isa.Place{})
			for w := range geo.Warps {
				for pc := c.PC(w); pc >= 0; pc = s.Next {
					if int(pc) >= len(g.Code().Instr) {
						return errors.New("PC outside the code")
					}
					if err := c.Step(w, 0, s); err != nil {
						var f *isa.Fault
						if !errors.As(err, &f) {
							return errors.New("not a fault: " + err.Error())
						}
						return err
					}
				}
			}
			c.Release()
		}
	}
	return nil
}

// Whatever is cut off or changed, there is an error that says so.
func TestDamage(t *testing.T) {
	path, _ := sample(t)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := use(good); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(good); n += 1 + len(good)/150 {
		err := use(good[:n])
		if err == nil {
			t.Fatalf("%d of %d bytes are accepted", n, len(good))
		}
		bad := bytes.Clone(good)
		bad[n] ^= 0x10
		if err := use(bad); err == nil {
			t.Fatalf("a change of byte %d of %d is accepted", n, len(good))
		}
	}
	text := func(b []byte, want string) {
		t.Helper()
		if err := use(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	text(nil, "too few")
	text(bytes.Repeat([]byte("x"), 1000), "not a recording")
	text(good[:len(good)-1], "cut short")
	newer := bytes.Clone(good)
	binary.LittleEndian.PutUint32(newer[len(magic):], version+1)
	text(newer, fmt.Sprint("version ", version+1))
	page := bytes.Clone(good)
	page[headerSize+100] ^= 1
	text(page, "damaged")
}

// Is looks at the beginning only.
func TestIs(t *testing.T) {
	path, _ := sample(t)
	dir := filepath.Dir(path)
	short := filepath.Join(dir, "short")
	if err := os.WriteFile(short, []byte("ab"), 0o600); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]bool{path: true, dir: false, short: false, "file_test.go": false} {
		if is, err := Is(p); is != want || err != nil {
			t.Errorf("Is(%s) is %v, %v", p, is, err)
		}
	}
	if _, err := Is(filepath.Join(dir, "none")); err == nil {
		t.Error("a file that does not exist")
	}
}

// A kernel's code comes back as it was, with what bounds strides (isa.Code.Left).
func TestCodeComesBack(t *testing.T) {
	c := newSource(1, 1, 1, 0).code
	f := &fields{}
	encodeCodes(f, c)
	got, err := decodeCodes(&values{b: f.b})
	if err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("%+v, %v; want %+v", got, err, c)
	}
	c.Left = []uint8{1}
	f = &fields{}
	encodeCodes(f, c)
	if _, err := decodeCodes(&values{b: f.b}); err == nil {
		t.Error("a bound for one instruction of two is accepted")
	}
}

// So does what a GPU's assembler makes of it; one that does not follow the kernel's code is refused.
func TestMachineCodeComesBack(t *testing.T) {
	code := func() *isa.Code {
		c := newSource(1, 1, 1, 0).code
		m := &isa.Code{Kernel: c.Kernel, Instr: []isa.Instr{{Times: 3}, {Marks: isa.Ends}}, Regs: []uint16{}}
		n := len(c.Instr)
		m.Source = &isa.Source{Upto: []int32{-1, 1}, Enter: make([]int32, n), Issues: make([]uint16, n)}
		for i := range m.Source.Enter {
			m.Source.Enter[i] = -1
		}
		m.Source.Enter[0], m.Source.Issues[1] = 0, 4
		c.Machine = m
		return c
	}
	back := func(c *isa.Code) (*isa.Code, error) {
		f := &fields{}
		encodeCodes(f, c)
		return decodeCodes(&values{b: f.b})
	}
	if got, err := back(code()); err != nil || !reflect.DeepEqual(got, code()) {
		t.Errorf("%+v, %v; want %+v", got, err, code())
	}
	for name, spoil := range map[string]func(m *isa.Code){
		"instructions that do not exist are executed": func(m *isa.Code) { m.Source.Upto[1] = 99 },
		"a run ends with nothing executed":            func(m *isa.Code) { m.Source.Upto[1] = -1 },
		"the code ends within a run":                  func(m *isa.Code) { m.Instr[1].Marks = 0 },
		"a warp goes on within a run":                 func(m *isa.Code) { m.Source.Enter[1] = 1 },
		"a warp goes on where no code is":             func(m *isa.Code) { m.Source.Enter[1] = 2 },
		"a warp does not begin":                       func(m *isa.Code) { m.Source.Enter[0] = -1 },
	} {
		c := code()
		if spoil(c.Machine); c.Machine != nil {
			if _, err := back(c); err == nil {
				t.Errorf("%s, which is accepted", name)
			}
		}
	}
}

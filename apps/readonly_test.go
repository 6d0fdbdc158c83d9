package apps_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/host/script"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/parse"
	"github.com/heddle-sim/heddle/ptx/readonly"
)

// watcher is a device that tells, launch by launch, which words are written and which are read
// by loads that say that nobody writes them.
type watcher struct {
	*host.Functional
	t     *testing.T
	space *mem.Space
	loads int // warp instructions that say so
}

// Enqueue runs op, and complains if what it reads as read-only is written.
func (d *watcher) Enqueue(op *host.Op) error {
	if op.Kind != host.OpLaunch {
		return d.Functional.Enqueue(op)
	}
	g := &watchedGrid{op.Grid, d, map[*mem.Region][]uint8{}}
	op.Grid = g
	err := d.Functional.Enqueue(op)
	for _, r := range d.space.Regions() {
		if at := slices.Index(g.words[r], readHere|writtenHere); at >= 0 {
			d.t.Errorf("%s: word %d of %s is written, and read as read-only", op.Name, at, r.Name)
		}
	}
	return err
}

// What happened to a word of four bytes.
const (
	readHere = 1 << iota
	writtenHere
)

type watchedGrid struct {
	isa.Grid
	d     *watcher
	words map[*mem.Region][]uint8 // what happened to them
}

func (g *watchedGrid) Start(cta int, at isa.Place) isa.CTA {
	return &watchedCTA{g.Grid.Start(cta, at), g, nil}
}

type watchedCTA struct {
	isa.CTA
	g    *watchedGrid
	last *mem.Region
}

func (c *watchedCTA) Step(w int, now uint64, s *isa.Step) error {
	in := &c.g.Code().Instr[c.PC(w)]
	err := c.CTA.Step(w, now, s)
	what := uint8(writtenHere)
	switch in.Kind {
	case isa.Load:
		if in.Cache != isa.CacheReadOnly {
			return err
		}
		c.g.d.loads++
		what = readHere
	case isa.Store, isa.Atomic, isa.Reduce:
	default:
		return err
	}
	if err != nil || s.Space != isa.Global {
		return err
	}
	for lane := range isa.Lanes {
		if s.Mask>>lane&1 == 0 {
			continue
		}
		c.mark(s.Addr[lane], uint64(in.Width), what)
	}
	return nil
}

// mark notes what happens to the words of [a, a+n).
func (c *watchedCTA) mark(a, n uint64, what uint8) {
	if c.last == nil || a < c.last.Base || a >= c.last.End() {
		c.last = c.g.d.space.Find(a)
		if c.g.words[c.last] == nil {
			c.g.words[c.last] = make([]uint8, c.last.Len()/4+1)
		}
	}
	words := c.g.words[c.last]
	for w := (a - c.last.Base) / 4; w <= (a+n-1-c.last.Base)/4; w++ {
		words[w] |= what
	}
}

// Applications whose loads of read-only memory say so compute the same, and no kernel writes a
// word that it reads in this way.
func TestReadOnlyLoads(t *testing.T) {
	dirs := folders(t)
	if testing.Short() {
		dirs = []string{
			"micro/vecadd", "micro/spmv", "micro/histogram", "sdk-like/matrixmul", "lonestar-like/sssp",
			"polybench/2dconv", "rodinia-like/bfs",
		}
	}
	for _, dir := range dirs {
		t.Run(dir, func(t *testing.T) { readOnlyLoads(t, dir) })
	}
}

// So is it where the launch marks them, which knows what parameters share.
func TestReadOnlyLaunches(t *testing.T) {
	dirs := []string{"micro/vecadd", "sdk-like/matrixmul", "rodinia-like/bfs", "polybench/2mm"}
	if !testing.Short() {
		dirs = folders(t)
	}
	for _, dir := range dirs {
		t.Run(dir, func(t *testing.T) { watch(t, dir, host.Options{ReadOnly: true}) })
	}
}

func readOnlyLoads(t *testing.T, dir string) {
	copied := filepath.Join(t.TempDir(), "app")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(copied, "kernel.ptx")
	src := []byte(read(t, path))
	m, err := parse.File(path, src)
	if err != nil {
		t.Fatal(err)
	}
	if src, err = readonly.Rewrite(m, src); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, src, 0o644); err != nil {
		t.Fatal(err)
	}
	d := watch(t, copied, host.Options{})
	if d.loads == 0 && bytes.Contains(src, []byte(".nc.")) {
		t.Error("no load that says so was executed")
	}
}

// watch runs an application under the watcher's eyes, and its checks.
func watch(t *testing.T, dir string, o host.Options) *watcher {
	t.Helper()
	var log bytes.Buffer
	p, err := script.Load(dir, script.Options{References: references(), Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	space := mem.NewSpace(1 << 30)
	d := &watcher{host.NewFunctional(context.Background(), limit), t, space, 0}
	c := host.New(d, space, o)
	if err := p.Run(c); err != nil {
		t.Fatal(err)
	}
	checks := c.Checks()
	for _, c := range checks {
		if !c.OK {
			t.Errorf("%s: %s", c.What, c.Msg)
		}
	}
	if len(checks) == 0 {
		t.Error("nothing is checked")
	}
	return d
}

package apps_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"heddle/host"
	"heddle/host/script"
	"heddle/isa"
	"heddle/mem"
	"heddle/ptx/parse"
	"heddle/ptx/readonly"
)

// watcher is a device that tells, launch by launch, which allocations are written and which are
// read by loads that say that nobody writes them.
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
	g := &watchedGrid{op.Grid, d, map[*mem.Region]int32{}, map[*mem.Region]int32{}}
	op.Grid = g
	err := d.Functional.Enqueue(op)
	for r, line := range g.read {
		if w, bad := g.written[r]; bad {
			d.t.Errorf("%s: %s is written on line %d and read as read-only on line %d", op.Name, r.Name, w, line)
		}
	}
	return err
}

type watchedGrid struct {
	isa.Grid
	d             *watcher
	read, written map[*mem.Region]int32 // line of one access
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
	to := c.g.written
	switch in.Kind {
	case isa.Load:
		if in.Cache != isa.CacheReadOnly {
			return err
		}
		c.g.d.loads++
		to = c.g.read
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
		if a := s.Addr[lane]; c.last == nil || a < c.last.Base || a >= c.last.End() {
			c.last = c.g.d.space.Find(a)
		}
		if to[c.last] == 0 {
			to[c.last] = in.Line
		}
	}
	return nil
}

// Applications whose loads of read-only memory say so compute the same, and no kernel writes an
// allocation that it reads in this way.
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
	var log bytes.Buffer
	p, err := script.Load(copied, script.Options{References: references(), Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	space := mem.NewSpace(1 << 30)
	d := &watcher{host.NewFunctional(context.Background(), limit), t, space, 0}
	c := host.New(d, space, host.Options{})
	if err := p.Run(c); err != nil {
		t.Fatal(err)
	}
	checks := c.Checks()
	for _, c := range checks {
		if !c.OK {
			t.Errorf("%s: %s", c.What, c.Msg)
		}
	}
	if none := !bytes.Contains(src, []byte(".nc.")); len(checks) == 0 || d.loads == 0 && !none {
		t.Errorf("%d checks, %d loads", len(checks), d.loads)
	}
}

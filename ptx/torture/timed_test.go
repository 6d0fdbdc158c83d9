package torture

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/sim"
)

// timed is a torture test as an application of the simulated machine.
type timed struct {
	t    *testing.T
	k    *kernelTest
	path string
}

func (p *timed) Name() string { return p.k.name }

func (p *timed) Run(c *host.Context) error {
	src, err := os.ReadFile(filepath.Join("testdata", p.path))
	if err != nil {
		return err
	}
	m, err := c.LoadModule(p.path, src)
	if err != nil {
		return err
	}
	places := map[*buffer]*host.Array{}
	for _, l := range p.k.launch() {
		k, err := m.Kernel(l.kernel)
		if err != nil {
			return err
		}
		args := make([]any, len(l.args))
		for i, a := range l.args {
			b, ok := a.(*buffer)
			if !ok {
				args[i] = encoded(a)
				continue
			}
			if places[b] == nil {
				data := encoded(b.in)
				if places[b], err = c.Malloc(host.U8, int64(len(data)), ""); err != nil {
					return err
				}
				if err := places[b].SetBytes(data); err != nil {
					return err
				}
			}
			args[i] = places[b]
		}
		if err := c.Launch(k, host.Launch{Grid: l.grid, Block: l.block, Shared: l.shared}, args...); err != nil {
			return err
		}
		if err := c.DeviceSynchronize(); err != nil {
			return err
		}
		if err := p.check(l, places); err != nil {
			return err
		}
	}
	return nil
}

func (p *timed) check(l launch, places map[*buffer]*host.Array) error {
	for i, a := range l.args {
		b, ok := a.(*buffer)
		if !ok || b.any {
			continue
		}
		got, err := places[b].Bytes()
		if err != nil {
			return err
		}
		want := b.want
		if want == nil {
			want = b.in
		}
		compare(p.t, l.kernel+", argument "+string(rune('0'+i)), want, got)
	}
	return nil
}

// TestTimed runs everything on the cycle-level machine: what a kernel computes does not
// depend on timing, and no lock, barrier or hand-over gets stuck there.
func TestTimed(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates some hundred kernels")
	}
	timedOn(t, "qv100")
}

// TestAssembled is TestTimed on a machine that executes what the assembler makes of the PTX (sm.ptxas).
func TestAssembled(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates some hundred kernels")
	}
	timedOn(t, "h100")
}

func timedOn(t *testing.T, machine string) {
	for _, v := range []string{"clang/O2-sm70", "hand"} {
		all := clangTests()
		if v == "hand" {
			all = handTests()
		}
		for _, k := range all {
			t.Run(v+"/"+k.name, func(t *testing.T) {
				_, err := sim.Run(context.Background(), sim.Spec{
					Machine: machine,
					Apps:    []sim.App{{Name: k.name, Program: &timed{t, &k, filepath.Join(v, k.file+".ptx")}}},
					Sharing: sim.Sharing{Mode: "alone"},
					Length:  sim.Length{MaxCycles: 20_000_000},
				}, nil)
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

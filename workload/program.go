package workload

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/workload/draw"
)

// Program runs a model; it implements host.Program and may run many times.
type Program struct {
	m    *Model
	seed uint64
}

// Load reads the model file at path as an application. args: scale multiplies the
// size of every allocation, rounds replaces the model's. Errors are *host.Error.
func Load(path string, args map[string]string, seed uint64) (*Program, error) {
	m, err := Read(path)
	if err == nil {
		err = m.arguments(args)
	}
	if err != nil {
		return nil, &host.Error{Err: err}
	}
	return New(m, seed), nil
}

// New makes the application of a parsed model.
func New(m *Model, seed uint64) *Program { return &Program{m: m, seed: seed} }

// arguments applies the application's arguments.
func (m *Model) arguments(args map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(args)) {
		switch value := args[key]; key {
		case "rounds":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > maxCount {
				return fmt.Errorf("%s: argument rounds=%s: a whole number from 1 on", m.file, value)
			}
			m.Rounds = n
		case "scale":
			f, err := strconv.ParseFloat(value, 64)
			if err != nil || !(f > 0) {
				return fmt.Errorf("%s: argument scale=%s: a positive number", m.file, value)
			}
			if err := m.scale(f); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s: argument %s=%s: a model takes scale (of the allocations) and rounds", m.file, key,
				value)
		}
	}
	return nil
}

// scale multiplies the allocations, in whole multiples of 256 bytes. Sizes inside an
// allocation (rows, tiles, blocks) stay, so they must still fit.
func (m *Model) scale(f float64) error {
	total := 0.0
	for i := range m.Allocations {
		a := &m.Allocations[i]
		want := max(256, math.Round(float64(a.Bytes)*f/256)*256)
		if total += want; total > maxBytes {
			return fmt.Errorf("%s: scale %g makes the allocations larger than 256 GiB", m.file, f)
		}
		a.Bytes = Bytes(want)
	}
	for i := range m.Kernels {
		k := &m.Kernels[i]
		for j := range k.Accesses {
			a := &k.Accesses[j]
			bytes := m.Allocations[m.allocation(a.On)].Bytes
			slice := bytes
			if a.pattern() == Shared {
				slice /= Bytes(k.CTAs / a.Sharers)
			}
			if need := max(a.Row, a.Plane, a.Tile, a.Stride, a.Block); need > bytes || slice < Bytes(a.Width) {
				return fmt.Errorf("%s:%d: with scale %g allocation %s has %d bytes, too few for "+
					"pattern %s", m.file, a.line, f, a.On,
					bytes, a.Pattern)
			}
		}
	}
	return nil
}

// allocation is the index of a named allocation, -1 if there is none.
func (m *Model) allocation(name string) int {
	return slices.IndexFunc(m.Allocations, func(a Allocation) bool { return a.Name == name })
}

// Name implements host.Program.
func (p *Program) Name() string {
	if p.m.Name != "" {
		return p.m.Name
	}
	return strings.TrimSuffix(filepath.Base(p.m.file), filepath.Ext(p.m.file))
}

// Model is the model that the program runs.
func (p *Program) Model() *Model { return p.m }

// compiled is a kernel bound to the memory of a run.
type compiled struct {
	k       *Kernel
	code    *isa.Code
	ops     []op
	targets []target
}

// zipfs holds the distributions of a run; kernels share them.
type zipfs map[zipfKey]*draw.Zipf

type zipfKey struct {
	blocks uint64
	theta  float64
}

func (z zipfs) of(a *Access, bytes Bytes) *draw.Zipf {
	if a.pattern() != Zipf {
		return nil
	}
	key := zipfKey{uint64(bytes) / uint64(a.Block), a.Theta}
	if z[key] == nil {
		z[key] = draw.NewZipf(key.blocks, key.theta)
	}
	return z[key]
}

// compile binds kernel i; bases are the addresses of the allocations.
func (p *Program) compile(i int, bases []uint64, z zipfs) *compiled {
	k := &p.m.Kernels[i]
	x := &compiled{k: k}
	x.code, x.ops = k.code(p.m)
	for j := range k.Accesses {
		a := &k.Accesses[j]
		at := p.m.allocation(a.On)
		bytes := p.m.Allocations[at].Bytes
		x.targets = append(x.targets, k.bind(a, i*maxEntries+j, bases[at], bytes, p.seed, z.of(a, bytes)))
	}
	return x
}

// Run implements host.Program.
func (p *Program) Run(c *host.Context) error {
	regions, err := p.allocate(c)
	if err != nil {
		return err
	}
	if err := p.launches(c, regions); err != nil {
		return err
	}
	if err := c.Finish(); err != nil {
		return err
	}
	for i, r := range regions {
		if p.m.Allocations[i].CopyOut {
			if err := copyOut(c, r); err != nil {
				return err
			}
		}
	}
	return p.release(c, regions)
}

// allocate reserves the allocations and copies in what the host provides.
func (p *Program) allocate(c *host.Context) (regions []*mem.Region, err error) {
	for i := range p.m.Allocations {
		a := &p.m.Allocations[i]
		kind := mem.Device
		if a.Memory == "managed" {
			kind = mem.Managed
		}
		r, err := c.Space().Reserve(int64(a.Bytes), kind, a.Name)
		if err != nil {
			return nil, &host.Error{Err: fmt.Errorf("%s: allocation %s: %w", p.m.file, a.Name, err)}
		}
		if d, ok := c.Device().(host.Allocator); ok {
			if err := d.Allocated(r); err != nil {
				return nil, err
			}
		}
		if a.CopyIn {
			if err := c.CopyIn(r, 0, r.Len()); err != nil {
				return nil, err
			}
		}
		regions = append(regions, r)
	}
	return regions, nil
}

// ahead is the number of launches enqueued before the program waits: their grids are
// held, and a model may have millions.
const ahead = 32

// launches enqueues every kernel of every round on the default stream.
func (p *Program) launches(c *host.Context, regions []*mem.Region) error {
	var bases []uint64
	for _, r := range regions {
		bases = append(bases, r.Base)
	}
	z, kernels := zipfs{}, make([]*compiled, len(p.m.Kernels))
	for i := range kernels {
		kernels[i] = p.compile(i, bases, z)
	}
	n := uint64(0)
	for range p.m.Rounds {
		for _, x := range kernels {
			for range x.k.Launches {
				if err := c.Err(); err != nil {
					return err
				}
				if err := c.LaunchGrid(x.k.Name, x.newGrid(n, p.seed), c.DefaultStream()); err != nil {
					return err
				}
				if n++; n%ahead == 0 {
					if err := c.Finish(); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// copyOut takes the time of a copy of r to the host, and waits.
func copyOut(c *host.Context, r *mem.Region) error {
	op := &host.Op{
		Kind: host.OpCopy, Name: "copy from " + r.Name, Src: r,
		Dst: &mem.Region{Kind: mem.Host, Name: "host staging"}, N: r.Len(), Apply: func() {},
	}
	if err := c.Device().Enqueue(op); err != nil {
		return err
	}
	return c.Device().Wait(op)
}

// release frees the allocations: an application that runs again begins afresh.
func (p *Program) release(c *host.Context, regions []*mem.Region) error {
	for _, r := range regions {
		if d, ok := c.Device().(host.Allocator); ok {
			if err := d.Freed(r); err != nil {
				return err
			}
		}
		if err := c.Space().Free(r.Base); err != nil {
			return err
		}
	}
	return nil
}

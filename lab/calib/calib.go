// Package calib runs the timing reference set (apps/calib): small kernels whose cycles were measured with another
// simulator, GPGPU-Sim 4.2. A reader must know three types: Spec is one kernel's launch and inputs, Reference one
// measured row, Outcome the result of this machine.
package calib

import (
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/sheets"
)

// Spec is a kernel of the set.
type Spec struct {
	Name    string           `json:"name"`
	Group   string           `json:"group"`
	Kernel  string           `json:"kernel"`
	PTX     string           `json:"ptx"`
	Grid    [3]uint32        `json:"grid"`
	Block   [3]uint32        `json:"block"`
	Dynamic int              `json:"dynamic_shared"`
	Buffers []Buffer         `json:"buffers"`
	Args    []map[string]any `json:"args"`
	Configs []string         `json:"configs"`
}

// Buffer is an input or output array.
type Buffer struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Count int    `json:"count"`
	Init  Init   `json:"init"`
	Bytes int64  `json:"bytes"`
	Copy  bool   `json:"host_to_device_copy"`
	First string `json:"init_fnv64"`
	Final string `json:"final_fnv64_clang"`
}

// Reference is a row of results.csv.
type Reference struct {
	Name, Config string
	Columns      map[string]float64
}

// Outcome is the result of this machine.
type Outcome struct {
	Cycles, ThreadInsts, WarpInsts uint64
	Clocks                         []uint32          // contents of the clk buffer
	Counts                         map[string]uint64 // all counters, by "owner.name"
	Data                           [][]byte          // the buffers, in the spec's order
	// Wall and CPU are the seconds of clock time and of processor time that the simulation itself took.
	CPU, Wall float64
	GPU       *machine.GPU
}

// counts reads every counter of the one tenant.
func counts(g *machine.GPU) map[string]uint64 {
	out := map[string]uint64{}
	for _, t := range g.Tables {
		for i, n := range t.Totals(0, nil) {
			out[t.Owner+"."+t.Desc[i].Name] = n
		}
	}
	return out
}

// ReadSpecs reads every spec under dir, in name order.
func ReadSpecs(dir string) ([]*Spec, error) {
	files, err := filepath.Glob(filepath.Join(dir, "specs", "*.json"))
	if err != nil {
		return nil, err
	}
	var out []*Spec
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		s := &Spec{}
		if err := json.Unmarshal(b, s); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// ReadReferences reads the measured rows of the clang PTX.
func ReadReferences(dir string) ([]Reference, error) {
	f, err := os.Open(filepath.Join(dir, "results.csv"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	head := rows[0]
	var out []Reference
	for _, row := range rows[1:] {
		r := Reference{Columns: map[string]float64{}}
		ptx := ""
		for i, v := range row {
			switch head[i] {
			case "name":
				r.Name = v
			case "config":
				r.Config = v
			case "ptx":
				ptx = v
			default:
				if x, err := strconv.ParseFloat(v, 64); err == nil {
					r.Columns[head[i]] = x
				}
			}
		}
		if ptx == "clang" {
			out = append(out, r)
		}
	}
	return out, nil
}

// Overrides turns a configuration's name into overrides of the qv100 sheet.
func Overrides(config string) (map[string]string, error) {
	switch config {
	case "cold":
		return nil, nil
	case "base":
		return map[string]string{"llc.prefill_copies": "true"}, nil
	case "nol1":
		return map[string]string{"llc.prefill_copies": "true", "l1d.skip_global": "true"}, nil
	case "sm20":
		return map[string]string{"llc.prefill_copies": "true", "sm.count": "20", "dram.channels": "8"}, nil
	}
	return nil, fmt.Errorf("configuration %q: know base, cold, nol1, sm20", config)
}

// launch is a spec ready to run.
type launch struct {
	grid    isa.Grid
	regions []*mem.Region
}

// prepare allocates and fills the buffers, loads the kernel and binds it.
func prepare(dir string, s *Spec) (*launch, error) {
	file := filepath.Join(dir, "ptx", filepath.Base(s.PTX))
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	mod, err := emulate.Load(file, src)
	if err != nil {
		return nil, err
	}
	k, err := mod.Kernel(s.Kernel)
	if err != nil {
		return nil, err
	}
	l := &launch{}
	space := mem.NewSpace(0)
	byName := map[string]*mem.Region{}
	for i := range s.Buffers {
		b := &s.Buffers[i]
		r, err := space.Alloc(b.Bytes, mem.Device, b.Name)
		if err != nil {
			return nil, err
		}
		if err := b.Init.Make(r.Data, b.DType, b.Count); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", s.Name, b.Name, err)
		}
		if b.First != "" && hash(r.Data) != b.First {
			return nil, fmt.Errorf("%s: %s: the initialiser gives other bytes than the reference's", s.Name, b.Name)
		}
		l.regions = append(l.regions, r)
		byName[b.Name] = r
	}
	inst, err := mod.Bind(space)
	if err != nil {
		return nil, err
	}
	params, err := s.params(k, byName)
	if err != nil {
		return nil, err
	}
	l.grid, err = inst.Grid(k, emulate.Launch{Grid: s.Grid, Block: s.Block, Params: params, SharedDynamic: s.Dynamic})
	return l, err
}

// Grid is a spec's kernel, ready to run once.
func Grid(dir string, s *Spec) (isa.Grid, error) {
	l, err := prepare(dir, s)
	if err != nil {
		return nil, err
	}
	return l.grid, nil
}

// RunFunctional executes a spec without timing and returns its buffers.
func RunFunctional(dir string, s *Spec) ([][]byte, error) {
	l, err := prepare(dir, s)
	if err != nil {
		return nil, err
	}
	if _, err := emulate.Run(l.grid, 0); err != nil {
		return nil, err
	}
	return l.data(), nil
}

func (l *launch) data() (out [][]byte) {
	for _, r := range l.regions {
		out = append(out, r.Data)
	}
	return out
}

// Run executes a spec on a machine.
func Run(dir string, s *Spec, m *sheets.Machine, o machine.Options) (*Outcome, error) {
	return RunInstead(dir, s, m, o, func(g isa.Grid) (isa.Grid, error) { return g, nil })
}

// RunInstead is Run with another grid in place of the kernel: one that records it, or a recording of it.
func RunInstead(dir string, s *Spec, m *sheets.Machine, o machine.Options,
	instead func(isa.Grid) (isa.Grid, error),
) (*Outcome, error) {
	l, err := prepare(dir, s)
	if err != nil {
		return nil, err
	}
	if l.grid, err = instead(l.grid); err != nil {
		return nil, err
	}
	var all []int
	for i := range m.SM.Count {
		all = append(all, i)
	}
	g, err := machine.New(m, []*sharing.Tenant{{Name: s.Name, SMs: all}}, o)
	if err != nil {
		return nil, err
	}
	for i, b := range s.Buffers {
		if m.LLC.PrefillCopies && b.Copy {
			g.Prefill(0, l.regions[i].Base, b.Bytes)
		}
	}
	kern := g.Launch(0, 0, s.Kernel, l.grid)
	runtime.GC() // what set-up left behind is not the simulation's cost
	begun, clock := cpuSeconds(), time.Now()
	for !kern.Done {
		if _, err := g.Run(g.Now() + 1<<30); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	spent, wall := cpuSeconds()-begun, time.Since(clock).Seconds()
	g.SyncCounters()
	insts := kern.Progress()
	out := &Outcome{
		CPU: spent, Wall: wall, Cycles: kern.End - kern.Start, ThreadInsts: insts.ThreadInsts,
		WarpInsts: insts.WarpInsts, Counts: counts(g), GPU: g, Data: l.data(),
	}
	for i, b := range s.Buffers {
		if s.clocks(b.Name) {
			for d := out.Data[i]; len(d) >= 4; d = d[4:] {
				out.Clocks = append(out.Clocks, binary.LittleEndian.Uint32(d))
			}
		}
	}
	return out, nil
}

// clocks says whether a buffer holds clock readings, which depend on timing.
func (s *Spec) clocks(buffer string) bool {
	return strings.HasPrefix(buffer, "clk") ||
		buffer == "out" && (strings.HasPrefix(s.Name, "chase") || strings.HasPrefix(s.Name, "self") ||
			s.Name == "dep_atomg" || s.Name == "dep_atoms")
}

// hash is the reference set's: FNV-1a, but from the basis its driver has, which is
// the standard one less its last decimal digit.
func hash(b []byte) string {
	h := uint64(1469598103934665603)
	for _, x := range b {
		h = (h ^ uint64(x)) * 1099511628211
	}
	return fmt.Sprintf("%016x", h)
}

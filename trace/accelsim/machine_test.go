package accelsim_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/stat"
	"github.com/heddle-sim/heddle/trace/accelsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// onMachine runs a kernel on a machine of its own.
func onMachine(t *testing.T, tr *accelsim.Trace, o machine.Options) (cycles uint64, n func(name string) uint64) {
	t.Helper()
	m, _, err := sheets.Resolve("qv100", nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for i := range m.SM.Count {
		all = append(all, i)
	}
	g, err := machine.New(m, []*sharing.Tenant{{Name: tr.Name, SMs: all}}, o)
	if err != nil {
		t.Fatal(err)
	}
	k := g.Launch(0, 0, tr.Name, tr.Launch())
	for !k.Done {
		if _, err := g.Run(g.Now() + 1<<30); err != nil {
			t.Fatal(err)
		}
	}
	g.SyncCounters()
	return k.End - k.Start, func(name string) uint64 {
		c, err := stat.Set(g.Tables).Find(name)
		if err != nil {
			t.Fatal(err)
		}
		return c.Of(0)
	}
}

// TestOnMachine: the same kernel takes the same cycles whatever the file's order
// and compression, with and without idle skipping, in strides and in lockstep, from memory and from disk; and
// the counts are those of the trace.
func TestOnMachine(t *testing.T) {
	const blocks = 200
	var want uint64
	for i, c := range []struct {
		suffix string
		order  []int
		opt    accelsim.Options
		mach   machine.Options
	}{
		{},
		{mach: machine.Options{Every: true}},
		{mach: machine.Options{Lockstep: true}},
		{order: accelsim.Shuffled(blocks), opt: accelsim.Options{Memory: 1}},
		{suffix: ".zst", order: accelsim.Shuffled(blocks)},
	} {
		dir := accelsim.WriteVecadd(t, blocks, c.suffix, c.order)
		tr, err := accelsim.Read(filepath.Join(dir, "kernel-1.traceg"+c.suffix), c.opt)
		if err != nil {
			t.Fatal(err)
		}
		cycles, n := onMachine(t, tr, c.mach)
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
		if n("sm.warp_insts") != tr.WarpInsts || n("sm.thread_insts") != tr.ThreadInsts {
			t.Errorf("%d warp and %d thread instructions, the trace has %d and %d", n("sm.warp_insts"),
				n("sm.thread_insts"),
				tr.WarpInsts, tr.ThreadInsts)
		}
		// 2 loads of 32 lanes x 4 bytes per warp are 4 sectors each, all of them misses
		if reads := n("dram.read_bursts"); reads < blocks*4*2 {
			t.Errorf("%d DRAM reads", reads)
		}
		if i == 0 {
			want = cycles
		}
		if cycles != want || cycles < 500 || cycles > 20_000 {
			t.Errorf("case %d: %d cycles, want %d", i, cycles, want)
		}
	}
}

// TestBarrier: warps of a CTA meet; a warp without records does not hang them.
func TestBarrier(t *testing.T) {
	h := accelsim.Vecadd(3)
	full := ^uint32(0)
	file := filepath.Join(t.TempDir(), "k.traceg")
	accelsim.WriteKernel(t, file, h, nil, func(b, w int) []accelsim.Inst {
		switch {
		case w == 3:
			return nil
		case w == 2:
			return []accelsim.Inst{{PC: 0x100, Mask: full, Op: "EXIT"}}
		}
		return []accelsim.Inst{
			{
				PC: 0x00, Mask: full, Dst: []int{3}, Op: "LDG.E", Src: []int{2},
				Addr: accelsim.Lanes(accelsim.BufA+uint64(w)<<20, 4096, full),
			},
			{PC: 0x10, Mask: full, Op: "STS", Src: []int{4, 3}, Addr: accelsim.Lanes(uint64(w)*128, 4, full)},
			{PC: 0x20, Mask: full, Op: "BAR.SYNC"},
			{PC: 0x30, Mask: full, Dst: []int{5}, Op: "LDS", Src: []int{4}, Addr: accelsim.Lanes(0, 128, full)},
			{PC: 0x40, Mask: full, Op: "STL", Src: []int{1, 5}, Addr: accelsim.Lanes(0xfffc00, 0, full)},
			{PC: 0x50, Mask: 0xffff, Op: "EXIT"},
			{PC: 0x60, Mask: 0xffff0000, Op: "MEMBAR.SC.GPU"},
			{PC: 0x70, Mask: 0xffff0000, Op: "RED.E.ADD", Src: []int{2, 3}, Addr: accelsim.Lanes(accelsim.BufC, 0,
				0xffff)},
		}
	})
	tr, err := accelsim.Read(file, accelsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if tr.Empty != 3 {
		t.Errorf("%d warps without records, want 3", tr.Empty)
	}
	_, n := onMachine(t, tr, machine.Options{Watchdog: 100_000})
	if want := tr.WarpInsts + 3; n("sm.warp_insts") != want { // and an EXIT of no lane each
		t.Errorf("%d warp instructions, want %d", n("sm.warp_insts"), want)
	}
}

func run(t *testing.T, s sim.Spec) *sim.Result {
	t.Helper()
	r, err := sim.Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSim runs the folder, the list's path and the program, on a machine without
// and with translation: kernels, copies and pages never copied.
func TestSim(t *testing.T) {
	const blocks = 50
	dir := accelsim.WriteVecadd(t, blocks, ".gz", accelsim.Shuffled(blocks))
	for _, set := range []map[string]string{nil, {"vm.enabled": "true"}} {
		p, err := accelsim.Load(filepath.Join(dir, accelsim.ListName), nil, accelsim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.Ignored != 1 || p.Name() != "vecadd" {
			t.Errorf("program %s, %d lines ignored", p.Name(), p.Ignored)
		}
		var want uint64
		for i, a := range []sim.App{
			{Path: dir},
			{Path: filepath.Join(dir, accelsim.ListName)},
			{Program: p},
			{Program: p},
		} {
			r := run(t, sim.Spec{Machine: "qv100", Set: set, Apps: []sim.App{a}, Timeline: true})
			if i == 0 {
				want = r.Cycles
			}
			tn := r.Tenants[0]
			if r.Cycles != want || len(tn.Kernels) != 1 || tn.Kernels[0].CTAs != blocks || tn.WarpInsts != blocks*44 ||
				tn.Faults != 0 {
				t.Errorf("%v, app %d: %d cycles (want %d), %+v", set, i, r.Cycles, want, tn)
			}
			copies := 0
			for _, s := range r.Spans {
				if strings.HasPrefix(s.Track, "copies/") && s.End > s.Start {
					copies++
				}
			}
			if copies != 2 {
				t.Errorf("%d copies took time, want 2", copies)
			}
		}
	}
	f := run(t, sim.Spec{Machine: "qv100", Functional: true, Apps: []sim.App{{Path: dir}}})
	if f.Tenants[0].WarpInsts != blocks*44 {
		t.Errorf("%d warp instructions functionally", f.Tenants[0].WarpInsts)
	}
	two := run(t, sim.Spec{Machine: "qv100", Apps: []sim.App{
		{Name: "a", Path: dir},
		{Name: "b", Path: dir, Repeat: true},
	}})
	for _, tn := range two.Tenants {
		if tn.WarpInsts != blocks*44 {
			t.Errorf("%s beside another: %d warp instructions", tn.Name, tn.WarpInsts)
		}
	}
}

// TestStreams: kernels of two streams overlap, those of one do not, be they named by handles or by small numbers.
func TestStreams(t *testing.T) {
	for _, handles := range [][2]uint64{{0x5000, 0x5040}, {1, 2}, {7, 1}} {
		streams(t, handles)
	}
}

func streams(t *testing.T, handles [2]uint64) {
	t.Helper()
	dir := t.TempDir()
	var list []string
	for i := range 4 {
		h := accelsim.Vecadd(20)
		h.ID, h.Stream = i+1, handles[i%2]
		name := fmt.Sprintf("kernel-%d.traceg", i+1)
		accelsim.WriteKernel(t, filepath.Join(dir, name), h, nil, accelsim.VecaddWarp)
		list = append(list, name)
	}
	if err := accelsim.WriteList(dir, list...); err != nil {
		t.Fatal(err)
	}
	k := run(t, sim.Spec{Machine: "qv100", Apps: []sim.App{{Path: dir}}}).Tenants[0].Kernels
	slices.SortStableFunc(k, func(a, b sim.Kernel) int { return a.Stream - b.Stream })
	if len(k) != 4 || k[0].Stream != k[1].Stream || k[1].Stream == k[2].Stream {
		t.Fatalf("%+v", k)
	}
	if k[0].Start > k[2].End || k[2].Start > k[0].End {
		t.Errorf("kernels of streams %v do not overlap", handles)
	}
	if k[1].Start < k[0].End || k[3].Start < k[2].End {
		t.Errorf("kernels of one stream of %v overlap", handles)
	}
}

// TestProgramErrors: a broken kernel is an input error with file and line, whether
// found at loading or in the middle of the run.
func TestProgramErrors(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"header", "kernel-2.traceg", "-kernel name = k\n", "kernel-2.traceg:1: the header has no end"},
		{
			"body", "kernel-2.traceg", accelsim.MinHeader(5) +
				"#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n0 ffffffff 0 WARPED 0 0\n",
			"kernel-2.traceg:13: opcode WARPED is not known",
		},
		{"missing", "kernel-2.traceg.xz", "", "kernelslist.g:4: there is no kernel-2.traceg, but kernel-2.traceg.xz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := accelsim.WriteVecadd(t, 2, "", nil)
			if err := accelsim.WriteList(dir, accelsim.Copy(accelsim.BufA, 1<<20), accelsim.Copy(accelsim.BufB, 4096),
				"kernel-1.traceg", "kernel-2.traceg"); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := sim.Run(context.Background(), sim.Spec{Machine: "qv100", Apps: []sim.App{{Path: dir}}}, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || host.Classify(err) != host.BadInput {
				t.Errorf("error %v (class %v), want %q of the input", err, host.Classify(err), c.want)
			}
		})
	}
	dir := accelsim.WriteVecadd(t, 2, "", nil)
	_, err := sim.Run(context.Background(),
		sim.Spec{Machine: "qv100", Apps: []sim.App{{Path: dir, Args: map[string]string{"n": "5"}}}}, nil)
	if err == nil || !strings.Contains(err.Error(), "unknown=other") {
		t.Errorf("argument n: %v", err)
	}
	all := sim.Sharing{Memory: sim.Memory{Unified: sim.Unified{All: true}}}
	_, err = sim.Run(context.Background(), sim.Spec{Machine: "uvm", Apps: []sim.App{{Path: dir}}, Sharing: all}, nil)
	if err == nil || !strings.Contains(err.Error(), "has no lines cudaMalloc,0x<address>,<bytes>") {
		t.Errorf("a trace's memory made managed: %v", err)
	}
	if err := accelsim.WriteList(dir, accelsim.Copy(accelsim.BufA, 1<<39), "kernel-1.traceg"); err != nil {
		t.Fatal(err)
	}
	_, err = sim.Run(context.Background(), sim.Spec{Machine: "qv100", Apps: []sim.App{{Path: dir}}}, nil)
	if err == nil || host.Classify(err) != host.BadInput {
		t.Errorf("a copy of 512 GiB: %v", err)
	}
}

// TestRegions: copies that overlap or touch become one region, pages of kernels the
// next ones.
func TestRegions(t *testing.T) {
	dir := accelsim.WriteVecadd(t, 2, "", nil)
	if err := accelsim.WriteList(dir, accelsim.Copy(accelsim.BufA, 4096), accelsim.Copy(accelsim.BufA+4096, 100),
		accelsim.Copy(accelsim.BufA+4000, 200), accelsim.Copy(accelsim.BufB+1<<20, 8), accelsim.Copy(accelsim.BufB, 0),
		"kernel-1.traceg"); err != nil {
		t.Fatal(err)
	}
	p, err := accelsim.Load(filepath.Join(dir, accelsim.ListName), nil, accelsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	space := mem.NewSpace(0)
	if err := p.Run(host.New(host.NewFunctional(context.Background(), 0), space, host.Options{})); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range space.Regions() {
		got = append(got, fmt.Sprintf("%s %d", r.Name, r.Len()))
	}
	want := []string{
		"recorded 0x7f4a80000000 8192", "recorded 0x7f4a80400000 4096", "recorded 0x7f4a80500000 4096",
		"recorded 0x7f4a80800000 4096",
	}
	if !slices.Equal(got, want) {
		t.Errorf("regions %q, want %q", got, want)
	}
}

// alloc is the line of an allocation.
func alloc(what string, addr uint64, bytes int) string {
	return fmt.Sprintf("%s,0x%016x,%d", what, addr, bytes)
}

// TestAllocations: each allocation that the list names is a region, which later allocations of the same range and
// copies do not change; managed ones begin and end at the chunks of unified memory, and those that share one are one.
func TestAllocations(t *testing.T) {
	const a, b, c = accelsim.BufA, accelsim.BufB, accelsim.BufC
	for _, k := range []struct {
		name    string
		all     bool
		align   uint64
		list    []string
		regions []string
	}{
		{
			"device", false, 2 << 20,
			[]string{
				alloc("cudaMalloc", a, 8192), alloc("cudaMalloc", a+8192, 4096), alloc("cudaMalloc", a, 8192),
				accelsim.Copy(a, 12288), accelsim.Copy(b, 100),
			},
			[]string{
				"recorded 0x7f4a80000000 device 8192", "recorded 0x7f4a80002000 device 4096",
				"recorded 0x7f4a80400000 device 4096", "recorded 0x7f4a80800000 device 4096",
			},
		},
		{
			"all managed", true, 2 << 20,
			[]string{
				alloc("cudaMalloc", a+4096, 8192), alloc("cudaMalloc", a, 512), alloc("cudaMalloc", a+2<<20, 1),
				alloc("cudaMalloc", b, 3<<20),
			},
			[]string{
				"recorded 0x7f4a80000000 managed 2097152", "recorded 0x7f4a80200000 managed 2097152",
				"recorded 0x7f4a80400000 managed 4194304", "recorded 0x7f4a80800000 device 4096",
			},
		},
		{
			"some managed", false, 256,
			[]string{
				alloc("cudaMallocManaged", a, 8192), alloc("cudaMalloc", b, 8192), alloc("cudaMallocManaged", c, 9),
			},
			[]string{
				"recorded 0x7f4a80000000 managed 8192", "recorded 0x7f4a80400000 device 8192",
				"recorded 0x7f4a80800000 managed 4096",
			},
		},
	} {
		dir := accelsim.WriteVecadd(t, 2, "", nil)
		if err := accelsim.WriteList(dir, append(k.list, "kernel-1.traceg")...); err != nil {
			t.Fatal(err)
		}
		p, err := accelsim.Load(filepath.Join(dir, accelsim.ListName), nil, accelsim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		space := mem.NewSpace(0)
		space.AlignManaged(k.align)
		opt := host.Options{AllManaged: k.all}
		if err := p.Run(host.New(host.NewFunctional(context.Background(), 0), space, opt)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range space.Regions() {
			got = append(got, fmt.Sprintf("%s %s %d", r.Name, r.Kind, r.Len()))
		}
		if !slices.Equal(got, k.regions) {
			t.Errorf("%s: regions %q, want %q", k.name, got, k.regions)
		}
	}
}

// TestUnified: what a trace's list says was allocated comes to the device by faults, and leaves where it does not fit.
func TestUnified(t *testing.T) {
	const blocks = 4096 // each array has 2 MB
	dir := accelsim.WriteVecadd(t, blocks, "", nil)
	spec := func(what, capacity string, all bool) sim.Spec {
		list := []string{
			alloc(what, accelsim.BufA, 2<<20), alloc(what, accelsim.BufB, 2<<20), alloc(what, accelsim.BufC, 2<<20),
			accelsim.Copy(accelsim.BufA, 2<<20), accelsim.Copy(accelsim.BufB, 2<<20), "kernel-1.traceg",
		}
		if err := accelsim.WriteList(dir, list...); err != nil {
			t.Fatal(err)
		}
		u := sim.Unified{All: all, Capacity: capacity}
		return sim.Spec{
			Machine: "uvm", Seed: 1, Apps: []sim.App{{Path: dir}}, Sharing: sim.Sharing{Memory: sim.Memory{Unified: u}},
		}
	}
	for _, what := range []string{"cudaMalloc", "cudaMallocManaged"} {
		fits := run(t, spec(what, "100%", what == "cudaMalloc")).Tenants[0]
		if fits.ManagedBytes != 6<<20 || fits.Faults < 6 || fits.WarpInsts != blocks*44 {
			t.Errorf("%s: %d managed bytes, %d faults, %d instructions", what, fits.ManagedBytes, fits.Faults,
				fits.WarpInsts)
		}
		short := run(t, spec(what, "50%", what == "cudaMalloc")).Tenants[0]
		if short.Cycles <= fits.Cycles || short.Faults <= fits.Faults {
			t.Errorf("%s: with half the memory %d cycles and %d faults, with all %d and %d", what, short.Cycles,
				short.Faults, fits.Cycles, fits.Faults)
		}
	}
}

// TestInterrupt: a run that is stopped in the middle leaves nothing behind.
func TestInterrupt(t *testing.T) {
	dir := accelsim.WriteVecadd(t, 400, "", nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := sim.Run(ctx, sim.Spec{Machine: "qv100", Apps: []sim.App{{Path: dir}}}, nil); !errors.Is(err,
		host.ErrStopped) {
		t.Errorf("a cancelled run: %v", err)
	}
}

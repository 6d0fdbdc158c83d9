package machine

import (
	"testing"

	"github.com/heddle-sim/heddle/machine/cpu"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem"
)

// askFor has an SM read or write a line that its home, a slice, has, and returns the cycles until
// the answer is at the SM. prepare may put copies elsewhere. groups are the channel groups of its application; none:
// it shares all.
func askFor(t *testing.T, sheet string, op mem.Op, port, home int,
	prepare func(f *interconnect.Fabric, line uint64), groups ...int,
) uint64 {
	t.Helper()
	r := newRig(t, sheet, Options{Replication: replicates(sheet)}, nil,
		&sharing.Tenant{Name: "a", SMs: upTo(port + 1), Groups: groups})
	g, f := r.g, &r.g.fabric
	line := lineAt(t, r, home)
	f.Slices[home].Prefill(line, 1, 0)
	prepare(f, line)
	const begin = 100
	h := f.Slab.Get()
	f.Slab.R[h] = mem.Req{Line: line, Born: begin, Op: op, Sectors: 1, Port: mem.Port(port)}
	if op == mem.Read {
		f.Slab.R[h].Flags = mem.ReadOnly
	}
	if op == mem.Write {
		f.Slab.R[h].Full, f.Slab.R[h].Bytes = 1, 128
	}
	if !f.Inject(port, h, begin) {
		t.Fatal("no room")
	}
	var answered []uint64
	f.Sinks[port] = sink{&answered}
	for now := uint64(begin); now < begin+3000; now++ {
		if now > begin {
			g.wakeups.Back.Run(now, g.visitMemory)
		}
		f.TickRequest(now)
		if len(answered) > 0 {
			return answered[0] - begin
		}
	}
	t.Fatalf("%s: SM %d is never answered by slice %d", sheet, port, home)
	return 0
}

// sink notes the cycles in which answers come to a port.
type sink struct{ at *[]uint64 }

func (s sink) Deliver(_ int32, now uint64) { *s.at = append(*s.at, now) }

// lineAt is a line of the application's memory whose home is a slice.
func lineAt(t *testing.T, r *rig, home int) uint64 {
	t.Helper()
	const bytes = 256 << 12
	reg := r.alloc(0, bytes, mem.Device)
	for off := uint64(0); off < bytes; off += 128 {
		if line, ok := r.g.translation.Physical(0, reg.Base+off); ok && r.g.fabric.Layouts.Slice(line) == home {
			return line
		}
	}
	t.Fatalf("no line of %d bytes has its home at slice %d", bytes, home)
	return 0
}

// replicates has slices keep copies where they can.
func replicates(sheet string) sharing.Replication {
	if sheet == "nuba" {
		return sharing.FullReplication
	}
	return sharing.NoReplication
}

// TestHopLatency: a request takes the hops of its topology and no others. A link takes a clock,
// or 4 between halves, and its flits but the first; stages take 8; a lookup 120, a clock of which is the
// answer's; a stage hands over in the cycle in which it receives.
func TestHopLatency(t *testing.T) {
	none := func(*interconnect.Fabric, uint64) {}
	const link, half, stages, lookup, line = 1, 4, 8, 120, 8 // line: the other flits of one
	for _, c := range []struct {
		what, sheet string
		op          mem.Op
		port, home  int
		prepare     func(f *interconnect.Fabric, line uint64)
		want        uint64
	}{
		{"a local read", "nuba", mem.Read, 0, 1, none, link + lookup + link + line},
		{"a local write", "nuba", mem.Write, 1, 0, none, link + line + lookup + link},
		{
			"a remote write", "nuba", mem.Write, 0, 62, none,
			link + line + stages + line + lookup + stages + link,
		},
		{
			"a remote read, looked up near by first", "nuba", mem.Read, 0, 62, none,
			link + lookup - 1 + stages + lookup + stages + line + 1 + 1 + link + line,
		},
		{
			"a read of a copy", "nuba", mem.Read, 0, 62,
			func(f *interconnect.Fabric, line uint64) { f.Slices[0].Prefill(line, 1, 0) },
			link + lookup + link + line,
		},
		{"a read in the half", "nuba-smside", mem.Read, 0, 5, none, stages + lookup + stages + line},
		{
			"a read of the other half", "nuba-smside", mem.Read, 0, 37, none,
			stages + lookup - 1 + half + lookup + half + line + 1 + 1 + stages + line,
		},
		{
			"a write that recalls a copy", "nuba-smside", mem.Write, 0, 5,
			func(f *interconnect.Fabric, line uint64) { f.Slices[37].Prefill(line, 1, 0) },
			stages + line + lookup - 1 + half + half + 1 + stages,
		},
	} {
		if got := askFor(t, c.sheet, c.op, c.port, c.home, c.prepare); got != c.want {
			t.Errorf("%s, %s: %d cycles, want %d", c.sheet, c.what, got, c.want)
		}
	}
}

// TestL3Latency: what SMs ask for is looked up in a bank of the L3 and, if it is not there, in the LLC; writes and
// atomics go through it. A crossbar takes 3 clocks, a bank 20 before its tags and one behind them, a slice 2 and one.
func TestL3Latency(t *testing.T) {
	none := func(*interconnect.Fabric, uint64) {}
	const slices, banks = 16, 8
	const crossbar, bank, slice = 3, 20 + 1, 2 + 1
	for _, c := range []struct {
		what    string
		op      mem.Op
		home    int
		prepare func(f *interconnect.Fabric, line uint64)
		want    uint64
	}{
		{
			"a read that hits in the L3", mem.Read, 13,
			func(f *interconnect.Fabric, line uint64) { f.Slices[slices+13%banks].Prefill(line, 1, 0) },
			crossbar + bank + crossbar,
		},
		{
			"a read that misses there, fills it and leaves a clock later", mem.Read, 13, none,
			crossbar + bank - 1 + crossbar + slice + crossbar + 1 + 1 + crossbar,
		},
		{"a write", mem.Write, 2, none, crossbar + bank - 1 + crossbar + slice + crossbar + crossbar},
		{"an atomic", mem.AtomicOp, 2, none, crossbar + bank - 1 + crossbar + slice + crossbar + crossbar},
	} {
		if got := askFor(t, "hydrogen", c.op, 0, c.home, c.prepare); got != c.want {
			t.Errorf("%s: %d cycles, want %d", c.what, got, c.want)
		}
	}
}

// TestL3IsTheGPUs: SMs share what a bank has, a write goes through to the LLC and into the copy, an atomic makes the
// copy useless, and what CPU cores ask for is no business of the L3's.
func TestL3IsTheGPUs(t *testing.T) {
	r := newRig(t, "hydrogen", Options{}, nil, &sharing.Tenant{Name: "cpu", Cores: []int{0}},
		tenant("gpu", upTo(6)))
	in, out := r.alloc(1, 4096, mem.Device), r.alloc(1, 4096, mem.Device)
	counts := func(f func()) (l3, hits, llc uint64) {
		a, b, c := r.counted(1, "l3.accesses"), r.counted(1, "l3.hits"), r.counted(1, "llc.accesses")
		f()
		return r.counted(1, "l3.accesses") - a, r.counted(1, "l3.hits") - b, r.counted(1, "llc.accesses") - c
	}
	const n, sectors = 1024, 1024 * 4 / 64
	scale := func(from, to *mem.Region) {
		for k := r.launch(1, "scale", 8, 128, to.Base, from.Base, n); !k.Done; {
			r.step(500)
		}
		r.step(3000)
	}
	counts(func() { scale(in, out) })
	walks := r.counted(1, "llc.walk_reads")
	// A new kernel finds empty L1s: it reads what the first has read, which the L3 has, and writes as much through it.
	l3, hits, llc := counts(func() { scale(in, out) })
	if l3 != 2*sectors || hits != sectors || llc != sectors || r.counted(1, "llc.walk_reads") != walks {
		t.Errorf("the second kernel: %d lookups and %d hits in the L3, %d in the LLC; %d, %d and %d were expected", l3,
			hits, llc, 2*sectors, sectors, sectors)
	}
	// What was written was in no bank: it is fetched, and found by the next; in between it is written, the copy, too.
	if _, hits, llc = counts(func() { scale(out, in) }); hits != 0 || llc != 2*sectors {
		t.Errorf("reading what was written: %d hits in the L3, %d lookups in the LLC", hits, llc)
	}
	if _, hits, llc = counts(func() { scale(in, out) }); hits != sectors || llc != sectors {
		t.Errorf("reading what was written where the L3 has a copy: %d hits in it, %d lookups in the LLC", hits, llc)
	}
	cpus, l3s := r.counted(0, "llc.accesses"), r.counted(0, "l3.accesses")
	x, err := r.g.CPUs.Execute(0, []cpu.Program{{Source: &chase{lines: 2000, step: 64}, Insts: 2000}})
	if err != nil {
		t.Fatal(err)
	}
	for !x.Done {
		r.step(5000)
	}
	r.g.SyncCounters()
	if r.counted(0, "l3.accesses") != l3s || r.counted(0, "llc.accesses") <= cpus {
		t.Errorf("a CPU program: %d lookups in the L3, %d in the LLC", r.counted(0, "l3.accesses"),
			r.counted(0, "llc.accesses"))
	}
}

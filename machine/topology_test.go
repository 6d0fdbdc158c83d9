package machine

import (
	"testing"

	"github.com/heddle-sim/heddle/mem"
)

// askFor has an SM read or write a line that its home, a slice, has, and returns the cycles until
// the answer is at the SM. prepare may put copies elsewhere.
func askFor(t *testing.T, sheet string, op mem.Op, port, home int, prepare func(f *fabric, line uint64)) uint64 {
	t.Helper()
	r := newRig(t, sheet, Options{Replication: replicates(sheet)}, nil, &Tenant{Name: "a", SMs: upTo(64)})
	g, f := r.g, &r.g.fabric
	line := lineAt(t, r, home)
	f.slices[home].Prefill(line, 1, 0)
	prepare(f, line)
	const begin = 100
	h := f.slab.Get(0)
	f.slab.R[h] = mem.Req{Line: line, Born: begin, Op: op, Sectors: 1, Port: mem.Port(port), ReadOnly: op == mem.Read}
	if op == mem.Write {
		f.slab.R[h].Full, f.slab.R[h].Bytes = 1, 128
	}
	if !f.inject(port, h, begin) {
		t.Fatal("no room")
	}
	g.lookahead.stride.running = true // answers are kept for the SMs
	for now := uint64(begin); now < begin+3000; now++ {
		if now > begin {
			g.agenda.back.Run(now, g.visitMemory)
		}
		f.tickRequest(now)
		if got := g.lookahead.stride.coming[port]; len(got) > 0 {
			return got[0].at - begin
		}
	}
	t.Fatalf("%s: SM %d is never answered by slice %d", sheet, port, home)
	return 0
}

// lineAt is a line of the application's memory whose home is a slice.
func lineAt(t *testing.T, r *rig, home int) uint64 {
	t.Helper()
	const bytes = 256 << 12
	reg := r.alloc(0, bytes, mem.Device)
	for off := uint64(0); off < bytes; off += 128 {
		if line, ok := r.g.translation.physical(0, reg.Base+off); ok && r.g.fabric.layouts.slice(line) == home {
			return line
		}
	}
	t.Fatalf("no line of %d bytes has its home at slice %d", bytes, home)
	return 0
}

// replicates has slices keep copies where they can.
func replicates(sheet string) Replication {
	if sheet == "nuba" {
		return FullReplication
	}
	return NoReplication
}

// TestHopLatency: a request takes the hops of its topology and no others. A link takes a clock,
// or 4 between halves, and its flits but the first; stages take 8; a lookup 120, a clock of which is the
// answer's; a stage hands over in the cycle in which it receives.
func TestHopLatency(t *testing.T) {
	none := func(*fabric, uint64) {}
	const link, half, stages, lookup, line = 1, 4, 8, 120, 8 // line: the other flits of one
	for _, c := range []struct {
		what, sheet string
		op          mem.Op
		port, home  int
		prepare     func(f *fabric, line uint64)
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
			func(f *fabric, line uint64) { f.slices[0].Prefill(line, 1, 0) },
			link + lookup + link + line,
		},
		{"a read in the half", "nuba-smside", mem.Read, 0, 5, none, stages + lookup + stages + line},
		{
			"a read of the other half", "nuba-smside", mem.Read, 0, 37, none,
			stages + lookup - 1 + half + lookup + half + line + 1 + 1 + stages + line,
		},
		{
			"a write that recalls a copy", "nuba-smside", mem.Write, 0, 5,
			func(f *fabric, line uint64) { f.slices[37].Prefill(line, 1, 0) },
			stages + line + lookup - 1 + half + half + 1 + stages,
		},
	} {
		if got := askFor(t, c.sheet, c.op, c.port, c.home, c.prepare); got != c.want {
			t.Errorf("%s, %s: %d cycles, want %d", c.sheet, c.what, got, c.want)
		}
	}
}

// TestCopiesOfFreedFramesGo: what other slices hold of a page goes when its frame is given back.
func TestCopiesOfFreedFramesGo(t *testing.T) {
	for _, sheet := range []string{"nuba", "nuba-smside"} {
		r := newRig(t, sheet, Options{}, nil, &Tenant{Name: "a", SMs: upTo(64)})
		reg := r.alloc(0, 4096, mem.Device)
		p, ok := r.g.translation.physical(0, reg.Base)
		if !ok {
			t.Fatal("no frame")
		}
		f := &r.g.fabric
		home := f.layouts.slice(p)
		last := f.across.entry[len(f.across.entry)-1]
		other := int(last[home])
		if other == home {
			other = int(f.across.entry[0][home])
		}
		f.slices[other].Prefill(p, 1, 0)
		if !f.slices[other].Holds(p) {
			t.Fatal("no copy")
		}
		if err := r.g.Unmap(0, reg); err != nil {
			t.Fatal(err)
		}
		if f.slices[other].Holds(p) {
			t.Errorf("%s: slice %d holds a line of a frame that was given back", sheet, other)
		}
	}
}

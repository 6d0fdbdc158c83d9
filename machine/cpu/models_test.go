package cpu

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/tags"
	models "github.com/heddle-sim/heddle/workload/cpu"
)

var update = flag.Bool("update", false, "write workload/cpu/ALONE.md anew")

// llc is 2 MB of last-level cache over a memory that answers in a fixed time; the models' files
// declare what misses there.
type llc struct {
	tags          *tags.Array
	misses, backs float64
}

// Latencies in CPU cycles from leaving the core: an LLC of 38 cycles, of which 14 have passed
// in the L2, and 60 ns of memory at 3.2 GHz.
const (
	llcLatency    = 38 - 14
	memoryLatency = 192
)

func (l *llc) access(r *mem.Req) (latency uint64) {
	latency = llcLatency
	t := l.tags
	i := t.Find(r.Line)
	if i == tags.None {
		i = t.Victim(r.Line)
		if !t.Free(i) && t.Line[i].Dirty != 0 {
			l.backs++
		}
		t.Fill(i, r.Line, 0)
		if r.Op == mem.Read {
			l.misses++
			latency += memoryLatency
		}
	}
	t.Use(i)
	if r.Op == mem.Write {
		t.Line[i].Dirty = 1
	}
	return latency
}

// alone runs a model alone on a core of a width and returns its instructions per cycle, and what it did.
func alone(t *testing.T, name string, width int) (ipc float64, l *llc, row []uint64) {
	m, err := models.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	machine := sheet()
	machine.CPU.Width = width
	f := newFake(t, machine, 0, m.Program(1), 0)
	a, err := tags.New(2048, 16, 64, "lru", nil)
	if err != nil {
		t.Fatal(err)
	}
	l = &llc{tags: a}
	warm, all := uint64(1e9/m.APKI*0.25), uint64(1e9/m.APKI*0.5) // instructions: 250,000 accesses each
	var begin []uint64
	from := uint64(0)
	for f.row()[Insts] < all {
		now := f.core.Due()
		f.core.Tick(now)
		for h, ok := f.core.Out(); ok; h, ok = f.core.Out() {
			r := &f.slab.R[h]
			f.core.Sent()
			f.core.Deliver(h, r.Born+l.access(r))
		}
		if begin == nil && f.row()[Insts] >= warm {
			begin, from = append(begin, f.row()...), now
			l.misses, l.backs = 0, 0
		}
	}
	row = f.row()
	for i := range row {
		row[i] -= begin[i]
	}
	return float64(row[Insts]) / float64(f.core.now-from), l, row
}

// measured is what somebody has published of a program on a real core.
type measured struct {
	insts              float64 // 10^9
	cycles, prefetched float64 // without prefetching and with
	misses             float64 // of the LLC, without, times 1000
}

// published reads workload/cpu/published.csv: per program the sums over its inputs.
func published(t *testing.T) map[string]*measured {
	f, err := os.Open("../../workload/cpu/published.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	all := map[string]*measured{}
	for _, row := range rows[1:] {
		number := func(name string) float64 {
			v, err := strconv.ParseFloat(row[column[name]], 64)
			if err != nil {
				t.Fatalf("%s of %s: %v", name, row[0], err)
			}
			return v
		}
		m := all[row[0]]
		if m == nil {
			m = &measured{}
			all[row[0]] = m
		}
		n := number("instructions")
		m.insts += n
		m.cycles += n * number("cpi_1.75")
		m.misses += n * number("mpki_1.75")
		m.prefetched += n * number("cpi_prefetch")
	}
	return all
}

// TestModels: behind a core's private caches a 2 MB LLC misses as often as the models' files
// declare. What comes out is in workload/cpu/ALONE.md.
func TestModels(t *testing.T) {
	if testing.Short() {
		t.Skip("twenty models, a fifth of a second each")
	}
	var b bytes.Buffer
	b.WriteString(head)
	real := published(t)
	for _, name := range models.Names() {
		m, err := models.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		ipc, l, row := alone(t, name, 4)
		slow, _, _ := alone(t, name, 1)
		kilo := float64(row[Insts]) / 1000
		if mpki := l.misses / kilo; math.Abs(mpki-m.MPKI) > 0.1*m.MPKI {
			t.Errorf("%s: MPKI is %.3f, declared %.3f", name, mpki, m.MPKI)
		}
		if writes := l.backs / (l.backs + l.misses); math.Abs(writes-m.Writes) > 0.1*m.Writes {
			t.Errorf("%s: writes are %.3f, declared %.3f", name, writes, m.Writes)
		}
		busy := float64(row[RequestCycles]) / (float64(row[Insts]) / ipc)
		p := real[strings.TrimSuffix(name, "-measured")]
		if p == nil {
			t.Fatalf("published.csv has no %s", name)
		}
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f | %.1f | %.2f | %.1f | %.0f %% |\n", name,
			ipc, slow, p.insts/p.cycles, p.insts/p.prefetched, l.misses/kilo, m.MPKI, p.misses/p.insts,
			l.backs/(l.backs+l.misses), busy, 100*float64(row[LoadCycles])*ipc/float64(row[Insts]))
	}
	file := "../../workload/cpu/ALONE.md"
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, b.Bytes()) {
		t.Errorf("%s is out of date: go test ./machine/cpu -run TestModels -update", file)
	}
}

const head = `# The models alone

Generated by ` + "`go test ./machine/cpu -run TestModels -update`" + `: each model on one core of the hydrogen
machine (3.2 GHz, 4 wide, window 224; and 1 wide), with 2 MB of LLC (38 cycles) and a memory that
answers in 60 ns whatever is asked of it.

Beside it what was measured on one core of a Xeon Gold 5120, the mean over a program's inputs
(` + "`published.csv`" + ` has the rows and their source): without prefetching and with 1.75 MB of LLC,
which is what the models stand for, and with all prefetchers and 19.25 MB. LLC misses declared are
what models were made from: estimates, or, of those called measured, what was measured.

| model | IPC | 1 wide | measured | with prefetchers, 19 MB | LLC MPKI | declared | measured |` +
	` write-backs of misses and write-backs | requests under way | retirement waits for a load |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
`

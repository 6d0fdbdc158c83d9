package probe

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/heddle-sim/heddle/machine/dram"
)

// splitmix is the generator of the reference patterns.
type splitmix uint64

func (s *splitmix) below(n uint64) uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return (z ^ z>>31) % n
}

// pattern generates the reference access patterns a to d.
type pattern struct {
	kind   string
	n, i   uint64
	tx     uint64
	stride uint64 // from one row to the next of the same bank
	rng    splitmix
}

func newPattern(kind string, n, seed uint64, d *Device) *pattern {
	c := &d.Config
	p := &pattern{kind: kind, n: n, tx: uint64(c.Access), rng: splitmix(seed)}
	p.stride = p.tx * uint64(d.Channels*c.Columns*c.Ranks*c.Sids*c.Groups*c.Banks)
	return p
}

func (p *pattern) Next() (addr uint64, write, ok bool, err error) {
	if p.i == p.n {
		return 0, false, false, nil
	}
	switch p.kind {
	case "a":
		addr = p.i * p.tx
	case "b":
		addr = p.i * p.stride
	case "c", "d":
		addr = p.rng.below(1<<30/p.tx) * p.tx
		if p.kind == "d" {
			write = p.rng.below(3) == 0
		}
	default:
		return 0, false, false, fmt.Errorf("pattern %q", p.kind)
	}
	p.i++
	return addr, write, true, nil
}

// The model reproduces the reference command for command, so the comparison is
// exact but for the rounding of the table. (Acceptance allows 1 % on cycles and
// commands, 3 % on bandwidth and 5 % on latency.)
var columnsCompared = []string{
	"requests", "reads", "writes", "tx_bytes", "tCK_ns", "cycles", "bytes_per_cycle", "GBps",
	"lat_avg", "lat_min", "lat_p50", "lat_p95", "lat_p99", "lat_max",
	"read_row_hits", "read_row_misses", "read_row_conflicts", "write_row_hits", "write_row_misses",
	"write_row_conflicts",
	"num_read_reqs_forwarded", "num_write_reqs_coalesced",
	"cmd_REFab", "cmd_WR", "cmd_RD", "cmd_PREab", "cmd_PREpb", "cmd_ACT",
}

// TestOracle compares every row of the reference table, under its scheduler and under the one
// that protects row hits: both devices have a tRTP above tCCD_L, so that on these patterns no PRE
// is ready before a hit that was there first, and the reference's figures are those of both.
func TestOracle(t *testing.T) {
	f, err := os.Open("../testdata/results.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		cell := map[string]string{}
		for i, h := range rows[0] {
			cell[h] = row[i]
		}
		for _, sched := range []dram.Sched{dram.FRFCFS, dram.FRFCFSRowHit} {
			t.Run(cell["id"]+"."+sched.String(), func(t *testing.T) { oracleRow(t, cell, sched) })
		}
	}
}

func oracleRow(t *testing.T, cell map[string]string, sched dram.Sched) {
	num := func(h string) uint64 {
		v, err := strconv.ParseUint(cell[h], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	d, err := LoadDevice("../testdata/devices.json", cell["dev"])
	if err != nil {
		t.Fatal(err)
	}
	d.Channels, d.Config.Sched = int(num("ch")), sched
	if cell["refresh"] == "noref" {
		d.Config.Refi = 0
	}
	m, err := NewMapper(cell["mapper"], &d.Config, d.Channels)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(d, m, newPattern(cell["pattern"], num("n"), num("seed"), d), Options{
		Inject: int(num("inject")),
		Window: int(num("window")),
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Geom != cell["geom"] {
		t.Errorf("geom %s, reference %s", r.Geom, cell["geom"])
	}
	js, _ := json.Marshal(r)
	var got map[string]any
	if err := json.Unmarshal(js, &got); err != nil {
		t.Fatal(err)
	}
	for _, h := range columnsCompared {
		want, err := strconv.ParseFloat(cell[h], 64)
		if err != nil {
			t.Fatalf("%s: %v", h, err)
		}
		if have := got[h].(float64); math.Abs(have-want) > 0.00006 {
			t.Errorf("%s is %v, reference %v", h, have, want)
		}
	}
}

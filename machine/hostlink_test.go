package machine

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// await runs the machine until a copy has ended, and returns when that was.
func (r *rig) await(c *transfer.HostCopy) uint64 {
	r.t.Helper()
	for !r.g.CopyEnded(c) {
		until := r.g.Now() + 4_000
		if at := c.End(); at > r.g.Now() && at != engine.Never {
			until = at
		}
		if _, err := r.g.Run(until); err != nil {
			r.t.Fatal(err)
		}
	}
	return r.g.Now()
}

// moved is what the slices did for the copies of the only tenant.
func (r *rig) moved() (reads, writes uint64) {
	for _, t := range r.g.Tables {
		if t.Owner != "llc" {
			continue
		}
		for i := range r.g.fabric.Layouts.Whole.Slices() {
			row := t.Row(i, int(mem.Moving(0, 1)))
			reads, writes = reads+row[cache.Reads], writes+row[cache.Writes]
		}
	}
	return reads, writes
}

var copySheets = []string{"qv100", "ugpu", "nuba", "nuba-smside", "hydrogen"}

// host is a region of the host.
func (r *rig) host(n int64) *mem.Region {
	r.t.Helper()
	reg, err := r.mems[0].Alloc(n, mem.Host, "")
	if err != nil {
		r.t.Fatal(err)
	}
	return reg
}

// copyRig is a machine of one tenant, a region on each side of the link, and what n bytes take it.
func copyRig(t *testing.T, sheet string, o Options, n int64) (r *rig, dev, host *mem.Region, cycles, latency uint64) {
	t.Helper()
	r = newRig(t, sheet, o, nil, tenant("a", upTo(4)))
	dev, host = r.alloc(0, n, mem.Device), r.host(n)
	s := r.g.Sheet
	cycles = uint64(math.Round(float64(n) * s.Clock.Core / (s.Host.Bandwidth * 1e3)))
	return r, dev, host, cycles, uint64(math.Round(s.Host.Latency * s.Clock.Core))
}

// A copy takes its bytes over the bandwidth and the latency, to the cycle; one behind it in the same direction
// the same again, one the other way none; and the memory of a machine on which nothing else runs is left alone.
// Beside a kernel that computes, the copies end when they would alone, and every line is read, or written, once.
func TestCopies(t *testing.T) {
	const n = 1 << 18
	for _, sheet := range copySheets {
		for _, beside := range []bool{false, true} {
			r, dev, host, cycles, latency := copyRig(t, sheet, Options{}, n)
			if beside {
				r.launch(0, "long", 1, 32, dev.Base, 1<<20)
			}
			x := &r.g.host
			to := r.g.Copy(0, dev, 0, host, 0, n)
			again := r.g.Copy(0, dev, 0, host, 0, n)
			from := r.g.Copy(0, host, 0, dev, 0, n)
			for _, c := range []struct {
				what string
				copy *transfer.HostCopy
				want uint64
			}{
				{"to the device", to, cycles + latency},
				{"to the host", from, cycles + latency},
				{"behind the first", again, 2*cycles + latency},
			} {
				if got := r.await(c.copy); got != c.want {
					t.Errorf("%s, beside a kernel %v, %s: %d cycles, want %d", sheet, beside, c.what, got, c.want)
				}
			}
			lines := uint64(0)
			if beside {
				lines = n / uint64(r.g.Sheet.LLC.Line)
				for _, n := x.Open(); n > 0; _, n = x.Open() {
					if _, err := r.g.Run(r.g.Now() + 1); err != nil {
						t.Fatal(err)
					}
				}
			}
			reads, writes := r.moved()
			if reads != lines || writes != 2*lines || r.counted(0, "link.copy_lines") != 3*lines {
				t.Errorf("%s, beside a kernel %v: %d lines read, %d written, want %d and twice that", sheet, beside,
					reads, writes, lines)
			}
		}
	}
}

// What the link has carried before a kernel begins is not simulated, the rest is.
func TestCopyBeforeKernel(t *testing.T) {
	const n = 1 << 18
	r, dev, host, cycles, latency := copyRig(t, "qv100", Options{}, n)
	c := r.g.Copy(0, host, 0, dev, 0, n)
	const begins = 3_000
	for r.g.Now() < begins {
		if _, err := r.g.Run(begins); err != nil {
			t.Fatal(err)
		}
	}
	r.launch(0, "long", 1, 32, dev.Base, 1<<20)
	if got := r.await(c); got != cycles+latency {
		t.Errorf("it ends in cycle %d, want %d", got, cycles+latency)
	}
	lines, before := uint64(n/r.g.Sheet.LLC.Line), uint64(0)
	for before*cycles/lines < begins {
		before++
	}
	if got := r.counted(0, "link.copy_lines"); got != lines-before || before == 0 {
		t.Errorf("%d lines, want %d of %d", got, lines-before, lines)
	}
}

// A few bytes are in as many lines as they touch, and their sectors.
func TestCopyOfFewBytes(t *testing.T) {
	for _, c := range []struct {
		off, n int64
		lines  uint64
	}{{0, 4, 1}, {100, 28, 1}, {100, 29, 2}, {100, 200, 3}, {128, 128, 1}, {5, 0, 0}} {
		r, dev, host, _, _ := copyRig(t, "qv100", Options{}, 1<<12)
		r.launch(0, "long", 1, 32, dev.Base, 1<<20)
		r.await(r.g.Copy(0, dev, c.off, host, 0, c.n))
		if got := r.counted(0, "link.copy_lines"); got != c.lines {
			t.Errorf("%d bytes from %d: %d lines, want %d", c.n, c.off, got, c.lines)
		}
	}
}

// A copy inside the device takes reads and writes at DRAM's peak when it is alone. A kernel that streams through
// memory and a large copy slow each other down.
func TestCopyInside(t *testing.T) {
	const n = 1 << 22
	run := func(kernel, copies bool) (k, c uint64) {
		r, dev, _, _, _ := copyRig(t, "qv100", Options{}, n)
		to := r.alloc(0, n, mem.Device)
		var kern *sharing.Kernel
		if kernel {
			kern, _ = r.scale(0, 1<<18, mem.Device)
		}
		if copies {
			job := r.g.Copy(0, to, 0, dev, 0, n)
			c = r.await(job)
			if want := r.g.host.InsideCycles(n); !kernel && c != want {
				t.Errorf("alone %d cycles, want %d", c, want)
			}
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		if kernel {
			k = kern.End
		}
		return k, c
	}
	alone, _ := run(true, false)
	_, copied := run(false, true)
	both, slow := run(true, true)
	if both < alone*11/10 || slow < copied {
		t.Errorf("the kernel takes %d cycles, %d beside the copy, which takes %d and %d", alone, both, copied, slow)
	}
}

// Skipping idle cycles and strides change nothing where copies run beside kernels.
func TestCopyDeterminism(t *testing.T) {
	const n = 1 << 16
	run := func(sheet string, o Options) (at []uint64, tables []*stat.Table) {
		r, dev, host, _, _ := copyRig(t, sheet, o, n)
		x := &r.g.host
		to := r.alloc(0, n, mem.Device)
		first := r.g.Copy(0, dev, 0, host, 0, n)
		_, check := r.scale(0, 1<<14, mem.Device)
		inside, from := r.g.Copy(0, to, 0, dev, 0, n), r.g.Copy(0, host, 0, dev, 0, n)
		at = append(at, r.await(inside), r.await(first))
		behind := r.g.Copy(0, dev, 64, host, 0, n-64)
		at = append(at, r.await(from))
		k, _ := r.scale(0, 1<<14, mem.Device)
		at = append(at, r.await(behind))
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		check()
		if _, err := r.g.Run(r.g.Now() + 10_000); err != nil {
			t.Fatal(err)
		}
		if copies, requests := x.Open(); copies != 0 || requests != 0 {
			t.Errorf("%s: %d requests of %d copies are left", sheet, requests, copies)
		}
		r.g.SyncCounters()
		return append(at, k.End), r.g.Tables
	}
	for _, sheet := range copySheets {
		at, tables := run(sheet, Options{})
		for _, o := range []Options{{Every: true}, {Lockstep: true}} {
			got, others := run(sheet, o)
			if !reflect.DeepEqual(got, at) {
				t.Errorf("%s, %+v: %v, want %v", sheet, o, got, at)
			}
			for i := range tables {
				if a, b := fmt.Sprint(tables[i]), fmt.Sprint(others[i]); a != b {
					t.Errorf("%s, %+v: another table %s", sheet, o, tables[i].Owner)
				}
			}
		}
	}
}

// Copies in both directions and inside the device leave a machine its strides but for where they begin and end,
// and change nothing by it.
func TestStridesBesideCopies(t *testing.T) {
	const n = 1 << 18
	run := func(o Options) (at []uint64, tables string, strode uint64) {
		r, dev, host, cycles, _ := copyRig(t, "qv100", o, n)
		to := r.alloc(0, n, mem.Device)
		k, check := r.scale(0, 1<<19, mem.Device)
		in, out := r.g.Copy(0, dev, 0, host, 0, n), r.g.Copy(0, host, 0, to, 0, n)
		at = append(at, r.await(out), r.await(in))
		inside := r.g.Copy(0, to, 0, dev, 0, n)
		at = append(at, r.await(inside))
		if strode = r.g.clock.InStrides; k.Done || at[0] < cycles {
			t.Errorf("%+v: copies until %d, the kernel has ended: %v", o, at, k.Done)
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		check()
		r.g.SyncCounters()
		for _, x := range r.g.Tables {
			tables += fmt.Sprint(x)
		}
		return append(at, k.End), tables, strode
	}
	at, tables, strode := run(Options{})
	if last := at[2]; strode < last*9/10 {
		t.Errorf("%d cycles of strides while copies ran, for %d cycles", strode, last)
	}
	for _, o := range []Options{{Lockstep: true}, {Every: true}} {
		if got, others, _ := run(o); !reflect.DeepEqual(got, at) || others != tables {
			t.Errorf("%+v: %v, want %v; the same counters: %v", o, got, at, others == tables)
		}
	}
}

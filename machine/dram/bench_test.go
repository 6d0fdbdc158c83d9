package dram_test

import (
	"testing"

	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/sheets"
)

// feeder keeps a channel's queue full: the heaviest load there is.
type feeder struct {
	c      *dram.Channel
	cfg    *dram.Config
	l      load
	seq    uint32
	random bool
	now    uint64
	served int
	at     dram.Loc
	write  bool
	have   bool
}

func newFeeder(tb testing.TB, s *sheets.DRAM, random bool) *feeder {
	cfg := config(tb, s)
	f := &feeder{c: dram.New(cfg), cfg: cfg, random: random}
	f.l = load{rng: 1, cfg: cfg, rows: 1 << 14, groups: cfg.Groups}
	return f
}

// request draws the next access: one of three a write when random, else in order.
func (f *feeder) request() {
	if f.random {
		f.at, f.write = f.l.loc(), f.l.below(3) == 0
		return
	}
	f.seq++
	n := f.seq
	f.at.Col = n % uint32(f.cfg.Columns)
	n /= uint32(f.cfg.Columns)
	f.at.Rank = uint8(n % uint32(f.cfg.Ranks))
	n /= uint32(f.cfg.Ranks)
	f.at.BankGroup = uint8(n % uint32(f.cfg.Groups))
	n /= uint32(f.cfg.Groups)
	f.at.Bank = uint8(n % uint32(f.cfg.Banks))
	f.at.Row = n / uint32(f.cfg.Banks)
}

// step moves to the next clock with work and refills the queue, as the machine does: it
// asks before it pushes.
func (f *feeder) step() {
	for n := 0; n < 4; n++ {
		if !f.have {
			f.request()
			f.have = true
		}
		if !f.c.CanPush(f.write) || !f.c.Push(f.now, f.at, f.write, 1, 0, 0) {
			break
		}
		f.have = false
	}
	next := f.c.Tick(f.now)
	for {
		if _, _, ok := f.c.Pop(); !ok {
			break
		}
		f.served++
	}
	f.now++
	if f.have && !f.c.CanPush(f.write) {
		f.now = next
	}
}

func bench(b *testing.B, s *sheets.DRAM, random bool) {
	f := newFeeder(b, s, random)
	b.ReportAllocs()
	for b.Loop() {
		for from := f.served; f.served < from+100; {
			f.step()
		}
	}
	b.ReportMetric(float64(f.served)/b.Elapsed().Seconds()/1e6, "Mreq/s")
}

func BenchmarkHBMSequential(b *testing.B)  { bench(b, hbm(), false) }
func BenchmarkHBMRandom(b *testing.B)      { bench(b, hbm(), true) }
func BenchmarkDDR4Sequential(b *testing.B) { bench(b, ddr(), false) }
func BenchmarkDDR4Random(b *testing.B)     { bench(b, ddr(), true) }

// TestNoAllocations: steady state allocates nothing.
func TestNoAllocations(t *testing.T) {
	for _, s := range []*sheets.DRAM{hbm(), ddr()} {
		for _, random := range []bool{false, true} {
			s.Refresh = true
			f := newFeeder(t, s, random)
			for range 5000 {
				f.step()
			}
			if n := testing.AllocsPerRun(3000, f.step); n != 0 {
				t.Errorf("%g allocations per step (random %v, dual bus %v)", n, random, s.DualBus)
			}
		}
	}
}

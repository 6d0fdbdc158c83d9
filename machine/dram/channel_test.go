package dram_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/machine/dram/checker"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// hbm is the reference's HBM device as a sheet; ddr its DDR4-3200AA with two ranks.
func hbm() *sheets.DRAM {
	return &sheets.DRAM{
		Channels: 1, Ranks: 1, BankGroups: 4, Banks: 4, Rows: 16384, RowBytes: 2048, Access: 64,
		Queue: 32, WriteQueue: 32, HighWater: 0.8, LowWater: 0.2, DualBus: true, Sched: "frfcfs", Page: "open",
		T: sheets.Timing{
			BL: 2, CL: 7, CWL: 4, RCDRD: 7, RCDWR: 6, RP: 7, RAS: 17, RC: 24, WR: 8, RTP: 7, CCDS: 2, CCDL: 3,
			RRDS: 4, RRDL: 5, WTRS: 2, WTRL: 4, FAW: 20, RFC: 130, REFI: 1950,
		},
	}
}

func ddr() *sheets.DRAM {
	return &sheets.DRAM{
		Channels: 1, Ranks: 2, BankGroups: 4, Banks: 4, Rows: 65536, RowBytes: 8192, Access: 64,
		Queue: 32, WriteQueue: 32, HighWater: 0.8, LowWater: 0.2, Sched: "frfcfs", Page: "open",
		T: sheets.Timing{
			BL: 4, CL: 22, CWL: 16, RCDRD: 22, RCDWR: 22, RP: 22, RAS: 52, RC: 74, WR: 24, RTP: 12, CCDS: 4, CCDL: 8,
			RRDS: 4, RRDL: 8, WTRS: 4, WTRL: 12, FAW: 34, CS: 2, RFC: 576, REFI: 12480,
		},
	}
}

func config(t testing.TB, d *sheets.DRAM) *dram.Config {
	c, err := dram.FromSheet(d)
	if err != nil {
		t.Fatal(err)
	}
	return &c
}

// push is a request at a clock.
type push struct {
	at     uint64
	loc    dram.Loc
	write  bool
	bursts int
}

// play runs requests that all fit the queues and returns when each completed.
func play(t *testing.T, cfg *dram.Config, list []push) (done []uint64, commands string) {
	c := dram.New(cfg)
	var b strings.Builder
	c.Trace = func(now uint64, cmd dram.Cmd, at dram.Loc) { fmt.Fprintf(&b, "%d:%s ", now, cmd) }
	done = make([]uint64, len(list))
	i, left := 0, len(list)
	for now := uint64(1); left > 0; now++ {
		if now > 100000 {
			t.Fatalf("%d requests never complete; commands %s", left, &b)
		}
		for i < len(list) && list[i].at == now {
			if !c.Push(now, list[i].loc, list[i].write, max(1, list[i].bursts), int32(i), 0) {
				t.Fatalf("request %d refused", i)
			}
			i++
		}
		c.Tick(now)
		for {
			id, write, ok := c.Pop()
			if !ok {
				break
			}
			if write != list[id].write {
				t.Fatalf("request %d came back as write %v", id, write)
			}
			done[id] = now
			left--
		}
	}
	return done, strings.TrimSpace(b.String())
}

// TestExactClocks: scenarios worked out by hand from the timing tables above.
func TestExactClocks(t *testing.T) {
	row := func(rank, group, bank uint8, row, col uint32) dram.Loc {
		return dram.Loc{Rank: rank, BankGroup: group, Bank: bank, Row: row, Col: col}
	}
	shared := hbm()
	shared.WriteQueue = 0
	closed := hbm()
	closed.Page = "closed"
	refreshed := hbm()
	refreshed.Refresh = true
	pseudo, levels := hbm(), hbm()
	pseudo.Ranks, levels.Ranks, levels.SharedBus, levels.T.CS = 2, 2, true, 1
	for _, c := range []struct {
		name     string
		sheet    *sheets.DRAM
		list     []push
		done     []uint64
		commands string
	}{
		{
			"idle read is RCD+CL+BL", hbm(),
			[]push{{at: 10, loc: row(0, 0, 0, 5, 0)}},
			[]uint64{10 + 7 + 7 + 2},
			"10:ACT 17:RD",
		},
		{
			"idle write ends with its WR", hbm(),
			[]push{{at: 10, loc: row(0, 0, 0, 5, 0), write: true}},
			[]uint64{16},
			"10:ACT 16:WR",
		},
		{
			"row hit is CL+BL", hbm(),
			[]push{{at: 10, loc: row(0, 0, 0, 5, 0)}, {at: 50, loc: row(0, 0, 0, 5, 1)}},
			[]uint64{26, 59},
			"10:ACT 17:RD 50:RD",
		},
		{
			"conflict waits RAS then RP", hbm(),
			[]push{{at: 10, loc: row(0, 0, 0, 5, 0)}, {at: 11, loc: row(0, 0, 0, 6, 0)}},
			[]uint64{26, 10 + 17 + 7 + 7 + 9},
			"10:ACT 17:RD 27:PREpb 34:ACT 41:RD",
		},
		{
			"two hits of a group are CCDL apart", hbm(),
			[]push{{at: 10, loc: row(0, 0, 0, 5, 0)}, {at: 10, loc: row(0, 0, 0, 5, 1)}},
			[]uint64{26, 29},
			"10:ACT 17:RD 20:RD",
		},
		{
			"two groups: RRDS on the row bus, data CCDS apart at best", hbm(),
			[]push{{at: 10, loc: row(0, 0, 0, 5, 0)}, {at: 10, loc: row(0, 1, 0, 5, 0)}},
			[]uint64{26, 30},
			"10:ACT 14:ACT 17:RD 21:RD",
		},
		{
			"four bursts of a request", hbm(),
			[]push{{at: 10, loc: row(0, 0, 0, 5, 0), bursts: 4}},
			[]uint64{10 + 7 + 3*3 + 9},
			"10:ACT 17:RD 20:RD 23:RD 26:RD",
		},
		{
			"the fifth ACT waits FAW", hbm(),
			[]push{
				{at: 10, loc: row(0, 0, 0, 5, 0)},
				{at: 10, loc: row(0, 1, 0, 5, 0)},
				{at: 10, loc: row(0, 2, 0, 5, 0)},
				{at: 10, loc: row(0, 3, 0, 5, 0)},
				{at: 10, loc: row(0, 0, 1, 5, 0)},
			},
			[]uint64{26, 30, 34, 38, 46},
			"10:ACT 14:ACT 17:RD 18:ACT 21:RD 22:ACT 25:RD 29:RD 30:ACT 37:RD",
		},
		{
			"a queued write answers a read, behind the reads on their way", hbm(),
			[]push{
				{at: 10, loc: row(0, 0, 0, 5, 0)},
				{at: 11, loc: row(0, 0, 0, 6, 3), write: true},
				{at: 20, loc: row(0, 0, 0, 6, 3)},
			},
			[]uint64{26, 40, 26},
			"10:ACT 17:RD 27:PREpb 34:ACT 40:WR",
		},
		{
			"write to read in one window", shared,
			[]push{{at: 10, loc: row(0, 0, 0, 5, 0), write: true}, {at: 10, loc: row(0, 0, 0, 5, 1)}},
			[]uint64{16, 16 + 4 + 2 + 4 + 9},
			"10:ACT 16:WR 26:RD",
		},
		{
			"closed page: the last hit closes", closed,
			[]push{{at: 10, loc: row(0, 0, 0, 5, 0)}, {at: 11, loc: row(0, 0, 0, 6, 0)}},
			[]uint64{26, 34 + 7 + 9},
			"10:ACT 17:RDA 34:ACT 41:RDA",
		},
		{
			"a refresh closes the rank first", refreshed,
			[]push{{at: 1930, loc: row(0, 0, 0, 5, 0)}, {at: 1951, loc: row(0, 0, 0, 5, 1)}},
			[]uint64{1946, 1957 + 130 + 7 + 9},
			"1930:ACT 1937:RD 1950:PREab 1957:REFab 2087:ACT 2094:RD",
		},
		{
			"ranks pay CS", ddr(),
			[]push{{at: 10, loc: row(0, 0, 0, 5, 0)}, {at: 10, loc: row(1, 0, 0, 5, 0)}},
			[]uint64{10 + 22 + 26, 32 + 6 + 26},
			"10:ACT 11:ACT 32:RD 38:RD",
		},
		{
			"pseudo-channels have data buses of their own", pseudo,
			[]push{{at: 10, loc: row(0, 0, 0, 5, 0)}, {at: 10, loc: row(1, 0, 0, 5, 0)}},
			[]uint64{26, 18 + 9},
			"10:ACT 11:ACT 17:RD 18:RD",
		},
		{
			"levels of a stack share one, and pay CS", levels,
			[]push{{at: 10, loc: row(0, 0, 0, 5, 0)}, {at: 10, loc: row(1, 0, 0, 5, 0)}},
			[]uint64{26, 17 + 2 + 1 + 9},
			"10:ACT 11:ACT 17:RD 20:RD",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			done, commands := play(t, config(t, c.sheet), c.list)
			if fmt.Sprint(done) != fmt.Sprint(c.done) || commands != c.commands {
				t.Errorf("done %v\nwant %v\ncommands %s\nwant     %s", done, c.done, commands, c.commands)
			}
		})
	}
}

// randomSheet draws a device: any geometry, any policy, any timing that makes
// sense.
func randomSheet(t *rapid.T) *sheets.DRAM {
	n := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
	d := &sheets.DRAM{
		Channels: 1, Ranks: n("ranks", 1, 3), BankGroups: n("groups", 1, 4), Banks: n("banks", 1,
			5), Rows: 1 << 14, RowBytes: 2048, Access: 32,
		Queue: n("queue", 1, 40), WriteQueue: n("write queue", 0, 40), HighWater: 0.8, LowWater: 0.2,
		Return:  n("return", 0, 8),
		DualBus: rapid.Bool().Draw(t, "dual bus"), Refresh: rapid.Bool().Draw(t, "refresh"),
		Sched: rapid.SampledFrom([]string{"frfcfs", "frfcfs", "fcfs"}).Draw(t,
			"sched"), Page: rapid.SampledFrom([]string{"open", "open", "closed"}).Draw(t, "page"),
	}
	bl := n("bl", 1, 4)
	rp, ras := n("rp", 2, 12), n("ras", 4, 24)
	ccds, rrds, wtrs := bl+n("ccds", 0, 2), n("rrds", 1, 4), n("wtrs", 1, 4)
	d.T = sheets.Timing{
		BL: bl, CL: n("cl", 4, 12), CWL: n("cwl", 1, 8), RCDRD: n("rcdrd", 3, 12), RCDWR: n("rcdwr", 2,
			12), RP: rp, RAS: ras, RC: ras + rp,
		WR: n("wr", 2, 10), RTP: n("rtp", 1, 6), CCDS: ccds, CCDL: ccds + n("ccdl", 0, 3), RRDS: rrds, RRDL: rrds +
			n("rrdl", 0, 3), WTRS: wtrs,
		WTRL: wtrs + n("wtrl", 0, 4), FAW: n("faw", 0, 30), CS: n("cs", 0, 3), RFC: n("rfc", 10, 60), REFI: n("refi",
			150, 400),
	}
	return d
}

// load is a stream of random requests.
type load struct {
	rng     uint64
	cfg     *dram.Config
	rows    int // distinct rows: few rows hit, many conflict
	writes  int // of 8
	groups  int // bank groups used: one is hostile
	bursts  int
	density int // pushes tried per clock, of 16
}

func (l *load) below(n int) int {
	l.rng += 0x9E3779B97F4A7C15
	z := l.rng
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return int((z ^ z>>31) >> 33 % uint64(n))
}

func (l *load) loc() dram.Loc {
	return dram.Loc{
		Rank: uint8(l.below(l.cfg.Ranks)), BankGroup: uint8(l.below(l.groups)), Bank: uint8(l.below(l.cfg.Banks)),
		Row: uint32(l.below(l.rows)), Col: uint32(l.below(8)),
	}
}

func drawLoad(t *rapid.T, cfg *dram.Config) load {
	return load{
		rng: rapid.Uint64().Draw(t, "seed"), cfg: cfg, rows: rapid.SampledFrom([]int{1, 3, 1000}).Draw(t, "rows"),
		writes: rapid.SampledFrom([]int{0, 3, 8}).Draw(t, "writes"), groups: rapid.IntRange(1, cfg.Groups).Draw(t,
			"groups used"),
		bursts: rapid.SampledFrom([]int{1, 1, 4}).Draw(t, "bursts"), density: rapid.SampledFrom([]int{1, 4, 32}).Draw(t,
			"density"),
	}
}

// trial runs requests through a channel; with skip it visits only the clocks the
// channel asks for. It returns the log of commands and completions.
func trial(t *rapid.T, cfg *dram.Config, l load, total int, skip bool) (log []string, counters []uint64) {
	c := dram.New(cfg)
	check := checker.New(checker.Of(cfg))
	c.Trace = func(now uint64, cmd dram.Cmd, at dram.Loc) {
		check.Command(now, cmd, at)
		log = append(log, fmt.Sprint(now, cmd, at))
	}
	pending := map[int32]bool{}
	sent, due, now := 0, uint64(0), uint64(0)
	for sent < total || len(pending) > 0 {
		now++
		if now > uint64(20000+400*total) {
			t.Fatalf("%d requests of %d never complete", len(pending), sent)
		}
		pushed := false
		for n := l.below(16); sent < total && n < l.density; n += 16 {
			write := l.below(8) < l.writes
			if at := l.loc(); c.Push(now, at, write, 1+l.below(l.bursts), int32(sent), 0) {
				pending[int32(sent)] = true
				sent++
				pushed = true
			}
		}
		if skip && !pushed && now < due {
			continue
		}
		due = c.Tick(now)
		if due <= now {
			t.Fatalf("clock %d: next is %d", now, due)
		}
		for {
			id, write, ok := c.Pop()
			if !ok {
				break
			}
			if !pending[id] {
				t.Fatalf("request %d completed twice", id)
			}
			delete(pending, id)
			log = append(log, fmt.Sprint(now, " done ", id, write))
		}
	}
	c.Sync(now)
	check.Finish(now, int64(2+now/8/uint64(max(cfg.Refi, 1))))
	if v := check.Violations(); len(v) > 0 {
		t.Fatalf("%d violations, first: %s", len(v), v[0])
	}
	return log, c.Counters(0)
}

// TestRandomDevices: on any device and load no command breaks a rule, every request
// completes once, and visiting only the clocks asked for changes nothing.
func TestRandomDevices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, err := dram.FromSheet(randomSheet(t))
		if err != nil {
			t.Fatal(err)
		}
		l := drawLoad(t, &cfg)
		a, ca := trial(t, &cfg, l, 250, false)
		b, cb := trial(t, &cfg, l, 250, true)
		if d := diff(a, b); d != "" {
			t.Fatalf("every clock and skipping differ: %s", d)
		}
		if fmt.Sprint(ca) != fmt.Sprint(cb) {
			t.Fatalf("counters %v every clock, %v when skipping", ca, cb)
		}
		if ca[dram.CReads]+ca[dram.CWrites] != 250 {
			t.Fatalf("%d reads and %d writes, sent 250", ca[dram.CReads], ca[dram.CWrites])
		}
	})
}

func diff(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("event %d is %q or %q", i, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d events or %d", len(a), len(b))
	}
	return ""
}

// TestIdleRefresh: an idle channel catches up on its refreshes, and the next request
// meets the same device as if every clock had been visited.
func TestIdleRefresh(t *testing.T) {
	for _, make := range []func() *sheets.DRAM{hbm, ddr} {
		sheet := make()
		sheet.Refresh = true
		cfg := config(t, sheet)
		refi := uint64(sheet.T.REFI)
		for _, idle := range []uint64{3, refi - 3, refi, refi + 5, 3*refi + 7, 50*refi - 20, 50 * refi, 50*refi + 100} {
			var done [2]uint64
			var refs [2]uint64
			for i, lazy := range []bool{false, true} {
				c := dram.New(cfg)
				c.Push(5, dram.Loc{Row: 9}, false, 1, 1, 0)
				start := 200 + idle
				for now := uint64(1); now < start; now++ {
					if now < 200 || !lazy {
						c.Tick(now)
						c.Pop()
					}
				}
				c.Push(start, dram.Loc{Row: 9, Col: 1}, false, 1, 2, 0)
				for now := start; done[i] == 0; now++ {
					c.Tick(now)
					if _, _, ok := c.Pop(); ok {
						done[i] = now
					}
				}
				refs[i] = c.Counters(0)[dram.CRefreshes]
			}
			if done[0] != done[1] || refs[0] != refs[1] {
				t.Errorf("idle %d: done at %d with %d refreshes every clock, %d with %d lazily", idle, done[0], refs[0],
					done[1], refs[1])
			}
			if want := uint64(sheet.Ranks) * ((200 + idle) / refi); refs[0]+uint64(sheet.Ranks) < want ||
				refs[0] > want+uint64(sheet.Ranks) {
				t.Errorf("idle %d: %d refreshes, about %d are due", idle, refs[0], want)
			}
		}
	}
}

// TestIdleSaysNever: an empty channel has no work, refresh or not.
func TestIdleSaysNever(t *testing.T) {
	sheet := hbm()
	sheet.Refresh = true
	c := dram.New(config(t, sheet))
	if n := c.Tick(100000); n != dram.Never {
		t.Errorf("idle channel has work at %d", n)
	}
	if n := c.Counters(0)[dram.CRefreshes]; n != 100000/1950 {
		t.Errorf("%d refreshes in 100000 clocks, want %d", n, 100000/1950)
	}
}

// TestTenants: counters go to the application that caused them and add up.
func TestTenants(t *testing.T) {
	cfg := config(t, hbm())
	cfg.Tenants = 2
	c := dram.New(cfg)
	for i := range 6 {
		c.Push(1, dram.Loc{BankGroup: uint8(i % 4), Row: uint32(i)}, false, 2, int32(i), mem.TenantID(i%3/2))
	}
	for now := uint64(1); now < 500; now++ {
		c.Tick(now)
		c.Pop()
	}
	a, b := c.Counters(0), c.Counters(1)
	if a[dram.CReads] != 4 || b[dram.CReads] != 2 || a[dram.CReadBursts] != 8 || b[dram.CReadBursts] != 4 ||
		a[dram.CBusBusy] != 16 || b[dram.CBusBusy] != 8 {
		t.Errorf("tenant 0 %v\ntenant 1 %v", a, b)
	}
}

// TestReturnQueue: with a full return queue no column command issues.
func TestReturnQueue(t *testing.T) {
	sheet := hbm()
	sheet.Return = 2
	c := dram.New(config(t, sheet))
	for i := range 20 {
		c.Push(1, dram.Loc{Row: 1, Col: uint32(i)}, false, 1, int32(i), 0)
	}
	now := uint64(1)
	for ; now < 300; now++ {
		if next := c.Tick(now); next != now+1 && c.Completed() >= 2 {
			t.Fatalf("a stalled channel asks for clock %d at %d", next, now)
		}
	}
	// Two wait and those already on their way when the second arrived have followed.
	if n := c.Completed(); n < 2 || n > 2+9/3+1 {
		t.Errorf("%d requests wait for Pop", n)
	}
	for got := 0; got < 20; now++ {
		c.Tick(now)
		if _, _, ok := c.Pop(); ok {
			got++
		}
		if now > 2000 {
			t.Fatal("stuck")
		}
	}
}

// TestReturnLatency: read data come out so many clocks later, writes and commands do not.
func TestReturnLatency(t *testing.T) {
	list := []push{
		{at: 5, loc: dram.Loc{Row: 1}}, {at: 9, loc: dram.Loc{Row: 2}}, {at: 9, loc: dram.Loc{Bank: 1}, write: true},
	}
	sheet := hbm()
	sheet.WriteQueue = 0
	want, commands := play(t, config(t, sheet), list)
	sheet.ReturnLatency = 3
	got, same := play(t, config(t, sheet), list)
	if got[0] != want[0]+3 || got[1] != want[1]+3 || got[2] != want[2] || same != commands {
		t.Errorf("done at %v, want %v and 3 more for reads; commands\n%s\nwant\n%s", got, want, same, commands)
	}
}

func TestSheetErrors(t *testing.T) {
	for want, edit := range map[string]func(*sheets.DRAM){
		"sched is":                 func(d *sheets.DRAM) { d.Sched = "random" },
		"page is":                  func(d *sheets.DRAM) { d.Page = "half" },
		"timing.cl":                func(d *sheets.DRAM) { d.T.CL = 0 },
		"multiple of access":       func(d *sheets.DRAM) { d.RowBytes = 100 },
		"ranks must be":            func(d *sheets.DRAM) { d.Ranks = 0 },
		"at most 256":              func(d *sheets.DRAM) { d.Banks = 200 },
		"watermarks":               func(d *sheets.DRAM) { d.LowWater = 0.9 },
		"refresh needs":            func(d *sheets.DRAM) { d.Refresh, d.T.REFI = true, 0 },
		"queue must be at least 1": func(d *sheets.DRAM) { d.Queue = 0 },
	} {
		d := hbm()
		edit(d)
		if _, err := dram.FromSheet(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

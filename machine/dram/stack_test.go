package dram_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/machine/dram/checker"
	"github.com/heddle-sim/heddle/sheets"
)

// rig is a stack with its commands logged and checked.
type rig struct {
	tb    failer
	cfg   *dram.Config
	ch    []*dram.Channel
	stack *dram.Stack
	check *checker.Stack
	log   []string
	onMIG func(m dram.MigrationCmd)
	onCmd func(i int, cmd dram.Cmd, at dram.Loc)
}

func device(cfg *dram.Config, t dram.MigrationTiming) checker.StackDevice {
	d := checker.StackDevice{
		Device: checker.Of(cfg), Clocks: int64(t.Clocks), LineBursts: t.LineBursts,
		Crossbar: t.Crossbar,
	}
	d.Burst = int64(cfg.BurstClocks)
	d.ReadDelay, d.WriteDelay = int64(cfg.ReadLatency)-d.Burst, int64(cfg.WriteLatency)-d.Burst
	return d
}

// failer is a test of either kind.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func newRig(tb failer, cfg *dram.Config, n int, t dram.MigrationTiming, traced bool) *rig {
	r := &rig{tb: tb, cfg: cfg}
	for range n {
		r.ch = append(r.ch, dram.New(cfg))
	}
	var err error
	if r.stack, err = dram.NewStack(r.ch, t); err != nil {
		tb.Fatal(err)
	}
	if !traced {
		return r
	}
	r.check = checker.NewStack(device(cfg, t), n)
	for i, c := range r.ch {
		c.Trace = func(now uint64, cmd dram.Cmd, at dram.Loc) {
			r.check.Command(i, now, cmd, at)
			r.log = append(r.log, fmt.Sprintf("%d:%d:%s", now, i, cmd))
			if r.onCmd != nil {
				r.onCmd(i, cmd, at)
			}
		}
	}
	r.stack.Trace = func(now uint64, m dram.MigrationCmd) {
		r.check.Migration(now, m)
		r.log = append(r.log, fmt.Sprintf("%d:MIG%d", now, m.TSV))
		if r.onMIG != nil {
			r.onMIG(m)
		}
	}
	return r
}

func (r *rig) violations() {
	r.tb.Helper()
	if v := r.check.Violations(); len(v) > 0 {
		r.tb.Fatalf("%d violations: %s\n%q", len(v), v, r.log[max(0, len(r.log)-30):])
	}
}

// tick is one clock; it returns when to come back.
func (r *rig) tick(now uint64) uint64 {
	next := dram.Never
	for _, c := range r.ch {
		next = min(next, c.Tick(now))
	}
	return min(next, r.stack.Tick(now))
}

func mig(clocks int) dram.MigrationTiming {
	return dram.MigrationTiming{Clocks: clocks, LineBursts: 2, Crossbar: true, Queue: 32, MaxWait: 256}
}

// TestMigrationClocks: scenarios worked out by hand from hbm's timing: RCDRD 7, RCDWR
// 6, RP 7, RAS 17, RTP 7, WR 8, CL+BL 9, CWL+BL 6, RRDS 4, CCDL 3; a MIGRATION takes 13.
func TestMigrationClocks(t *testing.T) {
	at := func(group uint8, row, col uint32) dram.Loc {
		return dram.Loc{BankGroup: group, Bank: 1, Row: row, Col: col}
	}
	move := func(group uint8, lines int) dram.Migration {
		return dram.Migration{
			Src: 0, Dst: 1, From: at(group, 5, 4), To: at(group, 9, 8), Lines: lines,
			ID: int32(group),
		}
	}
	// request opens rows at clock 10, or disturbs later.
	type request struct {
		at    uint64
		ch    int
		loc   dram.Loc
		write bool
	}
	open := func(groups int) (list []request) {
		for g := range groups {
			list = append(list, request{10, 0, at(uint8(g), 5, 0), false}, request{10, 1, at(uint8(g), 9, 0), false})
		}
		return list
	}
	own := mig(13)
	own.Crossbar = false
	quick := mig(5)
	hasty := mig(13)
	hasty.MaxWait = 0
	for _, c := range []struct {
		name     string
		timing   dram.MigrationTiming
		channels int
		requests []request
		at       uint64
		moves    []dram.Migration
		done     []uint64 // by id, of the migrations
		commands string   // from clock at on
	}{
		{
			"closed rows: ACT, RCD, two lines", mig(13), 2, nil, 10,
			[]dram.Migration{move(0, 2)},
			[]uint64{10 + 7 + 2*13},
			"10:0:ACT 10:1:ACT 17:MIG0 30:MIG1",
		},
		{"open rows", mig(13), 2, open(1), 50, []dram.Migration{move(0, 1)}, []uint64{63}, "50:MIG0"},
		{
			"four bank groups take the time of one and the command bus", mig(13), 8, open(4), 80,
			[]dram.Migration{move(0, 1), move(1, 1), move(2, 1), move(3, 1)},
			[]uint64{93, 95, 97, 99},
			"80:MIG2 82:MIG3 84:MIG4 86:MIG5",
		},
		{
			"without the crossbar one at a time", own, 8, open(4), 80,
			[]dram.Migration{move(0, 1), move(1, 1), move(2, 1), move(3, 1)},
			[]uint64{93, 106, 119, 132},
			"80:MIG0 93:MIG0 106:MIG0 119:MIG0",
		},
		{
			"another row is closed first, after RAS", mig(13), 2,
			[]request{{10, 0, at(0, 6, 0), false}},
			20,
			[]dram.Migration{move(0, 1)},
			[]uint64{54},
			"20:1:ACT 27:0:PREpb 34:0:ACT 41:MIG1",
		},
		{
			"PRE waits RTP at the source and WR at the destination", mig(13), 2,
			append(open(1), request{51, 0, at(0, 6, 0), false}, request{51, 1, at(0, 8, 0), false}),
			50,
			[]dram.Migration{move(0, 1)},
			[]uint64{63},
			"50:MIG0 70:0:PREpb 71:1:PREpb 77:0:ACT 78:1:ACT 84:0:RD 85:1:RD",
		},
		{
			"a read on its way has the bus for a clock; the other channel's TSV set is idle", mig(13), 2,
			append(open(2), request{50, 0, at(1, 5, 1), false}),
			50,
			[]dram.Migration{move(0, 1)},
			[]uint64{64},
			"50:0:RD 51:MIG1",
		},
		{
			"a read on its way has the only TSV set", own, 2,
			append(open(2), request{50, 0, at(1, 5, 1), false}),
			50,
			[]dram.Migration{move(0, 1)},
			[]uint64{72},
			"50:0:RD 59:MIG0",
		},
		{
			"a read's data come when the TSV set is free", own, 2,
			append(open(2), request{52, 0, at(1, 5, 1), false}),
			50,
			[]dram.Migration{move(0, 1)},
			[]uint64{63},
			"50:MIG0 56:0:RD",
		},
		{
			"a read by the channel's own TSV set passes a migration of another group", mig(13), 4,
			append(open(2), request{51, 0, at(1, 5, 1), false}),
			50,
			[]dram.Migration{move(0, 1)},
			[]uint64{63},
			"50:MIG2 52:0:RD",
		},
		{
			"a row with hits stays open for them", mig(13), 2,
			append(open(1), request{50, 0, at(0, 5, 1), false}, request{50, 0, at(0, 5, 2), false},
				request{50, 0, at(0, 5, 3), false}),
			50,
			[]dram.Migration{{Src: 0, Dst: 1, From: at(0, 7, 0), To: at(0, 9, 8), Lines: 1}},
			[]uint64{90},
			"50:0:RD 53:0:RD 56:0:RD 63:0:PREpb 70:0:ACT 77:MIG1",
		},
		{
			"a migration uses the time in which a read of its group waits for the bus to turn round", mig(13), 2,
			append(open(2), request{50, 0, at(1, 5, 1), true}, request{51, 0, at(0, 5, 1), false}),
			51,
			[]dram.Migration{move(0, 1)},
			[]uint64{64},
			"51:MIG1 58:0:RD",
		},
		{
			"a migration that is over before the data of a read goes first", quick, 2,
			append(open(2), request{50, 0, at(0, 5, 1), false}),
			50,
			[]dram.Migration{move(0, 1)},
			[]uint64{56},
			"50:0:RD 51:MIG1",
		},
		{
			"and one that is not goes after them", mig(13), 2,
			append(open(2), request{50, 0, at(0, 5, 1), false}),
			50,
			[]dram.Migration{move(0, 1)},
			[]uint64{59 + 13},
			"50:0:RD 59:MIG1",
		},
		{
			"without patience the row closes at once and hits wait", hasty, 2,
			append(open(1), request{50, 0, at(0, 5, 1), false}, request{50, 0, at(0, 5, 2), false},
				request{50, 0, at(0, 5, 3), false}),
			50,
			[]dram.Migration{{Src: 0, Dst: 1, From: at(0, 7, 0), To: at(0, 9, 8), Lines: 1}},
			[]uint64{84},
			"50:0:RD 57:0:PREpb 64:0:ACT 71:MIG1 91:0:PREpb 98:0:ACT 105:0:RD 108:0:RD",
		},
		{
			"an older write to the line goes first", mig(13), 2,
			append(open(1), request{50, 0, at(0, 6, 0), true}, request{50, 0, at(0, 5, 4), true}),
			50,
			[]dram.Migration{move(0, 1)},
			[]uint64{50 + 6 + 4 + 13},
			"50:0:WR 60:MIG1 80:0:PREpb 87:0:ACT 93:0:WR",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, config(t, hbm()), c.channels, c.timing, true)
			done := make([]uint64, len(c.moves))
			i, from := 0, 0
			for now := uint64(1); now < 400; now++ {
				for ; i < len(c.requests) && c.requests[i].at == now; i++ {
					q := c.requests[i]
					if !r.ch[q.ch].Push(now, q.loc, q.write, 1, 0, 0) {
						t.Fatal("refused")
					}
				}
				if now == c.at {
					from = len(r.log)
					for _, m := range c.moves {
						r.stack.Push(now, m)
					}
				}
				r.tick(now)
				for {
					id, ok := r.stack.Pop()
					if !ok {
						break
					}
					done[id] = now
				}
			}
			if got := strings.Join(r.log[from:], " "); got != c.commands || fmt.Sprint(done) != fmt.Sprint(c.done) {
				t.Errorf("done %v\nwant %v\ncommands %s\nwant     %s", done, c.done, got, c.commands)
			}
			r.violations()
		})
	}
}

// TestPatience: under an endless stream of row hits in the source's bank, a migration of another
// row is through once its patience is over, and not before.
func TestPatience(t *testing.T) {
	for _, patience := range []int{0, 100, 700} {
		timing := mig(13)
		timing.MaxWait = patience
		r := newRig(t, config(t, hbm()), 2, timing, true)
		pushed, done := uint64(200), uint64(0)
		for now := uint64(1); done == 0; now++ {
			r.ch[0].Push(now, dram.Loc{Row: 1, Col: uint32(now % 32)}, false, 1, 0, 0)
			if now == pushed {
				r.stack.Push(now, dram.Migration{
					Src: 0, Dst: 1, From: dram.Loc{Row: 2}, To: dram.Loc{Row: 2},
					Lines: 1,
				})
			}
			r.tick(now)
			for _, ok := int32(0), true; ok; _, _, ok = r.ch[0].Pop() {
			}
			if _, ok := r.stack.Pop(); ok {
				done = now
			}
			if now > 2000 {
				t.Fatal("starved")
			}
		}
		r.violations()
		// PRE after RTP, RP, RCDRD, the line.
		if least := pushed + uint64(patience) + 7 + 7 + 13; done < least || done > least+7+2 {
			t.Errorf("patience %d: done at %d, want %d and at most the RTP and bus of a read more", patience, done,
				least)
		}
	}
}

// TestStackErrors: what cannot migrate is refused with its cause.
func TestStackErrors(t *testing.T) {
	for want, edit := range map[string]func(*sheets.DRAM, *dram.MigrationTiming){
		"frfcfs":           func(d *sheets.DRAM, _ *dram.MigrationTiming) { d.Sched = "fcfs" },
		"migration timing": func(_ *sheets.DRAM, m *dram.MigrationTiming) { m.Clocks = 1 },
	} {
		s, m := hbm(), mig(13)
		edit(s, &m)
		if _, err := dram.NewStack([]*dram.Channel{dram.New(config(t, s))}, m); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	cfg := config(t, hbm())
	ch := []*dram.Channel{dram.New(cfg)}
	if _, err := dram.NewStack(ch, mig(13)); err != nil {
		t.Fatal(err)
	}
	if _, err := dram.NewStack(ch, mig(13)); err == nil || !strings.Contains(err.Error(), "in a stack already") {
		t.Errorf("error %v", err)
	}
	cfg.WriteLatency = 0
	if _, err := dram.NewStack([]*dram.Channel{dram.New(cfg)}, mig(13)); err == nil ||
		!strings.Contains(err.Error(), "write latency") {
		t.Errorf("error %v", err)
	}
}

// TestClaimedRowStaysOpen: under the closed page policy the last hit of a row that a
// migration has opened does not close it.
func TestClaimedRowStaysOpen(t *testing.T) {
	s := hbm()
	s.Page = "closed"
	r := newRig(t, config(t, s), 2, mig(13), true)
	for now := uint64(1); now < 100; now++ {
		switch now {
		case 10:
			r.stack.Push(now, dram.Migration{Src: 0, Dst: 1, From: dram.Loc{Row: 5}, To: dram.Loc{Row: 5}, Lines: 1})
		case 12:
			r.ch[0].Push(now, dram.Loc{Row: 5, Col: 7}, false, 1, 0, 0)
		}
		r.tick(now)
	}
	if got, want := strings.Join(r.log, " "), "10:0:ACT 10:1:ACT 17:0:RD 26:MIG1"; got != want {
		t.Errorf("commands %s, want %s", got, want)
	}
	r.violations()
}

// TestPushAhead: a migration pushed for a later clock is not seen before.
func TestPushAhead(t *testing.T) {
	r := newRig(t, config(t, hbm()), 2, mig(13), true)
	r.stack.Push(20, dram.Migration{Src: 0, Dst: 1, From: dram.Loc{Row: 5}, To: dram.Loc{Row: 5}, Lines: 1})
	if next := r.tick(10); next != 20 {
		t.Errorf("next is %d, want 20", next)
	}
	for now := uint64(11); now < 50; now++ {
		r.tick(now)
	}
	if got, want := strings.Join(r.log, " "), "20:0:ACT 20:1:ACT 27:MIG0"; got != want {
		t.Errorf("commands %s, want %s", got, want)
	}
}

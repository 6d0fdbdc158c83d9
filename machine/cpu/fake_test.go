package cpu

import (
	"io"
	"testing"

	"github.com/heddle-sim/heddle/isa/scalar"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// sheet is the core of the Hydrogen machine, small enough to count by hand where a test
// changes it.
func sheet() *sheets.Machine {
	m := &sheets.Machine{}
	m.LLC.Line, m.LLC.Sector = 64, 32
	m.CPU = sheets.CPU{
		Cores: 1, Clock: 3200, Width: 4, Window: 224, LoadPorts: 2, StoreBuffer: 56, WriteBacks: 16, Line: 64,
		L1: sheets.CPUCache{Sets: 64, Ways: 8, Latency: 4, MSHRs: 16},
		L2: sheets.CPUCache{Sets: 1024, Ways: 16, Latency: 14, MSHRs: 16},
	}
	return m
}

// listed is a program as a list.
type listed struct {
	insts []scalar.Inst
	at    int
}

func (l *listed) Read(buf []scalar.Inst) (int, error) {
	n := copy(buf, l.insts[l.at:])
	if l.at += n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (l *listed) Rewind() error { l.at = 0; return nil }

// endless is a program made as it is read.
type endless struct {
	n    uint64
	make func(n uint64, in *scalar.Inst)
}

func (e *endless) Read(buf []scalar.Inst) (int, error) {
	for i := range buf {
		buf[i] = scalar.Inst{}
		e.make(e.n, &buf[i])
		e.n++
	}
	return len(buf), nil
}

func (e *endless) Rewind() error { e.n = 0; return nil }

// frames is memory without end, in one piece after the other.
func frames() *Frames {
	at := uint64(0)
	return &Frames{Bytes: 1 << 21, Take: func() (uint64, error) { at += 1 << 21; return at - 1<<21, nil }}
}

// fake is a core over a memory that answers each request a fixed time after it has left.
type fake struct {
	core    *Core
	slab    *mem.Slab
	table   *stat.Table
	latency uint64
	sent    []mem.Req
	keep    bool // requests in sent
}

func newFake(t testing.TB, m *sheets.Machine, latency uint64, source scalar.Source, length uint64) *fake {
	t.Helper()
	f := &fake{slab: mem.NewSlab(64), latency: latency, table: stat.NewTable("cpu", Counters(), 1, 1)}
	c, err := New(0, Derive(m), f.slab, f.table, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.core = c
	if source == nil {
		return f
	}
	if err := c.Start(Program{Source: source, Insts: length}, 0, frames()); err != nil {
		t.Fatal(err)
	}
	return f
}

// How often run visits the core.
const (
	whenDue = iota
	everyCycle
	late // some cycles after it asked for it
)

// run runs up to a cycle.
func (f *fake) run(until uint64, visits int) {
	for now := f.core.now; now < until; {
		switch visits {
		case whenDue:
			now = f.core.Due()
		case everyCycle:
			now = f.core.now + 1
		case late:
			now = min(f.core.Due(), 1<<60) + now%7
		}
		now = min(now, until)
		f.core.Tick(now)
		for h, ok := f.core.Out(); ok; h, ok = f.core.Out() {
			r := &f.slab.R[h]
			if f.keep {
				f.sent = append(f.sent, *r)
			}
			f.core.Sent()
			f.core.Deliver(h, r.Born+f.latency)
		}
	}
}

func (f *fake) row() []uint64 {
	f.core.SyncCounters()
	return f.table.Row(0, 0)
}

package report

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/heddle-sim/heddle/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// buffer is a writer the display's goroutine may share.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestLinesWithoutATerminal(t *testing.T) {
	var out buffer
	now := time.Unix(0, 0)
	p := NewProgress(&out, false)
	p.now = func() time.Time { return now }
	watch, done := p.Start("bp", false)
	s := sim.Progress{
		Cycle: 500, MaxCycles: 2000, CyclesPerS: 100, Tenants: []string{"a", "b"},
		IPC: []float64{12.34, 0.5},
	}
	watch(s)
	if out.String() != "" {
		t.Errorf("a run of no time says %q", out.String())
	}
	for range 5 {
		now = now.Add(4 * time.Second)
		watch(s)
	}
	done()
	p.Close()
	want := "bp: cycle 500 of 2000 (25 %), at most 15s left, 100 cycles/s, a IPC 12.3, b IPC 0.500\n"
	if out.String() != want {
		t.Errorf("got %q\nwant %q once", out.String(), want)
	}
}

func TestBarsOnATerminal(t *testing.T) {
	var out buffer
	now := time.Unix(0, 0)
	p := NewProgress(&out, true)
	p.now = func() time.Time { return now }
	var wg sync.WaitGroup
	watch1, done1 := p.Start("bp", false)
	watch2, done2 := p.Start("triad", true)
	now = now.Add(2 * time.Second)
	for i, w := range []func(sim.Progress){watch1, watch2} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for c := range uint64(20) {
				w(sim.Progress{Cycle: c * 100, MaxCycles: uint64(i) * 1000, CyclesPerS: 10})
				time.Sleep(10 * time.Millisecond)
			}
		}()
	}
	wg.Wait()
	done1()
	done2()
	p.Log("a %s", "note")
	p.Close()
	for _, want := range []string{"bp", "triad alone", "cycle", "a note"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the display never showed %q:\n%q", want, out.String())
		}
	}
}

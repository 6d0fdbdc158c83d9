package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/heddle-sim/heddle/sim"
)

// Progress shows running simulations: as bars on a terminal, otherwise as a line from time to time. Short runs show
// nothing.
type Progress struct {
	w     io.Writer
	tty   bool
	delay time.Duration // what finishes sooner shows nothing
	every time.Duration // between lines when there is no terminal
	now   func() time.Time

	mu   sync.Mutex
	bars *mpb.Progress
}

// NewProgress writes to w; tty says that w is a terminal.
func NewProgress(w io.Writer, tty bool) *Progress {
	return &Progress{w: w, tty: tty, delay: time.Second, every: 10 * time.Second, now: time.Now}
}

// Start begins one simulation. watch gets its progress and done its end; both may be called from any one goroutine.
func (p *Progress) Start(label string, alone bool) (watch func(sim.Progress), done func()) {
	if alone {
		label += " alone"
	}
	j := &job{p: p, label: Plain(label), begun: p.now(), said: p.now()}
	return j.watch, j.done
}

// Close ends the display. Nothing may be started after it.
func (p *Progress) Close() {
	p.mu.Lock()
	bars := p.bars
	p.mu.Unlock()
	if bars != nil {
		bars.Wait()
	}
}

// job is one simulation on display.
type job struct {
	p     *Progress
	label string
	begun time.Time
	said  time.Time // last line, without a terminal
	bar   *mpb.Bar

	mu   sync.Mutex // last is read by the display's goroutine
	last sim.Progress
}

func (j *job) watch(s sim.Progress) {
	now := j.p.now()
	if now.Sub(j.begun) < j.p.delay {
		return
	}
	j.mu.Lock()
	j.last = s
	j.mu.Unlock()
	if !j.p.tty {
		if now.Sub(j.said) >= j.p.every {
			j.said = now
			j.p.line(Plain(j.label + ": " + Line(s)))
		}
		return
	}
	if j.bar == nil {
		j.bar = j.p.newBar(j)
	}
	if s.MaxCycles > 0 {
		j.bar.SetCurrent(int64(min(s.Cycle, s.MaxCycles-1))) // done() completes it
	} else {
		j.bar.SetCurrent(int64(s.Cycle))
	}
}

func (j *job) done() {
	if j.bar != nil {
		j.bar.Abort(true)
		j.bar.Wait()
	}
}

func (j *job) text(decor.Statistics) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return Plain(Line(j.last))
}

func (p *Progress) newBar(j *job) *mpb.Bar {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bars == nil {
		p.bars = mpb.New(mpb.WithOutput(p.w), mpb.WithWidth(24), mpb.WithAutoRefresh())
	}
	front := mpb.PrependDecorators(decor.Name(j.label+" ", decor.WCSyncSpaceR))
	back := mpb.AppendDecorators(decor.Any(j.text))
	j.mu.Lock()
	total := int64(j.last.MaxCycles)
	j.mu.Unlock()
	if total > 0 {
		return p.bars.AddBar(total, front, back)
	}
	return p.bars.AddSpinner(0, front, back)
}

// line writes one whole line at a time.
func (p *Progress) line(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(p.w, s) // a broken standard error cannot be reported anywhere
}

// Log writes a message without disturbing the bars.
func (p *Progress) Log(format string, args ...any) {
	s := Plain(fmt.Sprintf(format, args...))
	p.mu.Lock()
	bars := p.bars
	p.mu.Unlock()
	if bars != nil {
		if _, err := fmt.Fprintln(bars, s); err == nil {
			return
		}
	}
	p.line(s)
}

// Line is one line of progress: cycles, share and time left when the end is known,
// speed, IPC per tenant.
func Line(s sim.Progress) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cycle %d", s.Cycle)
	if s.MaxCycles > 0 {
		fmt.Fprintf(&b, " of %d (%.0f %%)", s.MaxCycles, 100*float64(s.Cycle)/float64(s.MaxCycles))
		if s.CyclesPerS > 0 && s.Cycle < s.MaxCycles {
			left := time.Duration(float64(s.MaxCycles-s.Cycle) / s.CyclesPerS * float64(time.Second))
			fmt.Fprintf(&b, ", at most %s left", left.Round(time.Second))
		}
	}
	fmt.Fprintf(&b, ", %s cycles/s", si(s.CyclesPerS))
	if s.Cores > 1 {
		fmt.Fprintf(&b, " on %d cores", s.Cores)
	}
	for i, n := range s.Tenants {
		if i < len(s.IPC) {
			fmt.Fprintf(&b, ", %s IPC %s", n, number(s.IPC[i]))
		}
	}
	return b.String()
}

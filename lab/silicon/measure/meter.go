package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/host/gpu"
	"github.com/heddle-sim/heddle/host/script"
	"github.com/heddle-sim/heddle/lab/silicon"
)

// meter measures probes on a board.
type meter struct {
	ctx    context.Context
	o      *options
	b      *gpu.Board
	floor  float64   // ns of an empty launch between its two events
	cold   float64   // the same where caches are cold; 0 until it is needed
	clocks []float64 // MHz, beside each probe
	said   io.Writer // gets what programs say, too; may be nil
}

// begin measures an empty launch.
func (m *meter) begin() error {
	var err error
	m.floor, err = m.empty(false)
	return err
}

// empty is the ns of an empty launch.
func (m *meter) empty(cold bool) (float64, error) {
	var took []float64
	for range 4*m.o.times + 1 {
		if _, err := m.mhz(); err != nil {
			return 0, err
		}
		o := gpu.Options{Timed: true, Cold: cold}
		_, launches, err := m.program("whole", map[string]string{"what": "empty"}, o)
		if err != nil {
			return 0, err
		}
		took = append(took, launches[0].NS)
	}
	return middle(took), nil
}

// clock is the core clock in MHz, in the middle of the measurement.
func (m *meter) clock() float64 { return middle(m.clocks) }

func middle(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}

// program runs a program of the folder of kernels.
func (m *meter) program(name string, args map[string]string, o gpu.Options) ([]string, []gpu.Launch, error) {
	var log bytes.Buffer
	file := filepath.Join(m.o.kernels, name+".star")
	said := io.Writer(&log)
	if m.said != nil {
		said = io.MultiWriter(&log, m.said)
	}
	p, err := script.Load(file, script.Options{Args: args, Seed: 1, Log: said})
	if err != nil {
		return nil, nil, err
	}
	o.Arena = m.o.arena << 20
	launches, err := execute(m.ctx, m.b, p, o)
	return strings.Split(log.String(), "\n"), launches, err
}

// execute runs a program on the board.
func execute(ctx context.Context, b *gpu.Board, p host.Program, o gpu.Options) ([]gpu.Launch, error) {
	dev, space, err := b.Device(ctx, o)
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	c := host.New(dev, space, host.Options{Ctx: ctx, CoreMHz: gpu.Nanoseconds})
	if err := p.Run(c); err != nil {
		return nil, err
	}
	if err := c.Finish(); err != nil {
		return nil, err
	}
	return dev.Launches(), nil
}

// mhz measures the core clock and keeps the GPU from resting.
func (m *meter) mhz() (float64, error) {
	log, _, err := m.program("clock", map[string]string{"cycles": strconv.Itoa(m.o.spin)}, gpu.Options{})
	if err != nil {
		return 0, err
	}
	f := silicon.Figures{}
	if err := f.Add(log, nil, ""); err != nil {
		return 0, err
	}
	if f["mhz"] <= 0 {
		return 0, fmt.Errorf("the core clock was measured as %g MHz", f["mhz"])
	}
	return f["mhz"], nil
}

// launchWords are the names that need the time of launches.
var launchWords = regexp.MustCompile(`\b(cycles|last)(_\d+)?\b`)

// measure measures a probe a number of times.
func (m *meter) measure(p *silicon.Probe) (silicon.Measured, error) {
	out := silicon.Measured{Probe: p}
	numbers := silicon.Figures{"sms": float64(m.b.SMs)}
	var err error
	if out.Args, err = silicon.Fill(p.Args, numbers); err != nil {
		return out, err
	}
	text := out.Args
	if p.OnBoard != "" {
		if text, err = silicon.Fill(p.OnBoard, numbers); err != nil {
			return out, err
		}
	}
	runs, err := silicon.Runs(text)
	if err != nil {
		return out, err
	}
	for range m.o.times {
		v, err := m.once(p, runs)
		if err != nil {
			return out, err
		}
		out.Values = append(out.Values, v)
	}
	out.Floor = m.floor * m.clock() / 1000
	if cold(p, runs[0]) {
		if m.cold == 0 {
			if m.cold, err = m.empty(true); err != nil {
				return out, err
			}
		}
		out.Floor = m.cold * m.clock() / 1000
	}
	return out, nil
}

// cold says that caches shall be cold: simulated kernels begin so, but where a program runs twice on its arrays.
func cold(p *silicon.Probe, args map[string]string) bool {
	return p.Group == "kernels" && args["warm"] == ""
}

func (m *meter) once(p *silicon.Probe, runs []map[string]string) (float64, error) {
	mhz, err := m.mhz()
	if err != nil {
		return 0, err
	}
	f := silicon.Figures{"mhz": mhz, "sms": float64(m.b.SMs)}
	for i, args := range runs {
		log, launches, err := m.program(p.Program, args, gpu.Options{
			Timed: launchWords.MatchString(p.Value.String()),
			Cold:  cold(p, args),
		})
		if err != nil {
			return 0, err
		}
		suffix := ""
		if i > 0 {
			suffix = fmt.Sprintf("_%d", i+1)
		}
		spans := make([]silicon.Span, len(launches))
		for j, l := range launches {
			cycles := l.NS * mhz / 1000
			spans[j] = silicon.Span{Launched: cycles, Ran: cycles}
		}
		if err := f.Add(log, spans, suffix); err != nil {
			return 0, err
		}
	}
	m.clocks = append(m.clocks, mhz)
	return p.Value.Value(f)
}

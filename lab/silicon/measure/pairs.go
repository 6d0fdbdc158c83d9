package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/host/gpu"
	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/lab/silicon"
)

// divisor is the run that a pair in two streams is divided by.
func divisor(ratio string) string {
	if ratio == "pair/series" {
		return "series"
	}
	return "alone"
}

// measurePairs measures kernels side by side and writes rows in the form of colocation.csv.
func measurePairs(ctx context.Context, o *options, out io.Writer) error {
	pairs, err := silicon.KitPairs(o.dir)
	if err != nil {
		return err
	}
	if o.board == "" {
		return errors.New("--board is missing: the name of a sheet in boards/ that has this board's numbers")
	}
	if o.mps {
		if err := daemonRuns(ctx); err != nil {
			return err
		}
	}
	b, err := gpu.Open()
	if err != nil {
		return err
	}
	fmt.Fprintln(out, b)
	m := &meter{ctx: ctx, o: o, b: b}
	var text bytes.Buffer
	table := csv.NewWriter(&text)
	rows := [][]string{{"board", "benchmark", "programs", "args", "sharing", "ratio", "silicon", "source"}}
	for _, p := range pairs {
		if o.row != "" && o.row != p.Name {
			continue
		}
		if p.Shares != nil && !o.mps {
			fmt.Fprintf(out, "%-44s left out: --mps measures two processes\n", p.Name)
			continue
		}
		row, err := m.pair(p)
		if ctx.Err() != nil {
			return errors.New("interrupted: nothing is written")
		}
		if err != nil {
			fmt.Fprintf(out, "%-44s failed: %v\n", p.Name, err)
			continue
		}
		fmt.Fprintf(out, "%-44s %-12s %s  %s\n", p.Name, p.Ratio, row[6], row[7])
		rows = append(rows, row)
	}
	if err := table.WriteAll(rows); err != nil {
		return err
	}
	name := o.out
	if name == "" {
		name = filepath.Join(o.dir, "measured", "pairs", o.board+".csv")
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return scratch.WriteWhole(name, text.Bytes())
}

// steady is how far the largest of the repetitions may lie above the smallest.
const steady = 1.25

// pair measures one and is its row.
func (m *meter) pair(p *silicon.KitPair) ([]string, error) {
	numbers := silicon.Figures{"sms": float64(m.b.SMs)}
	args, err := silicon.Fill(p.Args, numbers)
	if err != nil {
		return nil, err
	}
	text := args
	if p.OnBoard != "" {
		if text, err = silicon.Fill(p.OnBoard, numbers); err != nil {
			return nil, err
		}
	}
	runs, err := silicon.Runs(text)
	if err != nil {
		return nil, err
	}
	var ratios, beside, divided, mhz []float64
	for range m.o.times {
		clock, err := m.mhz()
		if err != nil {
			return nil, err
		}
		var a, b float64
		if p.Shares != nil {
			a, b, err = m.processes(p, strings.Split(text, "|"))
		} else {
			a, b, err = m.streams(p, runs[0])
		}
		if err != nil {
			return nil, err
		}
		ratios, beside, divided, mhz = append(ratios, a/b), append(beside, a), append(divided, b), append(mhz, clock)
	}
	if apart := slices.Max(ratios) / slices.Min(ratios); apart > steady {
		return nil, fmt.Errorf("unsteady, from %.3f to %.3f: a median would be meaningless", slices.Min(ratios),
			slices.Max(ratios))
	}
	source := fmt.Sprintf("measured %s by lab/silicon/measure: %s, %.0f MHz; %.1f us of %.1f us; median of %d, "+
		"%.3f to %.3f", time.Now().Format(time.DateOnly), m.b.What()+m.o.compiled, middle(mhz), middle(beside)/1000,
		middle(divided)/1000, len(ratios), slices.Min(ratios), slices.Max(ratios))
	return []string{
		m.o.board, p.Name, p.Program, args, p.Sharing, p.Ratio, strconv.FormatFloat(middle(ratios), 'f', 3, 64), source,
	}, nil
}

// streams measures a pair in two streams: the time of both at once, and what it is divided by.
func (m *meter) streams(p *silicon.KitPair, args map[string]string) (beside, divided float64, err error) {
	if beside, err = m.span(p.Program, args, "pair"); err != nil {
		return 0, 0, err
	}
	divided, err = m.span(p.Program, args, divisor(p.Ratio))
	return beside, divided, err
}

// span is the ns from the first start to the last end of the launches that count.
func (m *meter) span(program string, args map[string]string, how string) (float64, error) {
	args = maps.Clone(args)
	args["how"] = how
	log, launches, err := m.program(program, args, gpu.Options{Timed: true})
	if err != nil {
		return 0, err
	}
	for _, line := range log {
		if n, ok := strings.CutPrefix(line, "RESULT skip "); ok {
			skip, err := strconv.Atoi(strings.TrimSpace(n))
			if err != nil || skip >= len(launches) {
				return 0, fmt.Errorf("%s printed %q, and has %d launches", program, line, len(launches))
			}
			launches = launches[skip:]
		}
	}
	first, last := launches[0].Start, 0.0
	for _, l := range launches {
		first, last = min(first, l.Start), max(last, l.Start+l.NS)
	}
	return last - first, nil
}

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

// pairColumns are those of kit_pairs.csv: two kernels side by side in two streams of one process.
func pairColumns() []string { return []string{"benchmark", "program", "args", "on_board", "ratio"} }

// pair is one line of kit_pairs.csv.
type pair struct {
	name, program, args, onBoard, ratio string
}

// over is the run that the pair is divided by, by ratio.
func over(ratio string) (string, bool) {
	how, ok := map[string]string{"pair/series": "series", "pair/alone": "alone"}[ratio]
	return how, ok
}

func readPairs(dir string) ([]pair, error) {
	name := filepath.Join(dir, "kit_pairs.csv")
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := csv.NewReader(f)
	c.FieldsPerRecord = len(pairColumns())
	var out []pair
	for first := true; ; first = false {
		cells, err := c.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: a line has the cells %s", name, err, strings.Join(pairColumns(), ","))
		}
		line, _ := c.FieldPos(0)
		if first {
			if !slices.Equal(cells, pairColumns()) {
				return nil, fmt.Errorf("%s:%d: the first line names the columns: %s", name, line,
					strings.Join(pairColumns(), ","))
			}
			continue
		}
		p := pair{cells[0], cells[1], cells[2], cells[3], cells[4]}
		if _, ok := over(p.ratio); !ok {
			return nil, fmt.Errorf("%s:%d: ratio %q: pair/series or pair/alone", name, line, p.ratio)
		}
		out = append(out, p)
	}
}

// measurePairs measures kernels side by side and writes rows in the form of colocation.csv.
func measurePairs(ctx context.Context, o *options, out io.Writer) error {
	pairs, err := readPairs(o.dir)
	if err != nil {
		return err
	}
	if o.board == "" {
		return errors.New("--board is missing: the name of a sheet in boards/ that has this board's numbers")
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
		if o.row != "" && o.row != p.name {
			continue
		}
		row, err := m.pair(p)
		if ctx.Err() != nil {
			return errors.New("interrupted: nothing is written")
		}
		if err != nil {
			fmt.Fprintf(out, "%-44s failed: %v\n", p.name, err)
			continue
		}
		fmt.Fprintf(out, "%-44s %-12s %s  %s\n", p.name, p.ratio, row[6], row[7])
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
func (m *meter) pair(p pair) ([]string, error) {
	numbers := silicon.Figures{"sms": float64(m.b.SMs)}
	args, err := silicon.Fill(p.args, numbers)
	if err != nil {
		return nil, err
	}
	text := args
	if p.onBoard != "" {
		if text, err = silicon.Fill(p.onBoard, numbers); err != nil {
			return nil, err
		}
	}
	runs, err := silicon.Runs(text)
	if err != nil {
		return nil, err
	}
	how, _ := over(p.ratio)
	var ratios, beside, divided, mhz []float64
	for range m.o.times {
		clock, err := m.mhz()
		if err != nil {
			return nil, err
		}
		a, err := m.span(p.program, runs[0], "pair")
		if err != nil {
			return nil, err
		}
		b, err := m.span(p.program, runs[0], how)
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
		m.o.board, p.name, p.program, args, "streams", p.ratio, strconv.FormatFloat(middle(ratios), 'f', 3, 64), source,
	}, nil
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

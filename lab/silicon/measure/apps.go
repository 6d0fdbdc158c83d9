package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/heddle-sim/heddle/apps/reference"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/host/gpu"
	"github.com/heddle-sim/heddle/host/script"
	"github.com/heddle-sim/heddle/internal/scratch"
)

// measureApps runs applications; one that fails is said, and makes the command fail at its end.
func measureApps(ctx context.Context, o *options, out io.Writer) error {
	b, err := gpu.Open()
	if err != nil {
		return err
	}
	fmt.Fprintln(out, b)
	var text bytes.Buffer
	table := csv.NewWriter(&text)
	rows := [][]string{{"app", "kernel", "launches", "ns", "shortest_ns"}}
	failed := 0
	for _, dir := range o.apps {
		launches, err := measureApp(ctx, b, dir, o.arena<<20)
		if ctx.Err() != nil {
			return errors.New("interrupted: nothing is written")
		}
		if err != nil {
			failed++
			fmt.Fprintf(out, "%-40s failed: %v\n", dir, err)
			continue
		}
		total := 0.0
		for _, k := range sums(launches) {
			total += k.ns
			rows = append(rows, []string{
				filepath.ToSlash(dir), k.name, strconv.Itoa(k.n), strconv.FormatFloat(k.ns, 'f', 0, 64),
				strconv.FormatFloat(k.least, 'f', 0, 64),
			})
		}
		fmt.Fprintf(out, "%-40s checks hold, %d launches, %.1f us\n", dir, len(launches), total/1000)
	}
	if err := table.WriteAll(rows); err != nil {
		return err
	}
	if o.csv != "" {
		if err := scratch.WriteWhole(o.csv, text.Bytes()); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d applications failed", failed, len(o.apps))
	}
	return nil
}

func measureApp(ctx context.Context, b *gpu.Board, dir string, arena int64) ([]gpu.Launch, error) {
	refs := make(map[string]host.Reference, len(reference.All))
	for n, f := range reference.All {
		refs[n] = f
	}
	p, err := script.Load(dir, script.Options{References: refs, Seed: 1})
	if err != nil {
		return nil, err
	}
	return execute(ctx, b, p, gpu.Options{Arena: arena, Timed: true})
}

// sum is what the launches of one kernel took.
type sum struct {
	name      string
	n         int
	ns, least float64
}

// sums is one of each kernel, in order of their first launches.
func sums(launches []gpu.Launch) []*sum {
	at := map[string]*sum{}
	var out []*sum
	for _, l := range launches {
		s := at[l.Kernel]
		if s == nil {
			s = &sum{name: l.Kernel, least: l.NS}
			at[l.Kernel], out = s, append(out, s)
		}
		s.n, s.ns, s.least = s.n+1, s.ns+l.NS, min(s.least, l.NS)
	}
	return out
}

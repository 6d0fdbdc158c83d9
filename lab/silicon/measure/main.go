// Command measure runs the probes of lab/silicon/kit.csv on the NVIDIA GPU of this computer and writes rows that
// `heddle validate silicon` compares with a simulation:
//
//	go run ./lab/silicon/measure --board h100-sxm5-hbm3
//
// It needs the driver, and nothing else: the kernels are the PTX that Heddle simulates, compiled by the driver. With
// --nvcc the PTX is made from the same sources by a CUDA toolkit first. The board's settings stay as they are; the
// core clock is measured beside each probe. With --app it runs applications instead, says whether their checks hold
// on the GPU, and what each kernel took.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/heddle-sim/heddle/host/gpu"
	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/lab/silicon"
)

// options are the command's flags.
type options struct {
	dir, board, out, csv string
	groups, apps         []string
	row                  string
	times, spin          int
	arena                int64 // MB
	list, pairs, mps     bool
	half                 string // this process is one of a pair under MPS: folder of kernels|program|arguments
	nvcc                 string
	kernels              string // folder of the programs and their PTX
	compiled             string // by what other than the project's own clang, for the rows' sources
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(2)
	}
}

// parse reads the flags.
func (o *options) parse(args []string, log io.Writer) error {
	fl := pflag.NewFlagSet("measure", pflag.ContinueOnError)
	fl.StringVar(&o.dir, "dir", filepath.Join("lab", "silicon"), "folder of kit.csv, boards and kernels")
	fl.StringVar(&o.board, "board", "", "name of this board's sheet in boards/")
	fl.StringSliceVar(&o.groups, "group", nil, "probes of these groups only: "+strings.Join(silicon.Groups(), ", "))
	fl.StringVar(&o.row, "row", "", "the probe of this name only")
	fl.IntVar(&o.times, "times", 5, "repetitions of each probe, of which the median counts")
	fl.IntVar(&o.spin, "spin", 20_000_000,
		"cycles that the GPU is kept busy before each probe, in which its clock is read")
	fl.Int64Var(&o.arena, "arena", 8192, "MB of the GPU's memory for the arrays of a program")
	fl.StringVarP(&o.out, "out", "o", "", "file of rows (default: measured/BOARD.csv in the folder)")
	fl.BoolVar(&o.list, "list", false, "print the probes and measure nothing")
	fl.BoolVar(&o.pairs, "pairs", false, "measure the kernels of kit_pairs.csv side by side instead")
	fl.BoolVar(&o.mps, "mps", false, "with --pairs: also pairs of two processes under MPS, whose daemon must run")
	fl.StringVar(&o.half, "half", "", "run one kernel of a pair under MPS, as the process that starts this one says")
	fl.Lookup("half").Hidden = true
	fl.StringVar(&o.nvcc, "nvcc", "", "compile the kernels with this nvcc instead of taking their PTX as it is")
	fl.StringSliceVar(&o.apps, "app", nil, "run these application folders instead of probes")
	fl.StringVar(&o.csv, "csv", "", "with --app: also write what each kernel took to this file")
	fl.SetOutput(log)
	if err := fl.Parse(args); err != nil {
		return err
	}
	if fl.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", fl.Arg(0))
	}
	if o.times < 1 || o.arena < 1 || o.spin < 1 {
		return fmt.Errorf("--times %d --arena %d --spin %d: at least 1 each", o.times, o.arena, o.spin)
	}
	if o.mps && !o.pairs {
		return errors.New("--mps is for pairs: give --pairs, too")
	}
	return nil
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	var o options
	if err := o.parse(args, log); err != nil {
		return err
	}
	if o.half != "" {
		return serveHalf(ctx, &o, os.Stdin, out)
	}
	done, err := o.compile(ctx)
	if err != nil {
		return err
	}
	defer done()
	if len(o.apps) > 0 {
		return measureApps(ctx, &o, out)
	}
	if o.pairs {
		return measurePairs(ctx, &o, out)
	}
	probes, err := o.probes()
	if err != nil {
		return err
	}
	if o.list {
		for _, p := range probes {
			fmt.Fprintf(out, "%-10s %s\n", p.Group, p.Name)
		}
		return nil
	}
	return measureProbes(ctx, &o, probes, out)
}

// compile says where the kernels lie: in their folder, or where --nvcc compiles them until done is called.
func (o *options) compile(ctx context.Context) (done func(), err error) {
	if o.kernels = filepath.Join(o.dir, "kernels"); o.nvcc == "" {
		return func() {}, nil
	}
	if len(o.apps) > 0 {
		return nil, errors.New("--nvcc compiles the kernels of probes and pairs: leave it or --app out")
	}
	into, err := os.MkdirTemp("", "measure-")
	if err != nil {
		return nil, err
	}
	done = func() { os.RemoveAll(into) }
	version, err := build(ctx, o.nvcc, o.dir, into)
	if err != nil {
		done()
		return nil, err
	}
	o.kernels, o.compiled = into, ", PTX of nvcc "+version
	return done, nil
}

// probes are those that the flags select.
func (o *options) probes() ([]*silicon.Probe, error) {
	all, err := silicon.Kit(o.dir)
	if err != nil {
		return nil, err
	}
	var out []*silicon.Probe
	for _, p := range all {
		if (len(o.groups) == 0 || contains(o.groups, p.Group)) && (o.row == "" || o.row == p.Name) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no probe of kit.csv is in group %q with name %q: --list prints them",
			strings.Join(o.groups, ","), o.row)
	}
	return out, nil
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

// measureProbes measures and writes; a probe that fails is said and left out.
func measureProbes(ctx context.Context, o *options, probes []*silicon.Probe, out io.Writer) error {
	if o.board == "" {
		return errors.New("--board is missing: the name of a sheet in boards/ that has this board's numbers")
	}
	if _, err := os.Stat(filepath.Join(o.dir, "boards", o.board+".yaml")); err != nil {
		return fmt.Errorf("board %s: %w: write its sheet first, as the others in boards/", o.board, err)
	}
	b, err := gpu.Open()
	if err != nil {
		return err
	}
	fmt.Fprintln(out, b)
	m := &meter{ctx: ctx, o: o, b: b}
	if err := m.begin(); err != nil {
		return err
	}
	var rows []silicon.Measured
	failed := 0
	for _, p := range probes {
		row, err := m.measure(p)
		if ctx.Err() != nil {
			return errors.New("interrupted: nothing is written")
		}
		if err != nil {
			failed++
			fmt.Fprintf(out, "%-10s %-44s failed: %v\n", p.Group, p.Name, err)
			continue
		}
		median, spread := row.Median()
		fmt.Fprintf(out, "%-10s %-44s %12.5g %-16s %5.1f %%\n", p.Group, p.Name, median, p.Unit, spread)
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return errors.New("no probe gave a figure: nothing is written")
	}
	about := silicon.About{
		Board: o.board, What: b.What() + o.compiled, Day: time.Now(), MHz: m.clock(),
	}
	if about.MHz <= 0 {
		return errors.New("the core clock was measured as 0: nothing is written")
	}
	name := o.out
	if name == "" {
		name = filepath.Join(o.dir, "measured", o.board+".csv")
	}
	var text bytes.Buffer
	if err := silicon.WriteMeasured(&text, about, rows); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d rows in %s, %d probes failed; core clock %.0f MHz\n", len(rows), name, failed, about.MHz)
	return scratch.WriteWhole(name, text.Bytes())
}

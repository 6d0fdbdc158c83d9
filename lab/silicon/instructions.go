package silicon

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// Count is how many warp instructions a board executed in the launches of one kernel of an application: what its
// compiler made of the PTX that Heddle executes unchanged.
type Count struct {
	Board, App, Kernel string
	WarpInsts          float64
	Source             string
	Line               int
}

const instructions = "instructions"

func countColumns() []string {
	return []string{"board", "app", "kernel", "warp_insts", "source"}
}

// OpenCounts reads measured/instructions/ of a folder like lab/silicon, and the boards that it names.
func OpenCounts(dir string) (*Set, error) {
	s := &Set{Dir: dir, Boards: map[string]*Board{}}
	names, err := filepath.Glob(filepath.Join(dir, "measured", instructions, "*.csv"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no counts of instructions: give the folder lab/silicon of Heddle's repository "+
			"with --dir", filepath.Join(dir, "measured", instructions))
	}
	for _, name := range names {
		counts, err := openCounts(name)
		if err != nil {
			return nil, err
		}
		for _, c := range counts {
			if err := s.board(name, c.Line, c.Board); err != nil {
				return nil, err
			}
		}
		s.Counts = append(s.Counts, counts...)
	}
	return s, nil
}

func openCounts(name string) ([]*Count, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readCounts(name, f)
}

func readCounts(name string, in io.Reader) ([]*Count, error) {
	var out []*Count
	err := readTable(name, in, countColumns(), func(line int, cells []string) error {
		n, err := number("warp_insts", cells[3])
		out = append(out, &Count{
			Board: cells[0], App: cells[1], Kernel: cells[2], WarpInsts: n, Source: cells[4], Line: line,
		})
		return err
	})
	return out, err
}

// Count executes the applications without timing and compares the warp instructions of their kernels; results come
// in the order of the counts. The error is an interruption.
func (s *Set) Count(ctx context.Context, o Options) ([]Result, error) {
	at := map[string]*run{}
	var runs []*run
	for _, c := range s.Counts {
		if at[c.App] != nil {
			continue
		}
		x := &run{job: lab.Job{Label: c.App, Bare: true, Spec: sim.Spec{
			Machine: s.Boards[c.Board].File, Functional: true, Seed: 1,
			Sharing: sim.Sharing{Mode: "alone", Name: "alone"},
			Apps:    []sim.App{{Name: c.App, Path: filepath.Join(s.Dir, "..", "..", filepath.FromSlash(c.App))}},
		}}}
		x.job.Machine, _, x.err = sheets.Resolve(x.job.Spec.Machine, nil)
		at[c.App], runs = x, append(runs, x)
	}
	if err := simulate(ctx, runs, &o); err != nil {
		return nil, err
	}
	out := make([]Result, len(s.Counts))
	for i, c := range s.Counts {
		out[i] = c.result(at[c.App], s.Boards[c.Board].Machine)
	}
	return out, nil
}

// result is the count of a kernel beside the execution of its application.
func (c *Count) result(x *run, machine string) Result {
	r := Result{Machine: machine, Row: &Row{
		Group: instructions, Board: c.Board, Name: strings.TrimPrefix(c.App, "apps/") + " " + c.Kernel,
		Silicon: c.WarpInsts, Unit: "warp instructions", Source: c.Source, Line: c.Line,
	}}
	if x.err != nil {
		r.Err = firstLine(x.err)
		return r
	}
	sum := uint64(0)
	for _, k := range x.out.Tenants[0].Kernels {
		if k.Name == c.Kernel {
			sum += k.WarpInsts
		}
	}
	if sum == 0 {
		r.Err = "the application launched no kernel of this name"
		return r
	}
	r.Heddle = float64(sum)
	r.NetSilicon, r.NetHeddle = r.Silicon, r.Heddle
	return r
}

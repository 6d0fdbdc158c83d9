package calib

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/heddle-sim/heddle/internal/text"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/sheets"
)

// Row compares one kernel and configuration with its reference.
type Row struct {
	Name, Group, Config string
	Ref                 *Reference
	Got                 *Outcome
}

// Error is the relative error in cycles.
func (r *Row) Error() float64 { return float64(r.Got.Cycles)/r.Ref.Columns["cycles"] - 1 }

// All runs every reference row whose name passes the filter (nil: all).
func All(dir string, filter func(name, config string) bool) ([]Row, error) {
	specs, err := ReadSpecs(dir)
	if err != nil {
		return nil, err
	}
	byName := map[string]*Spec{}
	for _, s := range specs {
		byName[s.Name] = s
	}
	refs, err := ReadReferences(dir)
	if err != nil {
		return nil, err
	}
	var out []Row
	for i := range refs {
		ref := &refs[i]
		s := byName[ref.Name]
		if s == nil || filter != nil && !filter(ref.Name, ref.Config) {
			continue
		}
		set, err := Overrides(ref.Config)
		if err != nil {
			return nil, err
		}
		m, _, err := sheets.Resolve("qv100", set)
		if err != nil {
			return nil, err
		}
		got, err := Run(dir, s, m, machine.Options{})
		if err != nil {
			return nil, err
		}
		got.GPU = nil
		out = append(out, Row{Name: s.Name, Group: s.Group, Config: ref.Config, Ref: ref, Got: got})
	}
	return out, nil
}

// Summary says how close a set of rows is to the reference.
type Summary struct {
	Rows  int
	Mean  float64 // geometric mean of |error| + 1, less 1
	Worst float64
	Name  string // of the worst row
}

// Summarise groups rows by what key returns.
func Summarise(rows []Row, key func(*Row) string) map[string]Summary {
	logs := map[string]float64{}
	out := map[string]Summary{}
	for i := range rows {
		r := &rows[i]
		k := key(r)
		s := out[k]
		e := math.Abs(r.Error())
		s.Rows++
		logs[k] += math.Log1p(e)
		if e > s.Worst {
			s.Worst, s.Name = e, r.Name+"/"+r.Config
		}
		s.Mean = math.Expm1(logs[k] / float64(s.Rows))
		out[k] = s
	}
	return out
}

// Print writes the table: cycles and hit rates, reference beside ours, with wide DRAM reads, instructions and clocks,
// too, then the summaries. LastLine comes last.
func Print(w io.Writer, rows []Row, wide bool) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	more := ""
	if wide {
		more = "DRAM rd\tref\twarp insts\tref\tclk0\tref\t"
	}
	fmt.Fprintln(tw, "kernel\tconfig\tcycles\tref\terror\tL1 hit\tref\tL2 hit\tref\t"+more)
	for i := range rows {
		r := &rows[i]
		c, n := r.Ref.Columns, r.Got.Counts
		rate := func(hits, all float64) string {
			if all == 0 {
				return "-"
			}
			return fmt.Sprintf("%.3f", hits/all)
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%.0f\t%+.1f%%\t%s\t%s\t%s\t%s\t", r.Name, r.Config, r.Got.Cycles, c["cycles"],
			100*r.Error(),
			rate(float64(n["sm.l1_hits"]), float64(n["sm.l1_accesses"])), rate(c["l1d_hits"], c["l1d_accesses"]),
			rate(float64(n["llc.hits"]), float64(n["llc.accesses"])), rate(c["l2_hits"], c["l2_accesses"]))
		if wide {
			clk := "-"
			if len(r.Got.Clocks) > 0 {
				clk = fmt.Sprint(r.Got.Clocks[0])
			}
			fmt.Fprintf(tw, "%d\t%.0f\t%d\t%.0f\t%s\t%.0f\t", n["dram.read_bursts"], c["dram_reads"], r.Got.WarpInsts,
				c["warp_insn"], clk, c["clk0"])
		}
		fmt.Fprintln(tw)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if !wide {
		fmt.Fprintln(w, "columns left out: DRAM rd, warp insts, clk0 (--wide shows them)")
	}
	sum := byConfig(rows)
	for _, k := range slices.Sorted(maps.Keys(sum)) {
		s := sum[k]
		fmt.Fprintf(w, "%s: %d rows, geometric mean of the absolute errors %.1f%%, worst %.1f%% (%s)\n", k, s.Rows,
			100*s.Mean, 100*s.Worst, s.Name)
	}
	_, err := fmt.Fprintln(w, text.Folded(LastLine(rows), 2, text.Width))
	return err
}

func byConfig(rows []Row) map[string]Summary {
	return Summarise(rows, func(r *Row) string { return r.Group + "/" + r.Config })
}

// LastLine sums rows up in a line: the mean error of each group of kernels under each configuration.
func LastLine(rows []Row) string {
	sum := byConfig(rows)
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(sum)) {
		parts = append(parts, fmt.Sprintf("%s %.1f %% (%d rows)", k, 100*sum[k].Mean, sum[k].Rows))
	}
	return "calibrate: " + strings.Join(parts, ", ")
}

package silicon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim"
)

// Pair is two kernels that were measured beside each other on a board.
type Pair struct {
	Board, Name string
	Programs    []string            // programs in kernels/, without .star: one with both kernels, or one for each
	Args        []map[string]string // arguments of both kernels, or of each
	Shares      []float64           // of the SMs for each process under MPS; none: two streams of one process
	Ratio       string              // which measured time is divided by which: Ratios
	Silicon     float64
	Source      string
	Line        int
}

// Ratios are the ratios as which pairs were measured, each with its meaning.
func Ratios() [][2]string {
	return [][2]string{
		{"pair/series", "both at once, first start to last end, over both one after the other"},
		{"pair/alone", "both at once, first start to last end, over the first alone"},
		{"each/alone", "the mean of the times of each beside the other over the first alone"},
	}
}

// What a pair's errors shall not exceed, in percent.
const (
	pairsMean  = 10
	pairsWorst = 25
)

const colocation = "colocation"

// OpenPairs reads the pairs of a folder and the boards they name: those that others published, and what
// lab/silicon/measure wrote to measured/pairs/.
func OpenPairs(dir string) (*Set, error) {
	s := &Set{Dir: dir, Boards: map[string]*Board{}}
	if err := s.addPairs(filepath.Join(dir, "colocation.csv")); err != nil {
		if errors.Is(err, os.ErrNotExist) && len(s.Pairs) == 0 {
			err = fmt.Errorf("%w: give the folder lab/silicon of Heddle's repository with --dir", err)
		}
		return nil, err
	}
	own, err := filepath.Glob(filepath.Join(dir, "measured", "pairs", "*.csv"))
	if err != nil {
		return nil, err
	}
	for _, name := range own {
		if err := s.addPairs(name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addPairs takes the pairs of a file and the boards that they name.
func (s *Set) addPairs(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	pairs, err := readPairs(name, f)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		if err := s.board(name, p.Line, p.Board); err != nil {
			return err
		}
	}
	s.Pairs = append(s.Pairs, pairs...)
	return nil
}

func pairColumns() []string {
	return []string{"board", "benchmark", "programs", "args", "sharing", "ratio", "silicon", "source"}
}

func readPairs(name string, in io.Reader) ([]*Pair, error) {
	var out []*Pair
	first := once{}
	err := readTable(name, in, pairColumns(), func(line int, cells []string) error {
		p, err := readPair(cells)
		if err != nil {
			return err
		}
		p.Line = line
		out = append(out, p)
		return first.take(p.Board+"\n"+p.Name, fmt.Sprintf("benchmark %q of board %s", p.Name, p.Board), line)
	})
	if err == nil && len(out) == 0 {
		err = errNoRows(name)
	}
	return out, err
}

func readPair(cells []string) (*Pair, error) {
	p := &Pair{Board: cells[0], Name: cells[1], Ratio: cells[5], Source: cells[7]}
	if p.Board == "" || p.Name == "" || cells[2] == "" || p.Source == "" {
		return nil, errors.New("a row needs board, benchmark, programs and source: one of them is empty")
	}
	for _, s := range strings.Split(cells[2], "|") {
		p.Programs = append(p.Programs, strings.TrimSpace(s))
	}
	var err error
	for _, s := range strings.Split(cells[3], "|") {
		args, err := pairs("args", s)
		if err != nil {
			return nil, err
		}
		p.Args = append(p.Args, args)
	}
	if len(p.Programs) > 2 || len(p.Args) > 2 {
		return nil, errors.New("programs and args: give one of both kernels, or two with | between them")
	}
	if p.Shares, err = shares(cells[4]); err != nil {
		return nil, err
	}
	if p.Shares == nil && len(p.Programs) > 1 {
		return nil, fmt.Errorf("sharing %q: both kernels run in one process, so give one program", cells[4])
	}
	if err := fits(p.Ratio, cells[4], p.Shares); err != nil {
		return nil, err
	}
	p.Silicon, err = number("silicon", cells[6])
	return p, err
}

// fits says whether pairs that share a GPU in this way have such a ratio.
func fits(ratio, sharing string, shares []float64) error {
	var names []string
	for _, r := range Ratios() {
		names = append(names, r[0])
	}
	if !slices.Contains(names, ratio) {
		return fmt.Errorf("ratio %q: the ratios are %s%s", ratio, strings.Join(names, ", "),
			yamldoc.DidYouMean(ratio, names))
	}
	if streams := shares == nil; streams == (ratio == "each/alone") {
		return fmt.Errorf("ratio %q of sharing %q: streams have pair/series and pair/alone, MPS has each/alone",
			ratio, sharing)
	}
	return nil
}

// shares reads how two kernels share the GPU: "streams", which gives nil, or "mps 50%" or "mps 60% 40%", which gives
// the part of the SMs of each.
func shares(s string) ([]float64, error) {
	wrong := fmt.Errorf("sharing %q: write streams, or mps and shares of the SMs, as in mps 50%%", s)
	f := strings.Fields(s)
	switch {
	case len(f) == 1 && f[0] == "streams":
		return nil, nil
	case len(f) < 2 || len(f) > 3 || f[0] != "mps":
		return nil, wrong
	}
	var out []float64
	sum := 0.0
	for _, x := range []string{f[1], f[len(f)-1]} {
		v, err := strconv.ParseFloat(strings.TrimSuffix(x, "%"), 64)
		if err != nil || !strings.HasSuffix(x, "%") || v <= 0 || math.IsNaN(v) {
			return nil, wrong
		}
		out = append(out, v/100)
		sum += v
	}
	if sum > 100 {
		return nil, fmt.Errorf("sharing %q: the shares are %g %% together: SMs are divided here, so give at most "+
			"100 %%", s, sum)
	}
	return out, nil
}

// SelectPairs returns the pairs of a machine; "": all pairs.
func (s *Set) SelectPairs(machine string) ([]*Pair, error) {
	if machine == "" {
		return s.Pairs, nil
	}
	var out []*Pair
	var machines []string
	for _, p := range s.Pairs {
		m := s.Boards[p.Board].Machine
		if machines = append(machines, m); m == machine {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		slices.Sort(machines)
		machines = slices.Compact(machines)
		return nil, fmt.Errorf("no pairs of machine %q: there are pairs of %s%s", machine, strings.Join(machines, ", "),
			yamldoc.DidYouMean(machine, machines))
	}
	return out, nil
}

// MeasurePairs simulates pairs, each both ways, and returns the results in their order. The error is an interruption.
func (s *Set) MeasurePairs(ctx context.Context, pairs []*Pair, o Options) ([]Result, error) {
	var runs []*run
	var at []int // of each pair, then the end
	for _, p := range pairs {
		at = append(at, len(runs))
		for end := range p.ends() {
			runs = append(runs, s.pairRun(p, true, end, &o), s.pairRun(p, false, end, &o))
		}
	}
	at = append(at, len(runs))
	if err := simulate(ctx, runs, &o); err != nil {
		return nil, err
	}
	out := make([]Result, len(pairs))
	for i, p := range pairs {
		out[i] = Result{Machine: s.Boards[p.Board].Machine, Row: &Row{
			Group: colocation, Board: p.Board, Name: p.Name, Silicon: p.Silicon, Unit: p.Ratio, Source: p.Source,
			Line: p.Line,
		}}
		r := &out[i]
		of := runs[at[i]:at[i+1]]
		if bad := slices.IndexFunc(of, func(x *run) bool { return x.err != nil }); bad >= 0 {
			r.Err = firstLine(of[bad].err)
			continue
		}
		r.Heddle = p.ratio(of)
		r.NetSilicon, r.NetHeddle = r.Silicon, r.Heddle
	}
	return out, nil
}

// pairRun plans the kernels beside each other, or what that is compared with, with the first or the second number of
// a range.
func (s *Set) pairRun(p *Pair, both bool, end int, o *Options) *run {
	how := "alone"
	switch {
	case p.Shares == nil && both:
		how = "pair"
	case p.Ratio == "pair/series":
		how = "series"
	}
	x := &run{job: lab.Job{Label: p.Board + " " + p.Name, Bare: true, Spec: sim.Spec{
		Machine: s.Boards[p.Board].File, Set: maps.Clone(o.Set), Seed: 1,
		Sharing: sim.Sharing{Mode: "alone", Name: "alone"},
	}}}
	x.job.Machine, _, x.err = sheets.Resolve(x.job.Spec.Machine, x.job.Spec.Set)
	if x.err != nil {
		return x
	}
	for i := range 2 {
		program := p.Programs[min(i, len(p.Programs)-1)]
		args := maps.Clone(p.Args[min(i, len(p.Args)-1)])
		args["how"] = how
		if p.Shares == nil {
			args = p.streams(how)
		}
		for k, v := range args {
			if from, to, ok := strings.Cut(v, ".."); ok {
				args[k] = []string{from, to}[end]
			}
		}
		x.job.Spec.Apps = append(x.job.Spec.Apps, sim.App{
			Name: fmt.Sprint(program, " ", i), Path: filepath.Join(s.Dir, "kernels", program+".star"), Args: args,
		})
		if p.Shares == nil {
			break
		}
		x.job.Spec.Sharing.Mode, x.job.Spec.Sharing.Name = "mps", "mps"
		sms := int(math.Round(p.Shares[i] * float64(x.job.Machine.SM.Count)))
		x.job.Spec.Sharing.SMs = append(x.job.Spec.Sharing.SMs, sms)
		if !both {
			break
		}
	}
	return x
}

// streams is the arguments of the one process: the second kernel's end in _2.
func (p *Pair) streams(how string) map[string]string {
	args := maps.Clone(p.Args[0])
	args["how"] = how
	if len(p.Args) > 1 && how != "alone" {
		for k, v := range p.Args[1] {
			args[k+"_2"] = v
		}
	}
	return args
}

// ends is 2 where a number of the arguments is a range, as in turns=4..12: both are run, and the difference counts. So
// caches that are empty at the begin do not. Else it is 1.
func (p *Pair) ends() int {
	for _, args := range p.Args {
		for _, v := range args {
			if strings.Contains(v, "..") {
				return 2
			}
		}
	}
	return 1
}

// ratio is what simulations say that come in twos, both kernels beside each other and what that is compared with; two
// twos are the ends of a range.
func (p *Pair) ratio(runs []*run) float64 {
	took := func(k, tenant int) float64 { // between the ends
		t := p.span(&runs[len(runs)-2+k].out.Tenants[tenant])
		if len(runs) > 2 {
			t -= p.span(&runs[k].out.Tenants[tenant])
		}
		return t
	}
	sum, n := 0.0, len(runs[0].out.Tenants)
	for i := range n {
		sum += took(0, i)
	}
	return sum / float64(n) / took(1, 0)
}

// span is the time of the kernels that count: from the first start to the last end, or the sum where they run one
// after the other, as the gaps between launches are nothing to a long series.
func (p *Pair) span(t *sim.Tenant) float64 {
	first, last, sum, apart := uint64(math.MaxUint64), uint64(0), uint64(0), true
	for i := skipped(t.Log); i < len(t.Kernels); i++ {
		k := &t.Kernels[i]
		apart = apart && k.Start >= last
		first, last = min(first, k.Start), max(last, k.End)
		sum += k.End - k.Start
	}
	if apart {
		return float64(sum)
	}
	return float64(last - first)
}

// PairsText prints pairs. The last line sums them up.
func PairsText(w io.Writer, results []Result) error {
	if err := table(w, results); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, r := range Ratios() {
		fmt.Fprintf(w, "%s: %s.\n", r[0], r[1])
	}
	_, err := fmt.Fprintln(w, PairsLine(results))
	return err
}

// errorsOf is the mean and the largest error of rows with a figure, fractions, and how many there are.
func errorsOf(results []Result) (mean, worst float64, rows int) {
	for i := range results {
		if r := &results[i]; r.Err == "" {
			e := math.Abs(r.Error())
			mean, worst, rows = mean+e, max(worst, e), rows+1
		}
	}
	return mean / float64(max(1, rows)), worst, rows
}

// PairsLine is the line that sums pairs up.
func PairsLine(results []Result) string {
	mean, worst, rows := errorsOf(results)
	s := fmt.Sprintf("colocation: mean error %.1f %%, worst %.1f %% (%d rows", 100*mean, 100*worst, rows)
	if n := len(results) - rows; n > 0 {
		s += fmt.Sprintf(", %d failed", n)
	}
	return s + ")"
}

// PairsMissed lists the pairs whose error is above the wanted one; a pair without a figure counts.
func PairsMissed(results []Result) (out []string) {
	for i := range results {
		r := &results[i]
		if r.Err != "" {
			out = append(out, fmt.Sprintf("%s failed: %s", r.Name, r.Err))
		} else if e := 100 * math.Abs(r.Error()); e > pairsWorst {
			out = append(out, fmt.Sprintf("%s: %.1f %% off, wanted at most %d %%", r.Name, e, pairsWorst))
		}
	}
	if mean, _, _ := errorsOf(results); 100*mean > pairsMean {
		out = append(out, fmt.Sprintf("mean error %.1f %%, wanted %d %%", 100*mean, pairsMean))
	}
	return out
}

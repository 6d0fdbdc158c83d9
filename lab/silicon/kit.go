package silicon

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Probe is one measurement that lab/silicon/measure makes on a board: a line of kit.csv. Its result becomes a row in
// the form of rows.csv, which `heddle validate silicon` compares with a simulation.
type Probe struct {
	Group, Name, Unit, Program string
	Args                       string // of the simulation; | separates the arguments of two runs
	OnBoard                    string // of the measurement, if it can use larger sizes; "": Args
	Value                      Expression
	Launches                   int
	Long                       bool
	Soft                       string // why the row does not count in the score; "": it counts
	Line                       int
}

// kitColumns are those of kit.csv.
func kitColumns() []string {
	return []string{"group", "name", "unit", "program", "args", "on_board", "value", "launches", "when", "soft"}
}

// Borrowed are the applications whose kernels lie among those of the folder, by the name of the PTX.
func Borrowed() map[string]string {
	return map[string]string{
		"backprop": "rodinia-like/backprop", "hotspot": "rodinia-like/hotspot", "lud": "rodinia-like/lud",
		"mri-q": "parboil-like/mri-q", "sgemm": "parboil-like/sgemm",
	}
}

// Kit reads kit.csv of a folder like lab/silicon.
func Kit(dir string) ([]*Probe, error) {
	name := filepath.Join(dir, "kit.csv")
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: give the folder lab/silicon of Heddle's repository with --dir", err)
	}
	defer f.Close()
	return readKit(name, f)
}

func readKit(name string, in io.Reader) ([]*Probe, error) {
	var out []*Probe
	first := once{}
	err := readTable(name, in, kitColumns(), func(line int, cells []string) error {
		p, err := readProbe(cells)
		if err != nil {
			return err
		}
		p.Line = line
		out = append(out, p)
		return first.take(p.Name, strconv.Quote(p.Name), line)
	})
	return out, err
}

func readProbe(cells []string) (*Probe, error) {
	p := &Probe{
		Group: cells[0], Name: cells[1], Unit: cells[2], Program: cells[3], Args: cells[4], OnBoard: cells[5],
		Soft: cells[9],
	}
	if !slices.Contains(Groups(), p.Group) {
		return nil, fmt.Errorf("group %q: the groups are %s", p.Group, strings.Join(Groups(), ", "))
	}
	if p.Name == "" || p.Program == "" {
		return nil, errors.New("a line needs name and program: one of them is empty")
	}
	var err error
	if p.Value, err = ParseExpression(cells[6]); err != nil {
		return nil, err
	}
	if cells[7] != "" {
		if p.Launches, err = strconv.Atoi(cells[7]); err != nil || p.Launches < 1 {
			return nil, fmt.Errorf("launches %q: give a whole number above 0, or leave it empty", cells[7])
		}
	}
	if p.Long = cells[8] == "long"; !p.Long && cells[8] != "" {
		return nil, fmt.Errorf("when %q: leave it empty, or say long", cells[8])
	}
	return p, nil
}

// KitPair is two kernels that lab/silicon/measure measures beside each other: a line of kit_pairs.csv. Its result
// becomes a row in the form of colocation.csv.
type KitPair struct {
	Name, Program string
	Args          string // of both kernels, or of each with | between them
	OnBoard       string // of the measurement, if it can use larger sizes; "": Args
	Sharing       string // "streams" or "mps 50%"
	Shares        []float64
	Ratio         string
}

// kitPairColumns are those of kit_pairs.csv.
func kitPairColumns() []string {
	return []string{"benchmark", "program", "args", "on_board", "sharing", "ratio"}
}

// KitPairs reads kit_pairs.csv of a folder like lab/silicon.
func KitPairs(dir string) ([]*KitPair, error) {
	name := filepath.Join(dir, "kit_pairs.csv")
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: give the folder lab/silicon of Heddle's repository with --dir", err)
	}
	defer f.Close()
	var out []*KitPair
	first := once{}
	err = readTable(name, f, kitPairColumns(), func(line int, cells []string) error {
		p := &KitPair{
			Name: cells[0], Program: cells[1], Args: cells[2], OnBoard: cells[3], Sharing: cells[4], Ratio: cells[5],
		}
		if p.Name == "" || p.Program == "" {
			return errors.New("a line needs benchmark and program: one of them is empty")
		}
		var err error
		if p.Shares, err = shares(p.Sharing); err != nil {
			return err
		}
		if err := fits(p.Ratio, p.Sharing, p.Shares); err != nil {
			return err
		}
		out = append(out, p)
		return first.take(p.Name, strconv.Quote(p.Name), line)
	})
	return out, err
}

// braces hold an expression of the board's numbers.
var braces = regexp.MustCompile(`\{[^}]*\}`)

// Fill replaces expressions in braces by the board's numbers: blocks={2*sms}.
func Fill(args string, board Figures) (string, error) {
	var bad error
	out := braces.ReplaceAllStringFunc(args, func(s string) string {
		e, err := ParseExpression(s[1 : len(s)-1])
		if err == nil {
			var v float64
			if v, err = e.Value(board); err == nil {
				return strconv.FormatFloat(v, 'f', -1, 64)
			}
		}
		bad = err
		return s
	})
	return out, bad
}

// Runs are the arguments of each run in a text of arguments.
func Runs(args string) ([]map[string]string, error) {
	var out []map[string]string
	for _, one := range strings.Split(args, "|") {
		m, err := pairs("args", one)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// Measured is the result of a probe on a board.
type Measured struct {
	*Probe
	Args   string    // filled
	Values []float64 // of the repetitions, at least one
	Floor  float64   // cycles of an empty launch, measured the same way
}

// Median is the median of the repetitions, and their spread in percent of it.
func (m *Measured) Median() (median, spread float64) {
	v := slices.Clone(m.Values)
	slices.Sort(v)
	median = v[len(v)/2]
	return median, (v[len(v)-1] - v[0]) / median * 100
}

// About describes the board of a measurement: the end of every source.
type About struct {
	Board string // the name of its sheet
	What  string // the GPU, its driver, its compiler
	Day   time.Time
	MHz   float64 // core clock during the measurement
}

// WriteMeasured writes rows in the form of rows.csv.
func WriteMeasured(w io.Writer, about About, rows []Measured) error {
	c := csv.NewWriter(w)
	if err := c.Write(columns()); err != nil {
		return err
	}
	num := func(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
	for i := range rows {
		m := &rows[i]
		median, spread := m.Median()
		launches, floor, when := "", "", ""
		if m.Launches > 0 {
			launches, floor = strconv.Itoa(m.Launches), num(m.Floor)
		}
		if m.Long {
			when = "long"
		}
		source := fmt.Sprintf("measured %s by lab/silicon/measure: %s, %.0f MHz; median of %d, %.1f %% apart",
			about.Day.Format(time.DateOnly), about.What, about.MHz, len(m.Values), spread)
		if err := c.Write([]string{
			m.Group, about.Board, m.Name, num(median), m.Unit, m.Program, m.Args, "", m.Value.String(), launches, floor,
			when, m.Soft, source,
		}); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

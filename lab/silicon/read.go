package silicon

import (
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

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// Set is everything in a folder like lab/silicon.
type Set struct {
	Dir    string
	Rows   []*Row // of rows.csv or peaks.csv
	Counts []*Count
	Pairs  []*Pair // of colocation.csv
	Boards map[string]*Board
}

// Machines are the machines of boards; those shipped here come first, by age.
func (s *Set) Machines() []string {
	var out []string
	for _, r := range s.Rows {
		if m := s.Boards[r.Board].Machine; !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	slices.Sort(out)
	return out
}

// Open reads the measurements of a folder and the boards they name: those that others published, and what
// lab/silicon/measure wrote to measured/.
func Open(dir string) (*Set, error) {
	s, err := open(dir, "rows.csv")
	if err != nil {
		return nil, err
	}
	own, err := filepath.Glob(filepath.Join(dir, "measured", "*.csv"))
	if err != nil {
		return nil, err
	}
	for _, name := range own {
		if err := s.read(name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func open(dir, file string) (*Set, error) {
	s := &Set{Dir: dir, Boards: map[string]*Board{}}
	err := s.read(filepath.Join(dir, file))
	if errors.Is(err, os.ErrNotExist) && len(s.Rows) == 0 {
		err = fmt.Errorf("%w: give the folder lab/silicon of Heddle's repository with --dir", err)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// OpenRows reads the rows of one file, which messages call name, and the boards of dir that they name.
func OpenRows(dir, name string, rows io.Reader) (*Set, error) {
	s := &Set{Dir: dir, Boards: map[string]*Board{}}
	return s, s.add(name, rows)
}

func (s *Set) read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.add(name, f)
}

// add takes the rows of a file and the boards that they name.
func (s *Set) add(name string, in io.Reader) error {
	rows, err := readRows(name, in)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := s.board(name, r.Line, r.Board); err != nil {
			return err
		}
	}
	s.Rows = append(s.Rows, rows...)
	return nil
}

// board reads the board that a line of a file names, once.
func (s *Set) board(file string, line int, board string) error {
	if s.Boards[board] != nil {
		return nil
	}
	b, err := readBoard(s.Dir, board)
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%s:%d: board %q: no sheet %s: add one, or name one that is there", file, line, board,
			filepath.Join(s.Dir, "boards", board+".yaml"))
	}
	s.Boards[board] = b
	return err
}

// readBoard reads a board's sheet whole, so that a wrong number is an error before anything runs.
func readBoard(dir, name string) (*Board, error) {
	file := filepath.Join(dir, "boards", name+".yaml")
	m, _, err := sheets.Load(file)
	if err != nil {
		return nil, err
	}
	b := &Board{Name: name, File: file, MHz: m.Clock.Core, SMs: m.SM.Count}
	for at := file; ; {
		src, err := yamldoc.ReadFile(at)
		if err != nil {
			return nil, err
		}
		root, err := yamldoc.Parse(at, src)
		if err != nil {
			return nil, err
		}
		base := root.Get("base")
		if base == nil {
			return nil, root.Errorf("a board's sheet needs base: the machine that it belongs to")
		}
		if !strings.Contains(base.Raw, "/") {
			b.Machine = base.Raw
			return b, nil
		}
		at = filepath.Join(filepath.Dir(at), base.Raw)
	}
}

// columns of rows.csv.
func columns() []string {
	return []string{
		"group", "board", "name", "silicon", "unit", "program", "args", "set", "value", "launches", "floor", "when",
		"soft",
		"source",
	}
}

func readRows(name string, in io.Reader) ([]*Row, error) {
	var rows []*Row
	first := once{}
	err := readTable(name, in, columns(), func(line int, cells []string) error {
		r, err := readRow(cells)
		if err != nil {
			return err
		}
		r.Line = line
		rows = append(rows, r)
		return first.take(r.Board+"\n"+r.Name, fmt.Sprintf("row %q of board %s", r.Name, r.Board), line)
	})
	if err == nil && len(rows) == 0 {
		err = errNoRows(name)
	}
	return rows, err
}

func readRow(cells []string) (*Row, error) {
	r := &Row{
		Group: cells[0], Board: cells[1], Name: cells[2], Unit: cells[4], Program: cells[5], Soft: cells[12],
		Source: cells[13],
	}
	if !slices.Contains(Groups(), r.Group) {
		return nil, fmt.Errorf("group %q: the groups are %s%s", r.Group, strings.Join(Groups(), ", "),
			yamldoc.DidYouMean(r.Group, Groups()))
	}
	if r.Name == "" || r.Board == "" || r.Program == "" || r.Source == "" {
		return nil, errors.New("a row needs board, name, program and source: one of them is empty")
	}
	var err error
	if r.Silicon, err = number("silicon", cells[3]); err != nil {
		return nil, err
	}
	for _, args := range strings.Split(cells[6], "|") {
		m, err := pairs("args", args)
		if err != nil {
			return nil, err
		}
		r.Runs = append(r.Runs, m)
	}
	if r.Set, err = pairs("set", cells[7]); err != nil {
		return nil, err
	}
	if r.Value, err = ParseExpression(cells[8]); err != nil {
		return nil, err
	}
	if cells[9] != "" {
		n, err := number("launches", cells[9])
		if err != nil {
			return nil, err
		}
		if r.Floor, err = number("floor", cells[10]); err != nil {
			return nil, err
		}
		r.Launches = int(n)
	}
	if r.Long = cells[11] == "long"; !r.Long && cells[11] != "" {
		return nil, fmt.Errorf("when %q: leave it empty, or say long", cells[11])
	}
	return r, nil
}

// number reads a positive number: what is divided by it, or taken the logarithm of, must be one.
func number(what, s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v <= 0 || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s %q: give a number above 0", what, s)
	}
	return v, nil
}

func pairs(what, s string) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range strings.Fields(s) {
		k, v, ok := strings.Cut(p, "=")
		if !ok || k == "" {
			return nil, fmt.Errorf("%s %q: write NAME=VALUE", what, p)
		}
		out[k] = v
	}
	return out, nil
}

// Select returns the rows of a machine and of some groups; "" and no group: all of them. An unknown name is an error.
func (s *Set) Select(machine string, groups []string, long bool) ([]*Row, error) {
	if machine != "" && !slices.Contains(s.Machines(), machine) {
		return nil, fmt.Errorf("no rows for machine %q: there are rows for %s%s", machine, strings.Join(s.Machines(),
			", "),
			yamldoc.DidYouMean(machine, s.Machines()))
	}
	for _, g := range groups {
		if !slices.Contains(Groups(), g) {
			return nil, fmt.Errorf("no group %q: the groups are %s%s", g, strings.Join(Groups(), ", "),
				yamldoc.DidYouMean(g, Groups()))
		}
	}
	var out []*Row
	for _, g := range Groups() {
		for _, m := range s.Machines() {
			for _, r := range s.Rows {
				of := s.Boards[r.Board].Machine
				if r.Group == g && of == m && (machine == "" || of == machine) && (len(groups) == 0 ||
					slices.Contains(groups, g)) && (long || !r.Long) {
					out = append(out, r)
				}
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no row of machine %s is in group %s: its groups are %s", machine,
			strings.Join(groups, ", "), strings.Join(s.groupsOf(machine), ", "))
	}
	return out, nil
}

func (s *Set) groupsOf(machine string) []string {
	has := map[string]bool{}
	for _, r := range s.Rows {
		if s.Boards[r.Board].Machine == machine {
			has[r.Group] = true
		}
	}
	return slices.Sorted(maps.Keys(has))
}

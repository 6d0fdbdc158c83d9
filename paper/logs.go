package paper

import (
	"fmt"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/report/figure"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// Logs describes the runs behind another simulator's result logs: a table with a row for each log (logs.tsv). The
// name of a log gives the program and, by the folders it lies in, the policies.
type Logs struct {
	File    string          `yaml:"file"`
	Inputs  string          `yaml:"inputs"`   // of the programs, at every scale
	Set     runfile.Scalars `yaml:"set"`      // numbers that differ from the study's machine
	Names   runfile.Scalars `yaml:"programs"` // names in logs that are not the keys of programs here
	Enough  string          `yaml:"enough"`   // a size of device memory that holds everything
	Folders []LogFolder     `yaml:"folders"`  // the first whose path fits counts
	Reasons []LogReason     `yaml:"reasons"`  // the first that fits counts

	rows []logRow
}

// LogFolder has the policies of the logs whose names match a pattern (path.Match).
type LogFolder struct {
	Path   string         `yaml:"path"`
	Memory runfile.Memory `yaml:"memory"`
}

// LogReason says why numbers of logs differ here: for a program, in the logs whose names match a pattern ("": all).
type LogReason struct {
	Path    string `yaml:"path"`
	Program string `yaml:"program"`
	Why     string `yaml:"why"`
}

// logRow is a log: its numbers, and the run that reproduces it.
type logRow struct {
	name, program string
	memory        runfile.Memory
	said          []float64
}

// logNumbers are the numbers of a log, by their names in its table.
func logNumbers() []string {
	return []string{
		"pages_faulted", "pages_migrated", "pages_evicted", "pages_thrashed", "kernel_plus_fault_cycles",
	}
}

// logSlack is the difference from the log's number that is allowed, as a share of that number.
const logSlack = 0.1

// logSuffix is the part of a log's name after the program's name.
const logSuffix = `(?i)(_\d+_[a-z]+)?(\.log)?$`

// read reads the table of logs; errors name file and line.
func (l *Logs) read(s *Study, file string, text []byte) (rows []logRow, err error) {
	var columns []string
	for i, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		wrong := func(format string, a ...any) error {
			return fmt.Errorf("%s:%d: %s", file, i+1, fmt.Sprintf(format, a...))
		}
		cells := strings.Split(strings.TrimRight(line, "\r"), "\t")
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case columns == nil:
			columns = cells
			for _, n := range append([]string{"log", "device_memory"}, logNumbers()...) {
				if !slices.Contains(columns, n) {
					return nil, wrong("the table has no column %s", n)
				}
			}
			continue
		case len(cells) != len(columns):
			return nil, wrong("%d cells, and %d columns have titles", len(cells), len(columns))
		}
		cell := func(name string) string { return cells[slices.Index(columns, name)] }
		row := logRow{name: cell("log")}
		if row.program, err = l.program(s, row.name); err != nil {
			return nil, wrong("%v", err)
		}
		if row.memory, err = l.memory(row.name, cell("device_memory")); err != nil {
			return nil, wrong("%v", err)
		}
		for _, n := range logNumbers() {
			x, err := strconv.ParseFloat(cell(n), 64)
			if err != nil || !(x >= 0) {
				return nil, wrong("%s is %q, no number of 0 or more", n, cell(n))
			}
			row.said = append(row.said, x)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: there is no log in the table", file)
	}
	return rows, nil
}

// program is the program that a log is of.
func (l *Logs) program(s *Study, name string) (string, error) {
	short := strings.ToLower(regexp.MustCompile(logSuffix).ReplaceAllString(path.Base(name), ""))
	key := short
	if other, ok := l.Names[short]; ok {
		key = other
	}
	if s.program(key) == nil {
		var keys []string
		for _, p := range s.Programs {
			keys = append(keys, p.Key)
		}
		return "", fmt.Errorf("log %s is of program %s, which the study does not have: give its key here under "+
			"logs.programs, or remove the row. The programs are %s", name, short, strings.Join(keys, ", "))
	}
	return key, nil
}

// memory is the memory section that reproduces a log's run.
func (l *Logs) memory(name, device string) (m runfile.Memory, err error) {
	dir := path.Dir(name)
	i := slices.IndexFunc(l.Folders, func(f LogFolder) bool {
		ok, _ := path.Match(f.Path, dir) // validated
		return ok
	})
	if i < 0 {
		return m, fmt.Errorf("log %s lies in a folder for which no policies are known: add it under logs.folders", name)
	}
	m = l.Folders[i].Memory
	if m.Unified.Capacity = device; device == l.Enough {
		m.Unified.Capacity = ""
	}
	u := sim.Unified(m.Unified)
	if err := u.Valid(); err != nil {
		return m, fmt.Errorf("log %s: %w", name, err)
	}
	return m, nil
}

// why is the reason for a difference.
func (l *Logs) why(row *logRow) string {
	for _, r := range l.Reasons {
		ok, _ := path.Match(r.Path, path.Dir(row.name)) // validated
		if (r.Program == "" || r.Program == row.program) && (r.Path == "" || ok) {
			return strings.TrimSpace(r.Why)
		}
	}
	return "not known"
}

// logFigure holds the rows of a study's logs against runs; runs that several logs are of are done once.
type logFigure struct {
	*Reproduced
	logs   *Logs
	within map[string][]float64 // by number, and "all five": 100 where a row's is within the slack, else 0
}

// fill does the runs and records every row.
func (f *logFigure) fill(b *Book) {
	own, scale := *b, *b.Scale
	scale.Inputs, scale.Whole = f.logs.Inputs, true
	scale.Budget = max(scale.Budget, mostLogCycles)
	own.Scale = &scale
	f.Columns = []string{"log", "program", "device_memory"}
	for _, n := range logNumbers() {
		f.Columns = append(f.Columns, n, n+"_log")
	}
	f.Columns = append(f.Columns, "within", "why")
	f.within = map[string][]float64{}
	for i := range f.logs.rows {
		row := &f.logs.rows[i]
		res, err := own.Single(row.program, &Config{Name: "log", Set: f.logs.Set, Memory: row.memory})
		if err != nil {
			f.fail(err)
		}
		f.book(row, res)
	}
	f.draw()
}

// draw measures and draws the share of rows that are within the slack.
func (f *logFigure) draw() {
	panel := figure.Panel{
		Title: "rows within 10 %", YLabel: "% of the logs", Kind: figure.Bars,
		Ticks: append(logNumbers(), "all five"),
	}
	var shares []float64
	for _, n := range panel.Ticks {
		f.measure("within "+n, f.within[n])
		shares = append(shares, max(0, f.Measures["within "+n+" mean"].Value))
	}
	if len(f.Measures) > 0 {
		panel.Series = []figure.Series{{Name: "here", Y: shares}}
	}
	f.Draw.Panels = []figure.Panel{panel}
}

// mostLogCycles bounds a run of a log.
const mostLogCycles = 1_000_000_000

// book adds one row.
func (f *logFigure) book(row *logRow, res *sim.Result) {
	cells := []any{row.name, row.program, either(row.memory.Unified.Capacity, f.logs.Enough)}
	all, missed := 100.0, []string{}
	for k, n := range logNumbers() {
		x := math.NaN()
		if res != nil {
			x = loggedNumbers(res)[k]
		}
		cells = append(cells, x, row.said[k])
		near := 0.0
		if math.Abs(x-row.said[k]) <= logSlack*row.said[k] {
			near = 100
		}
		if all = min(all, near); near == 0 {
			missed = append(missed, n)
		}
		if res != nil {
			f.within[n] = append(f.within[n], near)
		}
	}
	switch {
	case res == nil:
		f.row(append(cells, "", "")...)
		return
	case len(missed) == 0:
		f.row(append(cells, "yes", "")...)
	default:
		f.row(append(cells, "not "+strings.Join(missed, ", "), f.logs.why(row))...)
	}
	f.within["all five"] = append(f.within["all five"], all)
}

// either is the text, or where that is empty the other.
func either(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// loggedNumbers is what a log would say of a run.
func loggedNumbers(r *sim.Result) []float64 {
	n := func(name string) float64 { return pagesOf(name)(r, 0) }
	return []float64{
		faultedPages(r, 0), n("migrated_pages"), n("evicted_pages"), n("thrashed_pages"), timeWithFaults(r, 0),
	}
}

// validate checks what a study says of logs.
func (l *Logs) validate(s *Study, root *yamldoc.Node) error {
	if l == nil {
		return nil
	}
	at := root.At("logs")
	if l.File == "" || l.Inputs == "" || len(l.Folders) == 0 {
		return at.Errorf("logs need file, inputs and folders")
	}
	for _, f := range l.Folders {
		if _, err := path.Match(f.Path, ""); err != nil || f.Path == "" {
			return at.Errorf("logs: %q is no pattern of a path", f.Path)
		}
	}
	for _, w := range l.Reasons {
		if _, err := path.Match(w.Path, ""); err != nil || w.Why == "" {
			return at.Errorf("logs: a reason needs why, and as path a pattern; not %q and %q", w.Path, w.Why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Names)) {
		if s.program(l.Names[name]) == nil {
			return at.Errorf("logs: program %s is %q, which the study does not have", name, l.Names[name])
		}
	}
	return nil
}

// load reads the table of logs beside a study, if there is one.
func (l *Logs) load(s *Study, root *yamldoc.Node, name string) error {
	if err := l.validate(s, root); err != nil || l == nil {
		return err
	}
	shown, read := beside(name)
	text, err := read(l.File)
	if err != nil {
		return err
	}
	l.rows, err = l.read(s, path.Join(shown, l.File), text)
	return err
}

// ReadLogs takes the logs of another table of the same form.
func (s *Study) ReadLogs(file string) error {
	if s.Logs == nil {
		return fmt.Errorf("study %s compares nothing with logs: leave --logs out", s.Name)
	}
	text, err := yamldoc.ReadFile(file)
	if err != nil {
		return err
	}
	s.Logs.rows, err = s.Logs.read(s, file, text)
	return err
}

package paper

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/sim"
)

// Runs is a file with a row for each finished run of figures about latency-sensitive tasks (runs.csv, beside the
// figures). It can be committed while a study of hours goes on: a reproduction that finds the file simulates only the
// runs that it lacks. A row names its simulator. Rows of other simulators are used, too, and every figure counts
// them: to drop them, delete the file.
type Runs struct {
	file string
	rows map[string][]string // by the columns before runKey
}

// The columns of runs.csv. Those before runKey name a run, then come its simulator and its numbers.
func runColumns() []string {
	return []string{
		"machine", "numbers", "mix", "target", "run", "simulator", "reached_over_target", "batch_over_alone", "power_w",
		"ls_sms", "batch_sms", "sm_moves",
	}
}

// runKey is how many columns name a run.
const runKey = 5

// taskRun is what figures about latency-sensitive tasks need of a run.
type taskRun struct {
	Code       string  // of the simulator
	Reached    float64 // IPC of the task with a target over the target
	Batch      float64 // IPC of the other over what it has alone
	Power      float64 // watts
	LS, Others int     // SMs at the end
	Moves      int     // SMs
}

// OpenRuns reads the file; one that is not there has no rows.
func OpenRuns(file string) (*Runs, error) {
	r := &Runs{file: file}
	return r, r.read()
}

// read takes the rows that the file has now.
func (r *Runs) read() error {
	r.rows = map[string][]string{}
	text, err := os.ReadFile(r.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lines := csv.NewReader(bytes.NewReader(text))
	lines.FieldsPerRecord = len(runColumns())
	all, err := lines.ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w; mend the line, or take it out, and its run is simulated anew", r.file, err)
	}
	for i, row := range all {
		if i == 0 {
			if !slices.Equal(row, runColumns()) {
				return fmt.Errorf("%s:1: the columns must be %s: move the file away to begin anew", r.file,
					strings.Join(runColumns(), ","))
			}
			continue
		}
		if _, err := parseRun(row); err != nil {
			return fmt.Errorf("%s:%d: %w; mend the line, or take it out, and its run is simulated anew", r.file, i+1,
				err)
		}
		r.rows[strings.Join(row[:runKey], "\n")] = row
	}
	return nil
}

// find gives a run by the columns that name it; nil where it is not there. A nil Runs has none.
func (r *Runs) find(name []string) (*taskRun, error) {
	if r == nil {
		return nil, nil
	}
	row := r.rows[strings.Join(name, "\n")]
	if row == nil {
		return nil, nil
	}
	return parseRun(row)
}

func parseRun(row []string) (*taskRun, error) {
	run := &taskRun{Code: row[runKey]}
	var errs []error
	columns := runColumns()
	number := func(i int) float64 {
		v, err := strconv.ParseFloat(row[i], 64)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: a number is expected, not %q", columns[i], row[i]))
		}
		return v
	}
	run.Reached, run.Batch, run.Power = number(runKey+1), number(runKey+2), number(runKey+3)
	run.LS, run.Others, run.Moves = int(number(runKey+4)), int(number(runKey+5)), int(number(runKey+6))
	return run, errors.Join(errs...)
}

// add keeps a run: the file has its row when add returns, beside those that others have put there meanwhile. Rows are
// in order, so that versions of the file differ in the new rows alone.
func (r *Runs) add(name []string, run *taskRun) error {
	if r == nil {
		return nil
	}
	if err := r.read(); err != nil {
		return err
	}
	row := slices.Clone(name)
	row = append(row, run.Code)
	for _, v := range []float64{
		run.Reached, run.Batch, run.Power, float64(run.LS), float64(run.Others), float64(run.Moves),
	} {
		row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
	}
	r.rows[strings.Join(name, "\n")] = row
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	err := w.Write(runColumns())
	for _, k := range slices.Sorted(maps.Keys(r.rows)) {
		err = errors.Join(err, w.Write(r.rows[k]))
	}
	w.Flush()
	if err = errors.Join(err, w.Error(), os.MkdirAll(filepath.Dir(r.file), 0o755)); err != nil {
		return err
	}
	return scratch.WriteWhole(r.file, text.Bytes())
}

// Has is the number of rows.
func (r *Runs) Has() int { return len(r.rows) }

// name are the columns that name a run: all that the study says of it. What it does not say, the simulator, the
// sheet and the applications, is what the row's simulator is of.
func (b taskBook) name(spec *sim.Spec, mix string) []string {
	list := func(of map[string]string) string {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(of)) {
			parts = append(parts, k+"="+of[k])
		}
		return strings.Join(parts, " ")
	}
	numbers := maps.Clone(b.book.set)
	for k, v := range b.figure.Power {
		numbers["power."+k] = v
	}
	how := []string{fmt.Sprintf("%s every %d", spec.Sharing.Mode, spec.Sharing.Epoch)}
	for _, k := range slices.Sorted(maps.Keys(spec.Sharing.Params)) {
		how = append(how, fmt.Sprintf("%s=%g", k, spec.Sharing.Params[k]))
	}
	parts := []string{strings.Join(how, " "), fmt.Sprintf("%d cycles", spec.Length.MaxCycles)}
	for _, a := range spec.Apps {
		parts = append(parts, a.Name+" "+list(a.Args))
	}
	target := strconv.FormatFloat(spec.Apps[0].QoSShare, 'g', -1, 64)
	return []string{b.book.Study.Machine, list(numbers), mix, target, strings.Join(parts, "; ")}
}

// kept says of which simulators a figure's runs are, and how many are not there.
func (r *Reproduced) kept() (lines []string) {
	if len(r.Simulators) > 0 {
		var parts []string
		for _, code := range slices.Sorted(maps.Keys(r.Simulators)) {
			parts = append(parts, fmt.Sprintf("%d of %s", r.Simulators[code], code))
		}
		lines = append(lines, "Runs by simulator (hash of its sources): "+strings.Join(parts, ", ")+".")
	}
	switch {
	case r.Missing == r.Asked && r.Asked > 0:
		lines = append(lines, fmt.Sprintf("None of the %d runs is simulated yet: there are no numbers.", r.Asked))
	case r.Missing > 0:
		lines = append(lines, fmt.Sprintf("%d of %d runs are not simulated yet: the numbers come from the others.",
			r.Missing, r.Asked))
	}
	return lines
}

// KeepsRuns says that the runs of a figure are kept in a file of Runs.
func (f *Figure) KeepsRuns() bool {
	_, ok := taskFigures()[f.Kind]
	return ok
}

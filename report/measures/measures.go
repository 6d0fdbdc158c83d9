// Package measures reads and writes NAME.measures.csv, the file in which `heddle reproduce` keeps the numbers of a
// figure and the verdicts on the claims about it. A File is the whole; a Measure is one number, a Claim one verdict.
//
// The file is a table with the columns row, name, value, n, of, text, expected, verdict and mixes. The first column
// says what a row is:
//
//	about      a fact about the figure (study, figure, title, scale, machine, simulator, budget_cycles,
//	           period_cycles, runs, missing_runs), a number in value or else in text
//	set        a number of the machine that differs from its sheet, the number in text
//	model      a model under which runs were counted, in order; the claims are held against the first
//	ran        how many of the runs come from the simulator with the hash in name
//	problem    a run that failed, the message in text
//	claim      a claim of the paper: its ID, our value (empty: not measured), what it says, what it expects
//	measure    a number under the first model, the mean of n mixes where the paper has of
//	second     the same number under the second model
package measures

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/heddle-sim/heddle/internal/scratch"
)

// Suffix ends the names of these files.
const Suffix = ".measures.csv"

// File is what is kept of a figure beside its data and its drawing.
type File struct {
	Study, Figure, Title, Scale string

	Machine   string
	Set       map[string]string // numbers that differ from the machine's sheet
	Simulator string            // hash of its sources

	Budget, Period uint64 // cycles of a run, and of a policy's period; 0 where a run has none

	Models   []string
	Measures map[string]Measure
	Second   map[string]Measure // under the second model
	Claims   []Claim
	Problems []string // runs that failed

	// Runs, Missing and Ran belong to figures that keep a row for each run: runs asked for, those not simulated
	// yet, and how many come from which simulator.
	Runs, Missing int
	Ran           map[string]int
}

// Measure is one number that claims can be compared with.
type Measure struct {
	Value float64 // percent unless its name says otherwise
	N     int     // mixes it is the mean of
	Of    int     // mixes the paper has
}

// Claim is a sentence of a paper with the number that was measured for it.
type Claim struct {
	ID, Text string
	Expects  string   // what the paper says, with the tolerance
	Value    *float64 // nil: not measured
	Mixes    string   // how many of the paper's mixes it comes from
	Verdict  string
}

func columns() []string {
	return []string{"row", "name", "value", "n", "of", "text", "expected", "verdict", "mixes"}
}

// row is one line of the file; its fields are the columns.
type row struct{ kind, name, value, n, of, text, expected, verdict, mixes string }

func (r *row) fields() []string {
	return []string{r.kind, r.name, r.value, r.n, r.of, r.text, r.expected, r.verdict, r.mixes}
}

// Write writes the file whole or not at all.
func (f *File) Write(path string) error {
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	err := w.Write(columns())
	for _, r := range f.rows() {
		err = errors.Join(err, w.Write(r.fields()))
	}
	w.Flush()
	if err = errors.Join(err, w.Error()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return scratch.WriteWhole(path, text.Bytes())
}

func (f *File) rows() (out []row) {
	texts, numbers := f.about()
	for _, a := range texts {
		if *a.at != "" {
			out = append(out, row{kind: "about", name: a.name, text: *a.at})
		}
	}
	for _, a := range numbers {
		if *a.at != 0 {
			out = append(out, row{kind: "about", name: a.name, value: strconv.FormatUint(*a.at, 10)})
		}
	}
	for _, n := range []struct {
		name string
		n    int
	}{{"runs", f.Runs}, {"missing_runs", f.Missing}} {
		if n.n != 0 {
			out = append(out, row{kind: "about", name: n.name, value: strconv.Itoa(n.n)})
		}
	}
	for _, k := range slices.Sorted(maps.Keys(f.Set)) {
		out = append(out, row{kind: "set", name: k, text: f.Set[k]})
	}
	for _, m := range f.Models {
		out = append(out, row{kind: "model", name: m})
	}
	for _, k := range slices.Sorted(maps.Keys(f.Ran)) {
		out = append(out, row{kind: "ran", name: k, value: strconv.Itoa(f.Ran[k])})
	}
	for _, p := range f.Problems {
		out = append(out, row{kind: "problem", text: p})
	}
	for _, c := range f.Claims {
		r := row{kind: "claim", name: c.ID, text: c.Text, expected: c.Expects, verdict: c.Verdict, mixes: c.Mixes}
		if c.Value != nil {
			r.value = number(*c.Value)
		}
		out = append(out, r)
	}
	return append(append(out, rows("measure", f.Measures)...), rows("second", f.Second)...)
}

func rows(kind string, of map[string]Measure) (out []row) {
	for _, k := range slices.Sorted(maps.Keys(of)) {
		m := of[k]
		out = append(out, row{
			kind: kind, name: k, value: number(m.Value), n: strconv.Itoa(m.N), of: strconv.Itoa(m.Of),
		})
	}
	return out
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// fact is a field of File that has a row of its own.
type fact[T any] struct {
	name string
	at   *T
}

func (f *File) about() ([]fact[string], []fact[uint64]) {
	texts := []fact[string]{
		{"study", &f.Study},
		{"figure", &f.Figure},
		{"title", &f.Title},
		{"scale", &f.Scale},
		{"machine", &f.Machine},
		{"simulator", &f.Simulator},
	}
	numbers := []fact[uint64]{{"budget_cycles", &f.Budget}, {"period_cycles", &f.Period}}
	return texts, numbers
}

// Read reads a file that Write has left. Errors name the file and the line.
func Read(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(text))
	head, err := r.Read()
	if err != nil || !slices.Equal(head, columns()) {
		return nil, fmt.Errorf("%s:1: the first line does not name the columns of a figure's measures", path)
	}
	f := &File{
		Set: map[string]string{}, Measures: map[string]Measure{}, Second: map[string]Measure{}, Ran: map[string]int{},
	}
	for {
		x, err := r.Read()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := f.add(&row{x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]}); err != nil {
			line, _ := r.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
	}
}

func (f *File) add(r *row) (err error) {
	switch r.kind {
	case "about":
		return f.addAbout(r)
	case "set":
		f.Set[r.name] = r.text
	case "model":
		f.Models = append(f.Models, r.name)
	case "ran":
		f.Ran[r.name], err = strconv.Atoi(r.value)
	case "problem":
		f.Problems = append(f.Problems, r.text)
	case "claim":
		c := Claim{ID: r.name, Text: r.text, Expects: r.expected, Mixes: r.mixes, Verdict: r.verdict}
		if r.value != "" {
			var x float64
			x, err = strconv.ParseFloat(r.value, 64)
			c.Value = &x
		}
		f.Claims = append(f.Claims, c)
	case "measure":
		f.Measures[r.name], err = r.measure()
	case "second":
		f.Second[r.name], err = r.measure()
	default:
		return fmt.Errorf("there is no kind of row %q", r.kind)
	}
	return err
}

func (f *File) addAbout(r *row) (err error) {
	texts, numbers := f.about()
	for _, a := range texts {
		if a.name == r.name {
			*a.at = r.text
			return nil
		}
	}
	for _, a := range numbers {
		if a.name == r.name {
			*a.at, err = strconv.ParseUint(r.value, 10, 64)
			return err
		}
	}
	switch r.name {
	case "runs":
		f.Runs, err = strconv.Atoi(r.value)
	case "missing_runs":
		f.Missing, err = strconv.Atoi(r.value)
	default:
		return fmt.Errorf("there is no fact %q about a figure", r.name)
	}
	return err
}

func (r *row) measure() (m Measure, err error) {
	var errs [3]error
	m.Value, errs[0] = strconv.ParseFloat(r.value, 64)
	m.N, errs[1] = strconv.Atoi(r.n)
	m.Of, errs[2] = strconv.Atoi(r.of)
	return m, errors.Join(errs[:]...)
}

package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/sim"
)

// Dir is a result directory being made. Everything is written to a directory
// beside it, which takes its place in Commit.
type Dir struct {
	final, temp string
	scratch     *scratch.Dir
}

// CheckDir returns an error unless results may be written to path: it must not exist, or be empty, or hold an earlier
// result. Nothing else is ever overwritten.
func CheckDir(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("output directory %w", scratch.Unwritten(path, err))
	}
	for _, e := range entries {
		if e.Name() == sim.ResultFile {
			return nil
		}
	}
	return fmt.Errorf("output directory %s is not empty and holds no earlier result; give another one, or empty it",
		path)
}

// BeginDir prepares a result directory that will appear at path.
func BeginDir(path string) (*Dir, error) {
	path = filepath.Clean(path)
	if err := CheckDir(path); err != nil {
		return nil, err
	}
	parent := filepath.Dir(path)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return nil, fmt.Errorf("output directory %w", scratch.Unwritten(path, err))
	}
	temp, err := scratch.Make(parent, "."+filepath.Base(path)+".writing-")
	if err != nil {
		return nil, fmt.Errorf("output directory %w", scratch.Unwritten(path, err))
	}
	if err := os.Chmod(temp.Path(), 0o755); err != nil { // it is made private
		return nil, errors.Join(fmt.Errorf("output directory %w", scratch.Unwritten(path, err)), temp.Remove())
	}
	return &Dir{final: path, temp: temp.Path(), scratch: temp}, nil
}

// Path is where files of the result (those a host program saves) go until Commit.
func (d *Dir) Path() string { return d.temp }

// Abort removes everything that was written.
func (d *Dir) Abort() error { return d.scratch.Remove() }

// Commit writes the result's files and lets the directory appear. Files that an
// earlier result left in it are replaced; files that are not Heddle's are kept. On a full disk it keeps the files
// for which there is room, result.json first, and the error names the others; without result.json there is no
// directory.
func (d *Dir) Commit(r *sim.Result) error {
	lost, err := d.write(r)
	if err == nil {
		err = d.swap()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("output directory %s: %w", d.final, err), d.Abort())
	}
	if lost != nil {
		lost = fmt.Errorf("output directory %s, which has the other files: %w", d.final, lost)
	}
	return errors.Join(lost, d.scratch.Release())
}

// write writes the result's files; lost names the files that could not be written, err says that result.json could
// not.
func (d *Dir) write(r *sim.Result) (lost, err error) {
	type output struct {
		name string
		on   bool
		do   func(io.Writer, *sim.Result) error
	}
	epochs := r.Spec.Epoch > 0
	outputs := []output{
		{sim.ResultFile, true, JSON},
		{"counters.csv", !r.Spec.Functional, CountersCSV},
		{"epochs.csv", epochs && !r.Spec.Functional, EpochsCSV},
		{"channels.csv", epochs && !r.Spec.Functional, ChannelsCSV},
		{"page_accesses.csv", r.Touches != nil && len(r.Touches.Accesses) > 0, AccessesCSV},
		{"epochs.parquet", epochs && !r.Spec.Functional, EpochsParquet},
		{sim.DecisionsFile, len(r.Decisions) > 0, Decisions},
		{"timeline.json", r.Spec.Timeline, Timeline},
		{"stalls.pb.gz", r.Spec.Profile, Profile},
	}
	for _, policy := range governing(r) {
		outputs = append(outputs,
			output{sim.SamplesFile(policy), true, func(w io.Writer, r *sim.Result) error {
				return Samples(w, r, policy)
			}})
	}
	for _, o := range outputs {
		if !o.on {
			continue
		}
		err := writeFile(filepath.Join(d.temp, o.name), r, o.do)
		if err == nil {
			continue
		}
		err = scratch.Unwritten(o.name, err)
		if o.name == sim.ResultFile {
			return nil, err
		}
		lost = errors.Join(lost, err)
	}
	return lost, nil
}

// writeFile writes a file whole, or not at all.
func writeFile(path string, r *sim.Result, do func(io.Writer, *sim.Result) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	err = do(b, r)
	if err == nil {
		err = b.Flush() // after a failed write it would fail with the same error again
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// swap puts the new directory in place of the old one.
func (d *Dir) swap() error {
	entries, err := os.ReadDir(d.final)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Rename(d.temp, d.final)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if sim.IsResultFile(e.Name()) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(d.temp, e.Name())); err == nil {
			continue // the new run has saved a file of the same name
		}
		if err := os.Rename(filepath.Join(d.final, e.Name()), filepath.Join(d.temp, e.Name())); err != nil {
			return err
		}
	}
	old := d.temp + ".old"
	if err := os.Rename(d.final, old); err != nil {
		return err
	}
	if err := os.Rename(d.temp, d.final); err != nil {
		return errors.Join(err, os.Rename(old, d.final))
	}
	return os.RemoveAll(old)
}

// JSON writes the complete, versioned result.
func JSON(w io.Writer, r *sim.Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// decisionsLog is decisions.json.
type decisionsLog struct {
	Version   int            `json:"version"` // that of result.json
	SpecHash  string         `json:"spec_hash"`
	Decisions []sim.Decision `json:"decisions"`
}

// Decisions writes what a machine-wide policy saw, planned and moved, an entry for each decision.
func Decisions(w io.Writer, r *sim.Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(decisionsLog{r.Version, r.SpecHash, r.Decisions})
}

// FileName turns a label into a valid file name.
func FileName(label string) string {
	out := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c) {
			return c
		}
		return '-'
	}, label)
	if strings.Trim(out, ".") == "" {
		return "run"
	}
	return out
}

// JSONList writes one result as an object, or a list of them as an array.
func JSONList(w io.Writer, results []*sim.Result, list bool) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if list {
		if results == nil {
			results = []*sim.Result{}
		}
		return e.Encode(results)
	}
	if len(results) == 0 {
		return nil // nothing was simulated; the error says why
	}
	return e.Encode(results[0])
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// outDirs are the result directories of a run file: one, or one per sharing mode below
// its own.
type outDirs struct {
	of   []*report.Dir
	made string // the directory around them, where there was none; empty: nothing to remove
}

// begin prepares the result directories.
func begin(file *runfile.File) (d outDirs, err error) {
	if file.Out == "" {
		return d, nil
	}
	if _, err := os.Stat(file.Out); errors.Is(err, fs.ErrNotExist) && len(file.Specs) > 1 {
		d.made = file.Out
	}
	var paths []string
	for _, s := range file.Specs {
		path := file.Out
		if len(file.Specs) > 1 {
			path = filepath.Join(file.Out, report.FileName(s.Sharing.Name))
		}
		if slices.Contains(paths, path) {
			return d, fmt.Errorf("two sharing modes would write %s; give them names that differ in letters and digits",
				path)
		}
		paths = append(paths, path)
	}
	for _, path := range paths {
		one, err := report.BeginDir(path)
		if err != nil {
			return d, errors.Join(err, d.abort())
		}
		d.of = append(d.of, one)
	}
	return d, nil
}

// abort leaves no result directory behind.
func (d outDirs) abort() error {
	var err error
	for _, one := range d.of {
		err = errors.Join(err, one.Abort())
	}
	return errors.Join(err, d.clean())
}

// clean removes the directory around the results when it holds none.
func (d outDirs) clean() error {
	if d.made == "" {
		return nil
	}
	left, err := os.ReadDir(d.made)
	if err != nil || len(left) > 0 {
		return nil // never made, or of use
	}
	return os.Remove(d.made)
}

// commit lets the result directories appear; a run without any result leaves none.
func (d outDirs) commit(outcomes []lab.Outcome) error {
	var err error
	for i, one := range d.of {
		if tells(&outcomes[i]) {
			err = errors.Join(err, one.Commit(outcomes[i].Result))
		} else {
			err = errors.Join(err, one.Abort())
		}
	}
	return errors.Join(err, d.clean())
}

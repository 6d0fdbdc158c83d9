package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// rerun is the repetition of a result from its result.json: the same Spec on the machine
// whose numbers the file lists, whatever sheet of that name there is now.
type rerun struct {
	of  *sim.Result
	dir *scratch.Dir // of the machine's sheet while it is simulated
}

// loadResult resolves a result.json as if it were a run file. It refuses when the
// simulation would not be the same.
func (f *runFlags) loadResult(cmd *cobra.Command, path string) (*runfile.File, *rerun, error) {
	for _, flag := range []string{
		"machine", "set", "arg", "sharing", "functional", "seed", "max-cycles", "watchdog",
		"record",
	} {
		if cmd.Flags().Changed(flag) {
			return nil, nil,
				fmt.Errorf("--%s: %s is a result, and is simulated again as it was; change the run file instead", flag,
					path)
		}
	}
	r, err := report.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	m, prov, err := sheets.FromEntries(r.Machine.Name, r.Machine.Numbers)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	again := &rerun{of: r}
	if again.dir, err = scratch.Make("", "heddle-rerun-"); err != nil {
		return nil, nil, err
	}
	file, err := again.resolve(path, sheets.Write(m, prov))
	if err != nil {
		return nil, nil, errors.Join(err, again.clean())
	}
	file.Out = f.out
	spec := &file.Specs[0]
	spec.Timeline, spec.Profile = f.out != "", f.out != ""
	return file, again, nil
}

// resolve checks that the simulation is that of the result.
func (again *rerun) resolve(path string, sheet []byte) (*runfile.File, error) {
	spec := again.of.Spec
	spec.Machine, spec.Set = filepath.Join(again.dir.Path(), "machine.yaml"), nil
	if err := os.WriteFile(spec.Machine, sheet, 0o644); err != nil {
		return nil, err
	}
	m, prov, err := sheets.Load(spec.Machine)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	hash, err := runfile.Hash(&spec, m)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be simulated again: %w", path, err)
	}
	for _, p := range again.of.Policies {
		e, err := control.Find(p.Policy)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be simulated again: %w", path, err)
		}
		if now, err := e.Digest(); err != nil || now != p.Digest {
			err = errors.Join(fmt.Errorf("policy %s has changed since", p.Policy), err)
			return nil, fmt.Errorf("%s cannot be simulated again: %w", path, err)
		}
	}
	if hash != again.of.SpecHash {
		return nil,
			fmt.Errorf("%s cannot be simulated again: its applications have changed, or this version reads "+
				"its machine or run file differently; use the version that the result names (spec hash %.12s, now "+
				"%.12s)",
				path, again.of.SpecHash, hash)
	}
	return &runfile.File{Path: path, Specs: []sim.Spec{spec}, Machine: m, Sheet: prov}, nil
}

// restore gives the new results the machine's name and the provenance of the old one.
func (again *rerun) restore(outcomes []lab.Outcome) {
	if again == nil {
		return
	}
	for i := range outcomes {
		if r := outcomes[i].Result; r != nil {
			r.Spec.Machine, r.Spec.Set, r.Machine = again.of.Spec.Machine, again.of.Spec.Set, again.of.Machine
		}
	}
}

// clean removes the sheet.
func (again *rerun) clean() error {
	if again == nil {
		return nil
	}
	return again.dir.Remove()
}

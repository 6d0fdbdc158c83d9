package sim

import (
	"errors"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/trace/record"
)

// record simulates and leaves a recording if the application came to its end.
func (r *run) record() (res *Result, err error) {
	a := &r.apps[0].spec
	if len(r.apps) != 1 || a.Repeat || r.spec.Length.Budget || r.spec.Length.Instructions > 0 {
		return nil, errors.New("only a single application that runs once can be recorded: leave out other " +
			"applications, repeat, and " +
			"budgets of cycles or instructions")
	}
	if a.CPU != nil {
		return nil, errors.New("only kernels can be recorded, but the application runs on CPU cores")
	}
	w, err := record.Create(r.spec.Record, a.Name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Abort()) }() // nothing is left to do after Commit
	r.rec = w
	if res, err = r.simulate(); err != nil {
		return res, err
	}
	return res, w.Commit()
}

// recorded is dev, or records it if the Spec says so.
func (r *run) recorded(dev host.Device) host.Device {
	if r.rec == nil {
		return dev
	}
	return r.rec.Device(dev)
}

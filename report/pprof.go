package report

import (
	"io"

	"github.com/google/pprof/profile"

	"heddle/sim"
)

// Profile writes the stall cycles and issues per PTX line for `go tool pprof`: a
// function is a kernel, a line is a PTX line, and the label "cause" tells why
// warps waited. Simulated time is not seconds of the host, so cycles are counts.
func Profile(w io.Writer, r *sim.Result) error {
	mapping := &profile.Mapping{ID: 1, File: "heddle", HasFunctions: true, HasFilenames: true, HasLineNumbers: true}
	p := &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "stalls", Unit: "cycles"}, {Type: "issues", Unit: "count"}},
		DefaultSampleType: "stalls",
		Mapping:           []*profile.Mapping{mapping},
		PeriodType:        &profile.ValueType{Type: "cycles", Unit: "count"},
		Period:            1,
		Comments:          []string{"simulated with Heddle; spec " + r.SpecHash},
	}
	type place struct {
		kernel, file string
		line         int
	}
	functions := map[place]*profile.Function{} // line 0
	locations := map[place]*profile.Location{}
	for _, s := range r.Stalls {
		fk := place{kernel: s.Kernel, file: s.File}
		fn := functions[fk]
		if fn == nil {
			fn = &profile.Function{
				ID: uint64(len(p.Function) + 1), Name: s.Kernel, SystemName: s.Kernel,
				Filename: s.File,
			}
			functions[fk] = fn
			p.Function = append(p.Function, fn)
		}
		lk := place{s.Kernel, s.File, s.Line}
		loc := locations[lk]
		if loc == nil {
			loc = &profile.Location{
				ID: uint64(len(p.Location) + 1), Mapping: mapping,
				Line: []profile.Line{{Function: fn, Line: int64(s.Line)}},
			}
			locations[lk] = loc
			p.Location = append(p.Location, loc)
		}
		p.Sample = append(p.Sample, &profile.Sample{
			Location: []*profile.Location{loc}, Value: []int64{int64(s.Cycles), int64(s.Issues)},
			Label: map[string][]string{"cause": {s.Cause}},
		})
	}
	if err := p.CheckValid(); err != nil {
		return err
	}
	return p.Write(w)
}

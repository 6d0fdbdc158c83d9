package report

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/heddle-sim/heddle/sim"
)

// Profile writes the stall cycles and issues per PTX line for `go tool pprof`: a function is a kernel, and a line is
// a PTX line. If the PTX names the source line (.loc), the PTX line is inlined into it. The labels "tenant" and
// "cause" tell whose warps waited, and why. Files are named with the application's folder. Simulated time is not
// seconds of the host, so cycles are counts.
func Profile(w io.Writer, r *sim.Result) error {
	mapping := &profile.Mapping{ID: 1, File: "heddle", HasFunctions: true, HasFilenames: true, HasLineNumbers: true}
	b := profileBuilder{
		p: &profile.Profile{
			SampleType:        []*profile.ValueType{{Type: "stalls", Unit: "cycles"}, {Type: "issues", Unit: "count"}},
			DefaultSampleType: "stalls",
			Mapping:           []*profile.Mapping{mapping},
			PeriodType:        &profile.ValueType{Type: "cycles", Unit: "count"},
			Period:            1,
			Comments:          []string{"simulated with Heddle; spec " + r.SpecHash},
		},
		functions: map[place]*profile.Function{}, locations: map[place]*profile.Location{},
		sources: map[string]sources{},
	}
	for _, s := range r.Stalls {
		at := place{s.Kernel, fileOf(r, &s), s.Line}
		b.p.Sample = append(b.p.Sample, &profile.Sample{
			Location: []*profile.Location{b.location(at)}, Value: []int64{int64(s.Cycles), int64(s.Issues)},
			Label: map[string][]string{"cause": {s.Cause}, "tenant": {tenantName(r, s.Tenant)}},
		})
	}
	if err := b.p.CheckValid(); err != nil {
		return err
	}
	return b.p.Write(w)
}

// fileOf is a stall's file with the folder of its application.
func fileOf(r *sim.Result, s *sim.Stall) string {
	if s.Tenant >= len(r.Spec.Apps) || s.File == "" || filepath.IsAbs(s.File) {
		return s.File
	}
	return filepath.Join(r.Spec.Apps[s.Tenant].Path, s.File)
}

// place is a line of a kernel.
type place struct {
	kernel, file string
	line         int
}

// profileBuilder numbers functions and locations.
type profileBuilder struct {
	p         *profile.Profile
	functions map[place]*profile.Function // line 0
	locations map[place]*profile.Location
	sources   map[string]sources // by PTX file
}

func (b *profileBuilder) function(kernel, file string) *profile.Function {
	at := place{kernel: kernel, file: file}
	fn := b.functions[at]
	if fn == nil {
		fn = &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: kernel, SystemName: kernel, Filename: file}
		b.functions[at] = fn
		b.p.Function = append(b.p.Function, fn)
	}
	return fn
}

func (b *profileBuilder) location(at place) *profile.Location {
	loc := b.locations[at]
	if loc != nil {
		return loc
	}
	loc = &profile.Location{
		ID: uint64(len(b.p.Location) + 1), Mapping: b.p.Mapping[0],
		Line: []profile.Line{{Function: b.function(at.kernel, at.file), Line: int64(at.line)}},
	}
	from, ok := b.sources[at.file]
	if !ok {
		from = readSources(at.file)
		b.sources[at.file] = from
	}
	if file, line := from.of(at.line); line > 0 {
		loc.Line = append(loc.Line, profile.Line{Function: b.function(at.kernel, file), Line: int64(line)})
	}
	b.locations[at] = loc
	b.p.Location = append(b.p.Location, loc)
	return loc
}

// sources are the source lines of a PTX file, by its line numbers from 1 on; empty where it
// has none or cannot be read, as the PTX of a recording.
type sources []sourceLine

type sourceLine struct {
	file string
	line int
}

// of is the source line of a PTX line; line 0: not known.
func (s sources) of(ptx int) (file string, line int) {
	if ptx < 1 || ptx >= len(s) {
		return "", 0
	}
	return s[ptx].file, s[ptx].line
}

// readSources reads the .file and .loc directives of a PTX file. A .loc holds until the next.
func readSources(path string) sources {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	out := sources{{}}
	number := []string{""} // of the file, by PTX line
	files := map[string]string{}
	now, line := "", 0
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		words := strings.Fields(scan.Text())
		switch {
		case len(words) >= 4 && words[0] == ".loc":
			if n, err := strconv.Atoi(words[2]); err == nil {
				now, line = words[1], n
			}
		case len(words) >= 3 && words[0] == ".file":
			files[words[1]] = filepath.Join(filepath.Dir(path), strings.Trim(words[2], `",`))
		case len(words) > 0 && words[0] == "}":
			now, line = "", 0
		}
		out, number = append(out, sourceLine{line: line}), append(number, now)
	}
	for i := range out {
		if out[i].file = files[number[i]]; out[i].file == "" {
			out[i].line = 0
		}
	}
	return out
}

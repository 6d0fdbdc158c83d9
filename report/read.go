package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/heddle-sim/heddle/sim"
)

// Read reads a result directory back: result.json and, where they were written,
// epochs.csv, decisions.json, timeline.json and stalls.pb.gz. A missing optional
// file leaves its part of the Result empty; a damaged one is an error that names it.
func Read(dir string) (*sim.Result, error) {
	path := filepath.Join(dir, sim.ResultFile)
	r, err := ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, none := os.Stat(dir); none != nil {
			return nil, fmt.Errorf("result directory: %w", none)
		}
		return nil, fmt.Errorf("%s is not a result directory: it has no %s; heddle run --out makes one", dir,
			sim.ResultFile)
	}
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name string
		read func([]byte, *sim.Result) error
	}{
		{"epochs.csv", readEpochs},
		{"channels.csv", readChannels},
		{"page_accesses.csv", readAccesses},
		{sim.DecisionsFile, readDecisions},
		{"timeline.json", readTimeline},
		{"stalls.pb.gz", readStalls},
	} {
		path := filepath.Join(dir, part.name)
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("result directory: %w", err)
		}
		if err := part.read(text, r); err != nil {
			return nil, fmt.Errorf("%s is damaged: %w", path, err)
		}
	}
	return r, nil
}

// ReadFile reads a result.json alone.
func ReadFile(path string) (*sim.Result, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	var version struct{ Version int }
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	if version.Version != sim.ResultVersion {
		return nil,
			fmt.Errorf("%s has version %d of the layout, this heddle reads version %d: run the simulation again",
				path, version.Version, sim.ResultVersion)
	}
	r := &sim.Result{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return r, nil
}

// IsResult tells a result.json from a run file, which may be JSON as well.
func IsResult(path string) bool {
	if filepath.Ext(path) != ".json" {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false // its reader says why
	}
	var keys struct {
		SpecHash *string `json:"spec_hash"`
	}
	return json.Unmarshal(text, &keys) == nil && keys.SpecHash != nil
}

// readDecisions takes the log of the policy.
func readDecisions(text []byte, r *sim.Result) error {
	var log decisionsLog
	if err := json.Unmarshal(text, &log); err != nil {
		return err
	}
	if log.Version != r.Version || log.SpecHash != r.SpecHash {
		return fmt.Errorf("it belongs to another result than %s", sim.ResultFile)
	}
	r.Decisions = log.Decisions
	return nil
}

// readEpochs takes what EpochsCSV wrote: a row per epoch and tenant. If SMs were powered down, a row of what no
// tenant had comes before those of an epoch.
func readEpochs(text []byte, r *sim.Result) error {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	n := len(r.Tenants)
	if len(rows) == 0 || strings.Join(rows[0], ",") != strings.Join(csvColumns(), ",") {
		return errors.New("its columns are not those this heddle writes: run the simulation again")
	}
	rows = rows[1:]
	nobody := 0 // rows of an epoch before its tenants'
	if len(rows) > 0 && rows[0][1] == sim.NobodyName {
		nobody = 1
	}
	n += nobody
	if n == nobody || len(rows)%n != 0 {
		return fmt.Errorf("%d rows for %d tenants: some are missing", len(rows), n-nobody)
	}
	for i := range rows {
		if i%n == 0 {
			r.Epochs = append(r.Epochs, sim.Epoch{})
		}
		e := &r.Epochs[len(r.Epochs)-1]
		cycle, t, gated, err := readEpochRow(rows[i])
		if err != nil {
			return fmt.Errorf("line %d: %w", i+2, err)
		}
		if i%n > 0 && cycle != e.Cycle {
			return fmt.Errorf("line %d is at cycle %d, the one before at %d: rows are missing", i+2, cycle, e.Cycle)
		}
		e.Cycle = cycle
		if i%n < nobody {
			e.Nobody = sim.EpochNobody{SMs: t.SMs, Channels: t.Channels, GatedSMCycles: gated}
			continue
		}
		e.Tenants = append(e.Tenants, t)
	}
	return nil
}

// readEpochRow reads the fields in the order of csvColumns.
func readEpochRow(row []string) (cycle uint64, t sim.EpochTenant, gated uint64, err error) {
	u := func(i int) uint64 {
		x, e := strconv.ParseUint(row[i], 10, 64)
		err = errors.Join(err, e)
		return x
	}
	f := func(i int) float64 {
		x, e := strconv.ParseFloat(row[i], 64)
		err = errors.Join(err, e)
		return x
	}
	t = sim.EpochTenant{SMs: int(u(2)), Channels: int(u(3)), IPC: f(4), BandwidthGBs: f(5)}
	for i := counted; i < len(row); i++ {
		t.Counts = append(t.Counts, u(i))
	}
	return u(0), t, u(counted - 1), err
}

// readTimeline takes the spans; the policy's marks stand in decisions.json too.
func readTimeline(text []byte, r *sim.Result) error {
	var trace struct {
		TraceEvents []struct {
			Name  string `json:"name"`
			Phase string `json:"ph"`
			PID   int    `json:"pid"`
			Args  struct {
				Track  string `json:"track"`
				Start  uint64 `json:"start_cycle"`
				End    uint64 `json:"end_cycle"`
				Tenant string `json:"tenant"`
			} `json:"args"`
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(text, &trace); err != nil {
		return err
	}
	for i, e := range trace.TraceEvents {
		if e.Phase != "X" || e.PID == pidPolicy {
			continue
		}
		if e.Args.Track == "" {
			return fmt.Errorf("event %d names no track, as an earlier heddle wrote it: run the simulation again", i)
		}
		s := sim.Span{Track: e.Args.Track, Name: e.Name, Start: e.Args.Start, End: e.Args.End, Tenant: -1}
		for j := range r.Tenants {
			if r.Tenants[j].Name == e.Args.Tenant {
				s.Tenant = j
			}
		}
		r.Spans = append(r.Spans, s)
	}
	return nil
}

// readStalls takes the profile apart again.
func readStalls(text []byte, r *sim.Result) error {
	p, err := profile.Parse(bytes.NewReader(text))
	if err != nil {
		return err
	}
	for _, s := range p.Sample {
		if len(s.Location) != 1 || len(s.Location[0].Line) < 1 || len(s.Value) != 2 || len(s.Label["cause"]) != 1 {
			return errors.New("a sample is not of the form heddle writes")
		}
		line := s.Location[0].Line[0]
		tenant := slices.IndexFunc(r.Tenants, func(t sim.Tenant) bool {
			return slices.Contains(s.Label["tenant"], t.Name)
		})
		if tenant < 0 {
			return fmt.Errorf("a sample names %q, which is not an application of the run", s.Label["tenant"])
		}
		file := line.Function.Filename
		if tenant < len(r.Spec.Apps) {
			if rel, err := filepath.Rel(r.Spec.Apps[tenant].Path, file); err == nil && filepath.IsLocal(rel) {
				file = rel
			}
		}
		r.Stalls = append(r.Stalls, sim.Stall{
			Tenant: tenant, Kernel: line.Function.Name, File: file, Line: int(line.Line),
			Cause: s.Label["cause"][0], Cycles: uint64(s.Value[0]), Issues: uint64(s.Value[1]),
		})
	}
	return nil
}

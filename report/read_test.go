package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// writeResult writes r as heddle run does and gives the directory.
func writeResult(t *testing.T, r *sim.Result) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "one")
	d, err := BeginDir(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Commit(r); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadGivesBackWhatWasWritten(t *testing.T) {
	want := sample()
	got, err := Read(writeResult(t, want))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct {
		name      string
		got, want any
	}{
		{"tenants", got.Tenants, want.Tenants},
		{"metrics", got.Metrics, want.Metrics},
		{"epochs", got.Epochs, want.Epochs},
		{"decisions", got.Decisions, want.Decisions},
		{"stalls", got.Stalls, want.Stalls},
	} {
		if !reflect.DeepEqual(part.got, part.want) {
			t.Errorf("%s: got %+v\nwant %+v", part.name, part.got, part.want)
		}
	}
	spans := map[sim.Span]bool{}
	for _, s := range got.Spans {
		spans[s] = true
	}
	for _, s := range want.Spans {
		if !spans[s] {
			t.Errorf("span %+v is lost; there are %+v", s, got.Spans)
		}
	}
	if len(spans) != len(want.Spans) {
		t.Errorf("%d spans of %d", len(spans), len(want.Spans))
	}
}

// Where SMs were powered down an epoch has a row of what nobody had, which is read again.
func TestReadGated(t *testing.T) {
	want := sample()
	for i := range want.Epochs {
		want.Epochs[i].Nobody = sim.EpochNobody{SMs: 3 + i, Channels: 1, GatedSMCycles: uint64(700 * i)}
	}
	got, err := Read(writeResult(t, want))
	if err != nil || !reflect.DeepEqual(got.Epochs, want.Epochs) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got.Epochs, want.Epochs)
	}
}

func TestReadWithoutOptionalFiles(t *testing.T) {
	r := sample()
	r.Spec.Timeline, r.Spec.Profile, r.Spec.Epoch, r.Decisions = false, false, 0, nil
	got, err := Read(writeResult(t, r))
	if err != nil || got.Cycles != r.Cycles || got.Epochs != nil || got.Decisions != nil {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestReadRefuses(t *testing.T) {
	if _, err := Read(filepath.Join(t.TempDir(), "nothing")); err == nil ||
		!strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing directory: %v", err)
	}
	empty := t.TempDir()
	if _, err := Read(empty); err == nil || !strings.Contains(err.Error(), empty+" is not a result directory") {
		t.Errorf("a directory without a result: %v", err)
	}
	edit := func(old, with string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(with), 1) }
	}
	half := func(b []byte) []byte { return b[:len(b)/2] }
	for _, c := range []struct {
		file string
		edit func([]byte) []byte
		want string
	}{
		{"result.json", half, "is damaged"},
		{"result.json", edit(`"version": 2`, `"version": 1`), "version 1 of the layout, this heddle reads version 2"},
		{"result.json", edit(`"tenants": [`, `"tenants": 7, "x": [`), "is damaged"},
		{"epochs.csv", edit("2000,cp", "2001,cp"), "line 5 is at cycle 2001, the one before at 2000"},
		{"epochs.csv", edit("ipc", "cpi"), "columns"},
		{"epochs.csv", edit("1000,cp,40", "1000,cp,forty"), "line 3"},
		{"epochs.csv", func(b []byte) []byte { return b[:len(b)-30] }, "is damaged"},
		{"decisions.json", half, "is damaged"},
		{"decisions.json", edit("abc", "xyz"), "another result"},
		{"timeline.json", half, "is damaged"},
		{"timeline.json", edit(`"track":"SM 00"`, `"trick":""`), "names no track"},
		{"stalls.pb.gz", half, "is damaged"},
	} {
		dir := writeResult(t, sample())
		path := filepath.Join(dir, c.file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := c.edit(bytes.Clone(text))
		if bytes.Equal(changed, text) {
			t.Fatalf("%s: the test changes nothing", c.file)
		}
		if err := os.WriteFile(path, changed, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want its path and %q", c.file, err, c.want)
		}
	}
}

// TestTimelineTellsOfOwnersAndPolicy: an SM's owners follow each other on one
// track, channel groups are sorted by number, decisions and moves are marked.
func TestTimelineTellsOfOwnersAndPolicy(t *testing.T) {
	r := sample()
	r.Spans = []sim.Span{
		{Track: "channels 10", Name: "cp", End: 2000, Tenant: 1},
		{Track: "channels 9", Name: "triad", End: 2000},
		{Track: "SM 40", Name: "cp", Start: 1500, End: 2000, Tenant: 1},
		{Track: "SM 40", Name: "triad", Start: 0, End: 1000},
		{Track: "SM 40", Name: "draining", Start: 1000, End: 1500},
	}
	var b bytes.Buffer
	if err := Timeline(&b, r); err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []traceEvent `json:"traceEvents"`
	}
	if err := json.Unmarshal(b.Bytes(), &trace); err != nil {
		t.Fatal(err)
	}
	var threads, owners, policy []string
	for _, e := range trace.TraceEvents {
		switch {
		case e.Name == "thread_name":
			threads = append(threads, e.Args["name"].(string))
		case e.PID == pidSMs && e.Phase == "X":
			owners = append(owners, e.Name)
		case e.PID == pidPolicy && e.Phase != "M":
			policy = append(policy, e.Phase+" "+e.Name+" "+e.Scope)
			if e.Name == "triad to cp" && e.TID >= tidGroups &&
				(e.TS != 1 || e.Dur != 1 || e.Args["unfinished"] != true) {
				t.Errorf("a group that is not yet empty: %+v", e)
			}
		}
	}
	for _, c := range []struct{ got, want []string }{
		{threads, []string{"SM 40", "channels 9", "channels 10", "decisions", "SM 40 moves", "channels 10 move"}},
		{owners, []string{"triad", "draining", "cp"}},
		{policy, []string{"i repartition g", "X triad to cp ", "X triad to cp ", "i hold t"}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestMovesOfAGroupDoNotOverlap: a group that moves on before its last page has left.
func TestMovesOfAGroupDoNotOverlap(t *testing.T) {
	r := sample()
	r.Decisions[1].Groups = []sim.GroupMove{{
		Group: 10, From: "cp", To: "triad", Start: 1700, Handed: 1750,
		Emptied: 1900,
	}}
	for _, c := range []struct {
		emptied, want uint64
	}{{0, 1700}, {1800, 1700}, {1600, 1600}} {
		r.Decisions[0].Groups[0].Emptied = c.emptied
		if got := groupEnd(r, 0, &r.Decisions[0].Groups[0]); got != c.want {
			t.Errorf("emptied at %d: the bar ends at %d, want %d", c.emptied, got, c.want)
		}
	}
	if got := groupEnd(r, 1, &r.Decisions[1].Groups[0]); got != 1900 {
		t.Errorf("the last move ends at %d", got)
	}
}

// FuzzRead: no file of a result directory, however damaged, may bring Read down.
func FuzzRead(f *testing.F) {
	var epochs, timeline, decisions bytes.Buffer
	for _, err := range []error{
		EpochsCSV(&epochs, sample()), Timeline(&timeline, sample()),
		Decisions(&decisions, sample()),
	} {
		if err != nil {
			f.Fatal(err)
		}
	}
	for i, b := range []*bytes.Buffer{&epochs, &timeline, &decisions} {
		f.Add(uint8(i), b.Bytes())
	}
	f.Fuzz(func(t *testing.T, kind uint8, text []byte) {
		read := [](func([]byte, *sim.Result) error){readEpochs, readTimeline, readDecisions}[kind%3]
		r := sample()
		r.Epochs, r.Spans, r.Decisions = nil, nil, nil
		if err := read(text, r); err != nil {
			return
		}
		for _, e := range r.Epochs {
			if len(e.Tenants) != len(r.Tenants) {
				t.Errorf("an epoch of %d tenants in a run of %d", len(e.Tenants), len(r.Tenants))
			}
		}
		for _, s := range r.Spans {
			if s.Tenant < -1 || s.Tenant >= len(r.Tenants) {
				t.Errorf("a span of tenant %d", s.Tenant)
			}
		}
	})
}

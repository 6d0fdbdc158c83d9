package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/sim"
)

// traceEvent is one event of the Chrome trace event format, which ui.perfetto.dev
// and chrome://tracing load.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	TS    float64        `json:"ts"`            // us of simulated time
	Dur   float64        `json:"dur,omitempty"` // us
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Scope string         `json:"s,omitempty"` // of an instant: g crosses all tracks
	Args  map[string]any `json:"args,omitempty"`
}

// Processes of the timeline, in the order in which they stand.
const (
	pidKernels = 1 + iota
	pidCores
	pidCopies
	pidSMs
	pidChannels
	pidPolicy
	pidCounters
	pidOther
)

// Timeline writes the spans of a run: one process per kind of track (kernels,
// executions on CPU cores, copies, ownership of SMs and of channel groups), one thread per track. Spans of a
// track that overlap, as kernels of several streams do, get lanes of their own. The
// decisions of a policy are a process too: a mark for each, across all tracks where
// it moves something, and a bar for each SM and channel group it moves. So are the
// epochs: tracks of each tenant's IPC, DRAM bandwidth and faults.
func Timeline(w io.Writer, r *sim.Result) error {
	mhz := 1000.0
	if r.Seconds > 0 && r.Cycles > 0 {
		mhz = float64(r.Cycles) / r.Seconds / 1e6
	}
	b := bufio.NewWriter(w)
	// One event per line keeps the file readable and lets it stream.
	fmt.Fprintf(b, "{\"displayTimeUnit\":\"ns\",\"otherData\":{"+
		"\"spec_hash\":%q,\"complete\":\"%v\",\"cycles\":\"%d\"},\n"+
		"\"traceEvents\":[\n", r.SpecHash, r.Complete, r.Cycles)
	first := true
	emit := func(e traceEvent) error {
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if !first {
			b.WriteString(",\n")
		}
		first = false
		_, err = b.Write(text)
		return err
	}
	if err := emitSpans(r, mhz, emit); err != nil {
		return err
	}
	if err := emitDecisions(r, mhz, emit); err != nil {
		return err
	}
	if err := emitEpochs(r, mhz, emit); err != nil {
		return err
	}
	b.WriteString("\n]}\n")
	return b.Flush()
}

// process says under which heading a track stands.
func process(track string) (pid int, name, thread string) {
	if app, ok := strings.CutPrefix(track, "kernels/"); ok {
		return pidKernels, "kernels", app
	}
	if app, ok := strings.CutPrefix(track, "cores/"); ok {
		return pidCores, "executions on CPU cores", app
	}
	if app, ok := strings.CutPrefix(track, "copies"); ok {
		return pidCopies, "copies", strings.TrimPrefix(app, "/")
	}
	if strings.HasPrefix(track, "SM ") {
		return pidSMs, "SM ownership", track
	}
	if strings.HasPrefix(track, "channels ") {
		return pidChannels, "channel group ownership", track
	}
	return pidOther, "other", track
}

// meta is an event that names or orders a process or a thread.
func meta(pid, tid int, name, key string, value any) traceEvent {
	return traceEvent{Name: name, Phase: "M", PID: pid, TID: tid, Args: map[string]any{key: value}}
}

func emitSpans(r *sim.Result, mhz float64, emit func(traceEvent) error) error {
	byTrack := map[string][]sim.Span{}
	var tracks []string
	for _, s := range r.Spans {
		if byTrack[s.Track] == nil {
			tracks = append(tracks, s.Track)
		}
		byTrack[s.Track] = append(byTrack[s.Track], s)
	}
	slices.SortFunc(tracks, byNumber)
	named := map[int]bool{}
	tid := 0
	for _, track := range tracks {
		pid, heading, thread := process(track)
		if thread == "" {
			thread = heading
		}
		if !named[pid] {
			named[pid] = true
			if err := errors.Join(emit(meta(pid, 0, "process_name", "name", heading)),
				emit(meta(pid, 0, "process_sort_index", "sort_index", pid))); err != nil {
				return err
			}
		}
		for lane, spans := range lanes(byTrack[track]) {
			tid++
			name := thread
			if lane > 0 {
				name = fmt.Sprintf("%s (%d)", thread, lane+1)
			}
			if err := emit(meta(pid, tid, "thread_name", "name", name)); err != nil {
				return err
			}
			for _, s := range spans {
				e := traceEvent{
					Name: s.Name, Phase: "X", TS: float64(s.Start) / mhz, Dur: float64(s.End-s.Start) / mhz, PID: pid,
					TID: tid,
					Args: map[string]any{
						"track": track, "start_cycle": s.Start, "end_cycle": s.End,
						"tenant": tenantName(r, s.Tenant),
					},
				}
				if err := emit(e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// byNumber orders tracks so that "channels 10" comes after "channels 9".
func byNumber(a, b string) int {
	split := func(s string) (string, int) {
		i := strings.LastIndexByte(s, ' ') + 1
		n, err := strconv.Atoi(s[i:])
		if err != nil {
			return s, -1
		}
		return s[:i], n
	}
	pa, na := split(a)
	pb, nb := split(b)
	return cmp.Or(cmp.Compare(pa, pb), cmp.Compare(na, nb), cmp.Compare(a, b))
}

func tenantName(r *sim.Result, i int) string {
	if i < 0 || i >= len(r.Tenants) {
		return ""
	}
	return r.Tenants[i].Name
}

// emitEpochs writes counter tracks, whose value holds from an epoch's begin to its end.
func emitEpochs(r *sim.Result, mhz float64, emit func(traceEvent) error) error {
	if len(r.Epochs) == 0 {
		return nil
	}
	err := errors.Join(emit(meta(pidCounters, 0, "process_name", "name", "epochs")),
		emit(meta(pidCounters, 0, "process_sort_index", "sort_index", pidCounters)))
	start := uint64(0)
	for i := range r.Epochs {
		e := &r.Epochs[i]
		for k := range e.Tenants {
			t, name := &e.Tenants[k], tenantName(r, k)
			for _, c := range []struct {
				what  string
				value float64
			}{{"IPC", t.IPC}, {"GB/s", t.BandwidthGBs}, {"faults", float64(t.Count("faults"))}} {
				err = errors.Join(err, emit(traceEvent{
					Name: name + " " + c.what, Phase: "C", TS: float64(start) / mhz, PID: pidCounters,
					Args: map[string]any{c.what: c.value},
				}))
			}
		}
		start = e.Cycle
	}
	return err
}

// lanes spreads spans so that none overlaps another of its lane.
func lanes(spans []sim.Span) [][]sim.Span {
	sorted := append([]sim.Span(nil), spans...)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Start < sorted[j].Start })
	var out [][]sim.Span
	for _, s := range sorted {
		if s.End < s.Start {
			s.End = s.Start // a span that never ended
		}
		lane := 0
		for lane < len(out) && out[lane][len(out[lane])-1].End > s.Start {
			lane++
		}
		if lane == len(out) {
			out = append(out, nil)
		}
		out[lane] = append(out[lane], s)
	}
	return out
}

package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"

	"heddle/sim"
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
	Args  map[string]any `json:"args,omitempty"`
}

// Timeline writes the spans of a run: one process per kind of track (kernels, SM
// ownership, copies), one thread per track. Spans of a track that overlap, as
// kernels of several streams do, get lanes of their own.
func Timeline(w io.Writer, r *sim.Result) error {
	mhz := 1000.0
	if r.Seconds > 0 && r.Cycles > 0 {
		mhz = float64(r.Cycles) / r.Seconds / 1e6
	}
	b := bufio.NewWriter(w)
	// One event per line keeps the file readable and lets it stream.
	fmt.Fprintf(b, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"spec_hash\":%q,\"complete\":\"%v\",\"cycles\":\"%d\"},\n\"traceEvents\":[\n", r.SpecHash, r.Complete, r.Cycles)
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
	b.WriteString("\n]}\n")
	return b.Flush()
}

// process says under which heading a track stands.
func process(track string) (pid int, name, thread string) {
	if app, ok := strings.CutPrefix(track, "kernels/"); ok {
		return 1, "kernels", app
	}
	if app, ok := strings.CutPrefix(track, "copies"); ok {
		return 2, "copies", strings.TrimPrefix(app, "/")
	}
	if strings.HasPrefix(track, "SM") {
		return 3, "SM ownership", track
	}
	return 4, "other", track
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
	sort.Strings(tracks)
	named := map[int]bool{}
	tid := 0
	for _, track := range tracks {
		pid, heading, thread := process(track)
		if thread == "" {
			thread = heading
		}
		if !named[pid] {
			named[pid] = true
			if err := emit(traceEvent{Name: "process_name", Phase: "M", PID: pid, Args: map[string]any{"name": heading}}); err != nil {
				return err
			}
			if err := emit(traceEvent{Name: "process_sort_index", Phase: "M", PID: pid, Args: map[string]any{"sort_index": pid}}); err != nil {
				return err
			}
		}
		for lane, spans := range lanes(byTrack[track]) {
			tid++
			name := thread
			if lane > 0 {
				name = fmt.Sprintf("%s (%d)", thread, lane+1)
			}
			if err := emit(traceEvent{Name: "thread_name", Phase: "M", PID: pid, TID: tid, Args: map[string]any{"name": name}}); err != nil {
				return err
			}
			for _, s := range spans {
				e := traceEvent{
					Name: s.Name, Phase: "X", TS: float64(s.Start) / mhz, Dur: float64(s.End-s.Start) / mhz, PID: pid, TID: tid,
					Args: map[string]any{"start_cycle": s.Start, "end_cycle": s.End, "tenant": tenantName(r, s.Tenant)},
				}
				if err := emit(e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func tenantName(r *sim.Result, i int) string {
	if i < 0 || i >= len(r.Tenants) {
		return ""
	}
	return r.Tenants[i].Name
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

package report

import (
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/sim"
)

// Threads of the policy's process.
const (
	tidDecisions = 1
	tidSMs       = 10   // and one more per SM
	tidGroups    = 1000 // and one more per channel group
)

// emitDecisions writes what the policy decided and how long each move took.
func emitDecisions(r *sim.Result, mhz float64, emit func(traceEvent) error) error {
	if len(r.Decisions) == 0 {
		return nil
	}
	if err := errors.Join(emit(meta(pidPolicy, 0, "process_name", "name", "policy")),
		emit(meta(pidPolicy, 0, "process_sort_index", "sort_index", pidPolicy)),
		emit(meta(pidPolicy, tidDecisions, "thread_name", "name", "decisions"))); err != nil {
		return err
	}
	named := map[int]bool{}
	bar := func(tid int, thread, name string, start, end uint64, args map[string]any) error {
		if !named[tid] {
			named[tid] = true
			if err := emit(meta(pidPolicy, tid, "thread_name", "name", thread)); err != nil {
				return err
			}
		}
		if end < start { // 0: not finished when the run ended
			end = r.Cycles
			args["unfinished"] = true
		}
		return emit(traceEvent{
			Name: name, Phase: "X", TS: float64(start) / mhz, Dur: float64(end-start) / mhz,
			PID: pidPolicy, TID: tid, Args: args,
		})
	}
	for i := range r.Decisions {
		d := &r.Decisions[i]
		e := traceEvent{
			Name: "hold", Phase: "i", TS: float64(d.Cycle) / mhz, PID: pidPolicy, TID: tidDecisions,
			Scope: "t",
		}
		if d.Changed {
			e.Name, e.Scope = "repartition", "g"
		}
		e.Args = map[string]any{"cycle": d.Cycle, "plan": d.Plan}
		if err := emit(e); err != nil {
			return err
		}
		for _, m := range d.SMs {
			args := map[string]any{"how": m.How, "ctas": m.CTAs, "context_bytes": m.Bytes}
			from, to := Ends(&m)
			if err := bar(tidSMs+m.SM, fmt.Sprintf("SM %02d moves", m.SM), from+" to "+to, m.Start, m.End,
				args); err != nil {
				return err
			}
		}
		for _, m := range d.Groups {
			args := map[string]any{
				"handed_cycle": m.Handed, "emptied_cycle": m.Emptied, "pages_touched": m.Touched,
				"pages_background": m.Swept, "pages_gained": m.Gained, "pages_waiting": m.Waiting,
			}
			if err := bar(tidGroups+m.Group, fmt.Sprintf("channels %d move", m.Group), m.From+" to "+m.To, m.Start,
				groupEnd(r, i, &m), args); err != nil {
				return err
			}
		}
	}
	return nil
}

// groupEnd is where the bar of a group's move ends: when the last page has left, or
// where the group moves again, for bars of a thread must not overlap. 0: the run's end.
func groupEnd(r *sim.Result, decision int, m *sim.GroupMove) uint64 {
	for i := decision + 1; i < len(r.Decisions); i++ {
		for _, next := range r.Decisions[i].Groups {
			if next.Group == m.Group && (m.Emptied == 0 || m.Emptied > next.Start) {
				return next.Start
			}
		}
	}
	return m.Emptied
}

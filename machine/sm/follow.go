package sm

import (
	"fmt"

	"github.com/heddle-sim/heddle/isa"
)

// place is where a warp is in its code.
type place struct {
	pc    int32
	ahead uint8  // instructions that have been executed before their issue (isa.Step.Ahead),
	mask  uint32 // and by which lanes
	// Of the code of a machine (isa.Code.Source):
	rest   uint8  // issues that are left of a sequence (isa.Instr.Times),
	then   int32  // where the warp goes on behind it,
	lanes  uint32 // and the lanes that execute it
	at     int32  // the next instruction of the source that the warp executes
	active uint32 // lanes of the warp's path
}

// kept is a store that was executed before a load which stood behind it, and issues later.
type kept struct {
	mask  uint32
	space isa.Space
	addr  [isa.Lanes]uint64
}

// start is the place of a warp that comes to an instruction of its code, or of its code's source.
func start(c *isa.Code, pc int32) place {
	if c.Source == nil || pc < 0 {
		return place{pc: pc}
	}
	return place{pc: c.Source.Enter[pc], at: pc}
}

// astray is the error of a warp that is not where the machine's code has it.
func astray(wp *warp, in *isa.Instr) error {
	return fmt.Errorf("%s:%d: kernel %s: a warp and the assembler's code disagree, a defect of Heddle "+
		"or of a recording: sm.ptxas = false avoids it", wp.code.File, in.Line, wp.code.Kernel)
}

// follow executes the source of a machine's code as far as the instruction at the warp's place needs it, and describes
// that instruction in the workspace's step: with the machine's PC as the next. What issues behind a load that
// it stood before has been executed already.
func (p *pipeline) follow(wp *warp, in *isa.Instr, now uint64) error {
	st := &p.work.step
	if wp.rest > 0 {
		if wp.rest--; wp.rest == 0 {
			st.Next = wp.then
		} else {
			st.Next = wp.pc
		}
		st.Mask = wp.lanes
		return nil
	}
	src := wp.code.Source
	upto := src.Upto[wp.pc]
	st.Mask, st.Next = wp.active, wp.pc+1
	if wp.at > upto && in.Kind == isa.Store {
		if len(wp.late) == 0 {
			return astray(wp, in)
		}
		k := &wp.late[0]
		st.Mask, st.Space, st.Addr = k.mask, k.space, k.addr
		wp.late = wp.late[:copy(wp.late, wp.late[1:])]
	}
	repeated := false
	for wp.at <= upto && wp.at >= 0 && !repeated {
		from := wp.at
		if err := wp.advance(st, now); err != nil {
			return err
		}
		if src.Late != nil && src.Late[from] && from < upto {
			wp.late = append(wp.late, kept{st.Mask, st.Space, st.Addr})
		}
		if repeated = wp.at == from; wp.at != from+1 {
			break
		}
	}
	lanes := st.Mask
	switch {
	case repeated:
		st.Next = wp.pc
	case wp.at <= upto && in.Marks&isa.Ends == 0:
		return astray(wp, in)
	default:
		if err := p.enter(wp, in, now); err != nil {
			return err
		}
	}
	if st.Mask = lanes; in.Times > 1 {
		wp.rest, wp.then, wp.lanes = in.Times-1, st.Next, lanes
	}
	return nil
}

// enter finds the machine's instruction behind the one at the warp's place, past ends of runs that vanish. What is
// behind a barrier is executed when it is open.
func (p *pipeline) enter(wp *warp, in *isa.Instr, now uint64) error {
	src := wp.code.Source
	next := wp.pc + 1
	for passed := 0; ; passed++ {
		if passed > 0 || in.Marks&isa.Ends != 0 {
			if p.work.step.Next = -1; wp.at < 0 {
				return nil
			}
			if next = src.Enter[wp.at]; next < 0 {
				return astray(wp, in)
			}
		}
		p.work.step.Next = next
		if wp.code.Instr[next].Marks&isa.Vanishes == 0 || in.Kind == isa.Barrier || passed == mostPassed {
			return nil
		}
		for end, from := src.Upto[next], int32(-1); wp.at <= end && wp.at > from; {
			from = wp.at
			if err := wp.advance(&p.work.pass, now); err != nil {
				return err
			}
		}
	}
}

// mostPassed bounds the runs that vanish one behind the other: an endless loop may have nothing else.
const mostPassed = 4

// advance executes the next instruction of the source.
func (wp *warp) advance(st *isa.Step, now uint64) error {
	if wp.ahead > 0 {
		wp.ahead--
		st.Mask, st.Next = wp.mask, wp.at+1
		wp.at++
		return nil
	}
	if err := wp.exec.Step(int(wp.in), now, st); err != nil {
		return err
	}
	wp.ahead, st.Ahead = st.Ahead, 0
	wp.mask, wp.active, wp.at = st.Mask, st.Active, st.Next
	return nil
}

// part times an issue of a sequence that is not its last: the issues of a sequence share its time evenly.
func (p *pipeline) part(w int, wp *warp, in *isa.Instr, u *unit, now uint64) {
	n := uint32(in.Times)
	begin := max(now, u.free)
	u.free, u.taken = begin+uint64(p.cfg.issue.interval[in.Timing]/n), begin+2
	wp.since, wp.cause = now, Dependency
	fetch := p.front.fetched(&p.cfg.fetch, wp, false, now)
	p.warps.planAt(w, max(fetch, begin+uint64(max(1, p.cfg.issue.latency[in.Timing]/n))), now+1)
}

// times are the latency and the interval of an instruction: of the last issue of a sequence what the others left.
func (c *issueConfig) times(in *isa.Instr) (latency, interval uint32) {
	latency, interval = c.latency[in.Timing], c.interval[in.Timing]
	if n := uint32(in.Times); n > 1 {
		latency, interval = max(1, latency-latency/n*(n-1)), interval-interval/n*(n-1)
	}
	return latency, interval
}

// again executes another step of the instruction at the warp's place.
func (p *pipeline) again(wp *warp, in *isa.Instr, now uint64) error {
	if wp.code.Source != nil {
		return p.follow(wp, in, now)
	}
	return wp.exec.Step(int(wp.in), now, &p.work.step)
}

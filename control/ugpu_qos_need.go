package control

import "math"

// What slice a target needs, for UGPU's QoS mode. Zhao et al., UGPU, ISCA 2025, section 6.7, which gives no formula.
// Period and hardware as in ugpu.go. Reading:
//
//   - SMs: enough that the IPC per SM reaches the target plus a margin, plus a part for what it is behind its
//     target since it began. The last period before which no channels changed hands counts, because an
//     application that waits for pages looks slow. SMs are given back delta_sms a period.
//   - Channel groups: enough for the LLC accesses of the target's IPC, with headroom.
//     Equation 2 counts hits as supply, but the hit rate was measured with the LLC
//     slices of all groups held: where the footprint does not fit those of fewer groups, DRAM
//     alone has to do. Groups are taken only after a miss, as taking them costs time too.
//   - A target missed for two periods together on the same number of groups makes that
//     number too few from then on.

// need is the slice with which application i reaches its target.
func (u *ugpuQoS) need(i int) Alloc {
	history := u.history
	a, mean := &history[len(history)-1].Apps[i], meanIPC(history, i)
	behind := max(0, a.QoS-mean)
	goal := a.QoS*(1+u.margin) + behind
	n := Alloc{SMs: ceil(goal / settledIPC(history, i)), Groups: u.groupsFor(a, goal)}
	if behind == 0 {
		n.Groups = min(n.Groups, a.Groups)
	}
	n.SMs = max(n.SMs, a.SMs-u.sms)
	n.Groups = max(n.Groups, tooFew(history, i)+1)
	return Alloc{min(max(n.SMs, 1), u.m.SMs), min(max(n.Groups, 1), u.m.Groups)}
}

// groupsFor is the fewest groups whose bandwidth and memory carry an application at an
// IPC.
func (u *ugpuQoS) groupsFor(a *App, ipc float64) (n int) {
	bytes := u.headroom * ipc * float64(a.LLCAccesses) / float64(a.Insts) * float64(u.m.Line) * u.m.CoreHz
	for n = 1; n < u.m.Groups; n++ {
		perMC := u.m.MemBytes
		if a.Footprint <= uint64(n)*u.m.GroupLLC {
			perMC = u.m.measure(a).perMC
		}
		if bytes <= perMC*float64(n*u.m.Channels) &&
			(u.m.GroupMemory == 0 || a.Footprint <= uint64(n)*u.m.GroupMemory) {
			break
		}
	}
	return n
}

// settledIPC is the IPC per SM of application i in the last period before which its
// channels did not change.
func settledIPC(history []Sample, i int) float64 {
	at := len(history) - 1
	for k := at; k >= 0; k-- {
		if history[k].Apps[i].Cycles > 0 && (k == 0 || history[k].Apps[i].Groups == history[k-1].Apps[i].Groups) {
			at = k
			break
		}
	}
	a := &history[at].Apps[i]
	sms := a.SMs
	if at > 0 {
		sms = max(sms, history[at-1].Apps[i].SMs) // some have been on their way
	}
	return float64(a.Insts) / float64(max(a.Cycles*uint64(sms), 1))
}

// meanIPC is the IPC of application i over all the history.
func meanIPC(history []Sample, i int) float64 {
	var insts, cycles uint64
	for k := range history {
		insts, cycles = insts+history[k].Apps[i].Insts, cycles+history[k].Apps[i].Cycles
	}
	return float64(insts) / float64(max(cycles, 1))
}

// tooFew is the most groups with which application i missed its target for two
// periods together; 0: none.
func tooFew(history []Sample, i int) (groups int) {
	missed := func(a *App) bool { return float64(a.Insts) < a.QoS*float64(a.Cycles) }
	for k := 1; k < len(history); k++ {
		a, b := &history[k-1].Apps[i], &history[k].Apps[i]
		if a.Groups == b.Groups && missed(a) && missed(b) {
			groups = max(groups, b.Groups)
		}
	}
	return groups
}

// ceil rounds up, to at most the greatest int.
func ceil(x float64) int { return int(math.Ceil(min(x, 1<<30))) }

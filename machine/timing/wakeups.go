package timing

import "github.com/heddle-sim/heddle/engine"

// Wakeups say when components run. They hold the wheels of the two sides, and the numbers of the components in them,
// which are also their order within a cycle. Channels and SMs begin at 0; the fields give the first number of the
// others. Wakeups do not change once the machine is built, so that every part has a copy.
type Wakeups struct {
	Front *engine.Wheel // of the SM side
	Back  *engine.Wheel // of the memory side

	Stack, Slice, Reply                int // in Back,
	Tier, Controller                   int // in Back, of a memory of two tiers
	CPU, MMU, Request, Dispatch, Moves int // in Front
}

// NewWakeups numbers the components of each kind; with every, all of them run in every cycle.
func NewWakeups(channels, stacks, slices, tiers, sms, cores int, every bool) Wakeups {
	w := Wakeups{Stack: channels, Slice: channels + stacks, CPU: sms, MMU: sms + cores}
	w.Reply = w.Slice + slices
	w.Request, w.Dispatch, w.Moves = w.MMU+1, w.MMU+2, w.MMU+3
	w.Tier, w.Controller = w.Reply+1, w.Reply+1+tiers
	back := w.Tier
	if tiers > 0 {
		back = w.Controller + 1
	}
	w.Back, w.Front = engine.NewWheel(back, every), engine.NewWheel(w.Moves+1, every)
	return w
}

// WakeSM runs SM i at core cycle at, or before.
func (w *Wakeups) WakeSM(i int, at uint64) { w.Front.Wake(i, at) }

// WakeCPU is WakeSM for a CPU core.
func (w *Wakeups) WakeCPU(i int, at uint64) { w.Front.Wake(w.CPU+i, at) }

// WakeMMU is WakeSM for the MMU, the host link and unified memory.
func (w *Wakeups) WakeMMU(at uint64) { w.Front.Wake(w.MMU, at) }

// WakeRequest is WakeSM for the networks of requests.
func (w *Wakeups) WakeRequest(at uint64) { w.Front.Wake(w.Request, at) }

// WakeDispatch is WakeSM for the dispatcher.
func (w *Wakeups) WakeDispatch(at uint64) { w.Front.Wake(w.Dispatch, at) }

// WakeMoves is WakeSM for what moves SMs, channel groups and pages between applications.
func (w *Wakeups) WakeMoves(at uint64) { w.Front.Wake(w.Moves, at) }

// WakeChannel is WakeSM for a DRAM channel.
func (w *Wakeups) WakeChannel(i int, at uint64) { w.Back.Wake(i, at) }

// WakeStack is WakeSM for an HBM stack.
func (w *Wakeups) WakeStack(i int, at uint64) { w.Back.Wake(w.Stack+i, at) }

// WakeSlice is WakeSM for an LLC slice.
func (w *Wakeups) WakeSlice(i int, at uint64) { w.Back.Wake(w.Slice+i, at) }

// WakeReply is WakeSM for the networks of replies.
func (w *Wakeups) WakeReply(at uint64) { w.Back.Wake(w.Reply, at) }

// WakeTier is WakeSM for a channel of a memory of two tiers.
func (w *Wakeups) WakeTier(i int, at uint64) { w.Back.Wake(w.Tier+i, at) }

// WakeController is WakeSM for the controller before such a memory.
func (w *Wakeups) WakeController(at uint64) { w.Back.Wake(w.Controller, at) }

package machine

import "github.com/heddle-sim/heddle/engine"

// agenda says when components run: the wheel of either side, and the numbers of the
// components in it, which are also their order within a cycle. Channels and SMs begin
// at 0; of the others the number of the first is here. It does not change once the
// machine is built, so that every part has one of its own.
type agenda struct {
	front *engine.Wheel // of the SM side
	back  *engine.Wheel // of the memory side

	stack, slice, reply                 int // in back,
	tier, controller                    int // and of a memory of two tiers
	cpu, mmu, request, dispatch, driver int // in front
}

func newAgenda(channels, stacks, slices, tiers, sms, cores int, every bool) agenda {
	a := agenda{stack: channels, slice: channels + stacks, cpu: sms, mmu: sms + cores}
	a.reply = a.slice + slices
	a.request, a.dispatch, a.driver = a.mmu+1, a.mmu+2, a.mmu+3
	a.tier, a.controller = a.reply+1, a.reply+1+tiers
	back := a.tier
	if tiers > 0 {
		back = a.controller + 1
	}
	a.back, a.front = engine.NewWheel(back, every), engine.NewWheel(a.driver+1, every)
	return a
}

func (a *agenda) wakeSM(i int, at uint64)      { a.front.Wake(i, at) }
func (a *agenda) wakeCPU(i int, at uint64)     { a.front.Wake(a.cpu+i, at) }
func (a *agenda) wakeMMU(at uint64)            { a.front.Wake(a.mmu, at) }
func (a *agenda) wakeRequest(at uint64)        { a.front.Wake(a.request, at) }
func (a *agenda) wakeDispatch(at uint64)       { a.front.Wake(a.dispatch, at) }
func (a *agenda) wakeDriver(at uint64)         { a.front.Wake(a.driver, at) }
func (a *agenda) wakeChannel(i int, at uint64) { a.back.Wake(i, at) }
func (a *agenda) wakeStack(i int, at uint64)   { a.back.Wake(a.stack+i, at) }
func (a *agenda) wakeSlice(i int, at uint64)   { a.back.Wake(a.slice+i, at) }
func (a *agenda) wakeReply(at uint64)          { a.back.Wake(a.reply, at) }
func (a *agenda) wakeTier(i int, at uint64)    { a.back.Wake(a.tier+i, at) }
func (a *agenda) wakeController(at uint64)     { a.back.Wake(a.controller, at) }

package sm

// frontEnd fetches instructions into the warps' buffers.
type frontEnd struct {
	at    uint64 // cycle of the last request
	queue uint64 // fetches asked for and not made by then
}

// fetched is the cycle at which the warp's next instruction can be in its buffer: an
// exhausted one costs a fetch, and one flushed behind a branch a cycle more to decode.
func (f *frontEnd) fetched(cfg *fetchConfig, wp *warp, flush bool, now uint64) uint64 {
	if !flush && wp.buf > 1 {
		wp.buf--
		return now + 1
	}
	wp.buf = cfg.width
	at := now + cfg.latency + f.turn(cfg, now)
	if flush {
		at++
	}
	return at
}

// turn is how many cycles a fetch asked for now waits for the others: the front end takes
// as many warps per cycle as its rate is, the last of which is decoded in the next.
func (f *frontEnd) turn(cfg *fetchConfig, now uint64) uint64 {
	done := (now - f.at) * cfg.rate
	f.queue -= min(f.queue, done)
	f.at = now
	f.queue++
	if f.queue < cfg.rate { // a division costs more than all the rest here
		return 0
	}
	return f.queue / cfg.rate
}

// redirect lets a warp that has branched fetch from the branch's target. With a late
// redirect the front end goes on behind every branch, and that the buffer holds what does
// not follow is seen when the scheduler comes to the warp.
func (p *pipeline) redirect(w int, now uint64) {
	wp := &p.warps.slot[w]
	p.warps.stale &^= bit(w)
	p.warps.ready &^= bit(w)
	wp.buf = 0
	p.warps.plan(w, wp, p.front.fetched(&p.cfg.fetch, wp, false, now), now+1)
}

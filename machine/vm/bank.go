package vm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
)

// bank is a part of the L2 TLB with lookup ports and queues of its own: the sets whose
// number, which is the low bits of the page's, ends in the bank's. Lookups of different
// banks do not wait for each other; those of one bank do. What a TLB holds does not
// depend on the number of its banks.
type bank struct {
	in      []mem.Ring[request] // per SM, served in turn: a busy SM must not starve another
	asking  []uint64            // bitset of SMs with requests in it
	turn    int                 // SM served last
	queued  int                 // requests in all of them
	retry   mem.Queue[request]  // replies overtaken by a shootdown; bounded by the waiters
	pipe    mem.Ring[request]   // lookups begun, oldest first
	blocked bool                // the oldest has not found room
}

func newBank(cfg *Config) bank {
	b := bank{
		asking: make([]uint64, (len(cfg.Near)+63)/64), turn: len(cfg.Near) - 1,
		pipe: mem.NewRing[request](cfg.Ports * (int(cfg.Latency) + 1)),
	}
	for range cfg.Near {
		b.in = append(b.in, mem.NewRing[request](cfg.InQueue))
	}
	return b
}

// bankOf is the bank of a page.
func (m *MMU) bankOf(vpn uint64) *bank { return &m.banks[vpn&uint64(len(m.banks)-1)] }

// push files an SM's request; false when its queue is full.
func (b *bank) push(r request) bool {
	if !b.in[r.sm].Push(r) {
		return false
	}
	b.asking[r.sm>>6] |= 1 << (r.sm & 63)
	b.queued++
	return true
}

// waiting is the number of requests whose lookup has not begun.
func (b *bank) waiting() int { return b.queued + b.retry.Len() }

// accept begins a lookup for each port, of overtaken requests first.
func (b *bank) accept(now uint64, ports int, latency uint64) {
	for range ports {
		if b.waiting() == 0 || b.pipe.Full() {
			return
		}
		var r request
		if b.retry.Len() > 0 {
			r = b.retry.Pop()
		} else {
			r = b.fromSM()
		}
		r.ready = now + latency
		b.pipe.Push(r)
	}
}

// fromSM takes the oldest request of the next SM in turn that has one.
func (b *bank) fromSM() request {
	k, rest := (b.turn+1)>>6, ^uint64(0)<<((b.turn+1)&63)
	for {
		if k == len(b.asking) {
			k, rest = 0, ^uint64(0)
		}
		if word := b.asking[k] & rest; word != 0 {
			b.turn = k<<6 + bits.TrailingZeros64(word)
			break
		}
		k, rest = k+1, ^uint64(0)
	}
	q := &b.in[b.turn]
	r := q.Pop()
	if q.Len() == 0 {
		b.asking[b.turn>>6] &^= 1 << (b.turn & 63)
	}
	b.queued--
	return r
}

// next is the next cycle with a lookup to begin or to end; all ones: none that the bank
// knows of, because the oldest waits for room.
func (b *bank) next(now uint64) uint64 {
	if b.waiting() > 0 && !b.pipe.Full() {
		return now + 1
	}
	if b.pipe.Len() > 0 && !b.blocked {
		return max(b.pipe.Head().ready, now+1)
	}
	return never
}

// each goes through all requests of the bank.
func (b *bank) each(see func(r *request)) {
	for k := range b.in {
		for i := range b.in[k].Len() {
			see(b.in[k].At(i))
		}
	}
	for i := range b.retry.Len() {
		see(b.retry.At(i))
	}
	for i := range b.pipe.Len() {
		see(b.pipe.At(i))
	}
}

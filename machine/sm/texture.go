package sm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// The texture units of an SM (sm.texture_rate), and the way of a fetch. It goes to the load/store unit as loads do,
// and the sectors it needs of each row of texels through the L1, which is the texture cache. A fetch gets its place
// in the order of filtering when it leaves the load/store queue: sectors are looked up and fetched while fetches
// before it are filtered, as in the prefetching texture cache of Igehy et al. (Eurographics workshop on graphics
// hardware, 1998). With the data there and its turn come, its lanes pass the units at their rate, and
// sm.texture_latency later dependents may issue. While the units have more work before them than sm.texture_queue
// fetches of whole warps, the load/store unit waits at the next fetch, and what is behind it does.
//
// A lane takes one turn for its texel, filtered in one or two dimensions or not at all, and two where it is filtered
// in three.
//
// Surface accesses pass the same units, a turn for each lane. A load is a fetch that may not be read-only; a store
// goes on to the L1, which it writes through, as it gets its place in that order.

// gather executes the steps of an access after the first one (a fetch has a step for each row of texels), and merges
// the rows' lines; false after a fault.
func (p *pipeline) gather(wp *warp, in *isa.Instr, now uint64) bool {
	st, t := &p.work.step, &p.work.texture
	c := &p.work.co
	c.n, *t = 0, fetchSize{}
	for {
		if t.rows++; st.Mask != 0 {
			c.merge(st.Mask, &st.Addr, in.Width, in.Kind == isa.Store)
			t.lanes = max(t.lanes, bits.OnesCount32(st.Mask))
		}
		if st.Next != wp.pc || t.rows == isa.TextureRows {
			return true
		}
		if err := p.again(wp, in, now); err != nil {
			p.fault, p.faulty = err, wp.k
			return false
		}
	}
}

// fetchSize is the size of the memory that an access of the texture units touches.
type fetchSize struct{ rows, lanes int }

// turns is how often lanes pass the texture units.
func (f *fetchSize) turns() int { return max(1, f.rows/2) * f.lanes }

// texture makes accesses of the lines that gather has merged.
func (l *loadStore) texture(work *Scratch, wp *warp, in *isa.Instr, op int32) []access {
	o, c := &l.ops.list[op], &work.co
	if in.Kind == isa.Store {
		wp.row[Stores]++
	} else {
		wp.row[Loads]++
	}
	wp.row[TextureFetches]++
	if in.Cache == isa.CacheTexture {
		o.flags = mem.ReadOnly
	}
	o.bypass = in.Cache == isa.CacheSurfaceL2
	o.texels = uint16(work.texture.turns())
	o.left, o.queued = int32(c.n), int32(c.n)
	for i := range c.n {
		c.acc[i].op = op
	}
	return c.acc[:c.n]
}

// filter gives a fetch, whose first access a is, its place in the texture units. It says if there is no room; then a
// must be looked at again when there is.
func (l *loadStore) filter(a *access, o *memOp, now uint64) bool {
	x := &l.cfg.texture
	if l.tex > now+x.backlog {
		a.at = l.tex - x.backlog
		return false
	}
	turn := max(now, l.tex)
	cycles := (uint64(o.texels) + x.rate - 1) / x.rate
	l.tex = turn + cycles
	row := l.rows[o.tenant]
	row[TextureBusy] += cycles
	row[TextureWait] += turn - now
	o.texels, o.filtered, o.at = 0, uint16(cycles), turn
	return true
}

// deliver passes a fetch whose data has come through the texture units.
func (l *loadStore) deliver(o *memOp) { o.at += uint64(o.filtered) + l.cfg.texture.latency }

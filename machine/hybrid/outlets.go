package hybrid

import (
	"math/bits"

	"github.com/heddle-sim/heddle/internal/invariants"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
)

// Access is a read or write of 64 bytes by a channel of a tier. Columns count such accesses. Buffer names the place
// in the controller that they go to or come from; it comes back with Arrived.
type Access struct {
	At     addrmap.Loc
	Buffer int32
	Write  bool
	Tenant mem.TenantID
}

// outlets are the queues of accesses to the channels of both tiers.
type outlets struct {
	ring   [NumTiers][]mem.Ring[Access] // by channel
	fed    [NumTiers]uint64             // channels that have got an access since Fed, a bit each
	maps   [NumTiers]*addrmap.Map
	within [NumTiers]uint64 // bytes that share a place of a map, less one
	layout *layout
	port   int // accesses that wait for a channel
	rows   []*counts
	trace  func(e event) // of tests
}

func newOutlets(cfg *Config, l *layout, rows []*counts) outlets {
	o := outlets{layout: l, port: cfg.Port, rows: rows}
	for tier := range o.ring {
		o.maps[tier] = cfg.Tiers[tier].Map
		o.within[tier] = o.maps[tier].Block() - 1
		o.ring[tier] = make([]mem.Ring[Access], cfg.Tiers[tier].Channels)
		for i := range o.ring[tier] {
			o.ring[tier][i] = mem.NewRing[Access](cfg.Port)
		}
	}
	return o
}

// takes says whether the channels of some units of a place take an access of each.
func (o *outlets) takes(p place, units uint32) bool {
	n := bits.OnesCount32(units)
	for m := units; m != 0; m &= m - 1 {
		tier, addr := o.layout.address(p, bits.TrailingZeros32(m))
		if o.ring[tier][o.maps[tier].Channel(addr)].Len()+n > o.port {
			return false
		}
	}
	return true
}

// takesEntry says whether the channel of a line of the remap table takes what a look-up may
// send it: two lines of the table, and two units of data.
func (o *outlets) takesEntry(line uint64) bool {
	return o.ring[Fast][o.maps[Fast].Channel(o.layout.entryAddress(line))].Len()+4 <= o.port
}

// try sends an access if its channel takes it.
func (o *outlets) try(p place, unit int, write bool, buffer int32, tenant mem.TenantID) bool {
	tier, addr := o.layout.address(p, unit)
	if o.ring[tier][o.maps[tier].Channel(addr)].Full() {
		return false
	}
	o.send(tier, addr, write, buffer, tenant)
	return true
}

// send hands an access to its channel, which has room.
func (o *outlets) send(tier int, addr uint64, write bool, buffer int32, tenant mem.TenantID) {
	a := Access{At: o.maps[tier].Decode(addr), Buffer: buffer, Write: write, Tenant: tenant}
	a.At.Col = a.At.Col*uint16((o.within[tier]+1)/Unit) + uint16(addr&o.within[tier]/Unit)
	o.fed[tier] |= 1 << a.At.Channel
	if !o.ring[tier][a.At.Channel].Push(a) && invariants.On {
		invariants.Fail("no room for %+v of tier %d", a, tier)
	}
	n := FastReads + 2*tier
	if write {
		n++
	}
	o.rows[tenant][n]++
	if o.trace != nil {
		o.trace(event{kind: sent, access: a, tier: tier, addr: addr})
	}
}

// event is a fact for tests: an access that has been sent, a unit of a request that has been
// answered from a buffer, or places that have changed places for nothing.
type event struct {
	kind   eventKind
	access Access
	tier   int
	addr   uint64
	fetch  mem.Fetch
	part   int32
	unit   int
	a, b   place
}

type eventKind uint8

const (
	sent eventKind = iota
	answered
	exchanged
)

package machine

import "github.com/heddle-sim/heddle/mem/addrmap"

// layouts are the address maps: where a line lies.
type layouts struct {
	whole      *addrmap.Map           // of the whole machine
	of         [mostMaps]*addrmap.Map // by the bits of a physical address that choose a map
	perChannel int                    // LLC slices of a channel
}

// mostMaps is the number of maps a physical address can choose among.
const mostMaps = 1 << (addrmap.AddrBits - addrmap.TenantShift)

// at is the map that places a physical address: the bits from
// addrmap.TenantShift on choose it. Without translation they are the tenant's
// number; with it they are 0, the whole machine's map, unless pages span channels
// and a slice has a layout of its own (vm.Tables.SetLayout).
func (l *layouts) at(addr uint64) *addrmap.Map { return l.of[addr>>addrmap.TenantShift] }

// slice is the LLC slice of a physical address.
func (l *layouts) slice(addr uint64) int { return l.at(addr).Slice(addr) }

// channelOf is the channel behind an LLC slice.
func (l *layouts) channelOf(slice int) int { return slice / l.perChannel }

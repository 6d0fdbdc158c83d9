package interconnect

import "github.com/heddle-sim/heddle/mem/addrmap"

// Layouts are the address maps, which give the place of a line.
type Layouts struct {
	Whole      *addrmap.Map           // of the whole machine
	Of         [MostMaps]*addrmap.Map // by the bits of a physical address that choose a map
	PerChannel int                    // LLC slices of a channel
}

// MostMaps is the number of maps that a physical address can select.
const MostMaps = 1 << (addrmap.AddrBits - addrmap.TenantShift)

// At is the map that places a physical address: the bits from
// addrmap.TenantShift on choose it. Without translation they are the tenant's
// number; with it they are 0, the whole machine's map, unless pages span channels
// and a slice has a layout of its own (vm.Tables.SetLayout).
func (l *Layouts) At(addr uint64) *addrmap.Map { return l.Of[addr>>addrmap.TenantShift] }

// Slice is the LLC slice of a physical address.
func (l *Layouts) Slice(addr uint64) int { return l.At(addr).Slice(addr) }

// ChannelOf is the channel behind an LLC slice.
func (l *Layouts) ChannelOf(slice int) int { return slice / l.PerChannel }

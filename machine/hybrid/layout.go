package hybrid

import "math/bits"

// chainGroup is how many sets are chained to each other.
const chainGroup = 8

// place is where a block can lie: a position of a set. The first ones are its ways in the
// fast tier, the others in the slow one.
type place struct {
	set uint32
	pos uint16
}

// layout has the places of sets, blocks and the remap table.
type layout struct {
	shape   Shape
	sets    uint64
	ways    int
	spots   int  // positions of a set
	shift   uint // log2 of a block
	units   int  // of a block
	width   int  // channels of a superchannel
	fast    int  // channels of the fast tier
	first   int  // index of the first block of a set that lies in the slow tier at first
	groupOf uint // log2 of the sets of which one can hold another's blocks

	entry      int    // bytes of a set in the remap table: a power of two
	entryLines uint64 // lines of a set that has more than one
	table      uint64 // address of the remap table in the fast tier
}

func newLayout(c *Config) layout {
	block := uint64(c.Block)
	l := layout{
		shape: c.Shape, ways: c.Shape.Ways, shift: uint(bits.TrailingZeros(uint(c.Block))), units: c.Block / Unit,
		fast: c.Tiers[Fast].Channels, width: c.Tiers[Fast].Channels / c.Shape.Channels, table: c.Tiers[Fast].Bytes,
	}
	l.sets = c.Tiers[Fast].Bytes / block / uint64(l.ways)
	l.spots = l.ways + int(c.Tiers[Slow].Bytes/block/l.sets)
	if c.Mode == Cache {
		l.first = l.ways // a block's home is in the slow tier, and its copy in a way
	}
	if c.Chained {
		l.groupOf = uint(bits.TrailingZeros(chainGroup))
	}
	l.entry = 1
	for l.entry*8 < l.entryBits(c) {
		l.entry *= 2
	}
	l.entryLines = uint64(max(1, l.entry/Unit))
	return l
}

// entryBits is the size of a set's entry in the remap table: as a cache, of each way which block it
// holds, valid, dirty and alloc; flat, where each block is, and alloc of the ways. The order of use
// is kept in the remap cache only.
func (l *layout) entryBits(c *Config) int {
	if c.Mode == Flat {
		return l.spots*bits.Len(uint(l.spots-1)) + l.ways
	}
	n := l.ways * (bits.Len(uint(l.spots-l.ways-1)) + 3)
	if c.Chained {
		n += 6 // an offset to the place, one back, and a dirty bit for its block
	}
	return n
}

// locate splits an address into set, index of the block in the set, and unit of the block.
func (l *layout) locate(addr uint64) (set, index uint32, unit int) {
	block := addr >> l.shift
	return uint32(block % l.sets), uint32(block / l.sets), int(addr / Unit & uint64(l.units-1))
}

// home is where a block lies as long as it is not moved.
func (l *layout) home(set, index uint32) place { return place{set, uint16(int(index) + l.first)} }

// address is the address of a unit of a place in its tier.
func (l *layout) address(p place, unit int) (tier int, addr uint64) {
	if int(p.pos) < l.ways {
		return Fast, l.fastAddress(uint64(p.set), int(p.pos), unit)
	}
	block := uint64(int(p.pos)-l.ways)*l.sets + uint64(p.set)
	return Slow, block<<l.shift + uint64(unit)*Unit
}

// fastAddress is the address of a unit of a way. The blocks of a superchannel follow each
// other, and their units go round its channels: a block of 256 bytes has one in each of four.
func (l *layout) fastAddress(set uint64, way, unit int) uint64 {
	var slot uint64 // of the superchannel
	n := uint64(l.shape.Channels)
	switch page := l.shape.Page; {
	case page > 0:
		slot = (set/(page*n)*page+set%page)*uint64(l.ways) + uint64(way)
	case l.ways >= l.shape.Channels:
		slot = set*(uint64(l.ways)/n) + uint64(way)/n
	default:
		slot = set/n*uint64(l.ways) + uint64(way)
	}
	at := slot*uint64(l.units) + uint64(unit)
	channel := uint64(l.shape.Channel(set, way)*l.width) + at%uint64(l.width)
	return (at/uint64(l.width)*uint64(l.fast) + channel) * Unit
}

// entryLine is the line of the remap table that says where a block of a set is. Lines are
// interleaved over all channels of the fast tier.
func (l *layout) entryLine(set, index uint32) uint64 {
	if l.entry <= Unit {
		return uint64(set) / uint64(Unit/l.entry)
	}
	return uint64(set)*l.entryLines + uint64(index)*l.entryLines/uint64(l.spots)
}

// entryAddress is the address of a line of the remap table in the fast tier.
func (l *layout) entryAddress(line uint64) uint64 { return l.table + line*Unit }

// tableBytes is the part of the fast tier that the remap table takes.
func (l *layout) tableBytes() uint64 {
	if l.entry <= Unit {
		return (l.sets*uint64(l.entry) + Unit - 1) / Unit * Unit
	}
	return l.sets * uint64(l.entry)
}

// setsOf are the sets whose entries a line of the remap table has.
func (l *layout) setsOf(line uint64) (first, n uint64) {
	if l.entry <= Unit {
		per := uint64(Unit / l.entry)
		return line * per, min(per, l.sets-line*per)
	}
	return line / l.entryLines, 1
}

// readerCounts is how many counts of reads of a place there are.
const readerCounts = 1 << 16

// hold is where reads of a place are counted: nothing else may be written there before they
// have their data. Few places share a count, and one that does waits a little longer.
func (l *layout) hold(p place) uint32 { return (p.set*uint32(l.spots) + uint32(p.pos)) % readerCounts }

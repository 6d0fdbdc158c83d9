package hybrid

import "encoding/binary"

// Bins of how often a block is accessed while its set's entry is in the remap cache: not at
// all, 1 to 3, 4 to 15, 16 and more times. (ProFess has 0, 1 to 7, 8 to 31, 32 and more for
// blocks of 2 KB.)
const numBins = 4

func binOf(count uint8) uint8 {
	switch {
	case count == 0:
		return 0
	case count < 4:
		return 1
	case count < 16:
		return 2
	}
	return 3
}

// most a block's counter counts to: six bits.
const mostCount = 63

// mdmPhase is how many lines of the table leave the remap cache before MDM computes its expectations again.
const mdmPhase = 1024

// mdm is the state of ProFess's migration decision mechanism. For each block it has its bin when its entry came (two
// bits of the entry) and its accesses since then; for each class, the accesses of blocks by bin.
type mdm struct {
	state    []uint8 // by set and index: bin in the low two bits, count above
	gpu      []uint8 // by set and index, a bit: the application that accessed it last
	blocks   uint64  // of a set
	observed [numClasses][numBins]struct{ blocks, accesses uint64 }
	expected [numClasses][numBins]float64 // accesses
	known    bool                         // expected has been computed
	left     int                          // lines that have left in this phase
}

func newMDM(sets, blocks uint64) mdm {
	blocks = (blocks + 7) / 8 * 8
	return mdm{state: make([]uint8, sets*blocks), gpu: make([]uint8, sets*blocks/8), blocks: blocks}
}

// access counts one.
func (m *mdm) access(set uint64, index uint32, c Class) {
	i := set*m.blocks + uint64(index)
	if m.state[i]>>2 < mostCount {
		m.state[i] += 4
	}
	m.gpu[i>>3] &^= 1 << (i & 7)
	if c == GPU {
		m.gpu[i>>3] |= 1 << (i & 7)
	}
}

// owner is the application that accessed a block last.
func (m *mdm) owner(set uint64, index uint32) Class {
	i := set*m.blocks + uint64(index)
	return Class(m.gpu[i>>3] >> (i & 7) & 1)
}

// remaining is how many more accesses a block can expect: those of its bin less those it has
// had; with idle, none if it has had none.
func (m *mdm) remaining(set uint64, index uint32, idle bool) float64 {
	s := m.state[set*m.blocks+uint64(index)]
	if idle && s>>2 == 0 {
		return 0
	}
	return max(0, m.expected[m.owner(set, index)][s&3]-float64(s>>2))
}

// leaves ends the counts of n sets, whose entries leave the remap cache.
func (m *mdm) leaves(first, n uint64) {
	for i := first * m.blocks; i < (first+n)*m.blocks; i += 8 {
		if binary.LittleEndian.Uint64(m.state[i:]) == 0 {
			continue
		}
		for k := range uint64(8) {
			if s := m.state[i+k]; s != 0 {
				m.observe(i+k, s)
			}
		}
	}
	if m.left++; m.left == mdmPhase {
		m.left = 0
		m.estimate()
	}
}

// observe takes a block into the statistics and gives it its new bin.
func (m *mdm) observe(i uint64, s uint8) {
	o := &m.observed[m.gpu[i>>3]>>(i&7)&1][s&3]
	o.blocks++
	o.accesses += uint64(s >> 2)
	m.state[i] = binOf(s >> 2)
}

// estimate computes how often a block of a bin is accessed. (ProFess sums, over the bins it may go
// to, how likely that is times how often blocks that did were accessed: the mean.)
func (m *mdm) estimate() {
	for c := range m.observed {
		for bin := range m.observed[c] {
			o := &m.observed[c][bin]
			if o.blocks > 0 {
				m.expected[c][bin] = float64(o.accesses) / float64(o.blocks)
				m.known = true
			}
			o.blocks, o.accesses = 0, 0
		}
	}
}

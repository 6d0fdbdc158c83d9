package hybrid

import (
	"fmt"
	"math/bits"
)

// MaxWays is the most ways a set may have, which is what a word of ownership bits holds.
const MaxWays = 16

// maxChannels bounds what a shape may claim.
const maxChannels = 1 << 16

// Shape is how the ways of a set lie over the superchannels of the fast memory. One of the
// numbers is a multiple of the other.
type Shape struct {
	Ways     int // of a set, 1 to MaxWays
	Channels int // superchannels: each delivers a block per access
}

// Check says why there is no such shape.
func (s Shape) Check() error {
	switch {
	case s.Ways < 1 || s.Ways > MaxWays:
		return fmt.Errorf("a set has 1 to %d ways, not %d", MaxWays, s.Ways)
	case s.Channels < 1 || s.Channels > maxChannels:
		return fmt.Errorf("the fast memory has 1 to %d channels, not %d", maxChannels, s.Channels)
	case s.Ways%s.Channels != 0 && s.Channels%s.Ways != 0:
		return fmt.Errorf("%d ways and %d channels do not divide: one must be a multiple of the other", s.Ways,
			s.Channels)
	}
	return nil
}

// Channel is the superchannel of a way. Where ways are at least as many as channels it is
// the same in every set; where they are fewer, sets begin one channel further each and their
// ways lie evenly apart. It never changes: only owners do.
func (s Shape) Channel(set uint64, way int) int {
	if s.Ways >= s.Channels {
		return way % s.Channels
	}
	return int((set%uint64(s.Channels) + uint64(way*(s.Channels/s.Ways))) % uint64(s.Channels))
}

// Split is how a fast memory is divided, its capacity and its bandwidth apart.
type Split struct {
	Cap int // ways of each set for data of the CPU
	BW  int // superchannels, the first ones, that are the CPU's alone; the others are shared
}

// Fits says why a fast memory of this shape cannot be split so: bw*ways/channels <= cap <=
// ways-1, so that the CPU's channels hold its data alone and the GPU has a way in each set.
// In sets of one way cap has no meaning, and the GPU passes by those in the CPU's channels.
func (s Shape) Fits(p Split) error {
	switch {
	case p.BW < 0 || p.BW >= s.Channels:
		return fmt.Errorf("bw is %d: of %d channels, 0 to %d may be the CPU's alone", p.BW, s.Channels, s.Channels-1)
	case p.Cap < 0:
		return fmt.Errorf("cap is %d: it cannot be negative", p.Cap)
	case s.Ways == 1:
		return nil
	case p.Cap >= s.Ways:
		return fmt.Errorf("cap is %d: of %d ways the CPU can have %d, and the GPU needs one", p.Cap, s.Ways, s.Ways-1)
	case p.BW*s.Ways > p.Cap*s.Channels:
		return fmt.Errorf("bw is %d and cap %d: %d of %d channels hold more than %d of %d ways "+
			"(bw*ways/channels <= cap)", p.BW, p.Cap, p.BW, s.Channels, p.Cap, s.Ways)
	}
	return nil
}

// Mapping is decoupled partitioning. All ways in the CPU's channels are the CPU's. Of the
// others of a set, those with the highest weights are the GPU's, as many as cap leaves it;
// a weight is a hash of set and way (rendezvous hashing), so that different sets use
// different channels and the GPU has the bandwidth of all that are shared. Owners depend on
// set, cap and bw alone and not on what was before; still the fewest ways change hands:
// another cap takes or gives the ways next in order, and more channels for the CPU replace
// only the GPU's ways in them.
type Mapping struct {
	shape Shape
	split Split
}

// NewMapping checks shape and split.
func NewMapping(s Shape, p Split) (Mapping, error) {
	if err := s.Check(); err != nil {
		return Mapping{}, err
	}
	return Mapping{s, p}, s.Fits(p)
}

// GPUWays are the ways of a set that are the GPU's, a bit each; the others are the CPU's. A
// set of one way in a shared channel is the GPU's by this, though the CPU uses it, too.
func (m Mapping) GPUWays(set uint64) uint16 {
	var shared, gpu uint16
	for w := range m.shape.Ways {
		if m.shape.Channel(set, w) >= m.split.BW {
			shared |= 1 << w
		}
	}
	if m.shape.Ways == 1 {
		return shared
	}
	for range m.shape.Ways - m.split.Cap {
		best, most := 0, uint64(0)
		for rest := shared; rest != 0; rest &= rest - 1 {
			w := bits.TrailingZeros16(rest)
			if x := weight(set, w); x >= most {
				best, most = w, x
			}
		}
		shared &^= 1 << best
		gpu |= 1 << best
	}
	return gpu
}

// weight orders the ways of a set. Of the first 2^60 sets no two ways weigh the same: the
// mix, that of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), is a bijection.
func weight(set uint64, way int) uint64 {
	x := (set*MaxWays + uint64(way)) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Moved is how many ways of a set change hands from one mapping of a shape to another.
func Moved(from, to Mapping, set uint64) int {
	return bits.OnesCount16(from.GPUWays(set) ^ to.GPUWays(set))
}

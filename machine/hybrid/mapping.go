package hybrid

import (
	"fmt"
	"math/bits"
)

// MaxWays is the most ways a set may have, which is what a word of ownership bits holds.
const MaxWays = 16

// maxChannels bounds what a shape may claim.
const maxChannels = 1 << 16

// Shape says how sets and their ways lie over the superchannels of the fast memory. If ways are divided, they lie in
// channels, and one of the two numbers is a multiple of the other. If sets are divided (section IV-F), all ways of a
// set lie in one channel.
type Shape struct {
	Ways     int // of a set, 1 to MaxWays
	Channels int // superchannels: each delivers a block per access
	// Page is 0 where ways are divided. Otherwise it is how many sets the blocks of a page
	// lie in: they have one color and lie in one channel, the next as many in the next channel.
	Page uint64
}

// Check says why the shape is impossible.
func (s Shape) Check() error {
	switch {
	case s.Ways < 1 || s.Ways > MaxWays:
		return fmt.Errorf("a set has 1 to %d ways, not %d", MaxWays, s.Ways)
	case s.Channels < 1 || s.Channels > maxChannels:
		return fmt.Errorf("the fast memory has 1 to %d channels, not %d", maxChannels, s.Channels)
	case s.Page > 0 && (s.Channels < 2 || s.Channels > MaxWays):
		return fmt.Errorf("sets can be divided over 2 to %d channels, not %d", MaxWays, s.Channels)
	case s.Page == 0 && s.Ways%s.Channels != 0 && s.Channels%s.Ways != 0:
		return fmt.Errorf("%d ways and %d channels do not divide: one must be a multiple of the other", s.Ways,
			s.Channels)
	}
	return nil
}

// Channel is the superchannel of a way. With at least as many ways as channels it is the same in every set. With
// fewer, each set begins one channel further than the set before, and its ways lie evenly apart. If sets are divided,
// it is the set's channel. It never changes: only owners do.
func (s Shape) Channel(set uint64, way int) int {
	switch {
	case s.Page > 0:
		return int(set / s.Page % uint64(s.Channels))
	case s.Ways >= s.Channels:
		return way % s.Channels
	}
	return int((set%uint64(s.Channels) + uint64(way*(s.Channels/s.Ways))) % uint64(s.Channels))
}

// row is the shape of as many colors as there are channels, one in each: they are divided as
// the ways of a set are elsewhere.
func (s Shape) row() Shape { return Shape{Ways: s.Channels, Channels: s.Channels} }

// Split is a division of the fast memory, by capacity and by bandwidth.
type Split struct {
	Cap int // ways of each set for data of the CPU; of sets, colors of each row
	BW  int // number of superchannels, from the first on, that only the CPU uses; the others are shared
}

// Fits says why a fast memory of this shape cannot have the split. It needs bw*ways/channels <= cap <= ways-1, so
// that the CPU's channels hold only its data and the GPU has a way in each set. In sets of one way cap has no
// meaning, and the GPU skips the sets in the CPU's channels.
func (s Shape) Fits(p Split) error {
	what := "ways"
	if s.Page > 0 {
		s, what = s.row(), "colors"
	}
	switch {
	case p.BW < 0 || p.BW >= s.Channels:
		return fmt.Errorf("bw is %d: of %d channels 0 to %d can be reserved for the "+
			"CPU", p.BW, s.Channels, s.Channels-1)
	case p.Cap < 0:
		return fmt.Errorf("cap is %d: it cannot be negative", p.Cap)
	case s.Ways == 1:
		return nil
	case p.Cap >= s.Ways:
		return fmt.Errorf("cap is %d: of %d %s the CPU can have %d, and the GPU needs one", p.Cap, s.Ways, what,
			s.Ways-1)
	case p.BW*s.Ways > p.Cap*s.Channels:
		return fmt.Errorf("bw is %d and cap %d: %d of %d channels hold more than %d of %d %s "+
			"(bw*ways/channels <= cap)", p.BW, p.Cap, p.BW, s.Channels, p.Cap, s.Ways, what)
	}
	return nil
}

// Mapping is decoupled partitioning. All ways in the CPU's channels are the CPU's. Of the other ways of a set, the
// GPU has those with the highest weights, as many as cap leaves it. A weight is a hash of set and way (rendezvous
// hashing). So different sets use different channels, and the GPU has the bandwidth of all shared channels. Owners
// depend on set, cap and bw alone, and not on earlier owners. Still the fewest ways change hands: another cap takes
// or gives the ways next in order, and more channels for the CPU replace only the GPU's ways in them.
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

// GPUWays are the ways of a set that belong to the GPU, a bit each; the others belong to the CPU. A set of one way in
// a shared channel counts as the GPU's here, though the CPU uses it, too.
func (m Mapping) GPUWays(set uint64) uint16 {
	if m.shape.Page > 0 {
		if m.GPUColor(set / m.shape.Page) {
			return uint16(1<<m.shape.Ways - 1)
		}
		return 0
	}
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

// GPUColor says, if sets are divided, whether the sets of a color belong to the GPU: a color of each row in a shared
// channel does, or more than one if cap leaves the GPU more, in different channels in different rows.
func (m Mapping) GPUColor(color uint64) bool {
	n := uint64(m.shape.Channels)
	return Mapping{m.shape.row(), m.split}.GPUWays(color/n)>>(color%n)&1 != 0
}

// weight orders the ways of a set. Of the first 2^60 sets no two ways weigh the same: the
// mix, that of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), is a bijection.
func weight(set uint64, way int) uint64 {
	x := (set*MaxWays + uint64(way)) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Moved is the number of ways of a set that change hands between two mappings of a shape.
func Moved(from, to Mapping, set uint64) int {
	return bits.OnesCount16(from.GPUWays(set) ^ to.GPUWays(set))
}

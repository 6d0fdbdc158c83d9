package hybrid

// bloom is a counting Bloom filter with counters of two bits: three of them for each member. A counter that has
// reached its maximum stays there, because its count is no longer known. So the filter may report blocks as members
// that are none, and never the reverse.
type bloom struct {
	counters []uint8 // four in each byte
	n        uint64
}

// gpuMost is how many of the ways of a group of chained sets the GPU may have: a fifth, rounded
// down, is the CPU's (chaining_cpu_threshold = 20 % in HAShCache's published simulator).
// chainReach is how far on a set can be chained, kernelSpan how many clocks after a request of
// the GPU a kernel is taken to run.
const (
	gpuMost    = chainGroup - chainGroup/5
	chainReach = 3
	kernelSpan = 1 << 16
)

// bloomHashes is how many counters a member has.
const bloomHashes = 3

func newBloom(counters int) bloom {
	return bloom{make([]uint8, (counters+3)/4), uint64(counters)}
}

// at is the i-th counter of a block: byte and shift. They may coincide.
func (f *bloom) at(block uint32, i int) (byte uint64, shift uint) {
	x := (uint64(block)*bloomHashes + uint64(i) + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
	k := (x >> 20) % f.n
	return k >> 2, uint(k&3) * 2
}

// set makes a block a member, or takes it out.
func (f *bloom) set(block uint32, member bool) {
	if member {
		f.add(block)
	} else {
		f.remove(block)
	}
}

func (f *bloom) add(block uint32) {
	for i := range bloomHashes {
		b, s := f.at(block, i)
		if f.counters[b]>>s&3 < 3 {
			f.counters[b] += 1 << s
		}
	}
}

// remove takes out a member.
func (f *bloom) remove(block uint32) {
	for i := range bloomHashes {
		b, s := f.at(block, i)
		if c := f.counters[b] >> s & 3; c > 0 && c < 3 {
			f.counters[b] -= 1 << s
		}
	}
}

// has says whether a block may be a member.
func (f *bloom) has(block uint32) bool {
	for i := range bloomHashes {
		if b, s := f.at(block, i); f.counters[b]>>s&3 == 0 {
			return false
		}
	}
	return true
}

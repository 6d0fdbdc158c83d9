package tags

import "math/bits"

// table finds a line's index by address: open addressing with linear probing and
// backward-shift deletion, at most half full. A slot holds the line's number above
// its index: one look into memory answers.
type table struct {
	slot  []uint64
	shift uint // of a hash
	line  uint // log2 of the line size
}

// indexBits are those of a slot that hold the index. The rest is enough for the
// number of any line of 32 bytes or more of a 46-bit address.
const (
	indexBits = 22
	indexMask = 1<<indexBits - 1
)

func newTable(n int, line uint) table {
	size := 1 << bits.Len(uint(2*n-1))
	return table{slot: make([]uint64, size), shift: uint(64 - bits.Len(uint(size-1))), line: line}
}

func (t *table) reset() {
	for i := range t.slot {
		t.slot[i] = empty
	}
}

// home is Fibonacci hashing of the line's number.
func (t *table) home(n uint64) int { return int(n * 0x9E3779B97F4A7C15 >> t.shift) }

func (t *table) find(line uint64) int32 {
	n, m := line>>t.line, len(t.slot)-1
	for i := t.home(n) & m; ; i = (i + 1) & m {
		switch s := t.slot[i]; {
		case s>>indexBits == n:
			return int32(s & indexMask)
		case s == empty:
			return None
		}
	}
}

func (t *table) insert(line uint64, v int32) {
	n, m := line>>t.line, len(t.slot)-1
	i := t.home(n)
	for t.slot[i] != empty {
		i = (i + 1) & m
	}
	t.slot[i] = n<<indexBits | uint64(v)
}

func (t *table) remove(line uint64) {
	n, m := line>>t.line, len(t.slot)-1
	i := t.home(n)
	for t.slot[i]>>indexBits != n {
		if t.slot[i] == empty {
			return
		}
		i = (i + 1) & m
	}
	for j := (i + 1) & m; t.slot[j] != empty; j = (j + 1) & m {
		if h := t.home(t.slot[j] >> indexBits); (j-h)&m >= (j-i)&m {
			t.slot[i] = t.slot[j]
			i = j
		}
	}
	t.slot[i] = empty
}

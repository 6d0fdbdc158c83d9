package tags

import "math/bits"

// table finds a line's index by address: open addressing with linear probing and
// backward-shift deletion, at most half full.
type table struct {
	key   []uint64
	val   []int32
	shift uint
}

func newTable(n int) *table {
	size := 1 << bits.Len(uint(2*n-1))
	t := &table{key: make([]uint64, size), val: make([]int32, size), shift: uint(64 - bits.Len(uint(size-1)))}
	return t
}

func (t *table) reset() {
	for i := range t.key {
		t.key[i] = empty
	}
}

// home is Fibonacci hashing of the address.
func (t *table) home(k uint64) int { return int(k * 0x9E3779B97F4A7C15 >> t.shift) }

func (t *table) find(k uint64) int32 {
	m := len(t.key) - 1
	for i := t.home(k); ; i = (i + 1) & m {
		switch t.key[i] {
		case k:
			return t.val[i]
		case empty:
			return None
		}
	}
}

func (t *table) insert(k uint64, v int32) {
	m := len(t.key) - 1
	i := t.home(k)
	for t.key[i] != empty {
		i = (i + 1) & m
	}
	t.key[i], t.val[i] = k, v
}

func (t *table) remove(k uint64) {
	m := len(t.key) - 1
	i := t.home(k)
	for t.key[i] != k {
		if t.key[i] == empty {
			return
		}
		i = (i + 1) & m
	}
	for j := (i + 1) & m; t.key[j] != empty; j = (j + 1) & m {
		if h := t.home(t.key[j]); (j-h)&m >= (j-i)&m {
			t.key[i], t.val[i] = t.key[j], t.val[j]
			i = j
		}
	}
	t.key[i] = empty
}

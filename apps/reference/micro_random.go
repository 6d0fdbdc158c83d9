package reference

import "fmt"

// scramble is the finaliser of MurmurHash3, a bijection of 32 bits.
func scramble(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// randomaccess("sparse", a, b, c, s, percent, seed) is a after the triads at random;
// randomaccess("gather", key, table, percent) is what every n-th key finds in the table, times its place;
// randomaccess("update", n, threads, updates, seed) is the table of n words, which begins as 0, 1, 2, ...
func randomaccess(list []any) (any, error) {
	in := arguments{list: list}
	switch shape := in.text(); shape {
	case "sparse":
		return randomTriads(&in)
	case "gather":
		return randomGathers(&in)
	case "update":
		return randomUpdates(&in)
	default:
		if in.err != nil {
			return nil, in.err
		}
		return nil, fmt.Errorf("shape %q: it must be sparse, gather or update", shape)
	}
}

func randomTriads(in *arguments) (any, error) {
	a := in.f32s(-1)
	b, c := in.f32s(len(a)), in.f32s(len(a))
	s := in.f32()
	percent, seed := in.count(), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	out := append([]float32(nil), a...)
	for i := range out {
		h := scramble(uint32(i) + uint32(seed))
		if int(h%100) < percent {
			j := scramble(h) % uint32(len(a))
			out[j] = fma32(s, c[j], b[j])
		}
	}
	return out, nil
}

func randomGathers(in *arguments) (any, error) {
	key := in.f32s(-1)
	table := in.f32s(len(key))
	percent := in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if percent < 1 || percent > 100 {
		return nil, fmt.Errorf("%d percent: use 1 to 100", percent)
	}
	out := make([]float32, len(key))
	for i := 0; i < len(key); i += 100 / percent {
		j := min(int(key[i]*float32(len(key))), len(key)-1)
		out[j] = table[j] * float32(j)
	}
	return out, nil
}

func randomUpdates(in *arguments) (any, error) {
	n, threads, updates, seed := in.count(), in.count(), in.count(), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if n < 1 || n&(n-1) != 0 {
		return nil, fmt.Errorf("a table of %d words: the generator's low bits index it, so it must be a power of two",
			n)
	}
	table := make([]uint64, n)
	for i := range table {
		table[i] = uint64(i)
	}
	for i := range uint32(threads) {
		x := uint64(scramble(i+uint32(seed)))<<32 | uint64(scramble(i^^uint32(seed)))
		for range updates {
			top := x >> 63
			x = x<<1 ^ 7*top
			table[x&uint64(n-1)] ^= x
		}
	}
	return table, nil
}

// pointerchase(next, hops, walkers) is the node at which each walker ends.
func pointerchase(list []any) (any, error) {
	in := arguments{list: list}
	next := in.u32s(-1)
	hops, walkers := in.count(), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	for i, to := range next {
		if int(to) >= len(next) {
			return nil, fmt.Errorf("node %d leads to %d: there are %d nodes", i, to, len(next))
		}
	}
	if len(next) == 0 && walkers > 0 {
		return nil, fmt.Errorf("%d walkers on an empty list", walkers)
	}
	last := make([]uint32, walkers)
	for w := range last {
		at := uint32(w * len(next) / walkers)
		for range hops {
			at = next[at]
		}
		last[w] = at
	}
	return last, nil
}

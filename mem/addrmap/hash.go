package addrmap

import (
	"fmt"
	"slices"
)

// hashChannel is GPGPU-Sim's -gpgpu_memory_partition_indexing: the index is
// the channel with the slice bits below it, the entropy the address bits above.
// ipoly XORs the index with the remainder of those bits modulo an irreducible
// polynomial; xor XORs the channel with the lowest of them. For a number of
// channels that is no power of two the hash is added modulo that number, which
// keeps the channels evenly used and the map invertible (GPGPU-Sim takes the
// remainder of the hash and loses both).
func hashChannel(l *layout) error {
	n, sb := l.hashBits(), len(l.plainSub)
	// Where no channel bits leave the address, spread is 0: the bits inside a block
	// are no entropy, for all bytes of a block share a place.
	base := max(l.spread, l.offset) + uint(sb)
	l.sub, l.hash = slices.Clone(l.plainSub), make([]uint64, n)
	switch l.hashKind {
	case "none":
	case "xor":
		for j := range l.hash {
			l.hash[j] = 1 << (base + uint(j))
		}
	case "ipoly":
		d := n + sb
		if d == 0 {
			return nil
		}
		if d >= len(irreducible) {
			return fmt.Errorf("hash ipoly over 2^%d slices: at most 2^%d", d, len(irreducible)-1)
		}
		terms := AddrBits - int(base)
		if d < len(ipolyTerms) && ipolyTerms[d] > 0 {
			terms = ipolyTerms[d]
		}
		for i, image := range ipolyImages(d, terms) {
			for j := range d {
				bit := image >> j & 1 << (base + uint(i))
				if j < sb {
					l.sub[j] ^= bit
				} else {
					l.hash[j-sb] ^= bit
				}
			}
		}
	default:
		return fmt.Errorf("hash %q: use none, ipoly or xor", l.hashKind)
	}
	return nil
}

// hashBits is the width of the hash added to the remainder. Modulo a number that
// is no power of two it has three bits to spare, so that every remainder is
// almost equally likely.
func (l *layout) hashBits() int {
	of := l.modulus()
	if l.lines.n > 1 { // only the channel in the group is hashed, as the page's frame says the group
		of = int(l.lines.n)
	}
	n := log2(of)
	if pow2(of) {
		return n
	}
	return min(n+3, chanBits-len(l.within), len(irreducible)-1-len(l.plainSub))
}

// hashRows is the hash of maps given as bit lists. Bank bits may take entropy
// from the row, channel bits from row and bank, so the map inverts row first,
// then bank, then channel. Channel bits as entropy for the bank would only rename
// the banks of each channel and are left out.
func hashRows(l *layout) error {
	nb := len(l.plainBG)
	target := slices.Concat(l.plainBG, l.plainBank)
	if err := mix(l.bankHash, "bank_hash", target, l.row, 1); err != nil {
		return err
	}
	l.bg, l.bank = target[:nb:nb], target[nb:]
	l.sub = slices.Clone(l.plainSub)
	for i, s := range l.sub {
		if j := slices.Index(slices.Concat(l.plainBG, l.plainBank), s); j >= 0 {
			l.sub[i] = target[j] // a slice named by bank bits follows the bank
		}
	}
	l.hash = make([]uint64, l.hashBits())
	return mix(l.hashKind, "hash", l.hash, slices.Concat(l.plainBG, l.plainBank, l.row), 2)
}

// mix XORs source bits into target bits. xor folds them in turn, ipoly takes the
// polynomial remainder, pae ("Get out of the valley", ISCA 2018) gives each target
// a random half of the sources, the draw being fixed by seed.
func mix(kind, field string, target, source []uint64, seed uint64) error {
	n := len(target)
	if n == 0 {
		return nil
	}
	switch kind {
	case "none":
	case "xor":
		for i, s := range source {
			target[i%n] ^= s
		}
	case "ipoly":
		if n >= len(irreducible) {
			return fmt.Errorf("%s ipoly over %d bits: at most %d", field, n, len(irreducible)-1)
		}
		for i, image := range ipolyImages(n, len(source)) {
			for j := range target {
				target[j] ^= source[i] * (image >> j & 1)
			}
		}
	case "pae":
		state := seed
		for j := range target {
			state += 0x9e3779b97f4a7c15 // splitmix64
			z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			z ^= z >> 31
			for i, s := range source {
				target[j] ^= s * (z >> i & 1)
			}
		}
	default:
		return fmt.Errorf("%s %q: use none, xor, ipoly or pae", field, kind)
	}
	return nil
}

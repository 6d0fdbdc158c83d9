package control

import (
	"math/big"
	"strconv"
)

// The bandwidth model of MDR: the equations of NUBA, section 5.1, as printed.

// noRep is BW_NoRep: hits and misses of the local slices, and the same of remote ones through
// the network.
func (d *mdr) noRep(hit, local *big.Rat) *big.Rat {
	slices := sum(product(hit, d.llc), least(product(rest(hit), d.llc), d.mem))
	return sum(product(local, slices), product(rest(local), least(d.noc, slices)))
}

// fullRep is BW_FullRep: all go to the local slices, whose misses go to memory near and far.
func (d *mdr) fullRep(hit, local *big.Rat) *big.Rat {
	memory := sum(product(local, d.mem), product(rest(local), least(d.noc, d.mem)))
	return sum(product(hit, d.llc), least(product(rest(hit), d.llc), memory))
}

// decimal is the number that is written as x.
func decimal(x float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	return r
}

func product(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func sum(a, b *big.Rat) *big.Rat     { return new(big.Rat).Add(a, b) }
func rest(a *big.Rat) *big.Rat       { return new(big.Rat).Sub(big.NewRat(1, 1), a) }

func least(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

package hybrid

import (
	"fmt"
	"math/bits"
)

// Mode says whether the fast memory is a cache or memory.
type Mode string

// The modes. As a cache it holds copies of blocks of the slow memory; flat, both tiers are
// memory, and a migration swaps two blocks.
const (
	Cache Mode = "cache"
	Flat  Mode = "flat"
)

// Tokens counts the migrations that misses of the GPU may cause (section IV-B): Tok tokens are added every Period
// cycles, and unused tokens stay. A refill takes one, two with the write-back of a dirty victim, and two always in
// flat mode. Any token left allows a migration: the counter stops at 0. Hardware: the counter.
type Tokens struct {
	tok      uint64
	period   uint64 // cycles
	flat     bool
	left     uint64
	refilled uint64 // the period that refills are done for
}

// NewTokens makes a counter that begins with tok tokens; cycles count from 0.
func NewTokens(tok, period uint64, mode Mode) (Tokens, error) {
	switch {
	case period == 0:
		return Tokens{}, fmt.Errorf("a period of tokens has at least one cycle")
	case mode != Cache && mode != Flat:
		return Tokens{}, fmt.Errorf("the mode is %s or %s, not %q", Cache, Flat, mode)
	}
	return Tokens{tok: tok, period: period, flat: mode == Flat, left: tok}, nil
}

// Miss counts a miss of the GPU at a cycle, not before that of an earlier call, with a dirty or clean victim. It says
// whether the block migrates. The refill of a cycle comes before its misses.
func (t *Tokens) Miss(cycle uint64, dirty bool) (migrate bool) {
	t.refill(cycle)
	if t.left == 0 {
		return false
	}
	cost := uint64(1)
	if dirty || t.flat {
		cost = 2
	}
	t.left -= min(cost, t.left)
	return true
}

// Left is the number of tokens after the last miss.
func (t *Tokens) Left() uint64 { return t.left }

// Set changes, at a cycle, how many tokens a refill adds, and caps the tokens that are left at that number.
func (t *Tokens) Set(cycle, tok uint64) {
	t.refill(cycle)
	t.tok, t.left = tok, min(t.left, tok)
}

// Begin sets the tokens with which the period of a cycle begins to tok, which later refills add. No token of the
// period before is kept, because a new tok caps them.
func (t *Tokens) Begin(cycle, tok uint64) {
	t.Set(cycle, tok)
	t.left = tok
}

// refill adds the tokens that are due by a cycle, over any number of periods; the counter stops at
// its maximum.
func (t *Tokens) refill(cycle uint64) {
	over, due := bits.Mul64(cycle/t.period-t.refilled, t.tok)
	sum, carry := bits.Add64(t.left, due, 0)
	if t.left = sum; over|carry != 0 {
		t.left = ^uint64(0)
	}
	t.refilled = cycle / t.period
}

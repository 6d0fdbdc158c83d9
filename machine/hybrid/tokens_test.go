package hybrid

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func counter(t rapid.TB, tok, period uint64, mode Mode) Tokens {
	c, err := NewTokens(tok, period, mode)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// miss is one step of a test and what must come of it.
type miss struct {
	cycle   uint64
	dirty   bool
	migrate bool
	left    uint64
}

func TestTokens(t *testing.T) {
	for name, c := range map[string]struct {
		tokens Tokens
		misses []miss
	}{
		"a refill precedes the misses of its cycle": {counter(t, 1, 10, Cache), []miss{
			{0, false, true, 0},
			{9, false, false, 0},
			{10, false, true, 0},
			{19, false, false, 0},
		}},
		"two tokens for a dirty victim, and the counter stops at 0": {counter(t, 3, 100, Cache), []miss{
			{1, true, true, 1},
			{1, true, true, 0},
			{2, false, false, 0},
		}},
		"unused tokens stay": {counter(t, 2, 10, Cache), []miss{
			{5, false, true, 1},
			{35, false, true, 6},
			{35, true, true, 4},
		}},
		"flat memory takes two always": {counter(t, 3, 10, Flat), []miss{
			{0, false, true, 1},
			{0, true, true, 0},
			{10, false, true, 1},
		}},
		"no tokens, no migrations": {counter(t, 0, 1, Cache), []miss{
			{0, false, false, 0},
			{math.MaxUint64, false, false, 0},
		}},
		"the counter ends at its maximum": {counter(t, math.MaxUint64, 1, Cache), []miss{
			{0, false, true, math.MaxUint64 - 1},
			{math.MaxUint64, false, true, math.MaxUint64 - 1},
		}},
	} {
		for i, m := range c.misses {
			if got := c.tokens.Miss(m.cycle, m.dirty); got != m.migrate || c.tokens.Left() != m.left {
				t.Errorf("%s: miss %d: %v with %d left, want %v with %d", name, i, got, c.tokens.Left(), m.migrate,
					m.left)
			}
		}
	}
}

// A new number of tokens caps those that are left, and counts from the next refill on.
func TestSetTokens(t *testing.T) {
	c := counter(t, 10, 100, Cache)
	c.Set(250, 4) // 30 by then
	if c.Left() != 4 {
		t.Errorf("%d left, want 4", c.Left())
	}
	c.Set(260, 7)
	if c.Left() != 4 {
		t.Errorf("%d left, want 4", c.Left())
	}
	if c.Miss(300, false); c.Left() != 10 {
		t.Errorf("%d left, want 4 + 7 - 1", c.Left())
	}
}

// The counter is the one that a refill in each period, one after the other, would give.
func TestTokensStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tok, period := rapid.Uint64Max(5).Draw(t, "tok"), rapid.Uint64Range(1, 20).Draw(t, "period")
		flat := rapid.Bool().Draw(t, "flat")
		mode := Cache
		if flat {
			mode = Flat
		}
		c := counter(t, tok, period, mode)
		left, now := int64(tok), uint64(0)
		for range rapid.IntRange(0, 30).Draw(t, "misses") {
			to, dirty := now+rapid.Uint64Max(50).Draw(t, "gap"), rapid.Bool().Draw(t, "dirty")
			for ; now < to; now++ {
				if (now+1)%period == 0 {
					left += int64(tok)
				}
			}
			migrate := left > 0
			if migrate {
				if left--; (dirty || flat) && left > 0 {
					left--
				}
			}
			if got := c.Miss(now, dirty); got != migrate || c.Left() != uint64(left) {
				t.Fatalf("cycle %d: %v with %d left, want %v with %d", now, got, c.Left(), migrate, left)
			}
		}
	})
}

func TestTokensRefuse(t *testing.T) {
	if _, err := NewTokens(1, 0, Cache); err == nil {
		t.Error("a period of no cycles was accepted")
	}
	if _, err := NewTokens(1, 1, "both"); err == nil {
		t.Error("mode both was accepted")
	}
}

// Counters of channels have all tokens between them, however few.
func TestTokensPerChannel(t *testing.T) {
	h, err := NewHydrogen(Shape{Ways: 4, Channels: 4}, HydrogenOptions{
		Split: Split{Cap: 3, BW: 1}, Swap: SwapNone, Tokens: 3, Period: 100, Mode: Cache, PerChannel: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []uint64{3, 2, 1} {
		left := uint64(0)
		for i := range h.tokens {
			left += h.tokens[i].Left()
		}
		if left != want {
			t.Errorf("%d left, want %d", left, want)
		}
		h.SetTokens(0, want-1)
	}
}

package hybrid

import "fmt"

// SwapMode says what happens when the CPU hits its data outside its own channels (section VI-B, Figure 7a).
type SwapMode string

// The modes.
const (
	SwapAlways SwapMode = "swap"  // they change places with the least recently used of those inside
	SwapProb   SwapMode = "prob"  // every other time
	SwapNone   SwapMode = "none"  // they stay
	SwapIdeal  SwapMode = "ideal" // as SwapAlways, at once and without traffic
)

// HydrogenOptions are the variants that the paper compares.
type HydrogenOptions struct {
	Swap       SwapMode
	Split      Split   // at the start
	Tokens     uint64  // per period; Unlimited
	ByShare    bool    // Tokens count for the first period only; later ones bring
	Share      float64 // this share of the GPU's requests in the period before
	Period     uint64  // clocks of the controller
	PerChannel int     // counters, one per channel of the slow tier; 0: one for all of them
	Mode       Mode
}

// Unlimited tokens: every miss of the GPU may migrate its block.
const Unlimited = ^uint64(0)

// NewHydrogen checks the options.
func NewHydrogen(s Shape, o HydrogenOptions) (*Hydrogen, error) {
	m, err := NewMapping(s, o.Split)
	if err != nil {
		return nil, err
	}
	switch o.Swap {
	case SwapAlways, SwapProb, SwapNone, SwapIdeal:
	default:
		return nil, fmt.Errorf("swap is %q: %s, %s, %s or %s", o.Swap, SwapAlways, SwapProb, SwapNone, SwapIdeal)
	}
	if o.Share < 0 || o.Share > 1 {
		return nil, fmt.Errorf("the share of the GPU's requests that may migrate is %g: it must be 0 to 1", o.Share)
	}
	h := &Hydrogen{shape: s, mapping: m, options: o}
	if !o.ByShare && o.Tokens == Unlimited {
		return h, nil
	}
	for i := range max(1, o.PerChannel) {
		t, err := NewTokens(h.each(o.Tokens, i), o.Period, o.Mode)
		if err != nil {
			return nil, err
		}
		h.tokens = append(h.tokens, t)
	}
	return h, nil
}

// each is the part of a period's tokens that counter i gets: the first ones take the remainder.
func (h *Hydrogen) each(tok uint64, i int) uint64 {
	n := uint64(max(1, h.options.PerChannel))
	return (tok + n - 1 - uint64(i)) / n
}

// Split is the division of the fast memory.
func (h *Hydrogen) Split() Split { return h.mapping.split }

// Counts says that migrations take tokens and that each period brings a set number of them.
func (h *Hydrogen) Counts() bool { return h.tokens != nil && !h.options.ByShare }

// Tokens is the number that a period brings, if they are counted.
func (h *Hydrogen) Tokens() (n uint64) {
	for i := range h.tokens {
		n += h.tokens[i].tok
	}
	return n
}

// SetTokens changes, at a clock, how many tokens a period brings, if they are counted. At clock 0, when none has been
// used, it also changes those of the first period.
func (h *Hydrogen) SetTokens(now, tok uint64) {
	for i := range h.tokens {
		if n := h.each(tok, i); now == 0 {
			h.tokens[i].Begin(now, n)
		} else {
			h.tokens[i].Set(now, n)
		}
	}
}

// SetSplit changes the division of the fast memory. The caller must call the controller's Reconfigured.
func (h *Hydrogen) SetSplit(p Split) error {
	m, err := NewMapping(h.shape, p)
	if err == nil {
		h.mapping = m
	}
	return err
}

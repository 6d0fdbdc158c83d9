package reference

import (
	"fmt"
	"math"
)

const liborNotional = 100

// liborModel is what all paths share.
type liborModel struct {
	vol, strike  []float32
	maturity     []int32
	steps        int
	delta, start float32
}

// libor(part, z, paths, volatility, maturity, strike, steps, delta, start) is the
// "value" of the swaptions on every path, or its derivative ("delta") with respect to a
// parallel shift of the rates at the start. There is a rate per volatility; z holds the
// normal deviates of the first step for all paths, then the second's.
func libor(list []any) (any, error) {
	in := arguments{list: list}
	part, z, paths := in.text(), in.f32s(-1), in.count()
	m := liborModel{vol: in.f32s(-1), maturity: in.i32s(-1)}
	m.strike, m.steps = in.f32s(len(m.maturity)), in.count()
	m.delta, m.start = in.f32(), in.f32()
	if err := in.done(); err != nil {
		return nil, err
	}
	if part != "value" && part != "delta" {
		return nil, fmt.Errorf("part %q: it must be value or delta", part)
	}
	if len(z) != paths*m.steps || m.steps > len(m.vol) {
		return nil, fmt.Errorf("%d deviates for %d paths of %d steps, %d rates: there must be one for each, and at "+
			"least as many rates as steps", len(z), paths, m.steps, len(m.vol))
	}
	for _, t := range m.maturity {
		if t < 1 || int(t) > len(m.vol)-m.steps {
			return nil, fmt.Errorf("maturity %d: it must be in 1..%d", t, len(m.vol)-m.steps)
		}
	}
	out := make([]float32, paths)
	for p := range out {
		deviates := make([]float32, m.steps)
		for n := range deviates {
			deviates[n] = z[n*paths+p]
		}
		value, shift := m.path(deviates)
		if part == "delta" {
			value = shift
		}
		out[p] = value
	}
	return out, nil
}

// path returns the value of one path and its derivative.
func (m *liborModel) path(z []float32) (value, shift float32) {
	rate := make([]float32, len(m.vol))
	for i := range rate {
		rate[i] = m.start
	}
	before := make([][]float32, m.steps)
	root := float32(math.Sqrt(float64(m.delta)))
	for n, deviate := range z {
		before[n] = append([]float32(nil), rate...)
		var drift float32
		shock := mul32(root, deviate)
		for i := n + 1; i < len(rate); i++ {
			vol, l := m.vol[i-n-1], rate[i]
			c := mul32(m.delta, vol)
			drift += mul32(c, l) / fma32(m.delta, l, 1)
			rate[i] = mul32(l, exactExp(fma32(c, drift, mul32(vol, fma32(-0.5, c, shock)))))
		}
	}
	value, bar := m.portfolio(rate)
	for n := m.steps - 1; n >= 0; n-- {
		var driftBar float32
		for i := len(rate) - 1; i > n; i-- {
			c, l := mul32(m.delta, m.vol[i-n-1]), before[n][i]
			per := 1 / fma32(m.delta, l, 1)
			grown := mul32(bar[i], rate[i])
			driftBar = fma32(c, grown, driftBar)
			bar[i] = fma32(driftBar, mul32(mul32(c, per), per), grown/l)
			rate[i] = l
		}
	}
	for _, b := range bar {
		shift += b
	}
	return value, shift
}

// portfolio is the discounted value of the swaptions and its derivatives with respect to
// the rates at the end.
func (m *liborModel) portfolio(rate []float32) (float32, []float32) {
	left := len(rate) - m.steps
	bond, annuity := make([]float32, left), make([]float32, left)
	bondBar, annuityBar := make([]float32, left), make([]float32, left)
	b, a, d, v := float32(1), float32(0), float32(1), float32(0)
	for i, l := range rate[m.steps:] {
		b /= fma32(m.delta, l, 1)
		a = fma32(m.delta, b, a)
		bond[i], annuity[i] = b, a
	}
	for s, t := range m.maturity {
		payoff := 1 - fma32(m.strike[s], annuity[t-1], bond[t-1])
		if payoff <= 0 {
			continue
		}
		v = fma32(liborNotional, payoff, v)
		bondBar[t-1] -= liborNotional
		annuityBar[t-1] = fma32(-liborNotional, m.strike[s], annuityBar[t-1])
	}
	for _, l := range rate[:m.steps] {
		d /= fma32(m.delta, l, 1)
	}
	bar := make([]float32, len(rate))
	var bBar, aBar float32
	for i := left - 1; i >= 0; i-- {
		per := 1 / fma32(m.delta, rate[m.steps+i], 1)
		aBar += annuityBar[i]
		bBar += fma32(m.delta, aBar, bondBar[i])
		bar[m.steps+i] = mul32(mul32(mul32(mul32(-m.delta, bond[i]), per), bBar), d)
		bBar = mul32(bBar, per)
	}
	for i, l := range rate[:m.steps] {
		bar[i] = mul32(mul32(-m.delta, v), d) / fma32(m.delta, l, 1)
	}
	return mul32(v, d), bar
}

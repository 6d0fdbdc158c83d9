package machine

import (
	"testing"

	"github.com/heddle-sim/heddle/sheets"
)

// CTAs go out one every four cycles, to one SM after the other, with and without idle skipping and
// strides; without a rate all SMs get one in the same cycle.
func TestRateOfCTAs(t *testing.T) {
	for _, o := range []Options{{}, {Every: true}, {Lockstep: true}} {
		r := newRig(t, "qv100", o, func(m *sheets.Machine) {
			small(m)
			m.SM.CTARate = 0.25
		}, tenant("a", upTo(16)))
		begun := r.g.Now()
		p := r.place(0, 37)
		for i, cta := range p.order {
			if cta != i || p.sm[cta] != i%16 {
				t.Errorf("%+v: CTA %d of SM %d came as number %d", o, cta, p.sm[cta], i)
			}
		}
		if next := r.g.Sharing.Dispatch.RateFree(); next-begun != 37*4 {
			t.Errorf("%+v: 37 CTAs took %d cycles, want %d", o, next-begun, 37*4)
		}
	}
}

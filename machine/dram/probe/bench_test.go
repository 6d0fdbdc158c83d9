package probe

import (
	"bytes"
	"fmt"
	"testing"
)

// BenchmarkProbe is the whole probe, trace reading included.
func BenchmarkProbe(b *testing.B) {
	for _, x := range []struct{ dev, kind string }{
		{"hbm_v1tab", "a"},
		{"hbm_v1tab", "c"},
		{"hbm_v1tab", "d"},
		{"ddr4_3200aa", "a"},
		{"ddr4_3200aa", "c"},
	} {
		b.Run(x.dev+"/"+x.kind, func(b *testing.B) {
			d, err := LoadDevice("../testdata/devices.json", x.dev)
			if err != nil {
				b.Fatal(err)
			}
			m, err := NewMapper("RoBaRaCoCh", &d.Config, 1)
			if err != nil {
				b.Fatal(err)
			}
			const n = 20000
			var trace bytes.Buffer
			for p := newPattern(x.kind, n, 1, d); ; {
				addr, write, ok, _ := p.Next()
				if !ok {
					break
				}
				fmt.Fprintf(&trace, "%c 0x%x\n", "RW"[map[bool]int{true: 1}[write]], addr)
			}
			for b.Loop() {
				if _, err := Run(d, m, NewTrace("t", bytes.NewReader(trace.Bytes())), Options{Inject: 2}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mreq/s")
		})
	}
}

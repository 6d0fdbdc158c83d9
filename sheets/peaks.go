package sheets

import "math"

// Peak is a limit of a machine that its sheet sets.
type Peak struct {
	Name  string
	Value float64
	Unit  string
}

// Peaks are the limits of a machine: what its pipelines take each cycle, and what its memories and links move.
// Arithmetic limits are per SM and core clock.
func (m *Machine) Peaks() []Peak {
	lanes := func(units, interval int) float64 { return float64(units) * 32 / float64(max(1, interval)) }
	peaks := []Peak{
		{"issue", float64(m.SM.Schedulers * max(1, m.SM.IssueWidth)), "warp instructions/clk/SM"},
		{"f32 FMA", lanes(m.SM.Units[1], m.SM.FpInterval[3]), "lanes/clk/SM"},
		{"f64 FMA", lanes(m.SM.Units[2], m.SM.DpInterval[3]), "lanes/clk/SM"},
		{"i32 add", lanes(m.SM.Units[0], m.SM.IntInterval[0]), "lanes/clk/SM"},
		{"special functions", lanes(m.SM.Units[3], m.SM.SfuInterval), "lanes/clk/SM"},
	}
	for i, kind := range []string{"f16", "tf32", "i8"} {
		if rate := m.SM.TensorRate[i]; rate > 0 {
			// An instruction of 16x8x16 keeps one of the units for a whole number of cycles.
			units := max(1, m.SM.Units[4])
			interval := max(1, math.Round(16*8*16*float64(units)/float64(rate)))
			peaks = append(peaks, Peak{"tensor " + kind, 16 * 8 * 16 * float64(units) / interval, "FMA/clk/SM"})
		}
	}
	llc := float64(m.DRAM.Channels*m.LLC.SlicesPerChannel*m.LLC.PortBytes) * m.Clock.LLC / 1000
	burst := float64(m.DRAM.Access) / float64(max(1, m.DRAM.T.BL, m.DRAM.T.CCDS))
	peaks = append(peaks,
		Peak{"L1", float64(m.L1D.Banks * m.L1D.Sector), "B/clk/SM"},
		Peak{"LLC", llc, "GB/s"},
		Peak{"DRAM", float64(m.DRAM.Channels) * burst * m.Clock.DRAM / 1000, "GB/s"})
	if fast := m.FastPeak(); fast > 0 {
		peaks = append(peaks, Peak{"fast memory", fast * m.Clock.Core / 1000, "GB/s"})
	}
	return append(peaks, Peak{"host link", m.Host.Bandwidth, "GB/s"})
}

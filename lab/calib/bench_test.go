package calib

import (
	"testing"

	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/sheets"
)

// BenchmarkKernels simulates the kernels of the reference set (configuration
// base); machine set-up is not part of the reported rates.
func BenchmarkKernels(b *testing.B) {
	specs, err := ReadSpecs(dir)
	if err != nil {
		b.Fatal(err)
	}
	set, err := Overrides("base")
	if err != nil {
		b.Fatal(err)
	}
	m, _, err := sheets.Resolve("qv100", set)
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range specs {
		if s.Group != "macro" {
			continue
		}
		b.Run(s.Name, func(b *testing.B) {
			var insts, cycles uint64
			var cpu float64
			for b.Loop() {
				o, err := Run(dir, s, m, machine.Options{})
				if err != nil {
					b.Fatal(err)
				}
				insts, cycles, cpu = insts+o.WarpInsts, cycles+o.Cycles, cpu+o.CPU
			}
			b.ReportMetric(float64(insts)/cpu/1e6, "Mwarp-insts/s")
			b.ReportMetric(float64(cycles)/cpu/1e3, "kcycles/s")
		})
	}
}

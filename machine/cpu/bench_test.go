//go:build unix

package cpu

import (
	"syscall"
	"testing"

	"github.com/heddle-sim/heddle/isa/scalar"
	models "github.com/heddle-sim/heddle/workload/cpu"
)

// spent is the processor time of this process in nanoseconds: on a busy computer elapsed
// time says little.
func spent(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

// perAccess reports the host's time for a load or store, and that nothing is allocated.
func perAccess(b *testing.B, source scalar.Source) {
	f := newFake(b, sheet(), 250, source, 0)
	f.run(3_000_000, whenDue)
	at := f.core.now
	b.ReportAllocs()
	b.ResetTimer()
	from, insts, begin := f.row()[Loads]+f.row()[Stores], f.row()[Insts], spent(b)
	for b.Loop() {
		at += 1000
		f.run(at, whenDue)
	}
	ns := spent(b) - begin
	b.ReportMetric(ns/float64(f.row()[Loads]+f.row()[Stores]-from), "cpu-ns/access")
	b.ReportMetric(ns/float64(f.row()[Insts]-insts), "cpu-ns/inst")
}

func BenchmarkChase(b *testing.B)  { perAccess(b, chase(9)) }
func BenchmarkStream(b *testing.B) { perAccess(b, scatter(40)) }

// BenchmarkHits is a program like a trace: one instruction in three is a load or store that hits.
func BenchmarkHits(b *testing.B) {
	perAccess(b, &endless{make: func(n uint64, in *scalar.Inst) {
		if n%3 != 0 {
			*in = scalar.Inst{Src: [4]uint16{uint16(1 + n%7)}, Dst: [2]uint16{uint16(1 + n%5)}}
			return
		}
		*in = scalar.Inst{
			Kind: scalar.Load, Addr: n * 8 % 16384, Src: [4]uint16{uint16(1 + n%7)}, Dst: [2]uint16{uint16(1 + n%11)},
		}
		if n%9 == 0 {
			in.Kind, in.Dst = scalar.Store, [2]uint16{}
		}
	}})
}

// BenchmarkModel is what an access of a model costs, the model included.
func BenchmarkModel(b *testing.B) {
	for _, name := range []string{"lbm", "mcf"} {
		b.Run(name, func(b *testing.B) {
			m, err := models.Load(name)
			if err != nil {
				b.Fatal(err)
			}
			perAccess(b, m.Program(1))
		})
	}
}

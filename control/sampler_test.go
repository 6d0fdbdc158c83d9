package control

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/stat"
)

// counts is a source with two tables of two instances.
type counts struct{ stat.Set }

func (counts) Held(app int) Held { return Held{Name: string(rune('a' + app)), SMs: 10 * (app + 1)} }

func (counts) FindKernel(name string) (int, error) { return 0, fmt.Errorf("no counter %q", name) }
func (counts) Kernels(int) []KernelCounts          { return nil }

type probe struct {
	Clock
	Apps []struct {
		Held
		Insts uint64   `json:"insts" counter:"sm.insts"`
		Each  []uint64 `json:"each" counter:"sm.insts"`
		Pages uint64   `json:"pages" counter:"vm.pages"`
	} `json:"apps"`
	All   uint64   `json:"all" counter:"sm.insts"`
	Banks []uint64 `json:"banks" counter:"vm.deepest"`
	Depth uint64   `json:"depth" counter:"vm.deepest"`
}

// Sums are differences to the sample before, gauges and maxima stand; a field of Apps is
// one application's, others are everybody's; a slice is by instance.
func TestSampler(t *testing.T) {
	sm := stat.NewTable("sm", []stat.Desc{{Name: "insts"}}, 2, 2)
	vm := stat.NewTable("vm", []stat.Desc{{Name: "pages", Kind: stat.Gauge}, {Name: "deepest", Kind: stat.Maximum}}, 2,
		2)
	s, err := NewSampler(Of(func(*probe) Plan { return nil }), 2, counts{stat.Set{sm, vm}})
	if err != nil {
		t.Fatal(err)
	}
	take := func() *probe { return s.Take(Clock{Cycle: 7}).(*probe) }
	take()
	sm.Row(0, 0)[0], sm.Row(1, 0)[0], sm.Row(1, 1)[0] = 3, 4, 5
	vm.Row(0, 0)[0], vm.Row(1, 0)[1], vm.Row(1, 1)[1], vm.Row(0, 1)[1] = 9, 2, 6, 1
	p := take()
	a, b := p.Apps[0], p.Apps[1]
	if p.Cycle != 7 || a.Name != "a" || b.SMs != 20 {
		t.Errorf("%+v", p)
	}
	if a.Insts != 7 || b.Insts != 5 || p.All != 12 || !reflect.DeepEqual(a.Each, []uint64{3, 4}) || a.Pages != 9 {
		t.Errorf("%+v", p)
	}
	if p.Depth != 6 || !reflect.DeepEqual(p.Banks, []uint64{1, 6}) {
		t.Errorf("%+v", p)
	}
	sm.Row(1, 1)[0] = 50
	p = take()
	if p.Apps[0].Insts != 0 || p.Apps[1].Insts != 45 || p.All != 45 || p.Apps[0].Pages != 9 || p.Depth != 6 ||
		p.Apps[1].Each[1] != 45 {
		t.Errorf("%+v", p)
	}
}

func TestSamplerRefuses(t *testing.T) {
	src := counts{stat.Set{stat.NewTable("sm", []stat.Desc{{Name: "insts"}}, 1, 1)}}
	for want, p := range map[string]Policy{
		`no counter "sm.inst": sm has insts`: Of(func(*struct {
			Clock
			X uint64 `json:"x" counter:"sm.inst"`
		},
		) Plan {
			return nil
		}),
		"field X has no counter that fills it": Of(func(*struct {
			Clock
			X uint64 `json:"x"`
		},
		) Plan {
			return nil
		}),
		"field X needs a name in JSON": Of(func(*struct {
			Clock
			X uint64 `counter:"sm.insts"`
		},
		) Plan {
			return nil
		}),
		"field X is float64: a counter is uint64": Of(func(*struct {
			Clock
			X float64 `json:"x" counter:"sm.insts"`
		},
		) Plan {
			return nil
		}),
		"no machine counts x yet": Of(func(*struct {
			Clock
			X float64 `json:"x" counter:"-"`
		},
		) Plan {
			return nil
		}),
		"does not embed Clock": Of(func(*struct{}) Plan { return nil }),
	} {
		if _, err := NewSampler(p, 1, src); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// kernels is a source whose one application launches kernels.
type kernels struct {
	counts
	now []KernelCounts
}

func (k *kernels) Kernels(int) []KernelCounts { return k.now }
func (k *kernels) FindKernel(name string) (int, error) {
	if name == "kernel.insts" {
		return 1, nil
	}
	return k.counts.FindKernel(name)
}

// Kernels of an application come as they are launched, with what each did since the sample
// before.
func TestSamplerKernels(t *testing.T) {
	type kernel struct {
		HeldKernel
		Insts uint64 `json:"insts" counter:"kernel.insts"`
	}
	type sample struct {
		Clock
		Apps []struct {
			Held
			Kernels []kernel `json:"kernels"`
		} `json:"apps"`
	}
	src := &kernels{}
	policy := Of(func(*sample) Plan { return nil })
	s, err := NewSampler(policy, 1, src)
	if err != nil {
		t.Fatal(err)
	}
	take := func() []kernel { return s.Take(Clock{}).(*sample).Apps[0].Kernels }
	if k := take(); k != nil {
		t.Errorf("%+v", k)
	}
	a, b := HeldKernel{"a", 0}, HeldKernel{"b", 7}
	src.now = []KernelCounts{{a, []uint64{1, 10}}}
	if k := take(); !reflect.DeepEqual(k, []kernel{{a, 10}}) {
		t.Errorf("%+v", k)
	}
	src.now = []KernelCounts{{a, []uint64{9, 15}}, {b, []uint64{9, 4}}}
	if k := take(); !reflect.DeepEqual(k, []kernel{{a, 5}, {b, 4}}) {
		t.Errorf("%+v", k)
	}
	if _, err := NewSampler(policy, 1, counts{}); err == nil || !strings.Contains(err.Error(), "kernel.insts") {
		t.Errorf("%v", err)
	}
}

package machine

import (
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

var kernels = `
.version 6.4
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 out, .param .u64 in, .param .u32 n) {
	.reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<6>;
	ld.param.u64 %rd1, [out];
	ld.param.u64 %rd2, [in];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r2, %r2, %r3, %r4;
	setp.ge.s32 %p1, %r2, %r1;
	@%p1 ret;
	mul.wide.s32 %rd3, %r2, 4;
	add.s64 %rd4, %rd2, %rd3;
	ld.global.u32 %r5, [%rd4];
	mul.lo.s32 %r5, %r5, 3;
	add.s64 %rd5, %rd1, %rd3;
	st.global.u32 [%rd5], %r5;
	ret;
}
.visible .entry never(.param .u64 out) {
	.reg .pred %p<2>; .reg .b32 %r<3>;
	mov.u32 %r1, %tid.x;
	setp.lt.u32 %p1, %r1, 32;
	@%p1 bra wait;
	bar.sync 1, 96;
wait:
	bar.sync 0;
	ret;
}
.visible .entry spin(.param .u64 out) {
	.reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
loop:
	atom.global.add.u32 %r1, [%rd1], 0;
	setp.eq.u32 %p1, %r1, 7;
	@!%p1 bra loop;
	ret;
}
.visible .entry count(.param .u64 out, .param .u32 n) {
	.reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r2, %r2, %r3, %r4;
	mov.u32 %r5, 0;
loop:
	add.s32 %r5, %r5, 1;
	setp.lt.u32 %p1, %r5, %r1;
	@%p1 bra loop;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r5;
	ret;
}
.visible .entry pile(.param .u64 out) {
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
	red.global.add.u32 [%rd1], 1;
	ret;
}
.visible .entry race(.param .u64 a, .param .u64 b) {
	.reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<8>;
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [b];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r1, %r1, %r2, %r3;
	mov.u32 %r4, 0;
loop:
	mad.lo.s32 %r1, %r1, 1103515245, 12345;
	shr.u32 %r5, %r1, 20;
	mul.wide.u32 %rd3, %r5, 4;
	add.s64 %rd4, %rd1, %rd3;
	ld.global.u32 %r6, [%rd4];
	mad.lo.s32 %r6, %r6, 3, %r4;
	st.global.u32 [%rd4], %r6;
	cvt.u64.u32 %rd5, %r5;
	add.s64 %rd6, %rd2, %rd5;
	st.global.u8 [%rd6], %r6;
	ld.global.u16 %r7, [%rd4+2];
	add.s32 %r1, %r1, %r7;
	add.s32 %r4, %r4, 1;
	setp.lt.u32 %p1, %r4, 6;
	@%p1 bra loop;
	ret;
}
.visible .entry relay(.param .u64 a, .param .u64 b) {
	.reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<8>;
	ld.param.u64 %rd1, [a];
	ld.param.u64 %rd2, [b];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %rd3, %r1, 4;
	xor.b32 %r2, %r1, 33;
	mul.wide.u32 %rd4, %r2, 4;
	add.s64 %rd5, %rd1, %rd3;
	add.s64 %rd6, %rd1, %rd4;
	add.s64 %rd7, %rd2, %rd3;
	mov.u32 %r4, 0;
loop:
	ld.global.u32 %r6, [%rd5];
	mad.lo.s32 %r6, %r6, 5, %r4;
	st.global.u32 [%rd5], %r6;
	bar.sync 0;
	ld.global.u32 %r7, [%rd6];
	bar.sync 0;
	mad.lo.s32 %r6, %r7, 7, %r6;
	st.global.u32 [%rd7], %r6;
	add.s32 %r4, %r4, 1;
	setp.lt.u32 %p1, %r4, 8;
	@%p1 bra loop;
	ret;
}
.visible .entry pour(.param .u64 out) {
	.reg .b32 %r<2>; .reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %rd2, %r1, 4, %rd1;
loop:
	st.global.u32 [%rd2], %r1;
	bra loop;
}
.visible .entry long(.param .u64 out, .param .u32 n) {
	.reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, 0;
	mov.u32 %r3, %tid.x;
loop:
` + strings.Repeat("\tadd.s32 %r2, %r2, %r3;\n", 100) + `	sub.u32 %r1, %r1, 1;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra loop;
	st.global.u32 [%rd1], %r2;
	ret;
}
.visible .entry big(.param .u64 out) {
	.shared .align 4 .b8 s[90000];
	.reg .b32 %r<3>;
	ld.shared.u32 %r1, [s];
	st.shared.u32 [s+4], %r1;
	ret;
}
`

// rig is a machine with one kernel launch per tenant on its own arrays.
type rig struct {
	t    *testing.T
	g    *GPU
	in   []*emulate.Instance
	mod  *emulate.Module
	mems []*mem.Space
}

func newRig(t *testing.T, sheet string, o Options, change func(*sheets.Machine), tenants ...*sharing.Tenant) *rig {
	t.Helper()
	m, _, err := sheets.Load(sheet)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(m)
	}
	r := &rig{t: t}
	if r.mod, err = emulate.Load("k.ptx", []byte(kernels)); err != nil {
		t.Fatal(err)
	}
	if r.g, err = New(m, tenants, o); err != nil {
		t.Fatal(err)
	}
	for range tenants {
		sp := mem.NewSpace(0)
		in, err := r.mod.Bind(sp)
		if err != nil {
			t.Fatal(err)
		}
		r.mems, r.in = append(r.mems, sp), append(r.in, in)
	}
	return r
}

func (r *rig) alloc(tenant int, bytes int64, k mem.Kind) *mem.Region {
	r.t.Helper()
	reg, err := r.mems[tenant].Alloc(bytes, k, "")
	if err == nil {
		err = r.g.Map(tenant, reg)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return reg
}

func (r *rig) launch(tenant int, name string, grid, block uint32, params ...uint64) *sharing.Kernel {
	r.t.Helper()
	k, err := r.mod.Kernel(name)
	if err != nil {
		r.t.Fatal(err)
	}
	b := make([]byte, k.ParamBytes)
	for i, v := range params {
		if k.Params[i].Size == 8 {
			binary.LittleEndian.PutUint64(b[k.Params[i].Offset:], v)
		} else {
			binary.LittleEndian.PutUint32(b[k.Params[i].Offset:], uint32(v))
		}
	}
	g, err := r.in[tenant].Grid(k, emulate.Launch{
		Grid: [3]uint32{grid, 1, 1}, Block: [3]uint32{block, 1, 1},
		Params: b,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return r.g.Launch(tenant, 0, name, g)
}

// scale launches the copy-and-multiply kernel over n words and returns what checks it.
func (r *rig) scale(tenant, n int, k mem.Kind) (*sharing.Kernel, func()) {
	in, out := r.alloc(tenant, int64(4*n), k), r.alloc(tenant, int64(4*n), k)
	for i := range n {
		binary.LittleEndian.PutUint32(in.Data[4*i:], uint32(i))
	}
	kern := r.launch(tenant, "scale", uint32((n+127)/128), 128, out.Base, in.Base, uint64(n))
	return kern, func() {
		r.t.Helper()
		for i := range n {
			if got := binary.LittleEndian.Uint32(out.Data[4*i:]); got != uint32(3*i) {
				r.t.Fatalf("tenant %d: out[%d] = %d, want %d", tenant, i, got, 3*i)
			}
		}
	}
}

// count launches a kernel whose threads count to n, and returns what checks it.
func (r *rig) count(tenant, ctas, threads, n int) (*sharing.Kernel, func()) {
	out := r.alloc(tenant, int64(4*ctas*threads), mem.Device)
	k := r.launch(tenant, "count", uint32(ctas), uint32(threads), out.Base, uint64(n))
	return k, func() {
		r.t.Helper()
		for i := range ctas * threads {
			if got := binary.LittleEndian.Uint32(out.Data[4*i:]); got != uint32(n) {
				r.t.Fatalf("tenant %d: thread %d counted to %d, want %d", tenant, i, got, n)
			}
		}
	}
}

func (r *rig) finish() error {
	for r.g.Running() > 0 {
		if _, err := r.g.Run(r.g.Now() + 1<<30); err != nil {
			return err
		}
	}
	return nil
}

// counted is one of a tenant's counters, by "owner.name".
func (r *rig) counted(tenant int, name string) uint64 {
	r.t.Helper()
	c, err := stat.Set(r.g.Tables).Find(name)
	if err != nil {
		r.t.Fatal(err)
	}
	return c.Of(tenant)
}

// tenant is an application that shares the memory.
func tenant(name string, sms []int) *sharing.Tenant { return &sharing.Tenant{Name: name, SMs: sms} }

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

func between(a, b int) (out []int) {
	for i := a; i < b; i++ {
		out = append(out, i)
	}
	return out
}

// Every machine runs a kernel to its end with the right bytes, and nothing stays
// in flight.
func TestMachinesRun(t *testing.T) {
	for _, name := range sheets.Names() {
		m, _, err := sheets.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, name, Options{}, nil, &sharing.Tenant{Name: "a", SMs: upTo(m.SM.Count)})
		_, check := r.scale(0, 50_000, mem.Device)
		if err := r.finish(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		check()
		if _, err := r.g.Run(r.g.Now() + 100_000); err != nil {
			t.Fatal(err)
		}
		if n := r.g.fabric.Slab.Live(); n != 0 {
			t.Errorf("%s: %d requests in flight after the kernel", name, n)
		}
	}
}

// A page of managed memory costs a far fault on its first touch, and only then,
// whether the machine translates or not; what was fetched before costs none.
func TestManagedMemoryFaultsOnFirstTouch(t *testing.T) {
	const n = 20_000
	for _, name := range []string{"ugpu", "qv100"} {
		r := newRig(t, name, Options{}, func(m *sheets.Machine) { m.VM.Page = 4096 }, tenant("a", upTo(80)))
		k, check := r.scale(0, n, mem.Managed)
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		check()
		pages := uint64((4*n+4095)/4096) * 2
		if f := r.counted(0, map[string]string{"ugpu": "mmu", "qv100": "pager"}[name]+".faults"); f < pages ||
			f > pages+2 {
			t.Errorf("%s: %d faults for %d pages", name, f, pages)
		}
		us := float64(k.End-k.Start) / r.g.Sheet.Clock.Core
		if us < r.g.Sheet.VM.FaultUs || us > 3*r.g.Sheet.VM.FaultUs {
			t.Errorf("%s: the kernel took %.1f us, with faults of %.0f us in parallel", name, us, r.g.Sheet.VM.FaultUs)
		}
	}
}

// Two applications in isolated slices: no request leaves its slice (checked on every
// request in builds with the invariants tag, and here by the DRAM counters), and
// each runs exactly as it does when the other is not there.
func TestIsolation(t *testing.T) {
	for _, name := range []string{"qv100", "ugpu"} {
		groups := 8
		if name == "qv100" {
			groups = 32
		}
		a := func() *sharing.Tenant { return &sharing.Tenant{Name: "a", SMs: upTo(30), Groups: upTo(groups / 4)} }
		b := func() *sharing.Tenant {
			return &sharing.Tenant{Name: "b", SMs: between(30, 80), Groups: between(groups/4, groups)}
		}
		both := newRig(t, name, Options{}, nil, a(), b())
		ka, checkA := both.scale(0, 60_000, mem.Device)
		kb, checkB := both.scale(1, 90_000, mem.Device)
		if err := both.finish(); err != nil {
			t.Fatal(err)
		}
		checkA()
		checkB()
		for _, tab := range both.g.Tables {
			if tab.Owner != "dram" && tab.Owner != "llc" {
				continue
			}
			for i := range tab.Instances {
				ch := i * both.g.fabric.Layouts.Whole.Channels() / tab.Instances
				for tenant := range 2 {
					owns := both.g.Tenants[tenant].Account.Owns(ch)
					if row := tab.Row(i, tenant); !owns && (row[0] != 0 || row[1] != 0) {
						t.Errorf("%s: %s %d, not owned by tenant %d, counts %d, %d for it", name, tab.Owner, i, tenant,
							row[0], row[1])
					}
				}
			}
		}
		if name == "ugpu" {
			continue // the tenants share L2 TLB and walkers, so times may differ
		}
		alone := newRig(t, name, Options{}, nil, a(), b())
		k1, _ := alone.scale(0, 60_000, mem.Device)
		if err := alone.finish(); err != nil {
			t.Fatal(err)
		}
		if k1.End-k1.Start != ka.End-ka.Start {
			t.Errorf("%s: a takes %d cycles beside b, %d without", name, ka.End-ka.Start, k1.End-k1.Start)
		}
		_ = kb
	}
}

// Two identical applications on halves of a machine take as long, up to what the crossbar prefers lower inputs by
// (ascending order, as in the reference), and the same in each run.
func TestSwappedTwins(t *testing.T) {
	run := func(first, second int) (uint64, uint64) {
		r := newRig(t, "qv100", Options{}, nil, tenant("x", upTo(40)),
			tenant("y", between(40, 80)))
		k1, c1 := r.scale(0, first, mem.Device)
		k2, c2 := r.scale(1, second, mem.Device)
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		c1()
		c2()
		return k1.End, k2.End
	}
	a1, a2 := run(50_000, 50_000)
	if d := float64(a1)/float64(a2) - 1; d > 0.03 || d < -0.03 {
		t.Errorf("twins under MPS take %d and %d cycles", a1, a2)
	}
	b1, b2 := run(50_000, 50_000)
	if a1 != b1 || a2 != b2 {
		t.Errorf("the same run twice: %d, %d and %d, %d cycles", a1, a2, b1, b2)
	}
}

// Idle skipping changes nothing, with translation and faults too, nor where accesses
// wait for one of few L1 TLB miss entries.
func TestSkippingWithTranslation(t *testing.T) {
	for _, misses := range []int{32, 1} {
		var end [2]uint64
		var tot [2]stat.Sums
		for i, every := range []bool{false, true} {
			r := newRig(t, "ugpu", Options{Every: every}, func(m *sheets.Machine) {
				m.VM.FaultUs, m.VM.L1Misses = 2,
					misses
			},
				&sharing.Tenant{Name: "a", SMs: upTo(4), Groups: upTo(4)}, &sharing.Tenant{
					Name: "b", SMs: between(4, 80),
					Groups: between(4, 8),
				})
			k1, _ := r.scale(0, 5_000, mem.Managed)
			k2, _ := r.scale(1, 9_000, mem.Device)
			if err := r.finish(); err != nil {
				t.Fatal(err)
			}
			end[i], tot[i] = k1.End<<32|k2.End, stat.Set(r.g.Tables).Sums(0)
		}
		if end[0] != end[1] || !reflect.DeepEqual(tot[0], tot[1]) {
			t.Errorf("%d miss entries: with skipping %x %v, without %x %v", misses, end[0], tot[0], end[1], tot[1])
		}
	}
}

// A large TLB reach costs nothing over no translation once it is warm: with big
// pages, all mapped and one warm-up kernel, the second run is as fast.
func TestWarmTLBCostsLittle(t *testing.T) {
	second := func(vm bool) uint64 {
		r := newRig(t, "qv100", Options{}, func(m *sheets.Machine) {
			m.VM.Enabled, m.VM.L1Latency = vm, 0
		}, tenant("a", upTo(80)))
		r.scale(0, 20_000, mem.Device)
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		k := r.launch(0, "scale", 157, 128, r.mems[0].Regions()[1].Base, r.mems[0].Regions()[0].Base, 20_000)
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		return k.End - k.Start
	}
	with, without := second(true), second(false)
	if d := float64(with)/float64(without) - 1; d > 0.05 || d < -0.05 {
		t.Errorf("%d cycles with a warm TLB, %d without translation", with, without)
	}
}

func TestDeadlocksExplainThemselves(t *testing.T) {
	for _, c := range []struct {
		kernel string
		change func(*sheets.Machine)
		want   []string
	}{
		{"never", nil, []string{"no component has anything to do", "kernel never", "at a barrier", "k.ptx:"}},
		{"spin", nil, []string{"spins or waits", "--watchdog", "kernel spin"}},
		{"big", func(m *sheets.Machine) { m.SM.Shared = 65536 }, []string{"more than an SM has"}},
	} {
		r := newRig(t, "qv100", Options{Watchdog: 50_000}, c.change, tenant("a", upTo(80)))
		out := r.alloc(0, 64, mem.Device)
		r.launch(0, c.kernel, 1, 64, out.Base)
		err := r.finish()
		var d *Deadlock
		if !errors.As(err, &d) {
			t.Errorf("%s: error %v, want a *Deadlock", c.kernel, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: the diagnosis lacks %q:\n%v", c.kernel, w, err)
			}
		}
	}
}

// Hundreds of operations on one word queue up at one output of the crossbar and are
// all served, in as many cycles with skipping as without.
func TestBacklogAtOneSlice(t *testing.T) {
	var end [2]uint64
	for i, every := range []bool{false, true} {
		r := newRig(t, "qv100", Options{Every: every}, nil, tenant("a", upTo(80)))
		out := r.alloc(0, 64, mem.Device)
		k := r.launch(0, "pile", 3, 256, out.Base)
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		if n := binary.LittleEndian.Uint32(out.Data); n != 768 {
			t.Errorf("the word counts %d, want 768", n)
		}
		end[i] = k.End
	}
	if end[0] != end[1] {
		t.Errorf("%d cycles with skipping, %d without", end[0], end[1])
	}
}

func TestFaultStopsTheMachine(t *testing.T) {
	r := newRig(t, "qv100", Options{}, nil, tenant("a", upTo(40)), tenant("b", between(40, 80)))
	r.scale(0, 1000, mem.Device)
	out := r.alloc(1, 64, mem.Device)
	r.launch(1, "scale", 1, 128, out.Base, out.Base, 128)
	err := r.finish()
	var f *isa.Fault
	if !errors.As(err, &f) || f.Kernel != "scale" || r.g.Faulted() != 1 {
		t.Errorf("error %v, tenant %d; want a fault of scale in tenant 1", err, r.g.Faulted())
	}
}

// Once everything has its size, a cycle of the whole machine allocates nothing.
func TestSteadyTickAllocatesNothing(t *testing.T) {
	for name, warm := range map[string]uint64{"qv100": 40_000, "ugpu": 200_000} { // until free lists have their size
		r := newRig(t, name, Options{}, nil, tenant("a", upTo(80)))
		r.scale(0, 16_000_000, mem.Device)
		if _, err := r.g.Run(warm); err != nil {
			t.Fatal(err)
		}
		n := testing.AllocsPerRun(3, func() {
			if _, err := r.g.Run(r.g.Now() + 500); err != nil {
				t.Fatal(err)
			}
		})
		if n > 0 {
			t.Errorf("%s: %.0f allocations in 500 cycles", name, n)
		}
		if r.g.Running() == 0 {
			t.Errorf("%s: the kernel ended before the measurement", name)
		}
	}
}

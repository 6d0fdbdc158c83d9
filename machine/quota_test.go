package machine

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// quotas are the same for each SM.
func (r *rig) quotas(scheme sm.QuotaScheme, period uint64, goal []bool, amounts ...int64) *sharing.Quotas {
	q := &sharing.Quotas{Scheme: scheme, Period: period, Goal: goal}
	for _, n := range amounts {
		q.PerSM = append(q.PerSM, slices.Repeat([]int64{n}, len(r.g.sms.List)))
	}
	return q
}

// till runs to a cycle, or until nothing runs.
func (r *rig) till(cycle uint64) {
	r.t.Helper()
	for r.g.Now() < cycle && r.g.Running() > 0 {
		r.step(cycle - r.g.Now())
	}
}

// counters lists all counters, but for those of quotas.
func (r *rig) counters() string {
	r.g.SyncCounters()
	var s strings.Builder
	for _, t := range r.g.Tables {
		for i := range t.Instances {
			for tenant := range t.Tenants {
				for c, n := range t.Row(i, tenant) {
					name := t.Desc[c].Name
					if n > 0 && !strings.HasPrefix(name, "quota_") && name != "idle_warp_cycles" {
						fmt.Fprintln(&s, t.Owner, i, tenant, name, n)
					}
				}
			}
		}
	}
	return s.String()
}

// TestQuotaWithoutEnd: quotas nobody ever uses up change nothing, whatever the scheme.
func TestQuotaWithoutEnd(t *testing.T) {
	play := func(sheet string, scheme int) string {
		r := together(t, sheet, 4, 3, Options{})
		goal := []bool{true, scheme == int(sm.QuotaRolloverTime), true} // there nobody else is to wait
		if scheme >= 0 {
			q := r.quotas(sm.QuotaScheme(scheme), 700, goal, 1<<40, 1<<40, 1<<40)
			if err := r.g.Sharing.SetQuotas(q); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 3 {
			r.count(i, 30+20*i, 64<<i, 300)
			r.scale(i, 10_000, mem.Device)
			r.till(1500 * uint64(i+1))
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		return r.counters()
	}
	for _, sheet := range []string{"ugpu", "qv100"} {
		want := play(sheet, -1)
		for scheme := range 4 {
			if got := play(sheet, scheme); got != want {
				t.Errorf("%s, %s: %s", sheet, sm.QuotaScheme(scheme), diff(want, got))
			}
		}
	}
}

// TestQuotaOfNothing: an application without a goal whose quota is 0 waits for who has one,
// and gets everything when that is through; what it has on SMs meanwhile is counted.
func TestQuotaOfNothing(t *testing.T) {
	for _, scheme := range []sm.QuotaScheme{sm.QuotaNaive, sm.QuotaRollover, sm.QuotaRolloverTime} {
		r := together(t, "qv100", 2, 2, Options{})
		if err := r.g.Sharing.SetQuotas(r.quotas(scheme, 1000, []bool{false, true}, 0, 1<<30)); err != nil {
			t.Fatal(err)
		}
		poor, checkPoor := r.count(0, 40, 256, 300)
		rich, checkRich := r.count(1, 4, 128, 300)
		for r.g.Sharing.Unfinished()[0] == poor && len(r.g.Sharing.Unfinished()) == 2 {
			r.step(100)
			if n := r.counted(0, "sm.thread_insts"); n > 0 && r.counted(1, "sm.resident_ctas") == 4 &&
				r.counted(0, "sm.quota_held_cycles") > 0 && r.g.Now() < 500 {
				t.Fatalf("%s: cycle %d: %d instructions of a quota of 0", scheme, r.g.Now(), n)
			}
			r.g.SyncCounters()
		}
		if !rich.Done || r.counted(0, "sm.quota_held_cycles") < 1000 {
			t.Errorf("%s: held back for %d warp-cycles", scheme, r.counted(0, "sm.quota_held_cycles"))
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		checkPoor()
		checkRich()
		if n := r.counted(0, "sm.resident_ctas"); n > 0 {
			t.Errorf("%s: %d CTAs are resident at the end", scheme, n)
		}
	}
}

// lines is a grid of independent CTAs: each warp reads a few lines of its own and computes.
type lines struct {
	code isa.Code
	geo  isa.Geometry
	base uint64
}

func newLines(ctas int, base uint64) *lines {
	g := &lines{base: base, geo: isa.Geometry{CTAs: ctas, Threads: 128, Warps: 4, Regs: 8}}
	add := func(in isa.Instr, regs ...uint16) {
		in.Reg, in.NReg = uint32(len(g.code.Regs)), uint8(len(regs))
		g.code.Regs, g.code.Instr = append(g.code.Regs, regs...), append(g.code.Instr, in)
	}
	for i := range 40 {
		if i%8 == 0 {
			add(isa.Instr{Kind: isa.Load, Unit: isa.LDST, Space: isa.Global, Width: 4, NDst: 1}, 1, 0)
		}
		add(isa.Instr{Kind: isa.ALU, Unit: isa.INT, Timing: isa.IntAdd, NDst: 1}, 0, 0, 1)
	}
	add(isa.Instr{Kind: isa.Exit, Unit: isa.INT})
	g.code.Kernel, g.code.NumRegs = "lines", 2
	return g
}

func (g *lines) Code() *isa.Code        { return &g.code }
func (g *lines) Geometry() isa.Geometry { return g.geo }
func (g *lines) Independent()           {}
func (g *lines) Start(cta int, _ isa.Place) isa.CTA {
	return &linesCTA{g: g, cta: cta, pc: make([]int32, g.geo.Warps)}
}

type linesCTA struct {
	g   *lines
	cta int
	pc  []int32
}

func (c *linesCTA) PC(w int) int32            { return c.pc[w] }
func (c *linesCTA) State(w int, s *isa.State) { s.Set(uint64(c.cta<<16|w), 0, c.pc[w]) }
func (c *linesCTA) Release()                  {}
func (c *linesCTA) Step(w int, _ uint64, s *isa.Step) error {
	pc := c.pc[w]
	in := &c.g.code.Instr[pc]
	mask := ^uint32(0) >> uint(int(pc)*(c.cta+1)%32)
	*s = isa.Step{Active: mask, Mask: mask, Next: pc + 1, Space: in.Space}
	for l := range s.Addr {
		s.Addr[l] = c.g.base + uint64(c.cta*c.g.geo.Warps+w)<<10 + uint64(pc)<<7%1024 + uint64(4*l)
	}
	if in.Kind == isa.Exit {
		s.Next = -1
	}
	c.pc[w] = s.Next
	return nil
}

// rationed is a machine of odd numbers whose applications have quotas and limits that
// change at any time; it tells what happened, and the instructions of each application.
func rationed(t *testing.T, seed uint64, o Options, free bool) (story string, insts []uint64, g *GPU) {
	rng := rand.New(rand.NewPCG(seed, 5))
	shared := seed%3 > 0
	sheet := []string{"qv100", "ugpu", "fermi"}[rng.IntN(3)]
	sms, tenants := 4+rng.IntN(24), 2+rng.IntN(2)
	var all []*sharing.Tenant
	for i := range tenants {
		x := &sharing.Tenant{Name: fmt.Sprint("app", i), SMs: upTo(sms)}
		if !shared {
			sheet, x.SMs = "qv100", between(i*sms/tenants, (i+1)*sms/tenants)
		}
		all = append(all, x)
	}
	r := newRig(t, sheet, o, func(m *sheets.Machine) {
		m.SM.Count, m.VM.FaultUs = sms, 1
		m.SM.Schedulers, m.SM.Policy = 1<<rng.IntN(3), []string{"gto", "lrr"}[rng.IntN(2)]
		m.SM.IssueWidth, m.SM.CollectorsShared = 1+rng.IntN(2), rng.IntN(2) == 0
	}, all...)
	var checks []func()
	var kernels []*sharing.Kernel
	launch := func(i int) {
		var k *sharing.Kernel
		check := func() {}
		switch n := rng.IntN(3); {
		case sheet == "qv100" && (n == 0 || !shared):
			k = r.g.Launch(i, 0, "lines", newLines(100+rng.IntN(200), uint64(i+1)<<32))
		case n == 1:
			k, check = r.count(i, 20+rng.IntN(40), 64<<rng.IntN(3), 20+rng.IntN(60))
		default:
			k, check = r.scale(i, 5000+rng.IntN(20_000), mem.Device)
		}
		kernels, checks = append(kernels, k), append(checks, check)
	}
	period := 50 + uint64(rng.IntN(1000))
	for round := range 16 {
		for i := range tenants {
			if rng.IntN(1+round/2) == 0 {
				launch(i)
			}
		}
		q := &sharing.Quotas{Scheme: sm.QuotaScheme(rng.IntN(4)), Period: period}
		most := make([][]int, tenants)
		for i := range tenants {
			q.Goal, q.PerSM = append(q.Goal, rng.IntN(2) == 0), append(q.PerSM, make([]int64, sms))
			most[i] = make([]int, sms)
			for k := range sms {
				most[i][k] = rng.IntN(10) - 2
				q.PerSM[i][k] = 500 + int64(rng.IntN(1<<(1+rng.IntN(16))))
				if rng.IntN(3) == 0 && !q.Goal[i] && q.Scheme != sm.QuotaElastic {
					q.PerSM[i][k] = 0
				}
			}
		}
		call, next := rng.IntN(5), r.g.Now()+period
		if rng.IntN(4) == 0 {
			next += uint64(rng.IntN(int(3 * period)))
		}
		if free {
			call = -1
		}
		switch call {
		case 0: // the SMs refill what they have
		case 1:
			if round > 12 {
				q = nil
			}
			fallthrough
		default:
			if err := r.g.Sharing.SetQuotas(q); err != nil {
				t.Fatal(err)
			}
		case -1:
		}
		if limits := [][][]int{most, most, nil}[rng.IntN(3)]; rng.IntN(3) == 0 && shared && !free {
			if err := r.g.Sharing.LimitCTAs(limits); err != nil {
				t.Fatal(err)
			}
		}
		if rng.IntN(2) == 0 {
			r.g.SyncCounters()
		}
		if r.till(next); !free {
			story += fmt.Sprintln(r.g.Now(), r.counters())
		}
	}
	if shared { // who is kept off all SMs would never end
		if err := r.g.Sharing.LimitCTAs(nil); err != nil {
			t.Fatal(err)
		}
	}
	for start := r.g.Now(); r.g.Running() > 0; r.step(1 << 20) {
		if r.g.Now() > start+50_000_000 {
			t.Fatalf("seed %d: not at an end after %d cycles", seed, r.g.Now())
		}
	}
	for _, check := range checks {
		check()
	}
	r.leftovers()
	for _, k := range kernels {
		story += fmt.Sprintln(k.End)
	}
	for i := range tenants {
		insts = append(insts, r.counted(i, "sm.thread_insts"))
	}
	r.g.SyncCounters()
	for _, name := range []string{"quota_left", "quota_held_cycles", "idle_warp_cycles"} {
		c, err := stat.Set(r.g.Tables).Find("sm." + name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range tenants {
			for k := range sms {
				story += fmt.Sprintln(name, k, i, c.At(k, i))
			}
		}
	}
	return story, insts, r.g
}

var quotaMachines = flag.Int("quotas", 4, "random machines TestQuotasAtRandom tries")

// TestQuotasAtRandom: whatever the machine, the quotas, the limits and when they change, all
// programs end and have executed what they do without; and it is the same visiting
// everything in every cycle and in lockstep.
func TestQuotasAtRandom(t *testing.T) {
	n, strode, evicted := uint64(*quotaMachines), uint64(0), 0
	if testing.Short() {
		n = (n + 1) / 2
	}
	for seed := range n {
		want, insts, g := rationed(t, seed, Options{}, false)
		strode, evicted = strode+g.clock.InStrides, evicted+g.Sharing.Evicted().CTAs
		for _, o := range []Options{{Every: true}, {Lockstep: true}} {
			got, _, _ := rationed(t, seed, o, false)
			if got != want {
				t.Errorf("seed %d, %+v: %s", seed, o, diff(want, got))
			}
		}
		if _, all, _ := rationed(t, seed, Options{}, true); !slices.Equal(all, insts) {
			t.Errorf("seed %d: %d instructions, without quotas %d", seed, insts, all)
		}
	}
	if strode == 0 || evicted == 0 {
		t.Errorf("%d cycles in strides, %d CTAs evicted: the test tests little", strode, evicted)
	}
}

// TestQuotasAllocateNothing: an SM refills its quotas and counts idle warps in place.
func TestQuotasAllocateNothing(t *testing.T) {
	r := together(t, "qv100", 4, 2, Options{})
	r.count(0, 200, 256, 20_000)
	r.count(1, 200, 256, 20_000)
	if err := r.g.Sharing.SetQuotas(r.quotas(sm.QuotaElastic, 300, []bool{true, false}, 2000, 3000)); err != nil {
		t.Fatal(err)
	}
	r.step(20_000)
	held := r.counted(0, "sm.quota_held_cycles")
	n := testing.AllocsPerRun(3, func() {
		if _, err := r.g.Run(r.g.Now() + 2000); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 || r.counted(0, "sm.quota_held_cycles") == held {
		t.Errorf("%.0f allocations in 2000 cycles", n)
	}
}

package energy

import (
	"math"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sheets"
)

// counts looks up "owner.name" in a map; what is not there is zero.
type counts map[string]uint64

func (m counts) Count(owner, name string) (uint64, bool) { return m[owner+"."+name], true }

func (counts) Owners() []string { return []string{"sm", "llc", "dram", "noc_request", "noc_reply"} }

// some counts something of everything.
type some struct{ counts }

func (some) Count(_, name string) (uint64, bool) { return uint64(1000 + len(name)), true }

// nothing counts nothing.
type nothing struct{ counts }

func (nothing) Count(string, string) (uint64, bool) { return 0, false }

var networks, memories = []string{"noc_request", "noc_reply"}, []string{"dram"}

func machine(t *testing.T, name string) *sheets.Machine {
	t.Helper()
	m, _, err := sheets.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Abs(want)+1e-30 {
		t.Errorf("%s: %g J, want %g", what, got, want)
	}
}

func TestEventsByHand(t *testing.T) {
	m := machine(t, "qv100")
	j, err := Of(m, 0, counts{
		"sm.warp_insts": 10, "sm.thread_insts": 320, "sm.lanes_fp_mad": 320, "sm.shared_accesses": 2,
		"sm.shared_conflict_cycles": 3,
		"sm.l1_accesses":            8, "sm.l1_hits": 4, "sm.l1_misses": 4, "llc.accesses": 4, "llc.writebacks": 1,
		"dram.read_bursts": 4, "dram.write_bursts": 1, "dram.activates": 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "SM", j.Of("sm"), (10*123+320*7.1+320*8+5*110)*1e-12)
	near(t, "L1", j.Of("l1"), (4*400+4*100+4*400)*0.25*1e-12) // sectors of 32 of 128 bytes
	near(t, "LLC", j.Of("llc"), (4*5+(5*32+4*32)*250.0/128)*1e-12)
	near(t, "DRAM", j.Of("dram"), (2*828+4*256*3.48+256*4.0)*1e-12)
	if j.Of("noc") != 0 || j.Of("static") != 0 {
		t.Errorf("energy without events or time: %+v", j)
	}
}

func TestStaticByHand(t *testing.T) {
	m := machine(t, "qv100")
	cycles := uint64(m.Clock.Core * 1e6) // one second
	active := uint64(20 * m.Clock.Core * 1e6)
	j, err := Of(m, 40*cycles, counts{"sm.active_share_cycles": active})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "static of half the chip, half of it active", j.Of("static"), 30.0/2+20*0.45+20*0.28)
	near(t, "DRAM background", j.Of("dram"), 0.066*32/2)
	near(t, "pipeline", j.Of("sm"), float64(active)*125e-12)
}

// TestAddsUp: tenants and idle SMs together are the whole chip.
func TestAddsUp(t *testing.T) {
	m := machine(t, "ugpu")
	whole := Idle(m, 80e6, networks, memories)
	a, err := Of(m, 60e6, counts{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "60 + 20 SMs", a.Plus(Idle(m, 20e6, networks, memories)).Total(), whole.Total())
}

// TestGatedByHand: an SM that is powered down draws what leaks, and its share of the chip
// is drawn whoever has it.
func TestGatedByHand(t *testing.T) {
	m := machine(t, "qv100")
	second := uint64(m.Clock.Core * 1e6)
	idle, gated := Nobodys(m, 30*second, 0, networks, memories), Nobodys(m, 10*second, 20*second, networks, memories)
	near(t, "static", gated.Of("static"), 10*0.28+20*0.02+30.0/80*30)
	near(t, "saved", idle.Total()-gated.Total(), 20*(0.28-0.02))
	near(t, "leakage", gated.Of("noc"), idle.Of("noc"))
	near(t, "background", gated.Of("dram"), idle.Of("dram"))
	near(t, "idle", idle.Total(), Idle(m, 30*second, networks, memories).Total())
	f := machine(t, "fermi")
	second = uint64(f.Clock.Core * 1e6)
	near(t, "fermi", Nobodys(f, second, second, networks, memories).Of("static"), 1.59+0.02+2.0/16*11)
}

// TestCrossbarAgainstDSENT holds the fit against the measurements it came from:
// P = W-bit crossbars at half a flit per port and cycle, 1.4 GHz, wires apart.
func TestCrossbarAgainstDSENT(t *testing.T) {
	for _, c := range []struct{ p, w, dynamic, leak float64 }{ // mW: buffers + crossbar + allocator
		{16, 128, 17.7 + 16.4 + 2.5, 33.4 + 17.3 + 6.2},
		{32, 128, 37.0 + 63.8 + 16.3, 66.7 + 66.3 + 50.5},
		{64, 64, 40.9 + 126 + 132, 67.2 + 130 + 409},
	} {
		m := machine(t, "qv100")
		m.SM.Count, m.DRAM.Channels, m.LLC.SlicesPerChannel, m.NoC.FlitBytes = int(c.p), int(c.p), 1, int(c.w)/8
		mm := nocWireMM + 2*math.Sqrt(nocAreaMM2)*c.p*c.w
		n := networkOf(m, "noc_request")
		dynamic := (n.flitPJ() - nocWirePJ*c.w*mm) * 1e-12 * 0.5 * c.p * 1.4e9 * 1e3
		if r := dynamic / c.dynamic; r < 0.85 || r > 1.15 {
			t.Errorf("P=%g W=%g: %.1f mW dynamic, DSENT says %.1f", c.p, c.w, dynamic, c.dynamic)
		}
		if r := n.leakage() * 1e3 / c.leak; r < 0.85 || r > 1.15 {
			t.Errorf("P=%g W=%g: %.1f mW leakage, DSENT says %.1f", c.p, c.w, n.leakage()*1e3, c.leak)
		}
	}
}

// Switches of 8 x 8 with 16 bytes: DSENT gives 8.6 + 4.4 + 0.5 mW at half a flit per port and
// cycle, and 16.7 + 4.7 + 0.7 mW of leakage each. 64 ports take two stages of eight.
func TestStagesByHand(t *testing.T) {
	n := staged(64, 64, 1, 8, 128)
	if len(n.stages) != 2 || n.stages[0] != (stage{8, 8}) || n.stages[1] != (stage{8, 8}) {
		t.Fatalf("64 ports of 8 x 8: %+v; want two stages of eight switches", n.stages)
	}
	// Buffers 0.0121 x 128, crossbar (8 x 6.7e-4 + 7e-4) x 128, allocator 2.8e-3 mW x 8^1.7 / 1.4 GHz,
	// wires 0.0236 x 128 x (2 + 2 sqrt(1.24e-8) x 8 x 128): 1.5488 + 0.7757 + 0.0686 + 6.7305 pJ.
	about(t, "a flit through both stages", n.flitPJ(), 2*9.1236, 1e-4)
	about(t, "a stage without wires, beside DSENT", n.flitPJ()/2-6.7305, (8.6+4.4+0.5)/(0.5*8*1.4), 0.02)
	about(t, "leakage, beside DSENT", n.leakage(), 16*(16.7+4.7+0.7)*1e-3, 0.02)
	wide := staged(64, 64, 1, 8, 256)
	about(t, "32 bytes wide leak twice that but for allocators", wide.leakage()-2*n.leakage(), -16*1.54e-3*512*1e-3,
		1e-9)
	// Two halves of 32 ports: four switches in each stage, with two links between any two of them, so
	// that each is one of 8 x 8 again.
	half := staged(64, 64, 2, 8, 128)
	if s := half.stages[0]; s.switches != 8 || s.ports != 8 || half.flitPJ() != n.flitPJ() {
		t.Errorf("two halves: %+v, %g pJ a flit", half.stages, half.flitPJ())
	}
	if n := staged(64, 128, 1, 8, 128); n.stages[0] != (stage{8, math.Sqrt(8 * 16)}) || n.stages[1] != (stage{16, 8}) {
		t.Errorf("64 inputs, 128 outputs: %+v", n.stages)
	}
}

// A link costs its wires: 3.02 pJ for 128 bits over a millimetre, and 0.24 uW per bit and mm.
func TestLinksByHand(t *testing.T) {
	m := machine(t, "nuba")
	near := networkOf(m, "links_reply")
	about(t, "a flit", near.flitPJ(), 3.02*1.5, 1e-3)
	about(t, "128 links", near.leakage(), 128*0.24e-6*128*1.5, 1e-9)
	across := networkOf(m, "noc_reply")
	if r := across.flitPJ() / near.flitPJ(); r < 3.5 || r > 4.5 {
		t.Errorf("two stages cost %.2f times a link", r)
	}
	s := machine(t, "nuba-smside")
	to, back := networkOf(s, "links_request"), networkOf(s, "links_reply")
	about(t, "a flit from half to half", to.flitPJ(), 3.02*10, 1e-3)
	about(t, "64 wires, which leak once", to.leakage()+back.leakage(), 64*0.24e-6*128*10, 1e-9)
}

// Why the SM-side LLC saves nothing in its networks (NUBA, section 7.4, says a quarter): of switches of 8 x 8 two
// halves of 32 ports need as many as 64 ports, and a flit passes two of either. Two switches of 32 ports would save a
// third of a flit's energy and half of the leakage of one of 64.
func TestHalvesSaveOnlyWhenFlat(t *testing.T) {
	whole, halves := networkOf(machine(t, "nuba-mem"), "noc_reply"), networkOf(machine(t, "nuba-smside"), "noc_reply")
	about(t, "a flit in a half over one in the whole", halves.flitPJ()/whole.flitPJ(), 1, 1e-9)
	about(t, "leakage of the halves over that of the whole", halves.leakage()/whole.leakage(), 1, 1e-9)
	flat := func(switches int, ports float64) network {
		return network{stages: []stage{{switches, ports}}, bits: whole.bits, mm: whole.mm}
	}
	one, two := flat(1, 64), flat(2, 32)
	about(t, "a flit in 32 x 32 over one in 64 x 64", two.flitPJ()/one.flitPJ(), 0.661, 1e-2)
	about(t, "leakage of two 32 x 32 over that of 64 x 64", two.leakage()/one.leakage(), 0.461, 1e-2)
}

// A link between modules costs by the bit, and each module has stages of its own.
func TestModulesByHand(t *testing.T) {
	m := machine(t, "nuba-mcm")
	r, n := networkOf(m, "ring_reply"), networkOf(m, "noc_reply")
	about(t, "32 bytes from module to module", r.flitPJ(), 256*0.54, 1e-12)
	if r.leakage() != 0 || n.stages[0] != (stage{16, 8}) { // two links between any two switches of a module
		t.Errorf("ring leaks %g W; stages of four modules of 32 ports: %+v", r.leakage(), n.stages)
	}
	owners := []string{"sm", "llc", "dram", "noc_reply", "ring_reply"}
	j, err := Of(m, 0, topologyOf{counts{"ring_reply.flits": 10}, owners})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the ring is part of the NoC", j.Of("noc"), 10*256*0.54e-12)
}

// topologyOf counts under the names given.
type topologyOf struct {
	counts
	owners []string
}

func (o topologyOf) Owners() []string { return o.owners }

// A bit costs about the same whatever the width of the ports, but leakage grows with it: so four
// times the bandwidth at the same load is four times the power and not sixteen.
func TestWiderNetworks(t *testing.T) {
	narrow, wide := staged(64, 64, 1, 8, 128), staged(64, 64, 1, 8, 512)
	if r := wide.flitPJ() / narrow.flitPJ(); r < 4 || r > 5 {
		t.Errorf("a flit of four times the bits costs %.2f times as much", r)
	}
	if r := wide.leakage() / narrow.leakage(); r < 3.8 || r > 4 {
		t.Errorf("four times the width leaks %.2f times as much", r)
	}
}

// topology counts on a machine with links.
type topology struct{ counts }

func (topology) Owners() []string {
	return []string{"sm", "llc", "dram", "links_request", "links_reply", "noc_request", "noc_reply"}
}

// The NoC's energy is that of its stages and its links, and adds up over tenants and nobody.
func TestTopologyAddsUp(t *testing.T) {
	m := machine(t, "nuba")
	c := topology{counts{"links_reply.flits": 900, "noc_reply.flits": 100}}
	j, err := Of(m, 0, c)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "NoC", j.Of("noc"), (900*0.0236*128*1.5+100*networkPJ(m, "noc_reply"))*1e-12)
	near(t, "links", j.Of("noc_links"), 900*0.0236*128*1.5*1e-12)
	all := Networks(c.Owners())
	a, err := Of(m, 40e6, c)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Of(m, 64e6, c)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "40 + 24 SMs", a.Plus(Idle(m, 24e6, all, memories)).Total(), b.Total())
}

func networkPJ(m *sheets.Machine, owner string) float64 {
	n := networkOf(m, owner)
	return n.flitPJ()
}

func about(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within*math.Abs(want) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// TestMigration: a page of 4 KB is 32 commands of 128 bytes; a memory without the
// command has no such energy.
func TestMigration(t *testing.T) {
	c := counts{"dram.migrations": 32, "dram.activates": 32}
	j, err := Of(machine(t, "ugpu"), 0, c)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "migration", j.Of("migration"), 4096*8*4e-12)
	near(t, "rows opened for it", j.Of("dram"), 32*828e-12)
	if j, err = Of(machine(t, "qv100"), 0, c); err != nil || j.Of("migration") != 0 {
		t.Errorf("qv100: %+v, %v", j, err)
	}
}

// TestSplit: GPU and memory together are everything, whatever happened.
func TestSplit(t *testing.T) {
	j, err := Of(machine(t, "ugpu"), 33.5e6, some{})
	if err != nil {
		t.Fatal(err)
	}
	gpu, memory := j.Split()
	near(t, "GPU and HBM", gpu+memory, j.Total())
	near(t, "HBM", memory, j.Of("dram")+j.Of("migration"))
	for _, x := range j {
		if x.J <= 0 {
			t.Errorf("a part has no energy: %+v", j)
		}
	}
	if len(j) != 8 {
		t.Errorf("%d parts: %+v", len(j), j)
	}
	near(t, "twice", j.Plus(j).Total(), 2*j.Total())
}

func TestUnknownCounterIsAnError(t *testing.T) {
	_, err := Of(machine(t, "qv100"), 1, nothing{})
	if err == nil || !strings.Contains(err.Error(), "no counter sm.warp_insts") {
		t.Errorf("got %v", err)
	}
}

// Each tier of a hybrid memory draws what its sheet says, and its background all the time;
// what the tiers exchange does not fill the LLC.
func TestTiersByHand(t *testing.T) {
	m := machine(t, "hydrogen")
	c := tiered{counts{
		"dram_fast.activates": 3, "dram_fast.read_bursts": 5, "dram_fast.write_bursts": 7,
		"dram.activates": 2, "dram.read_bursts": 4, "dram.write_bursts": 6, "hybrid.reads": 8,
	}}
	j, err := Of(m, 0, c)
	if err != nil {
		t.Fatal(err)
	}
	fast, slow := (3*1818+512*(5*3.48+7*4.0))*1e-12, (2*4200+512*(4*14.4+6*13.6))*1e-12
	near(t, "both tiers", j.Of("dram"), fast+slow)
	near(t, "LLC", j.Of("llc"), 8*250e-12)
	second := uint64(m.Clock.Core * 1e6 * float64(m.SM.Count))
	idle := Idle(m, second, networks, []string{"dram_fast", "dram"})
	near(t, "background", idle.Of("dram"), 16*0.066+4*0.5)
}

// tiered is counts of a machine with two tiers.
type tiered struct{ counts }

func (tiered) Owners() []string {
	return []string{"sm", "llc", "dram_fast", "dram", "hybrid", "noc_request", "noc_reply"}
}

// Package energy turns the counters of a run into joules, after the run: a pure
// function of counters and sheet constants, never part of a tick.
//
// A reader must know three types. Counts has the counters of a tenant or a span of time.
// Parts is energy by part of the machine. sheets.Machine gives sizes, clocks and static
// power. The constants and their sources are in constants.go.
package energy

import (
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// Counts gives counters summed over all components.
type Counts interface {
	// Count is a counter by owner ("sm", "llc", ...) and name; false if there is none of that name.
	Count(owner, name string) (n uint64, ok bool)
	// Owners lists the owners of counters, in the order of the machine's tables.
	Owners() []string
}

// reader looks counters up and keeps the first failure.
type reader struct {
	c   Counts
	err error
}

func (r *reader) get(owner, name string) float64 {
	n, ok := r.c.Count(owner, name)
	if !ok && r.err == nil {
		r.err = fmt.Errorf("energy: there is no counter %s.%s", owner, name)
	}
	return float64(n)
}

// each lists the owners of a kind. A machine without any is an error: its energy would
// lack a part.
func (r *reader) each(kind string) (owners []string) {
	for _, o := range r.c.Owners() {
		if stat.OfKind(o, kind) {
			owners = append(owners, o)
		}
	}
	if len(owners) == 0 && r.err == nil {
		r.err = fmt.Errorf("energy: this machine counts no %s", kind)
	}
	return owners
}

// Of is the energy of events, and of the time for which applications held SMs. heldCycles counts these SM-cycles; a
// counter says in how many of them the SMs were occupied. The energy that the whole chip draws in a cycle is divided
// among its SMs, so that all SM-cycles of a run together give the machine's energy.
func Of(m *sheets.Machine, heldCycles uint64, c Counts) (Parts, error) {
	r := &reader{c: c}
	var p Parts
	p.add("sm", smEnergy(r))
	p.add("l1", l1Energy(m, r))
	if m.L3.Given() {
		p.add("l3", l3Energy(m, r))
	}
	p.add("llc", llcEnergy(m, r))
	r.each("noc") // there is one
	networks, memories := Networks(c.Owners()), r.each("dram")
	for _, o := range networks {
		n := networkOf(m, o)
		p.add(part(o), r.get(o, "flits")*n.flitPJ()*picojoule)
	}
	for _, o := range memories {
		p.add(o, dramEnergy(m, r, o))
	}
	p.add("migration", migrationEnergy(m, r, memories))
	if m.CPU.Cores > 0 {
		p.add("cpu", cpuEnergy(m, r))
	}
	active := r.get("sm", "active_share_cycles")
	hz := m.Clock.Core * megahertz
	p.add("static", active/hz*(m.Power.ActiveSM-m.Power.IdleSM))
	return p.Plus(Idle(m, heldCycles, networks, memories)), r.err
}

// Idle is the energy of SM-cycles in which nothing happens, with the SMs' share of the chip, its networks and
// memories.
func Idle(m *sheets.Machine, heldCycles uint64, networks, memories []string) Parts {
	seconds := float64(heldCycles) / (m.Clock.Core * megahertz) // of one SM
	share := seconds / float64(m.SM.Count)                      // of the chip
	var p Parts
	for _, o := range networks {
		n := networkOf(m, o)
		p.add(part(o), n.leakage()*share)
	}
	for _, o := range memories {
		t := tierOf(m, o)
		p.add(o, t.background*milliwatt*float64(t.channels)*share)
	}
	if m.CPU.Cores > 0 {
		p.add("cpu", cpuIdle(m, share))
	}
	p.add("static", seconds*m.Power.IdleSM+share*m.Power.Chip)
	return p
}

// Nobodys is the energy of the SM-cycles that no application held: of idle SMs, and of SMs that were powered down,
// which draw leakage power only. Both include the SMs' share of the chip's energy.
func Nobodys(m *sheets.Machine, idleCycles, gatedCycles uint64, networks, memories []string) Parts {
	p := Idle(m, idleCycles+gatedCycles, networks, memories)
	gated := float64(gatedCycles) / (m.Clock.Core * megahertz)
	p.add("static", gated*(m.Power.GatedSM-m.Power.IdleSM))
	return p
}

func smEnergy(r *reader) float64 {
	pj := r.get("sm", "warp_insts") * (fetchPJ + decodePJ + schedulePJ)
	pj += r.get("sm", "thread_insts") * (regReads*regReadPJ + regWrites*regWritePJ)
	for _, class := range []struct {
		pj    float64
		names []string
	}{
		{intPJ, []string{"other", "int_add", "int_max", "int_mul", "int_mad", "shuffle"}},
		{fpPJ, []string{"fp_add", "fp_max", "fp_mul", "fp_mad"}},
		{dpPJ, []string{"dp_add", "dp_max", "dp_mul", "dp_mad"}},
		{sfuPJ, []string{"int_div", "fp_div", "dp_div", "special"}},
		{tensorPJ, []string{"matrix"}},
	} {
		for _, n := range class.names {
			pj += r.get("sm", "lanes_"+n) * class.pj
		}
	}
	pj += (r.get("sm", "shared_accesses") + r.get("sm", "shared_conflict_cycles")) * sharedPJ
	pj += r.get("sm", "active_share_cycles") * pipelinePJ
	return pj * picojoule
}

func l1Energy(m *sheets.Machine, r *reader) float64 {
	part := float64(m.L1D.Sector) / lineForPJ
	hits, misses := r.get("sm", "l1_hits"), r.get("sm", "l1_misses")
	lookups := math.Max(r.get("sm", "l1_accesses")-hits, 0)
	return (hits*l1LinePJ + lookups*l1TagPJ + misses*l1LinePJ) * part * picojoule // a miss is filled later
}

// l3Energy is that of a cache between SMs and LLC: every sector is looked up and read or written, and one that
// misses is filled later.
func l3Energy(m *sheets.Machine, r *reader) float64 {
	accesses := r.get("l3", "accesses")
	bytes := (accesses + r.get("l3", "misses")) * float64(m.LLC.Sector)
	return (accesses*llcTagPJ + bytes*llcLinePJ/lineForPJ) * picojoule
}

func llcEnergy(m *sheets.Machine, r *reader) float64 {
	accesses := r.get("llc", "accesses")
	perByte := llcLinePJ / lineForPJ
	bytes := (accesses + r.get("llc", "writebacks")) * float64(m.LLC.Sector)
	if m.Memory.Given() { // what the tiers exchange does not fill the LLC
		bytes += r.get("hybrid", "reads") * float64(m.LLC.Line)
		return (accesses*llcTagPJ + bytes*perByte) * picojoule
	}
	for _, o := range r.each("dram") {
		bytes += r.get(o, "read_bursts") * float64(m.DRAM.Access) // fills
	}
	return (accesses*llcTagPJ + bytes*perByte) * picojoule
}

func dramEnergy(m *sheets.Machine, r *reader, owner string) float64 {
	t := tierOf(m, owner)
	pj := r.get(owner, "activates") * t.activate
	pj += r.get(owner, "read_bursts") * t.bits * t.read
	pj += r.get(owner, "write_bursts") * t.bits * t.write
	return pj * picojoule
}

// tier is what the memory of an owner of counters draws.
type tier struct {
	channels              int
	bits                  float64 // of an access
	activate, read, write float64 // pJ, and pJ per bit
	background            float64 // mW of a channel
}

// tierOf is the fast tier of a memory of two, or the one that every machine has.
func tierOf(m *sheets.Machine, owner string) tier {
	if f := &m.Memory.Fast; owner == "dram_fast" {
		return tier{
			channels: f.Device.Channels, bits: float64(f.Device.Access) * bitsPer, activate: f.Activate,
			read: f.ReadBit, write: f.WriteBit, background: f.Background,
		}
	}
	return tier{
		channels: m.DRAM.Channels, bits: float64(m.DRAM.Access) * bitsPer,
		activate: or(m.Power.Activate, hbmActivatePJ), read: or(m.Power.ReadBit, hbmReadPJBit),
		write: or(m.Power.WriteBit, hbmWritePJBit), background: or(m.Power.Background, hbmBackgroundMW),
	}
}

// migrationEnergy is what MIGRATION commands copy, a line each. A memory without the
// command need not count them.
func migrationEnergy(m *sheets.Machine, r *reader, memories []string) float64 {
	if !m.DRAM.Migrates() {
		return 0
	}
	lines := 0.0
	for _, o := range memories {
		lines += r.get(o, "migrations")
	}
	return lines * float64(m.LLC.Line) * bitsPer * hbmMigratePJBit * picojoule
}

// or is x unless the sheet leaves it out.
func or(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

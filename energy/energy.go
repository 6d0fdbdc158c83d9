// Package energy turns the counters of a run into joules, after the run: a pure
// function of counters and sheet constants, never part of a tick.
//
// A reader must know three types. Counts looks up a counter of one tenant. Joules
// is energy by part of the machine. sheets.Machine gives sizes, clocks and static
// power. The constants and their sources are in constants.go.
package energy

import (
	"fmt"
	"math"

	"heddle/sheets"
)

// Counts gives a tenant's counter by owner ("sm", "llc", ...) and name, summed over
// all components; false if there is no such counter.
type Counts func(owner, name string) (n uint64, ok bool)

// Joules is energy by part.
type Joules struct {
	SM     float64 // instructions, registers, shared memory, pipeline
	L1     float64
	LLC    float64
	NoC    float64 // flits and leakage
	DRAM   float64 // commands and background, all but the copying of MIGRATIONs
	Static float64 // SMs and the rest of the chip
	// Migration is the copying of MIGRATION commands; the rows they open count under
	// DRAM. Pages and contexts moved by reads and writes are ordinary DRAM, LLC and NoC events.
	Migration float64
}

// Total is the sum of the parts.
func (j Joules) Total() float64 { return j.SM + j.L1 + j.LLC + j.NoC + j.DRAM + j.Static + j.Migration }

// Add is the sum of two.
func (j Joules) Add(k Joules) Joules {
	return Joules{
		SM: j.SM + k.SM, L1: j.L1 + k.L1, LLC: j.LLC + k.LLC, NoC: j.NoC + k.NoC, DRAM: j.DRAM + k.DRAM,
		Static: j.Static + k.Static, Migration: j.Migration + k.Migration,
	}
}

// Split is the energy of the GPU chip and of the memory beside it (UGPU paper,
// Figure 12b: "GPU with 80 SMs" and "HBM system", migration included).
func (j Joules) Split() (gpu, memory float64) {
	memory = j.DRAM + j.Migration
	return j.SM + j.L1 + j.LLC + j.NoC + j.Static, memory
}

// reader looks counters up and keeps the first failure.
type reader struct {
	c   Counts
	err error
}

func (r *reader) get(owner, name string) float64 {
	n, ok := r.c(owner, name)
	if !ok && r.err == nil {
		r.err = fmt.Errorf("energy: there is no counter %s.%s", owner, name)
	}
	return float64(n)
}

// Tenant is the energy of one tenant that owned sms SMs (on average over time, if
// SMs changed hands) for a run of the given core cycles: its events, the static energy of its SMs, and a share of what the
// whole chip draws in proportion to its SMs.
func Tenant(m *sheets.Machine, cycles uint64, sms float64, c Counts) (Joules, error) {
	r := &reader{c: c}
	j := Joules{SM: smEnergy(r), L1: l1Energy(m, r), LLC: llcEnergy(m, r), NoC: nocEnergy(m, r), DRAM: dramEnergy(m, r), Migration: migrationEnergy(m, r)}
	seconds := float64(cycles) / (m.Clock.Core * megahertz)
	active := r.get("sm", "active_cycles") / (m.Clock.Core * megahertz) // SM-seconds
	owned := sms * seconds
	j.Static = active*m.Power.ActiveSM + math.Max(owned-active, 0)*m.Power.IdleSM
	return j.Add(background(m, seconds, sms/float64(m.SM.Count))), r.err
}

// Idle is the energy of SMs that no tenant owned, and of their share of the chip.
func Idle(m *sheets.Machine, cycles uint64, sms float64) Joules {
	seconds := float64(cycles) / (m.Clock.Core * megahertz)
	j := Joules{Static: sms * seconds * m.Power.IdleSM}
	return j.Add(background(m, seconds, sms/float64(m.SM.Count)))
}

// background is a share of what is drawn whatever happens.
func background(m *sheets.Machine, seconds, share float64) Joules {
	perChannel := or(m.Power.Background, hbmBackgroundMW) * milliwatt
	return Joules{
		Static: m.Power.Chip * seconds * share,
		NoC:    2 * leakage(m) * seconds * share, // requests and replies
		DRAM:   perChannel * float64(m.DRAM.Channels) * seconds * share,
	}
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
	pj += r.get("sm", "active_cycles") * pipelinePJ
	return pj * picojoule
}

func l1Energy(m *sheets.Machine, r *reader) float64 {
	part := float64(m.L1D.Sector) / lineForPJ
	hits, misses := r.get("sm", "l1_hits"), r.get("sm", "l1_misses")
	lookups := math.Max(r.get("sm", "l1_accesses")-hits, 0)
	return (hits*l1LinePJ + lookups*l1TagPJ + misses*l1LinePJ) * part * picojoule // a miss is filled later
}

func llcEnergy(m *sheets.Machine, r *reader) float64 {
	accesses := r.get("llc", "accesses")
	perByte := llcLinePJ / lineForPJ
	bytes := (accesses + r.get("llc", "writebacks")) * float64(m.LLC.Sector)
	bytes += r.get("dram", "read_bursts") * float64(m.DRAM.Access) // fills
	return (accesses*llcTagPJ + bytes*perByte) * picojoule
}

// crossbar is the shape the fit wants: a square one of the same number of crosspoints.
func crossbar(m *sheets.Machine) (ports, bits float64) {
	slices := m.DRAM.Channels * m.LLC.SlicesPerChannel
	return math.Sqrt(float64(m.SM.Count) * float64(slices)), float64(m.NoC.FlitBytes) * bitsPer
}

// flitPJ is the energy of one flit through buffer, allocator, crossbar and wires.
func flitPJ(m *sheets.Machine) float64 {
	p, w := crossbar(m)
	mm := nocWireMM + 2*math.Sqrt(nocAreaMM2)*p*w
	alloc := nocAllocMW * milliwatt * math.Pow(p, nocAllocExp-1) / dsentClock / picojoule
	return (nocBufferPJ+nocXbarPJ*p+nocXbar0PJ)*w + alloc + nocWirePJ*w*mm
}

// leakage is the leakage power of one crossbar in watts.
func leakage(m *sheets.Machine) float64 {
	p, w := crossbar(m)
	return (nocLeakBufMW*p*w + (nocLeakX2MW*p*p+nocLeakX1MW*p)*w + nocLeakAlMW*p*p*p) * milliwatt
}

func nocEnergy(m *sheets.Machine, r *reader) float64 {
	return (r.get("noc_request", "flits") + r.get("noc_reply", "flits")) * flitPJ(m) * picojoule
}

func dramEnergy(m *sheets.Machine, r *reader) float64 {
	bits := float64(m.DRAM.Access) * bitsPer
	pj := r.get("dram", "activates") * or(m.Power.Activate, hbmActivatePJ)
	pj += r.get("dram", "read_bursts") * bits * or(m.Power.ReadBit, hbmReadPJBit)
	pj += r.get("dram", "write_bursts") * bits * or(m.Power.WriteBit, hbmWritePJBit)
	return pj * picojoule
}

// migrationEnergy is what MIGRATION commands copy, a line each. A memory without the
// command need not count them.
func migrationEnergy(m *sheets.Machine, r *reader) float64 {
	if m.DRAM.MigrationCycles == 0 {
		return 0
	}
	return r.get("dram", "migrations") * float64(m.LLC.Line) * bitsPer * hbmMigratePJBit * picojoule
}

// or is x unless the sheet leaves it out.
func or(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

package control

import (
	"fmt"
	"math/big"
)

// MDR, model-driven replication. Zhao et al., "NUBA: Non-Uniform Bandwidth GPUs", ASPLOS 2023,
// section 5: every period the bandwidth of the LLC is estimated for no and for full replication
// of read-only shared lines, and the larger wins for the next one. Period: 20 K core cycles.
// Hardware: 8 shadow-tagged sets of one slice (16 ways, 24 bits: 384 bytes) and two fixed-point
// ALUs, 116 cycles: 4 divisions of 25, 4 multiplications of 3, 2 additions, 2 comparisons.
//
// Readings. The printed equations are kept to the letter. They are evaluated in exact arithmetic
// on the decimal numbers given, so that a tie is a tie, and a tie does not replicate. It starts
// without replication. A sample without lookups under one of the policies keeps the choice. The
// decision is one for the machine. Of a sheet's machine BW_LLC is what all data arrays of the
// slices read (64 x 32 B x 1.4 GHz in the paper), BW_NoC what all the slices' network ports
// carry (64 x 16 B x 1.4 GHz) and BW_MEM what all channels give.
//
// The shadow tags, and what they count as local, are in machine/cache/sampler.go.
const (
	mdrEpoch   = 20_000
	mdrLatency = 116
)

// mdrSample has the counts of the sampled tags, under the policy that runs and under the other one.
type mdrSample struct {
	Clock
	NoRep struct {
		Hit   *float64 `json:"hit,omitempty" counter:"mdr.norep_hits/mdr.norep_lookups"`
		Local *float64 `json:"local,omitempty" counter:"mdr.norep_local/mdr.norep_lookups"`
	} `json:"norep"`
	FullRep struct {
		Hit   *float64 `json:"hit,omitempty" counter:"mdr.fullrep_hits/mdr.fullrep_lookups"`
		Local *float64 `json:"local,omitempty" counter:"mdr.fullrep_local/mdr.fullrep_lookups"`
	} `json:"fullrep"`
}

// Check implements Checker.
func (s *mdrSample) Check() error {
	for _, p := range []struct {
		name       string
		hit, local *float64
	}{{"norep", s.NoRep.Hit, s.NoRep.Local}, {"fullrep", s.FullRep.Hit, s.FullRep.Local}} {
		if (p.hit == nil) != (p.local == nil) {
			return fmt.Errorf("%s needs both hit and local, or neither where nothing was looked up", p.name)
		}
		for _, f := range []*float64{p.hit, p.local} {
			if f != nil && !(*f >= 0 && *f <= 1) {
				return fmt.Errorf("%s: hit and local are fractions between 0 and 1, not %g", p.name, *f)
			}
		}
	}
	return nil
}

// mdrPlan is its decision. Bandwidths are in bytes/s, 0 if the sample had no lookups.
type mdrPlan struct {
	Cycle     uint64   `json:"cycle"` // of the sample
	Replicate bool     `json:"replicate"`
	NoRep     float64  `json:"bw_norep"`
	FullRep   float64  `json:"bw_fullrep"`
	Why       []string `json:"why,omitempty"`
}

// Request implements Plan.
func (p *mdrPlan) Request() Request { return Request{Replicate: &p.Replicate, Latency: mdrLatency} }

// Reasons implements Plan.
func (p *mdrPlan) Reasons() []string { return p.Why }

func mdrEntry() Entry {
	bandwidth := func(name, of string) Param {
		return Param{
			Name: name, Unit: "bytes/s", Doc: of + ", of all together; the machine's value when left out",
			Least: 1e-9, Most: 1e30,
		}
	}
	return Entry{
		Name: "mdr", Source: "Zhao et al., NUBA, ASPLOS 2023, section 5", Period: mdrEpoch,
		What: "read-only lines of other partitions are replicated in the LLC while a model of its bandwidth " +
			"gains by it",
		Settings: []string{"replication"}, Files: []string{"mdr_model.go"},
		OfMachine: []string{"bw_llc", "bw_noc", "bw_mem"},
		Params: []Param{
			bandwidth("bw_llc", "LLC slices"), bandwidth("bw_noc", "network"), bandwidth("bw_mem", "memory channels"),
		},
		Make: func(m Machine, get func(string) float64) Policy {
			channels := float64(m.Groups * m.Channels)
			given := func(name string, sheet float64) *big.Rat {
				if v := get(name); v > 0 {
					return decimal(v)
				}
				return decimal(sheet * channels)
			}
			d := &mdr{
				llc: given("bw_llc", m.ArrayBytes), noc: given("bw_noc", m.LLCBytes), mem: given("bw_mem", m.MemBytes),
			}
			return Of(d.decide)
		},
	}
}

// mdr is the policy's state: bandwidths in bytes/s, and the last choice.
type mdr struct {
	llc, noc, mem *big.Rat
	replicate     bool
}

func (d *mdr) decide(s *mdrSample) Plan {
	p := &mdrPlan{Cycle: s.Cycle}
	if n, f := &s.NoRep, &s.FullRep; n.Hit == nil || n.Local == nil || f.Hit == nil || f.Local == nil {
		p.Replicate, p.Why = d.replicate, []string{"nothing was looked up: the choice stays"}
		return p
	}
	none := d.noRep(decimal(*s.NoRep.Hit), decimal(*s.NoRep.Local))
	full := d.fullRep(decimal(*s.FullRep.Hit), decimal(*s.FullRep.Local))
	d.replicate = full.Cmp(none) > 0
	p.Replicate = d.replicate
	p.NoRep, _ = none.Float64()
	p.FullRep, _ = full.Float64()
	p.Why = []string{fmt.Sprintf("%.4g GB/s without and %.4g GB/s with replication", p.NoRep/1e9, p.FullRep/1e9)}
	return p
}

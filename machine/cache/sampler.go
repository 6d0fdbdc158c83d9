package cache

import (
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// Sampler is MDR's set sampling (NUBA, section 5.1): 8 sets of one slice have shadow tags for the replication policy
// that does not run, 16 ways of 24 bits each. The sets themselves count for the policy that runs. The sampler counts
// the hits of both, for the bandwidth model (control/mdr.go).
//
// Reading. Lookups that count for full replication are those of the SMs near the slice, whose misses are answered
// here or by a copy kept here; those that count for none come from all SMs, at the lines' home. While copies are
// made, what other partitions find in theirs does not come here; as many hits as the SMs near this slice have in its
// copies stand for those: partitions are alike. Local accesses come from, or go to, the slice's own partition.
type Sampler struct {
	replicates bool // the policy that runs
	every      int  // one set of this number is sampled
	shadow     [sampledSets][]uint32
	rows       [][]uint64
}

// sampledSets are the sets that have shadow tags, as in the paper.
const sampledSets = 8

// Counters of the sampler.
const (
	norepLookups = iota
	norepHits
	norepLocal
	fullrepLookups
	fullrepHits
	fullrepLocal
	samplerCounters
)

// SamplerCounters describes the counters of a sampler.
func SamplerCounters() []stat.Desc {
	return []stat.Desc{
		{Name: "norep_lookups", Unit: "requests", Doc: "sampled lookups, without replication"},
		{Name: "norep_hits", Unit: "requests", Doc: "of those, found"},
		{Name: "norep_local", Unit: "requests", Doc: "sampled lookups without replication by SMs of the slice's " +
			"partition"},
		{Name: "fullrep_lookups", Unit: "requests", Doc: "sampled lookups, with full replication"},
		{Name: "fullrep_hits", Unit: "requests", Doc: "of those, found"},
		{Name: "fullrep_local", Unit: "requests", Doc: "sampled lookups with full replication of lines whose home " +
			"is in the slice's partition"},
	}
}

// Sample gives the slice a sampler that counts in t.
func (s *Slice) Sample(t *stat.Table) *Sampler {
	x := &Sampler{every: max(1, s.cfg.sets/sampledSets)}
	for i := range x.shadow {
		x.shadow[i] = make([]uint32, s.cfg.ways)
	}
	for i := range t.Rows() {
		x.rows = append(x.rows, t.Row(0, i))
	}
	s.sampler = x
	return x
}

// Switch sets the policy that runs from now on. The shadow tags then belong to the other one, and begin empty.
func (x *Sampler) Switch(replicates bool) {
	if x.replicates == replicates {
		return
	}
	x.replicates = replicates
	for i := range x.shadow {
		clear(x.shadow[i])
	}
}

// sampled is the number of a set among those sampled; false when it is none.
func (x *Sampler) sampled(set int) (k int, ok bool) {
	k = set / x.every
	return k, set%x.every == 0 && k < sampledSets
}

// served gets each lookup of the slice, in a set, and whether the slice had the line; copied
// says that its home is another slice.
func (x *Sampler) served(set int, r *mem.Req, copied, hit bool) {
	k, ok := x.sampled(set)
	if !ok {
		return
	}
	row := x.rows[r.Tenant]
	near := r.Flags&mem.Crossed == 0
	if !x.replicates {
		count(row, norepLookups, hit, near)
		switch {
		case near:
			count(row, fullrepLookups, x.touch(k, r.Line), true)
		case r.Flags&mem.ReadOnly == 0: // with replication it would come, too
			x.touch(k, r.Line)
		}
		return
	}
	if near {
		count(row, fullrepLookups, hit, !copied)
	}
	switch {
	case !copied:
		count(row, norepLookups, x.touch(k, r.Line), near)
	case hit:
		count(row, norepLookups, true, false)
	}
}

// passed gets each load that passes the slice on its way to its home, and with replication
// would be looked up.
func (x *Sampler) passed(set int, r *mem.Req) {
	if k, ok := x.sampled(set); ok {
		count(x.rows[r.Tenant], fullrepLookups, x.touch(k, r.Line), false)
	}
}

// Passed notes a load of another slice's line that passes this slice, for the slice's sampler.
func (s *Slice) Passed(r *mem.Req) {
	if s.sampler != nil && r.Op == mem.Read && r.Flags&mem.ReadOnly != 0 {
		s.sampler.passed(s.tags.Set(r.Line), r)
	}
}

// count records a lookup under a policy, whose counters begin at first.
func count(row []uint64, first int, hit, local bool) {
	row[first]++
	if hit {
		row[first+1]++
	}
	if local {
		row[first+2]++
	}
}

// touch looks a line up in the shadow tags of a set and makes it the most recent one there. An
// entry is 24 bits in hardware: 4 for its rank, which here is its place, and 20 of the tag.
func (x *Sampler) touch(k int, line uint64) (hit bool) {
	set := x.shadow[k]
	tag := uint32(line>>7*0x9E3779B97F4A7C15>>44) | 1<<20 // never 0, which is an empty entry
	i := 0
	for i < len(set)-1 && set[i] != tag {
		i++
	}
	hit = set[i] == tag
	copy(set[1:i+1], set[:i])
	set[0] = tag
	return hit
}

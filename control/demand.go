package control

import "fmt"

// Sample is what UGPU and the policies like it see of a period: the counters of equations 1 and 2.
type Sample struct {
	Clock
	Apps []App `json:"apps"`
}

// App is one application in a Sample.
type App struct {
	Held
	Cycles      uint64 `json:"cycles" counter:"app.busy_cycles"`             // with a kernel on the GPU
	Insts       uint64 `json:"insts" counter:"sm.thread_insts"`              // thread instructions
	LLCAccesses uint64 `json:"llc_accesses" counter:"llc.accesses"`          // sectors, walks included
	LLCHits     uint64 `json:"llc_hits" counter:"llc.hits"`                  // those of LLCAccesses that hit
	DRAMBytes   uint64 `json:"dram_bytes" counter:"app.dram_asked_bytes"`    // bytes moved while no page of its channels was moving
	DRAMCycles  uint64 `json:"dram_cycles" counter:"app.dram_asking_cycles"` // core cycles in which its channels had requests and no page was moving, summed over channels
	Footprint   uint64 `json:"footprint" counter:"app.footprint_bytes"`      // bytes of device memory
}

// moving is the reason that the policies here give for changing nothing while an earlier plan is carried out.
const moving = "the last repartition is still under way: SMs or channels are changing hands"

// demand is one application's need for bandwidth, computed from a period's counters (UGPU paper, section 3.2).
type demand struct {
	active    bool    // it executed instructions and holds a slice
	perSM     float64 // bytes/s that an SM without stalls would draw (equation 1)
	perMC     float64 // bytes/s a channel with its LLC slices gives it (equation 2)
	footprint uint64  // bytes
}

// measure applies equations 1 and 2. Their 1/1000 is that of accesses per kilo instruction. B_MEM,
// "the maximum bandwidth that can be provided by the memory", is "determined through profiling":
// the bytes a channel moved per cycle in which it had requests, less than the peak by what the
// access pattern costs in rows and turns of the bus. Intervals in which pages move are left out, so
// that a migration does not make an application look better served than it is. For a period without
// such a cycle the peak is used.
func (m *Machine) measure(a *App) demand {
	d := demand{active: a.Insts > 0 && a.SMs > 0 && a.Groups > 0, footprint: a.Footprint}
	if !d.active {
		return d
	}
	apki := 1000 * float64(a.LLCAccesses) / float64(a.Insts)
	d.perSM = m.IPCMax * apki / 1000 * float64(m.Line) * m.CoreHz
	hit := 0.0
	if a.LLCAccesses > 0 {
		hit = min(1, float64(a.LLCHits)/float64(a.LLCAccesses))
	}
	memory := m.MemBytes
	if a.DRAMCycles > 0 {
		memory = min(memory, float64(a.DRAMBytes)/float64(a.DRAMCycles)*m.CoreHz)
	}
	d.perMC = hit*m.LLCBytes + min((1-hit)*m.LLCBytes, memory)
	return d
}

func (m *Machine) measureAll(s *Sample) []demand {
	d := make([]demand, len(s.Apps))
	for i := range s.Apps {
		d[i] = m.measure(&s.Apps[i])
	}
	return d
}

// load is demand over supply for the allocation: above 1 the application is memory-bound, and this is its degree;
// else compute-bound with degree 1/load (Figure 5, lines 12 to 15). An application whose footprint exceeds the memory
// of its channels is memory-bound, too, and its degree is the ratio of both (end of section 3.2).
func (m *Machine) load(d demand, al Alloc) float64 {
	l := d.perSM * float64(al.SMs) / (d.perMC * float64(al.Groups*m.Channels))
	if m.GroupMemory == 0 {
		return l
	}
	share := float64(m.GroupMemory) * float64(al.Groups)
	if full := float64(d.footprint) / share; full > 1 {
		l = max(l, full)
	}
	return l
}

// memoryBound is the class of an application under an allocation.
func (m *Machine) memoryBound(d demand, al Alloc) bool { return m.load(d, al) > 1 }

// explain is the line of the decisions log about one application.
func (m *Machine) explain(name string, d demand, al Alloc) string {
	const giga = 1e9
	if !d.active {
		return fmt.Sprintf("%s: no instructions in this period, keeps %s", name, al)
	}
	class, l := "compute-bound", m.load(d, al)
	degree := 1 / l
	if l > 1 {
		class, degree = "memory-bound", l
	}
	if l == 0 {
		return fmt.Sprintf("%s: compute-bound, no memory traffic, with %s", name, al)
	}
	n := al.Groups * m.Channels
	return fmt.Sprintf("%s: %s, degree %.4g: %s, each wanting %.4g GB/s, %.4g together; %s, each giving %.4g, %.4g "+
		"together",
		name, class, degree, many(al.SMs, "SM"), d.perSM/giga, d.perSM*float64(al.SMs)/giga,
		many(n, "channel"), d.perMC/giga, d.perMC*float64(n)/giga)
}

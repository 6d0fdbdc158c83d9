package noc

import (
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// Modules is one direction of the interconnect of a package of modules: stages in each, and a
// ring between them, which both directions share. A packet for another module leaves its own by
// one of the gates, ports of the stages like the others, and enters the other by one. What
// arrives shares no queue with what leaves (StagesConfig.Gates), so that neither waits for the
// other.
type Modules struct {
	stages *Stages
	ring   *Ring
	class  int // on the ring

	moduleOfIn, moduleOfOut []int16
	gateIn, gateOut         int      // numbers of the first gates
	turn                    []int    // by module: the gate by which the next packet enters
	beyond                  []beyond // by id, of packets for another module
	avail                   bitset   // of the stages' outputs, those that are no gates
	arrived                 int      // packets that could not enter their module yet
}

// beyond is what another module must know of a packet that enters it.
type beyond struct {
	out    uint16
	flits  uint16
	tenant mem.TenantID
}

// NewModules joins the parts of stages by a class of a ring. extraIn and extraOut are ports of
// module 0.
func NewModules(cfg StagesConfig, ring *Ring, class int) *Modules {
	m := &Modules{stages: NewStages(cfg), ring: ring, class: class, turn: make([]int, cfg.Parts)}
	for i := range cfg.Inputs {
		m.moduleOfIn = append(m.moduleOfIn, int16(i/(cfg.Inputs/cfg.Parts)))
	}
	for i := range cfg.Outputs {
		m.moduleOfOut = append(m.moduleOfOut, int16(i/(cfg.Outputs/cfg.Parts)))
	}
	m.moduleOfIn = append(m.moduleOfIn, make([]int16, cfg.ExtraInputs)...)
	m.moduleOfOut = append(m.moduleOfOut, make([]int16, cfg.ExtraOutputs)...)
	m.gateIn, m.gateOut = len(m.moduleOfIn), len(m.moduleOfOut)
	m.avail = newBitset(len(m.stages.exit))
	return m
}

// Count makes the stages count in t, as the given instance; t must be built on Desc.
func (m *Modules) Count(t *stat.Table, instance int) { m.stages.Count(t, instance) }

// CanPush tells whether an input has room for a packet.
func (m *Modules) CanPush(now uint64, in, out, flits int) bool {
	return m.stages.CanPush(now, in, out, flits)
}

// Push is that of Stages.
func (m *Modules) Push(now uint64, in, out, flits int, id int32, tenant mem.TenantID) bool {
	module := m.moduleOfIn[in]
	if module == m.moduleOfOut[out] {
		return m.stages.Push(now, in, out, flits, id, tenant)
	}
	gates := m.stages.cfg.Gates
	gate := m.gateOut + int(module)*gates + (in+out)%gates
	if !m.stages.Push(now, in, gate, flits, id, tenant) {
		return false
	}
	for int(id) >= len(m.beyond) {
		m.beyond = append(m.beyond, make([]beyond, max(1024, len(m.beyond)))...)
	}
	m.beyond[id] = beyond{uint16(out), uint16(flits), tenant}
	return true
}

// Pop takes the next packet of an output at clock now.
func (m *Modules) Pop(out int, now uint64) (id int32, ok bool) {
	id, ok = m.stages.Pop(out, now)
	if !m.stages.outputs.avail.has(out) {
		m.avail.remove(out)
	}
	return id, ok
}

// Tick is that of Stages.
func (m *Modules) Tick(now uint64) (next uint64) {
	next = m.ring.Tick(now)
	m.enter(now)
	next = min(next, m.stages.Tick(now))
	if m.leave(now) || m.arrived > 0 {
		next = now + 1
	}
	copy(m.avail, m.stages.outputs.avail)
	for i := m.gateOut; i < len(m.stages.exit); i++ {
		m.avail.remove(i)
	}
	return min(next, m.ring.next)
}

// enter takes packets from the ring into their modules.
func (m *Modules) enter(now uint64) {
	gates := m.stages.cfg.Gates
	m.arrived = 0
	for module := range m.turn {
		for tried := 0; tried < gates; {
			id, ok := m.ring.Peek(m.class, module)
			if !ok {
				break
			}
			p := m.beyond[id]
			in := m.gateIn + module*gates + m.turn[module]
			if m.turn[module]++; m.turn[module] == gates {
				m.turn[module] = 0
			}
			if !m.stages.Push(now, in, int(p.out), int(p.flits), id, p.tenant) {
				tried++
				continue
			}
			m.ring.Pop(m.class, module)
			tried = 0
		}
		if _, left := m.ring.Peek(m.class, module); left {
			m.arrived++
		}
	}
}

// leave puts packets that have come to a gate on the ring; true if a packet has to come again.
func (m *Modules) leave(now uint64) (again bool) {
	gates := m.stages.cfg.Gates
	for k := m.gateOut >> 6; k < len(m.stages.outputs.avail); k++ {
		word := m.stages.outputs.avail[k]
		if k == m.gateOut>>6 {
			word &= ^uint64(0) << (m.gateOut & 63)
		}
		for ; word != 0; word &= word - 1 {
			o := k<<6 + bits.TrailingZeros64(word)
			id, _ := m.stages.Peek(o)
			p := &m.beyond[id]
			again = true
			from, to := (o-m.gateOut)/gates, int(m.moduleOfOut[p.out])
			if m.ring.Inject(now, m.class, from, to, int(p.flits)*m.stages.cfg.FlitBytes, id, p.tenant) {
				m.stages.Pop(o, now)
			}
		}
	}
	return again
}

package energy

import (
	"math"

	"heddle/sheets"
)

// network is how a network is built, as far as its energy goes: stages of switches with their
// wires, or links from point to point, which are wires alone (baselines of DSENT in constants.go).
type network struct {
	stages   int     // switches a flit passes; 0: links
	switches int     // in the whole network
	ports    float64 // of a switch, on each side
	bits     float64 // of a port or link
	links    int     // of a network without switches
	mm       float64 // length of a link, or of a stage's wires beyond the switch itself
}

// networkOf is the shape of the network that counts under a name.
func networkOf(m *sheets.Machine, _ string) network {
	slices := m.DRAM.Channels * m.LLC.SlicesPerChannel
	return network{ // the fit wants a square one: of the same number of crosspoints
		stages: 1, switches: 1, ports: math.Sqrt(float64(m.SM.Count) * float64(slices)),
		bits: float64(m.NoC.FlitBytes) * bitsPer, mm: nocWireMM,
	}
}

// staged is a square network of at least so many ports on each side, built of switches with k
// ports each: as few stages as reach every output from every input (64 ports of 8 x 8: two
// stages, 16 switches).
func staged(ports, k int, bits float64) network {
	n := network{stages: 1, ports: float64(k), bits: bits, mm: nocWireMM}
	for reach := k; reach < ports; reach *= k {
		n.stages++
	}
	n.switches = n.stages * ((ports + k - 1) / k)
	return n
}

// links are n wires of so many bits, without buffers, allocators or switches.
func links(n int, bits, mm float64) network { return network{links: n, bits: bits, mm: mm} }

// flitPJ is the energy of one flit on its whole way: in each stage through buffer, allocator,
// crossbar and wires.
func (n *network) flitPJ() float64 {
	if n.stages == 0 {
		return nocWirePJ * n.bits * n.mm
	}
	p, w := n.ports, n.bits
	mm := n.mm + 2*math.Sqrt(nocAreaMM2)*p*w
	alloc := nocAllocMW * milliwatt * math.Pow(p, nocAllocExp-1) / dsentClock / picojoule
	return float64(n.stages) * ((nocBufferPJ+nocXbarPJ*p+nocXbar0PJ)*w + alloc + nocWirePJ*w*mm)
}

// leakage is the leakage power in watts; that of wires counts where there are only wires, as in
// the fit of switches it is within the error.
func (n *network) leakage() float64 {
	if n.stages == 0 {
		return float64(n.links) * nocLeakWireUW * n.bits * n.mm * microwatt
	}
	p, w := n.ports, n.bits
	one := (nocLeakBufMW*p*w + (nocLeakX2MW*p*p+nocLeakX1MW*p)*w + nocLeakAlMW*p*p*p) * milliwatt
	return float64(n.switches) * one
}

package energy

import (
	"math"
	"strings"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// network is how a network is built, as far as its energy goes: stages of switches with their
// wires, or links from point to point, which are wires alone (constants.go).
type network struct {
	stages []stage // a flit passes one switch of each; none: links
	bits   float64 // of a port or link
	links  int     // of a network without switches
	mm     float64 // length of a link, or of a stage's wires beyond the switch itself
	perBit float64 // pJ, of links that leave the chip; 0: wires
}

// stage is switches of one shape.
type stage struct {
	switches int
	ports    float64 // of a square switch with as many crosspoints
}

// Networks selects, from all owners of counters, the networks that carry requests and answers.
func Networks(owners []string) (list []string) {
	for _, kind := range []string{"noc", links, ring} {
		for _, o := range owners {
			if stat.OfKind(o, kind) {
				list = append(list, o)
			}
		}
	}
	return list
}

// The kinds of networks without switches, links within a chip and between modules. They are part of
// the NoC.
const (
	links = "links"
	ring  = "ring"
)

// part is the name of a network's energy.
func part(owner string) string {
	if stat.OfKind(owner, "noc") {
		return owner
	}
	return "noc_" + owner
}

// networkOf is the shape of the network that counts under a name.
func networkOf(m *sheets.Machine, owner string) network {
	sms, slices, parts := m.SM.Count, m.DRAM.Channels*m.LLC.SlicesPerChannel, m.NoC.Parts()
	bits := float64(m.NoC.FlitBytes) * bitsPer
	if strings.HasSuffix(owner, "_reply") {
		bits = float64(m.NoC.AnswerWidth()) * bitsPer
	}
	if stat.OfKind(owner, links) {
		return linksOf(m, owner, sms*(slices/parts), slices)
	}
	if stat.OfKind(owner, ring) {
		return network{bits: nocRingBits, perBit: nocRingPJBit}
	}
	switch {
	case m.L3.Given() && stat.OfKind(owner, "noc_l3"): // between its banks and the LLC's slices
		return network{stages: []stage{{1, square(m.L3.Banks, slices)}}, bits: bits, mm: nocWireMM}
	case m.L3.Given(): // from SMs to banks, beside which a CPU core reaches the LLC over a like distance
		return network{stages: []stage{{1, square(sms, m.L3.Banks)}}, bits: bits, mm: nocWireMM}
	case m.NoC.Kind != "stages":
		return network{stages: []stage{{1, square(sms, slices)}}, bits: bits, mm: nocWireMM}
	}
	modules := max(1, m.NoC.Modules) // each has stages of its own
	switch m.NoC.Shape() {
	case sheets.NUBA: // between the slices
		return staged(slices, slices, modules, m.NoC.Radix, bits)
	case sheets.SMSide: // one in each half
		return staged(sms, slices, parts, m.NoC.Radix, bits)
	}
	return staged(sms, slices, modules, m.NoC.Radix, bits)
}

// linksOf are point-to-point links: near ones join each SM to the slices of its partition, far
// ones a slice to its fellow in the other half. Far ones carry both directions and all that is
// on its way between the halves: their wires leak once.
func linksOf(m *sheets.Machine, owner string, near, far int) network {
	n := network{bits: float64(m.NoC.LinkFlit) * bitsPer, links: near, mm: nocLinkMM}
	if m.NoC.Shape() == sheets.SMSide {
		if n.links, n.mm = 0, nocHalvesMM; owner == "links_request" {
			n.links = far
		}
	}
	return n
}

// staged is a hierarchical crossbar of two stages, each of switches with k ports towards the
// outside and one to each switch of the other stage, in parts side by side (NUBA, section 6: 8 + 8
// switches of 8 x 8 for 64 ports).
func staged(inputs, outputs, parts, k int, bits float64) network {
	first, second := (inputs/parts+k-1)/k, (outputs/parts+k-1)/k
	lanes := max(1, k/second) // links between two switches
	return network{
		stages: []stage{{parts * first, square(k, second*lanes)}, {parts * second, square(first*lanes, k)}},
		bits:   bits, mm: nocWireMM,
	}
}

// square is the number of ports of a square switch with as many crosspoints: what the fit is for.
func square(inputs, outputs int) float64 { return math.Sqrt(float64(inputs) * float64(outputs)) }

// flitPJ is the energy of one flit on its whole way: in each stage through buffer, allocator,
// crossbar and wires.
func (n *network) flitPJ() float64 {
	if len(n.stages) == 0 {
		return (n.perBit + nocWirePJ*n.mm) * n.bits
	}
	pj := 0.0
	for _, s := range n.stages {
		p, w := s.ports, n.bits
		mm := n.mm + 2*math.Sqrt(nocAreaMM2)*p*w
		alloc := nocAllocMW * milliwatt * math.Pow(p, nocAllocExp-1) / dsentClock / picojoule
		pj += (nocBufferPJ+nocXbarPJ*p+nocXbar0PJ)*w + alloc + nocWirePJ*w*mm
	}
	return pj
}

// leakage is the leakage power in watts; that of wires counts where there are only wires, as in
// the fit of switches it is within the error.
func (n *network) leakage() float64 {
	watts := float64(n.links) * nocLeakWireUW * n.bits * n.mm * microwatt
	for _, s := range n.stages {
		p, w := s.ports, n.bits
		one := (nocLeakBufMW*p*w + (nocLeakX2MW*p*p+nocLeakX1MW*p)*w + nocLeakAlMW*p*p*p) * milliwatt
		watts += float64(s.switches) * one
	}
	return watts
}

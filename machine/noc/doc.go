// Package noc models the networks between SMs, slices and modules.
//
// A reader must know two types. Network is what all of them do (network.go): Crossbar, Stages, Links, Ring, and modules
// of these. Crossbar has virtual channels, iSLIP allocation and bounded queues on both sides. The rest of this comment
// describes it.
//
// Every link carries one flit per clock. A packet enters the queue of its input
// (a virtual channel of it), wins an output, crosses flit by flit and is visible
// at its output Latency clocks after its last flit won the switch. Packets of one
// input and output stay in order within a virtual channel.
//
// With VCStage the router is BookSim's iq router: a clock of virtual-channel allocation (a packet takes a virtual
// channel of its output and holds it to its tail), then switch allocation per flit. Without VCStage and with one
// virtual channel, it is GPGPU-Sim's local crossbar: head-of-line queues, and one grant per output, input and clock.
// A packet keeps its output to its tail.
package noc

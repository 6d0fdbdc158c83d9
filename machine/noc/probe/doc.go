// Package probe loads a crossbar with synthetic traffic and measures latency and
// throughput: the Crossbar of the GPU behind open-loop sources. Read three types
// first: Options, Pattern and Result.
//
// The set-up is BookSim 2's single router (topology fly, n = 1). A source draws a
// packet per clock with probability load / packet size, queues it without limit,
// and sends one flit per clock into a virtual channel with credit. A flit spends
// two clocks on its way to the router; there follow virtual-channel allocation,
// switch allocation and switch traversal of one clock each and two clocks to the
// sink, so an unloaded packet of one flit takes six. Credits are back two clocks
// after a flit leaves its buffer. Latencies count from the clock a packet was
// drawn, waiting at the source included.
//
// Measuring follows BookSim as well: periods of warm-up, then periods until three
// in a row changed the running mean by less than 5 %, then draining. Packets are
// drawn with Knuth's lagged Fibonacci generators, so the same seed gives the
// packets of the reference.
package probe

// Package cpu is a CPU core with its private caches. It approximates an out-of-order core, as far as the memory
// system can tell.
//
// A reader must know four types. Core is a core and its clock. Its window (window.go,
// dispatch.go, retire.go) holds the operations that have been dispatched and not retired;
// its caches (caches.go) are L1 and L2 with their miss registers; its storeBuffer holds stores
// until they are in the L1.
//
// # The model
//
// Instructions are dispatched in program order, width a cycle, while the window has room.
// One executes when its operands are there, loads through load ports, and retires in
// program order, width a cycle. What it waits for is exact: registers of a trace, the
// window, the store buffer, the L1's load and store ports, miss registers, room for
// write-backs, memory. What an instruction costs beyond that is one cycle: a
// trace has no opcodes. There is no instruction cache, no TLB and no coherence: the programs of
// a machine share no memory.
//
// Time is cycles of the core's own clock, and within the window ticks: an instruction takes
// perCycle/width of them, so that times of runs of instructions that wait for nothing are a
// line. With D, C and R the times of dispatch, completion and retirement of instruction x, and
// p the ticks of an instruction,
//
//	D(x) = max(D(x-1) + p, R(x-window) + perCycle)
//	R(x) = max(R(x-1) + p, C(x))
//
// so only instructions that may have to wait are looked at one by one. A core runs in the cycles in which one of its
// loads or stores reaches the L1 or an answer comes, and in no other. These cycles do not depend on how often it is
// asked to run.
package cpu

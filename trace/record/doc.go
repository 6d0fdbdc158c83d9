// Package record writes and replays native recordings: an application is executed
// once, functionally or in simulated time, and replayed many times under other
// machines, sharing modes and policies without executing PTX.
//
// A reader must know three types. A Writer makes a recording: it wraps the device
// of the host program and the grids it launches. A Recording is an opened file; its
// grids emit the recorded steps. A Program is the host program that issues the
// recorded operations again.
//
// # What a replay means
//
// A recording holds, for every warp, the instructions it executed with masks,
// addresses and barriers, and, for the host program, its allocations, launches,
// copies, events, waits and accesses to managed memory in their order. It holds no
// data: a replay cannot check results, and allocations are lengths only.
//
// For programs without data races the stream of a warp does not depend on timing:
// a functional and a timed execution give the same recording, and a replay takes
// the same cycles as an execution on that machine. Where a program's control flow
// or addresses depend on timing - it reads %clock or %smid, spins on an atomic,
// takes work from a shared counter, asks for the time between two events - a
// replay repeats what happened in the recorded execution: a warp that spun three
// times spins three times. The cycles are then those of that schedule on the other
// machine. Recording under simulated time gives the more faithful schedule.
//
// Loops are recorded as the machine executes them: unrolled, where its sheet says
// that NVIDIA's assembler makes the code (sm.ptxas). A replay under the other kind
// of sheet is not the execution there, and the result says so.
//
// # The file
//
// A header (magic, version), pages, an index and a trailer. A page holds the
// streams of some CTAs, compressed with zstd; CTAs are appended as they end. The
// index holds code, launches, host operations and where every CTA's streams are.
// Header, pages and index carry CRC-32C sums. The file gets its name when it is
// complete; an interrupted run leaves none.
//
// Memory is bounded by the resident CTAs: a warp's stream is spilled to the file
// in pieces of some 16 KiB while it runs, and read back in such pieces.
package record

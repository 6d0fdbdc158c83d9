// Package probe runs a memory device by itself on a trace of reads and writes:
// the same Channel code as inside the GPU, behind the simplest possible front
// end. Read three types first: Device (what is simulated), Mapper (which address
// goes where) and Options (how requests are sent).
//
// The harness sends, before every memory clock and in trace order, up to Inject
// requests, and stops at the first one that is rejected or when Window requests
// are outstanding; then the clock ticks. A read completes when its data is in, a
// write when its WR issues. A latency is the completion clock minus the clock
// before the tick that first saw the request, so a read of an idle bank takes
// 1 + nRCD + nCL + nBL.
package probe

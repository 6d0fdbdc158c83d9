package control

import (
	"maps"

	"github.com/heddle-sim/heddle/sheets"
)

// Machine is what a policy knows about the hardware. It does not change during a run.
type Machine struct {
	SMs         int     // SMs of the machine
	Groups      int     // channel groups of the machine
	Channels    int     // channels of a group
	IPCMax      float64 // thread instructions an SM can issue per core cycle (UGPU, equation 1)
	Line        int     // bytes of one LLC access in the counters
	CoreHz      float64
	CPUHz       float64 // clock of the CPU cores on the same memory; 0: there are none
	ArrayBytes  float64 // bytes/s that the data arrays of the LLC slices of one channel can read
	LLCBytes    float64 // raw bandwidth of the LLC slices of one channel, bytes/s (B_LLC of equation 2)
	MemBytes    float64 // bandwidth of one channel, bytes/s (B_MEM)
	GroupMemory uint64  // bytes of device memory in one channel group
	GroupLLC    uint64  // bytes of LLC in the slices of one channel group
}

// lanes of a warp: the thread instructions of one issue slot.
const lanes = 32

// FromSheet extracts from a sheet what a policy may know, when the channels form the given number of groups of
// channelsPerGroup channels each. Sources: UGPU paper, section 3.2 (IPCmax: every scheduler issues a full warp each
// cycle; Line: the unit that the LLC counters count, a sector). B_LLC is what the crossbar ports of a channel's
// slices can carry, one flit per port and NoC cycle; their data arrays may read more (ArrayBytes). B_MEM is one burst
// as often as the data bus and the column command spacing allow.
func FromSheet(s *sheets.Machine, groups, channelsPerGroup int) Machine {
	const mega = 1e6
	perBurst := max(s.DRAM.T.BL, s.DRAM.T.CCDS, 1)
	return Machine{
		SMs:         s.SM.Count,
		Groups:      groups,
		Channels:    channelsPerGroup,
		IPCMax:      float64(s.SM.Schedulers * s.SM.IssueWidth * lanes),
		Line:        s.LLC.Sector,
		CoreHz:      s.Clock.Core * mega,
		CPUHz:       s.CPU.Clock * mega,
		ArrayBytes:  float64(s.LLC.SlicesPerChannel*s.LLC.PortBytes) * s.Clock.LLC * mega,
		LLCBytes:    float64(s.LLC.SlicesPerChannel*s.NoC.AnswerWidth()) * s.Clock.NoC * mega,
		MemBytes:    float64(s.DRAM.Access) * s.Clock.DRAM * mega / float64(perBurst),
		GroupMemory: uint64(s.DRAM.Capacity) / uint64(max(groups, 1)),
		GroupLLC:    uint64(channelsPerGroup * s.LLC.SlicesPerChannel * s.LLC.Sets * s.LLC.Ways * s.LLC.Line),
	}
}

// ParamsOn are the policy's parameters on a machine. A parameter of a hybrid memory that no run file gives takes the
// machine's own number.
func (e *Entry) ParamsOn(s *sheets.Machine, given Params) Params {
	if !e.Sets("ways") || !s.Memory.Given() {
		return given
	}
	h := &s.Memory.Hybrid
	p := Params{
		"ways": float64(h.Ways), "channels": float64(h.Channels), "cap": float64(h.Cap), "bw": float64(h.BW),
		"tok": float64(h.Tok),
	}
	maps.Copy(p, given)
	return p
}

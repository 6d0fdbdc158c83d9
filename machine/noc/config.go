package noc

import (
	"fmt"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// Config describes a crossbar.
type Config struct {
	Inputs, Outputs int
	VCs             int  // virtual channels per input and per output
	VCStage         bool // allocate output virtual channels one clock ahead of the switch; needed with VCs > 1
	BufFlits        int  // flits per virtual channel of an input
	// number of inputs with a queue for each output (virtual output queues), each of BufFlits; they are the last
	// inputs
	OutputQueued int
	Local        bool // GPGPU-Sim's local crossbar: sweep in place of iSLIP, one virtual channel
	Iterations   int  // iSLIP iterations of the switch allocator
	FlitBytes    int  // link width
	Header       int  // bytes added to every packet
	Latency      int  // clocks from winning the switch to the output, at least 1
	OutQueue     int  // packets per output, those on their way included
	Tenants      int  // rows of counters, at least 1
	// Streams lets Tick skip clocks in which packets only send flits that nothing blocks. Push then gets the clock of
	// the push, and the crossbar has the same clock as its neighbours.
	Streams bool
}

// Validate reports the first field that cannot work.
func (c *Config) Validate() error {
	for _, f := range []struct {
		name string
		v    int
	}{
		{"inputs", c.Inputs},
		{"outputs", c.Outputs},
		{"vcs", c.VCs},
		{"input buffer", c.BufFlits},
		{"iterations", c.Iterations},
		{"flit bytes", c.FlitBytes},
		{"latency", c.Latency},
		{"output queue", c.OutQueue},
	} {
		if f.v < 1 {
			return fmt.Errorf("crossbar: %s must be at least 1, is %d", f.name, f.v)
		}
	}
	if c.Inputs > 4096 || c.Outputs > 4096 || c.VCs > 64 || c.BufFlits > 1<<15 {
		return fmt.Errorf("crossbar: %d x %d ports, %d virtual channels of %d flits; at most 4096 ports, 64 "+
			"channels, 32768 flits",
			c.Inputs, c.Outputs, c.VCs, c.BufFlits)
	}
	if c.VCs > 1 && !c.VCStage {
		return fmt.Errorf("crossbar: %d virtual channels need the allocation stage", c.VCs)
	}
	if c.Local && c.VCStage {
		return fmt.Errorf("crossbar: the local crossbar has no virtual channels; %d with an allocation stage are "+
			"asked for", c.VCs)
	}
	if c.OutputQueued < 0 || c.OutputQueued > c.Inputs {
		return fmt.Errorf("crossbar: %d of %d inputs with a queue per output", c.OutputQueued, c.Inputs)
	}
	if c.Header < 0 || c.Tenants < 0 {
		return fmt.Errorf("crossbar: negative header or tenants")
	}
	return nil
}

// FromSheet builds one direction of a machine's interconnect.
func FromSheet(n *sheets.NoC, inputs, outputs int) (Config, error) {
	c := Config{
		Inputs: inputs, Outputs: outputs, VCs: n.VCs, VCStage: n.VCs > 1, BufFlits: n.InQueue, Local: n.Kind == "local",
		Iterations: n.Iterations,
		FlitBytes:  n.FlitBytes, Header: n.HeaderReq, Latency: n.Latency, OutQueue: n.OutQueue, Tenants: 1,
	}
	if n.Kind != "crossbar" && n.Kind != "local" {
		return c, fmt.Errorf("noc: kind is %q, want crossbar or local", n.Kind)
	}
	return c, c.Validate()
}

// Flits is the length of a packet with a payload of n bytes.
func (c *Config) Flits(n int) int { return max(1, (n+c.Header+c.FlitBytes-1)/c.FlitBytes) }

// Counter indices.
const (
	CPackets     = iota // packets accepted
	CFlits              // flits switched
	CQueueCycles        // sum over packets of clocks from Push to the last flit winning the switch
	CBlocked            // sum over packets of clocks at the head of a queue before the first flit won
	NumCounters
)

// Desc describes the counters of a crossbar, one row per tenant.
var Desc = []stat.Desc{
	CPackets:     {Name: "packets", Unit: "packets", Doc: "packets accepted"},
	CFlits:       {Name: "flits", Unit: "flits", Doc: "flits switched"},
	CQueueCycles: {Name: "queue_cycles", Unit: "clocks", Doc: "sum over packets of clocks in the input queue"},
	CBlocked: {
		Name: "blocked_cycles", Unit: "clocks",
		Doc: "sum over packets of clocks at the head of the queue without the switch",
	},
}

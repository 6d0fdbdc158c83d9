package sheets

// CPU is the processor cores beside the SMs, all alike; a machine without cores lacks the section.
type CPU struct {
	Cores       int     `yaml:"cores" unit:"cores" doc:"CPU cores; 0: the machine has no CPU" opt:"0"`
	Clock       float64 `yaml:"clock" unit:"MHz" doc:"clock of cores and private caches" opt:"0"`
	Width       int     `yaml:"width" unit:"instructions/cycle" doc:"instructions dispatched, and retired, per cycle" opt:"0"`
	Window      int     `yaml:"window" unit:"instructions" doc:"instructions dispatched and not retired (reorder buffer)" opt:"0"`
	LoadPorts   int     `yaml:"load_ports" unit:"loads/cycle" doc:"loads that reach the L1 per cycle" opt:"0"`
	StoreBuffer int     `yaml:"store_buffer" unit:"stores" doc:"stores dispatched and not in the L1; one a cycle goes there, in program order" opt:"0"`
	WriteBacks  int     `yaml:"write_backs" unit:"lines" doc:"lines of the L2 on their way out" opt:"0"`
	Line        int     `yaml:"line" unit:"bytes" doc:"line of the private caches" opt:"0"`

	L1       CPUCache    `yaml:"l1"`
	L2       CPUCache    `yaml:"l2"`
	Prefetch CPUPrefetch `yaml:"prefetch"`
	Branch   CPUBranch   `yaml:"branch"`
	Power    CPUPower    `yaml:"power"`
}

// CPUPower is the power of cores, private caches included.
type CPUPower struct {
	Inst   float64 `yaml:"inst" unit:"pJ" doc:"an instruction, without its loads and stores" opt:"0"`
	L1     float64 `yaml:"l1" unit:"pJ" doc:"a load or store in the L1" opt:"0"`
	L2     float64 `yaml:"l2" unit:"pJ" doc:"a line read from or written to the L2" opt:"0"`
	Active float64 `yaml:"active" unit:"W" doc:"static power, clocks included, of a core that runs a program" opt:"0"`
	Idle   float64 `yaml:"idle" unit:"W" doc:"static power of a core that runs no program" opt:"0"`
}

// CPUCache is a private cache of a core. Lines are replaced by age of use (LRU).
type CPUCache struct {
	Sets    int `yaml:"sets" unit:"sets" doc:"sets" opt:"0"`
	Ways    int `yaml:"ways" unit:"ways" doc:"associativity" opt:"0"`
	Latency int `yaml:"latency" unit:"cycles" doc:"CPU cycles from a load to its use; a miss leaves for the next level after as many" opt:"0"`
	MSHRs   int `yaml:"mshrs" unit:"entries" doc:"lines on their way from below" opt:"0"`
}

// CPUPrefetch brings lines into the L2 before a core asks for them.
type CPUPrefetch struct {
	Kind   string `yaml:"kind" unit:"name" doc:"none, next-line or stride (by the load's place in the program)" opt:"none"`
	Degree int    `yaml:"degree" unit:"lines" doc:"lines prefetched per L1 miss" opt:"0"`
	Table  int    `yaml:"table" unit:"entries" doc:"loads whose strides are remembered (stride)" opt:"0"`
}

// CPUBranch is the cost of conditional branches of traces.
type CPUBranch struct {
	Mispredict int `yaml:"mispredict" unit:"cycles" doc:"from a mispredicted branch to the dispatch of the right instructions; 0: every branch is known" opt:"0: every branch is known"`
	History    int `yaml:"history" unit:"bits" doc:"global history of the gshare predictor, and log2 of its counters" opt:"0"`
}

// cpu checks the cores; without any nothing else is read.
func (c *checker) cpu(m *Machine) {
	p := &m.CPU
	if p.Cores == 0 {
		return
	}
	c.want(p.Clock > 0 && p.Clock <= 1e5, "cpu.clock is %g MHz and cpu.cores %d; cores need a clock above 0 and at "+
		"most 100000 MHz", p.Clock, p.Cores)
	c.positive("cpu.width cpu.window cpu.load_ports cpu.store_buffer cpu.line", p.Width, p.Window, p.LoadPorts,
		p.StoreBuffer, p.Line)
	c.want(m.NoC.Shape() == MemorySide && m.NoC.Modules < 2, "cpu.cores is %d, and noc.topology %s with %d modules; "+
		"cores have no place in partitions, halves or modules, only on a network that joins all (memory-side)", p.Cores,
		m.NoC.Shape(), m.NoC.Modules)
	c.want(p.Cores <= 256, "cpu.cores is %d; at most 256 are modelled", p.Cores)
	c.want(p.Width <= 16, "cpu.width is %d; at most 16 are modelled", p.Width)
	c.want(p.Window <= 4096, "cpu.window is %d; at most 4096 are modelled", p.Window)
	c.want(p.StoreBuffer <= 1024, "cpu.store_buffer is %d; at most 1024 are modelled", p.StoreBuffer)
	c.want(p.WriteBacks >= 2 && p.WriteBacks <= 1024, "cpu.write_backs is %d; from 2, as one miss may push a line out "+
		"of each cache, to 1024", p.WriteBacks)
	c.want(pow2(p.Line) && p.Line >= 16 && p.Line <= 256, "cpu.line is %d; a power of two from 16 to 256", p.Line)
	for name, k := range [...]*CPUCache{&p.L1, &p.L2} {
		at := [...]string{"cpu.l1", "cpu.l2"}[name]
		c.positive(at+".sets "+at+".ways "+at+".latency "+at+".mshrs", k.Sets, k.Ways, k.Latency, k.MSHRs)
		c.want(k.Ways <= 64 && k.Sets <= 1<<16, "%s has %d sets of %d ways; at most 65536 of 64 are modelled", at,
			k.Sets, k.Ways)
	}
	c.want(p.L1.Latency <= p.L2.Latency, "cpu.l1.latency is %d, cpu.l2.latency %d; the L2 is behind the L1",
		p.L1.Latency, p.L2.Latency)
	if p.L2.Latency > 256 {
		c.errorf("cpu.l2.latency is %d; at most 256 cycles are modelled", p.L2.Latency)
	}
	if p.Prefetch.Kind == "" {
		p.Prefetch.Kind = "none"
	}
	c.oneOf("cpu.prefetch.kind", p.Prefetch.Kind, "none", "next-line", "stride")
	if p.Prefetch.Kind != "none" {
		c.positive("cpu.prefetch.degree", p.Prefetch.Degree)
		c.want(p.Prefetch.Degree <= 64, "cpu.prefetch.degree is %d; at most 64 are modelled", p.Prefetch.Degree)
	}
	if p.Prefetch.Kind == "stride" {
		c.want(pow2(p.Prefetch.Table) && p.Prefetch.Table <= 1<<16,
			"cpu.prefetch.table is %d; a power of two up to 65536", p.Prefetch.Table)
	}
	if p.Branch.Mispredict > 0 {
		c.want(p.Branch.History >= 1 && p.Branch.History <= 20, "cpu.branch.history is %d and cpu.branch.mispredict "+
			"%d; a predictor has 1 to 20 bits of history", p.Branch.History, p.Branch.Mispredict)
	}
	c.want(p.Power.Idle <= p.Power.Active, "cpu.power.idle is %g W, cpu.power.active %g W; it cannot be above",
		p.Power.Idle, p.Power.Active)
	c.want(p.Line <= m.LLC.Line && m.LLC.Sector <= p.Line && p.Line%max(1, m.LLC.Sector) == 0,
		"cpu.line is %d bytes; it must be whole sectors (llc.sector: %d) of a line of the LLC (llc.line: %d)", p.Line,
		m.LLC.Sector, m.LLC.Line)
}

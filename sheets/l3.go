package sheets

// L3 is a cache of the GPU's own between its SMs and the last-level cache, which it shares with CPU cores (an L3 per
// GPU slice). Its lines, sectors and clock are those of llc; settings of llc without a counterpart here hold for
// both.
type L3 struct {
	Banks      int `yaml:"banks" unit:"banks" doc:"banks of the L3; the LLC slice of a line decides its bank"`
	Sets       int `yaml:"sets" unit:"sets" doc:"sets per bank"`
	Ways       int `yaml:"ways" unit:"ways" doc:"associativity"`
	Latency    int `yaml:"latency" unit:"cycles" doc:"fixed pipeline latency before the tags"`
	HitLatency int `yaml:"hit_latency" unit:"cycles" doc:"tag and data access after that"`
	PortBytes  int `yaml:"port" unit:"bytes" doc:"data-array bytes per cycle"`
	MSHRs      int `yaml:"mshrs" unit:"entries" doc:"outstanding sectors per bank"`
	Merge      int `yaml:"merge" unit:"requests" doc:"requests merged in one MSHR entry"`
	InQueue    int `yaml:"in_queue" unit:"requests" doc:"queue from the SMs"`
	MissQueue  int `yaml:"miss_queue" unit:"requests" doc:"queue to the last-level cache: misses, writes and atomics"`
	OutQueue   int `yaml:"out_queue" unit:"requests" doc:"queue of replies waiting for the interconnect"`
}

// Given says whether the GPU has one.
func (l *L3) Given() bool { return l.Banks > 0 }

// Bank is a bank, described like a slice of the last-level cache.
func (m *Machine) Bank() LLC {
	b, l := m.LLC, &m.L3
	b.Sets, b.Ways, b.Latency, b.HitLatency, b.PortBytes = l.Sets, l.Ways, l.Latency, l.HitLatency, l.PortBytes
	b.MSHRs, b.Merge, b.InQueue, b.MissQueue, b.OutQueue = l.MSHRs, l.Merge, l.InQueue, l.MissQueue, l.OutQueue
	return b
}

// l3 checks the cache between SMs and LLC.
func (c *checker) l3(m *Machine) {
	l := &m.L3
	if !l.Given() {
		return
	}
	c.size("l3", l.Sets, l.Ways, l.Banks)
	c.positive("l3.banks l3.sets l3.ways l3.hit_latency l3.port l3.mshrs l3.merge l3.in_queue l3.miss_queue "+
		"l3.out_queue",
		l.Banks, l.Sets, l.Ways, l.HitLatency, l.PortBytes, l.MSHRs, l.Merge, l.InQueue, l.MissQueue, l.OutQueue)
	slices := m.DRAM.Channels * m.LLC.SlicesPerChannel
	c.want(slices%l.Banks == 0, "l3.banks is %d; it must divide the %d slices of the LLC", l.Banks, slices)
	sectors := m.LLC.Line / max(1, m.LLC.Sector)
	c.want(l.MSHRs >= 2*sectors, "l3.mshrs is %d; two lines of %d sectors need as many", l.MSHRs, sectors)
	c.want(l.Ways >= 2, "l3.ways is %d; it must be at least 2", l.Ways)
	c.want(m.NoC.Kind != "stages",
		"l3 is between crossbars, and noc.kind is stages: use crossbar or local, or leave l3 out")
}

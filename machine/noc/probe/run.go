package probe

import (
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/machine/noc"
)

// Options describe one measurement.
type Options struct {
	Ports      int
	VCs        int
	Buf        int     // flits per virtual channel
	Packet     int     // flits per packet
	Load       float64 // offered flits per node and clock
	Pattern    string
	Iterations int // of the switch allocator
	Seed       int64
	VOQ        bool // the virtual channel is the destination
	Period     int  // clocks between looks at the statistics
	Warmup     int  // periods of warm-up; 0: until the means settle
	Periods    int  // at most, warm-up included
	Throughput bool // measure accepted traffic only: past saturation is no reason to stop
}

// Defaults are the reference's settings.
func Defaults() Options {
	return Options{
		Ports: 8, VCs: 4, Buf: 8, Packet: 1, Load: 0.05, Pattern: "uniform", Iterations: 1, Seed: 42,
		Period: 5000, Warmup: 3, Periods: 10,
	}
}

// Result has the columns of the reference table.
type Result struct {
	Tag        string  `json:"tag"`
	K          int     `json:"k"`
	VCs        int     `json:"vcs"`
	Buf        int     `json:"buf"`
	Packet     int     `json:"packet_flits"`
	Traffic    string  `json:"traffic"`
	Offered    float64 `json:"offered"`
	Seed       int64   `json:"seed"`
	Iterations int     `json:"alloc_iters"`
	Alloc      string  `json:"sw_alloc"`
	Speedup    int     `json:"input_speedup"`
	Unstable   bool    `json:"unstable"` // mean latency beyond 1000 clocks: past saturation
	PktLat     float64 `json:"pkt_lat"`  // from the draw, waiting at the source included
	NetLat     float64 `json:"net_lat"`  // from the first flit's injection
	FlitLat    float64 `json:"flit_lat"` // per flit, from its injection
	AccFlit    float64 `json:"acc_flit"` // accepted flits per node and clock
	AccMin     float64 `json:"acc_min"`
	AccMax     float64 `json:"acc_max"`
	InjFlit    float64 `json:"inj_flit"`
	Cycles     uint64  `json:"cycles"`
}

// Pipeline around the crossbar, in clocks.
const (
	linkDelay   = 2 // source to router
	creditDelay = 2 // flit leaves its buffer to credit at the source
	exitDelay   = 3 // winning the switch to the sink: traversal and link
	delaySlots  = 4 // power of two above all of them
	lastCredits = 3 // after the last flit landed, until its credit is back
)

const unstableLatency = 1000 // clocks

// node is a source and a sink.
type node struct {
	drawn    uint64 // next clock to draw a packet for
	left     int    // flits of the current packet still to send
	pkt      int32
	vc       int // of the current packet; -1 before its head is sent
	lastVC   int
	drained  bool
	credit   []int // used buffer places by virtual channel
	accepted int
	sent     int
	inject   [][]uint64 // injection clocks of the flits in each virtual channel, oldest first
}

// pkt is a packet under way.
type pkt struct {
	drawn, entered uint64
	dest           int
	flits          int // not yet at the sink
	record         bool
}

// sending is a flit on the link to the router.
type sending struct {
	in, vc, out, flits int
	id                 int32
	head               bool
}

// place is a virtual channel of an input.
type place struct{ in, vc int }

// landing is a flit on its way to a sink.
type landing struct {
	noc.Flight
	entered uint64
}

// mean is a running mean.
type mean struct{ sum, n float64 }

func (m *mean) add(x uint64)     { m.sum += float64(x); m.n++ }
func (m *mean) average() float64 { return m.sum / m.n }

// phases of a run
const (
	warming = iota
	running
	draining
	emptying
)

type prober struct {
	opt   Options
	pat   *Pattern
	ints  *integers
	fracs *fractions
	x     *noc.Crossbar
	nodes []node
	pkts  []pkt
	free  []int32
	rate  float64

	time      uint64
	phase     int
	drainFrom uint64
	cleared   uint64 // clock the statistics start
	recorded  int    // recorded flits under way
	underWay  int    // packets under way

	links   [delaySlots][]sending // by clock sent
	exits   [delaySlots][]landing // by clock they land
	credits [delaySlots][]place   // by clock they arrive
	plat    mean
	nlat    mean
	flat    mean
	unstab  bool
	frozen  [3]float64 // mean latencies when that showed
}

// Run measures one point.
func Run(opt Options) (*Result, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	pat, err := ParsePattern(opt.Pattern, opt.Ports)
	if err != nil {
		return nil, err
	}
	p := &prober{
		opt: opt, pat: pat, ints: newIntegers(opt.Seed), fracs: newFractions(opt.Seed),
		rate: opt.Load / float64(opt.Packet),
	}
	p.x = noc.New(noc.Config{
		Inputs: opt.Ports, Outputs: opt.Ports, VCs: opt.VCs, VCStage: true, BufFlits: opt.Buf,
		Iterations: opt.Iterations, FlitBytes: 1, Latency: exitDelay, OutQueue: 1 << 30, Tenants: 1,
	})
	p.x.OnFlit = p.switched
	p.nodes = make([]node, opt.Ports)
	for i := range p.nodes {
		p.nodes[i] = node{vc: -1, lastVC: -1, credit: make([]int, opt.VCs), inject: make([][]uint64, opt.VCs)}
	}
	p.measure()
	return p.result(), nil
}

func (o *Options) check() error {
	for _, f := range []struct {
		name string
		v    int
	}{
		{"ports", o.Ports},
		{"vcs", o.VCs},
		{"buf", o.Buf},
		{"packet", o.Packet},
		{"iterations", o.Iterations},
		{"period", o.Period},
		{"periods", o.Periods},
	} {
		if f.v < 1 {
			return fmt.Errorf("--%s must be at least 1, is %d", f.name, f.v)
		}
	}
	if o.Ports > 1024 || o.VCs > 64 || o.Buf > 1<<15 || o.Packet > 1<<15 || o.Warmup < 0 {
		return fmt.Errorf("at most 1024 ports, 64 virtual channels, 32768 flits of buffer and packet; warm-up not " +
			"negative")
	}
	if !(o.Load > 0 && o.Load <= 1) {
		return fmt.Errorf("--load is flits per node and clock, above 0 and at most 1; got %g", o.Load)
	}
	if o.VOQ && o.VCs != o.Ports {
		return fmt.Errorf("--voq needs one virtual channel per output: --vcs %d", o.Ports)
	}
	return nil
}

// measure runs the phases.
func (p *prober) measure() {
	converged, fresh := 0, false
	lastLat, lastAcc := 0.0, 0.0
	for n := 0; n < p.opt.Periods && (p.phase != running || converged < 3); n++ {
		if fresh || p.phase == warming && n%2 == 0 {
			fresh = false
			p.clear()
		}
		for range p.opt.Period {
			p.step()
		}
		lat, acc := p.plat.average(), p.accepted()
		latMoved := math.Abs((lat-lastLat)/lat) > 0.05
		accMoved := math.Abs((acc-lastAcc)/acc) > 0.05
		lastLat, lastAcc = lat, acc
		if !p.opt.Throughput && !p.unstab && p.pastSaturation() {
			p.unstab = true // from here on only the accepted traffic means anything
			p.frozen = [3]float64{lat, p.nlat.average(), p.flat.average()}
		}
		settled := !accMoved && (!latMoved || p.opt.Throughput || p.unstab)
		switch {
		case p.phase == warming:
			if p.opt.Warmup > 0 && n+1 >= p.opt.Warmup || p.opt.Warmup == 0 && settled {
				fresh = true
				p.phase = running
			}
		case settled:
			converged++
		default:
			converged = 0
		}
	}
	p.phase, p.drainFrom = draining, p.time
	for !p.opt.Throughput && !p.unstab && p.outstanding() {
		p.step()
	}
	p.phase = emptying
	for p.underWay > 0 {
		p.step()
	}
	p.time += lastCredits
}

// clear restarts the statistics.
func (p *prober) clear() {
	p.plat, p.nlat, p.flat = mean{}, mean{}, mean{}
	for i := range p.nodes {
		p.nodes[i].accepted, p.nodes[i].sent = 0, 0
	}
	p.cleared = p.time
}

// accepted is the traffic delivered since clear, in flits per node and clock.
func (p *prober) accepted() float64 {
	n := 0
	for i := range p.nodes {
		n += p.nodes[i].accepted
	}
	return float64(n) / float64(p.time-p.cleared) / float64(len(p.nodes))
}

// pastSaturation tells that the mean latency, packets under way included, is
// beyond what a stable network shows.
func (p *prober) pastSaturation() bool {
	sum, n := p.plat.sum, p.plat.n
	for i := range p.pkts {
		if k := &p.pkts[i]; k.flits > 0 {
			sum += float64(k.flits) * float64(p.time-k.drawn)
			n += float64(k.flits)
		}
	}
	return sum/n > unstableLatency
}

// outstanding tells that recorded packets are under way or still to be drawn.
func (p *prober) outstanding() bool {
	if p.recorded > 0 {
		return true
	}
	for i := range p.nodes {
		if !p.nodes[i].drained {
			return true
		}
	}
	return false
}

func (p *prober) result() *Result {
	o := &p.opt
	r := &Result{
		Tag: "probe", K: o.Ports, VCs: o.VCs, Buf: o.Buf, Packet: o.Packet, Traffic: o.Pattern, Offered: o.Load,
		Seed:       o.Seed,
		Iterations: o.Iterations, Alloc: "islip", Speedup: 1, Unstable: p.unstab,
		PktLat: p.plat.average(), NetLat: p.nlat.average(), FlitLat: p.flat.average(), AccMin: math.Inf(1),
		Cycles: p.time,
	}
	if p.unstab {
		r.PktLat, r.NetLat, r.FlitLat = p.frozen[0], p.frozen[1], p.frozen[2]
	}
	span := float64(p.drainFrom - p.cleared)
	for i := range p.nodes {
		a := float64(p.nodes[i].accepted) / span
		r.AccFlit += a / float64(o.Ports)
		r.InjFlit += float64(p.nodes[i].sent) / span / float64(o.Ports)
		r.AccMin, r.AccMax = min(r.AccMin, a), max(r.AccMax, a)
	}
	return r
}

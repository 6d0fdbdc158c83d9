package characterise

import (
	"math/bits"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
)

const (
	pageBytes = 4096 // of NUBA's Figure 3
	lineShift = 7
	pageShift = 12
	pageLines = pageBytes / lineBytes

	// SharingSMs is the number of SMs for which sharing of pages is counted: NUBA's machine has 64.
	SharingSMs = 64

	together = 4 // pages above which a warp access is wide or spread: a tile of 8 columns has 4 rows
	few      = 8 // lines, a quarter of a page, below which a page is touched thinly

	chunkShift = 10 // pages of a chunk, as a power of two
	blockShift = 4  // pages of a block of 64 KiB, the UVM dissertation's basic block
)

// page is what an observer keeps of 4 KiB of memory: 72 bytes, which bounds its
// memory to about 1/56 of what the application touches.
type page struct {
	near, apart uint64 // SMs that touched it: CTAs in contiguous groups, CTAs dealt round
	kernel      uint32 // launch that touched it last, from 1; 0: never touched
	// By line, within that launch: read by several SMs, written, touched.
	shared, written, now uint32
	// By line, for good: touched, and read-only and shared within some launch.
	touched, readOnly uint32
	reader            [pageLines]uint8 // first SM that read the line in this launch, from 1
}

// chunk is a stretch of pages, and for each block of it the launch that touched it last.
type chunk struct {
	page  [1 << chunkShift]page
	block [1 << (chunkShift - blockShift)]uint32
}

// Observer notes how the kernels of one application use global memory. It wraps the device of the host program;
// kernels run one after the other (functionally).
type Observer struct {
	chunks map[uint64]*chunk
	last   *chunk
	lastID uint64
	kernel uint32

	shapes [numShapes]uint64 // warp accesses to global memory
	wide   uint64            // scattered ones over many pages
	// First touches of a page by a launch, and those of a page an earlier one touched.
	firsts, again uint64
	// First touches of a page by warp accesses that made many of them at once, and pages
	// of which a launch touched few lines.
	spread, thin uint64
	// The latest launch's own, and the sums of those launches that made enough.
	launch, total order
	ctas          uint64
}

// order counts first touches of a block, and those beside a block touched before.
type order struct{ firsts, beside uint64 }

// NewObserver makes an observer without observations.
func NewObserver() *Observer { return &Observer{chunks: map[uint64]*chunk{}, lastID: ^uint64(0)} }

// Device is inner with every launch observed.
func (o *Observer) Device(inner host.Device) host.Device { return &device{inner, o} }

type device struct {
	host.Device
	o *Observer
}

// Enqueue implements host.Device.
func (d *device) Enqueue(op *host.Op) error {
	if op.Kind == host.OpLaunch {
		op.Grid = d.o.Grid(op.Grid)
	}
	return d.Device.Enqueue(op)
}

// Grid is g observed as the next launch.
func (o *Observer) Grid(g isa.Grid) isa.Grid {
	o.fold()
	o.kernel++
	return &grid{g, o, o.kernel, g.Code().Instr, g.Geometry().CTAs}
}

// fold records the order of a launch that has ended. A launch on few blocks says
// nothing: every array and every corner of the grid begins beside nothing.
func (o *Observer) fold() {
	if o.launch.firsts >= enough {
		o.total.firsts += o.launch.firsts
		o.total.beside += o.launch.beside
	}
	o.launch = order{}
}

type grid struct {
	isa.Grid
	o      *Observer
	kernel uint32
	code   []isa.Instr
	ctas   int
}

// Start implements isa.Grid. The SMs are NUBA's, whatever machine executes: CTAs in
// contiguous groups (distributed scheduling, which the paper assumes), and dealt one
// by one for comparison.
func (g *grid) Start(n int, at isa.Place) isa.CTA {
	g.o.ctas++
	return &cta{g.Grid.Start(n, at), g, uint8(n * SharingSMs / g.ctas), uint8(n % SharingSMs)}
}

type cta struct {
	isa.CTA
	g           *grid
	near, apart uint8
}

// Step implements isa.CTA.
func (c *cta) Step(w int, now uint64, s *isa.Step) error {
	pc := c.PC(w)
	if err := c.CTA.Step(w, now, s); err != nil {
		return err
	}
	in := &c.g.code[pc]
	if s.Space != isa.Global || s.Mask == 0 {
		return nil
	}
	switch in.Kind {
	case isa.Load, isa.AsyncCopy:
		c.access(s, int64(in.Width), true, false)
	case isa.Store:
		c.access(s, int64(in.Width), false, true)
	case isa.Atomic, isa.Reduce:
		c.access(s, int64(in.Width), true, true)
	}
	return nil
}

func (c *cta) access(s *isa.Step, width int64, read, write bool) {
	o := c.g.o
	shape := shapeOf(&s.Addr, s.Mask, width)
	o.shapes[shape]++
	firsts, pages := o.firsts, 0
	before := ^uint64(0)
	for m := s.Mask; m != 0; m &= m - 1 {
		line := s.Addr[bits.TrailingZeros32(m)] >> lineShift
		if line == before { // neighbours mostly share their line
			continue
		}
		if line/pageLines != before/pageLines {
			pages++
		}
		before = line
		p := o.touch(line>>(pageShift-lineShift), c.g.kernel)
		p.near |= 1 << c.near
		p.apart |= 1 << c.apart
		i := line % pageLines
		p.touched |= 1 << i
		p.now |= 1 << i
		if read {
			if r := p.reader[i]; r == 0 {
				p.reader[i] = c.near + 1
			} else if r != c.near+1 {
				p.shared |= 1 << i
			}
		}
		if write {
			p.written |= 1 << i
		}
	}
	if n := o.firsts - firsts; n > together {
		o.spread += n
	}
	if shape == Scattered && pages > together {
		o.wide++
	}
}

// at is the page with a number; nil when its neighbourhood was never touched.
func (o *Observer) at(n uint64) *page {
	if id := n >> chunkShift; id != o.lastID {
		k := o.chunks[id]
		if k == nil {
			return nil
		}
		o.last, o.lastID = k, id
	}
	return &o.last.page[n%(1<<chunkShift)]
}

// touch is the page with a number, made ready for a launch.
func (o *Observer) touch(n uint64, kernel uint32) *page {
	p := o.at(n)
	if p == nil {
		o.chunks[n>>chunkShift] = &chunk{}
		p = o.at(n)
	}
	if p.kernel == kernel {
		return p
	}
	o.firsts++
	if p.kernel != 0 {
		o.again++
	}
	o.settle(p)
	p.kernel = kernel
	if b := o.block(n); *b != kernel {
		*b = kernel
		o.launch.firsts++
		const step = 1 << blockShift
		if o.inLaunch(n-step, kernel) || o.inLaunch(n+step, kernel) {
			o.launch.beside++
		}
	}
	return p
}

// block is the mark of the block a page lies in; nil when its neighbourhood was never
// touched.
func (o *Observer) block(n uint64) *uint32 {
	if o.at(n) == nil {
		return nil
	}
	return &o.last.block[n%(1<<chunkShift)>>blockShift]
}

func (o *Observer) inLaunch(n uint64, kernel uint32) bool {
	b := o.block(n)
	return b != nil && *b == kernel
}

// settle records what a launch that has ended did to the page. Within a launch a line
// is read-only when nothing wrote it (NUBA, section 4.2, by line instead of by array).
func (o *Observer) settle(p *page) {
	if p.now != 0 && bits.OnesCount32(p.now) < few {
		o.thin++
	}
	p.readOnly |= p.shared &^ p.written
	p.shared, p.written, p.now = 0, 0, 0
	p.reader = [pageLines]uint8{}
}

// Memory is the observations of an Observer.
type Memory struct {
	Launches uint64 `json:"launches"`
	CTAs     uint64 `json:"ctas"`
	Pages    uint64 `json:"pages"`           // of 4 KiB, touched by a kernel
	Bytes    uint64 `json:"footprint_bytes"` // in lines of 128 B touched by a kernel
	// Allocated is what the application held when it ended, or when it was observed no longer.
	Allocated uint64 `json:"allocated_bytes,omitempty"`
	// ReadOnlyShared is the bytes of lines that several SMs read in a launch that did
	// not write them.
	ReadOnlyShared uint64 `json:"read_only_shared_bytes"`
	// SharedBy is the share of pages touched by 1, 2 to 10, 11 to 25, and 26 to 64 SMs,
	// with CTAs in contiguous groups; DealtBy the same with CTAs dealt one by one.
	SharedBy [4]float64 `json:"pages_by_sms"`
	DealtBy  [4]float64 `json:"pages_by_sms_cta_round_robin"`
	// Accesses is the number of warp accesses to global memory; Shapes, by Shape, the
	// share of each among those of two lanes and more (Single: among all).
	Accesses uint64             `json:"accesses"`
	Shapes   [numShapes]float64 `json:"shapes"`
	// Wide is the share of warp accesses, among those of two lanes and more, that are scattered over many pages.
	Wide float64 `json:"wide"`
	// Order is the share of first touches of a 64 KiB block by a launch that lie beside a
	// block it had touched; about 2/3 for a random order, near 1 for a dense walk. It is
	// over the OrderTouches of launches on 64 blocks and more. Repeat is the share of
	// FirstTouches, first touches of a page by a launch, of which an earlier launch had
	// touched the page.
	FirstTouches uint64  `json:"first_touches"`
	OrderTouches uint64  `json:"order_touches"`
	Order        float64 `json:"order"`
	Repeat       float64 `json:"repeat"`
	// Spread is the share of FirstTouches made by warp accesses that touched many pages
	// for the first time, lanes far apart. Thin is the share of pages touched by a launch
	// of which it touched few lines.
	Spread float64 `json:"spread"`
	Thin   float64 `json:"thin"`
}

// bucket is the column of Figure 3 for a number of SMs.
func bucket(sms int) int {
	switch {
	case sms <= 1:
		return 0
	case sms <= 10:
		return 1
	case sms <= 25:
		return 2
	}
	return 3
}

// Memory sums up the observations. Observe nothing afterwards.
func (o *Observer) Memory() Memory {
	o.fold()
	m := Memory{Launches: uint64(o.kernel), CTAs: o.ctas, FirstTouches: o.firsts, OrderTouches: o.total.firsts}
	var near, apart [4]uint64
	for _, k := range o.chunks { // sums only: the order does not matter
		for i := range k.page {
			p := &k.page[i]
			if p.kernel == 0 {
				continue
			}
			o.settle(p)
			m.Pages++
			m.Bytes += uint64(bits.OnesCount32(p.touched)) * lineBytes
			m.ReadOnlyShared += uint64(bits.OnesCount32(p.readOnly)) * lineBytes
			near[bucket(bits.OnesCount64(p.near))]++
			apart[bucket(bits.OnesCount64(p.apart))]++
		}
	}
	for i := range near {
		m.SharedBy[i], m.DealtBy[i] = ratio(near[i], m.Pages), ratio(apart[i], m.Pages)
	}
	for _, n := range o.shapes {
		m.Accesses += n
	}
	for i, n := range o.shapes {
		m.Shapes[i] = ratio(n, m.Accesses-o.shapes[Single])
	}
	m.Wide = ratio(o.wide, m.Accesses-o.shapes[Single])
	m.Shapes[Single] = ratio(o.shapes[Single], m.Accesses)
	m.Order, m.Repeat = ratio(o.total.beside, o.total.firsts), ratio(o.again, o.firsts)
	m.Spread, m.Thin = ratio(o.spread, o.firsts), ratio(o.thin, o.firsts)
	return m
}

func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

package sm

import (
	"testing"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// scripted is a grid whose warps run a fixed program, straight on but for the jumps;
// addr gives the lanes' addresses of the memory instruction at pc.
type scripted struct {
	code  isa.Code
	geo   isa.Geometry
	addr  func(cta, warp, pc, lane int) uint64
	trace func(cta, warp, pc int, now uint64)
	jump  map[int]int32 // by pc: where it goes
	rows  int           // steps of a texture fetch
	row   int           // of them, the one that is executed
	ended int
	nanos []uint32 // by warp: how long it sleeps
}

type scriptedCTA struct {
	g   *scripted
	cta int
	pc  []int32
}

func (g *scripted) Code() *isa.Code        { return &g.code }
func (g *scripted) Geometry() isa.Geometry { return g.geo }
func (g *scripted) Start(cta int, _ isa.Place) isa.CTA {
	return &scriptedCTA{g: g, cta: cta, pc: make([]int32, g.geo.Warps)}
}
func (c *scriptedCTA) PC(w int) int32 { return c.pc[w] }
func (c *scriptedCTA) State(w int, s *isa.State) {
	s.Set(uint64(c.cta<<16|w), 0, c.pc[w])
}
func (c *scriptedCTA) Release() { c.g.ended++ }
func (c *scriptedCTA) Step(w int, now uint64, s *isa.Step) error {
	pc := int(c.pc[w])
	in := &c.g.code.Instr[pc]
	*s = isa.Step{Active: ^uint32(0), Mask: ^uint32(0), Next: int32(pc + 1), Space: in.Space}
	if in.Cache == isa.CacheTexture {
		if c.g.row++; c.g.row < c.g.rows {
			s.Next = int32(pc)
		} else {
			defer func() { c.g.row = 0 }()
		}
	}
	if in.Space != isa.NoSpace && c.g.addr != nil {
		for l := range s.Addr {
			s.Addr[l] = c.g.addr(c.cta, w, pc, l)
		}
	}
	if to, ok := c.g.jump[pc]; ok {
		s.Next = to
	}
	if in.Kind == isa.Sleep {
		s.Nanos = c.g.nanos[w]
	}
	if in.Kind == isa.Exit {
		s.Next = -1
	}
	if c.g.trace != nil {
		c.g.trace(c.cta, w, pc, now)
	}
	c.pc[w] = s.Next
	return nil
}

// ins builds an instruction: dst registers, then sources.
type ins struct {
	isa.Instr
	dst, src []uint16
}

func program(list ...ins) isa.Code {
	c := isa.Code{Kernel: "k", File: "k.ptx"}
	for i, x := range list {
		in := x.Instr
		in.Reg, in.NDst, in.NReg, in.Line = uint32(len(c.Regs)), uint8(len(x.dst)), uint8(len(x.dst)+len(x.src)),
			int32(i+1)
		var read []int
		for _, r := range x.src {
			read = append(read, int(r))
		}
		in.Reads = isa.ReadsOf(read)
		c.Regs = append(append(c.Regs, x.dst...), x.src...)
		for _, r := range append(x.dst, x.src...) {
			c.NumRegs = max(c.NumRegs, int(r)+1)
		}
		c.Instr = append(c.Instr, in)
	}
	return c
}

func alu(t isa.Timing, u isa.Unit, dst uint16, src ...uint16) ins {
	return ins{isa.Instr{Kind: isa.ALU, Unit: u, Timing: t}, []uint16{dst}, src}
}

func load(space isa.Space, cache isa.Cache, dst uint16, src ...uint16) ins {
	return ins{isa.Instr{Kind: isa.Load, Unit: isa.LDST, Space: space, Cache: cache, Width: 4}, []uint16{dst}, src}
}

func store(space isa.Space, src ...uint16) ins {
	return ins{isa.Instr{Kind: isa.Store, Unit: isa.LDST, Space: space, Width: 4}, nil, src}
}

func atomicOp(dst uint16, src ...uint16) ins {
	return ins{isa.Instr{Kind: isa.Atomic, Unit: isa.LDST, Space: isa.Global, Width: 4}, []uint16{dst}, src}
}

func barrierIns() ins { return ins{Instr: isa.Instr{Kind: isa.Barrier, Unit: isa.INT}} }
func exit() ins       { return ins{Instr: isa.Instr{Kind: isa.Exit, Unit: isa.INT}} }

// bench is one SM with a memory that answers every request after a fixed delay.
type bench struct {
	t       *testing.T
	s       *SM
	slab    *mem.Slab
	table   *stat.Table
	delay   uint64
	flight  []flight
	sent    []mem.Req
	sentAt  []uint64
	blocked bool             // the interconnect takes nothing
	each    func(now uint64) // called at the end of every cycle
	prof    []PC             // of the kernel, when set
	local   *LocalMemory     // of the kernel's tenant
	most    uint64           // cycles; 0: a million
}

type flight struct {
	at uint64
	h  int32
}

func newBench(t *testing.T, change func(m *sheets.Machine)) *bench {
	t.Helper()
	return newBenchOn(t, "qv100", change)
}

func newBenchOn(t *testing.T, machine string, change func(m *sheets.Machine)) *bench {
	t.Helper()
	m, _, err := sheets.Load(machine)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(m)
	}
	cfg, err := Derive(m)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, slab: mem.NewSlab(64), table: stat.NewTraffic("sm", Counters(), 1, 2), delay: 100}
	if b.s, err = New(0, cfg, NewScratch(cfg), b.slab, b.table, nil, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

// run starts the CTAs of g as they fit and ticks until all ended; it returns the
// cycle of the last end. Only due ticks are made, unless every is set.
func (b *bench) run(g *scripted, ctas int, every bool) uint64 {
	b.t.Helper()
	g.geo.CTAs = ctas
	code := &g.code
	if code.Machine != nil {
		code = code.Machine
	}
	k := &Kernel{Grid: g, Code: code, Geo: g.geo, LocalBase: 1 << 39, Local: b.local, Prof: b.prof}
	next, left := 0, ctas
	for now := uint64(0); now < max(b.most, 1_000_000); now++ {
		n := 0
		for _, f := range b.flight {
			if f.at == now {
				b.s.Deliver(f.h, now)
			} else {
				b.flight[n] = f
				n++
			}
		}
		b.flight = b.flight[:n]
		if b.s.Due() <= now || every {
			b.s.Tick(now)
		}
		if b.s.Err != nil {
			b.t.Fatal(b.s.Err)
		}
		left -= len(b.s.Done)
		b.s.Retired()
		if left == 0 {
			return now
		}
		if b.s.Out().Len() > 0 && b.s.LinkFree() <= now && !b.blocked {
			h := *b.s.Out().Head()
			b.s.Sent(now)
			b.sent, b.sentAt = append(b.sent, b.slab.R[h]), append(b.sentAt, now)
			b.flight = append(b.flight, flight{now + b.delay, h})
		}
		if next < ctas && b.s.Fits(k) {
			if err := b.s.Start(k, next, now); err != nil {
				b.t.Fatal(err)
			}
			next++
		}
		if b.each != nil {
			b.each(now)
		}
		if b.s.Due() == engine.Never && len(b.flight) == 0 && b.s.Out().Len() == 0 {
			b.t.Fatalf("cycle %d: nothing will happen any more\n%v", now, b.s.Explain(0))
		}
	}
	b.t.Fatal("not finished")
	return 0
}

// issues runs one warp and returns the cycle at which each instruction issued.
func (b *bench) issues(g *scripted) []uint64 {
	at := make([]uint64, len(g.code.Instr))
	g.trace = func(_, _, pc int, now uint64) { at[pc] = now }
	b.run(g, 1, false)
	return at
}

func oneWarp(list ...ins) *scripted {
	return &scripted{code: program(list...), geo: isa.Geometry{Threads: 32, Warps: 1, Regs: 8}}
}

func lanes(base, stride uint64) func(int, int, int, int) uint64 {
	return func(_, _, _, l int) uint64 { return base + stride*uint64(l) }
}

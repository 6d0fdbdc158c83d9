package cpu

import "github.com/heddle-sim/heddle/isa/scalar"

// Program is a model as the operations of a CPU core: plain instructions between loads and stores. The stream holds a
// program's accesses beyond its private caches. It still enters a core through private caches, as any program does.
// They find little reuse in it: the misses of a 2 MB LLC behind them are within a tenth of those that the file
// declares (a test).
//
// A load that is Dependent reads the register that the load before it wrote, so that at most MLP of them are under
// way at once, on average. No load reads the value of a store.
type Program struct {
	stream Stream
	start  Stream // as it was at the begin
	next   Access
}

// last is the register that the last load wrote.
const last = 1

// Program starts the model as a program.
func (m *Model) Program(seed uint64) *Program {
	p := &Program{start: *m.New(seed)}
	p.begin()
	return p
}

func (p *Program) begin() {
	p.stream = p.start
	p.stream.Next(&p.next)
	p.next.Gap = max(1, p.next.Gap)
}

// Bytes is the size of the program's memory: every address is below it.
func (p *Program) Bytes() uint64 { return p.stream.Bytes() }

// Rewind makes the program begin again.
func (p *Program) Rewind() error {
	p.begin()
	return nil
}

// Read fills the buffer. The program has no end.
func (p *Program) Read(buf []scalar.Inst) (int, error) {
	for i := range buf {
		in, a := &buf[i], &p.next
		*in = scalar.Inst{Kind: scalar.Load, Addr: a.Addr, Dst: [scalar.Results]uint16{last}}
		if a.Write {
			in.Kind, in.Dst[0] = scalar.Store, 0
		}
		if a.Dependent {
			in.Src[0] = last
		}
		if a.Gap > 0 {
			in.Before = a.Gap - 1
		}
		p.stream.Next(a)
		in.More = a.Gap == 0 // two accesses of one instruction
	}
	return len(buf), nil
}

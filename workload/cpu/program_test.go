package cpu

import (
	"testing"

	"github.com/heddle-sim/heddle/isa/scalar"
)

// A program is its model's stream: the same addresses in the same order, and instruction by
// instruction as many; rewound, it is the same again.
func TestProgram(t *testing.T) {
	for _, name := range []string{"lbm", "omnetpp", "deepsjeng"} {
		m, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		p := m.Program(3)
		buf := make([]scalar.Inst, 17)
		for range 2 {
			s := m.New(3)
			insts, want := 0, 0
			for i := range 1000 {
				if n, err := p.Read(buf); n != len(buf) || err != nil {
					t.Fatalf("%d operations, %v", n, err)
				}
				for k := range buf {
					var a Access
					s.Next(&a)
					if i == 0 && k == 0 {
						a.Gap = max(1, a.Gap)
					}
					in := &buf[k]
					if in.Addr != a.Addr || (in.Kind == scalar.Store) != a.Write || (in.Src[0] == last) != a.Dependent {
						t.Fatalf("%s: operation %d of %d is %+v, the access %+v", name, k, i, in, a)
					}
					want += int(a.Gap)
					insts += int(in.Before)
					if !in.More {
						insts++
					}
					if i == 999 && k == len(buf)-1 && in.More {
						insts++ // the rest of it is yet to be read
					}
				}
			}
			if insts != want {
				t.Errorf("%s: %d instructions, want %d", name, insts, want)
			}
			if err := p.Rewind(); err != nil {
				t.Fatal(err)
			}
		}
		if n := testing.AllocsPerRun(100, func() {
			if _, err := p.Read(buf); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}

package record

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/isa"
)

// Digest is a hash of everything the recording says but how it lies in the file.
func (r *Recording) Digest(t testing.TB) [32]byte {
	t.Helper()
	h := sha256.New()
	for _, c := range r.x.codes {
		f := &fields{}
		encodeCodes(f, c)
		h.Write(f.b)
	}
	fmt.Fprintf(h, "%v %v\n", r.x.regions, r.x.ops)
	s, buf := &isa.Step{}, []byte{}
	for i := range r.x.launches {
		l := &r.x.launches[i]
		fmt.Fprintf(h, "%s %d %v\n", l.name, l.code, l.geo)
		g := r.Grid(i)
		for n := range l.geo.CTAs {
			c := g.Start(n, isa.Place{})
			for w := range l.geo.Warps {
				for pc := c.PC(w); pc >= 0; pc = s.Next {
					if err := c.Step(w, 0, s); err != nil {
						t.Fatal(err)
					}
					buf = appendStep(buf[:0], s)
					h.Write(buf)
				}
			}
			c.Release()
		}
	}
	return [32]byte(h.Sum(nil))
}

// appendStep writes the parts of a step that mean something.
func appendStep(b []byte, s *isa.Step) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, s.Active), s.Mask), uint32(s.Next))
	b = le.AppendUint32(append(b, byte(s.Space), s.Bar), uint32(s.Expect))
	if s.Arrive {
		b = append(b, 1)
	}
	if addressed(s.Space) {
		for i := range s.Addr {
			if s.Mask>>i&1 != 0 {
				b = le.AppendUint64(b, s.Addr[i])
			}
		}
	}
	return b
}

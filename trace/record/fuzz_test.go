package record

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// forge makes a file that is whole as far as sums go, around any index text and the
// bytes of one page.
func forge(enc *zstd.Encoder, index, page []byte) []byte {
	b := append(header(), page...)
	packed := enc.EncodeAll(index, nil)
	at := int64(len(b))
	b = append(b, packed...)
	return append(b, trailer(at, packed, len(index))...)
}

// FuzzIndex: no index makes the reader panic, hang or allocate without bound.
func FuzzIndex(f *testing.F) {
	path := filepath.Join(f.TempDir(), "x.rec")
	w, err := Create(path, "x")
	if err != nil {
		f.Fatal(err)
	}
	g, err := w.Grid("scatter", newSource(3, 2, 80, 1))
	if err != nil {
		f.Fatal(err)
	}
	run(f, g, func(int, int, *isa.Step) {})
	if err := w.Commit(); err != nil {
		f.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		f.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	first := file[r.x.pages[0].at:][:r.x.pages[0].size]
	f.Add(r.x.encode(), first)
	small := &index{
		app: "a", codes: []*isa.Code{testCode()}, regions: []region{{name: "r", bytes: 256, base: 0xc0000000}},
		ops: []op{{kind: opAlloc}, {kind: opEvent, stream: 1}, {kind: opSync}, {kind: opTouch, n: 8}, {kind: opFree}},
	}
	f.Add(small.encode(), []byte{})
	if err := r.Close(); err != nil {
		f.Fatal(err)
	}
	enc, err := newEncoder()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, index, page []byte) {
		if len(index) > 1<<16 || len(page) > 1<<16 {
			return
		}
		b := forge(enc, index, page)
		if use(b) != nil { // an error is as good as none
			return
		}
		r, err := open("x.rec", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		err = replay(r, host.New(host.NewFunctional(ctx, 1<<20), mem.NewSpace(1<<40), host.Options{Ctx: ctx}))
		if c := host.Classify(err); c == host.Internal {
			t.Fatalf("%v is an internal error", err)
		}
	})
}

// FuzzStream: whatever bytes a warp's stream has, the steps are ones the machine can
// take: the next PC lies in the code and addresses are aligned and within bounds.
func FuzzStream(f *testing.F) {
	code := testCode()
	st := newStatic(code)
	f.Add([]byte{0x80, tagActive, 0xff, 0xff, 0xff, 0xff, payAffine << payAt, 1, 8, 8})
	f.Add([]byte{tagActive | tagJump, 2, 1, 0, 0, 0, payLanes << payAt, 1 | 2<<sizeAt, 2, 1, 2, 3, 4, 0x87})
	f.Add([]byte{tagActive | tagJump, 14, 1, 0, 0, 0, tagActive, 0, 0, 0, 0, payBarrier << payAt, 17, 32})
	// an address for an instruction that touches no memory: harmless, the machine ignores it
	f.Add([]byte("\x80\x020000\x01\b\x10100"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := cursor{buf: b}
		s := &isa.Step{}
		for n := 0; c.pc >= 0; n++ {
			if n > (len(b)+1)*maxRun {
				t.Fatal("more steps than bytes can tell")
			}
			pc := c.pc
			if c.run > 0 {
				c.plainStep(st, s)
			} else if ok, err := c.event(st, s); !ok || err != nil {
				return
			}
			if s.Next != c.pc || s.Next < -1 || int(s.Next) >= len(code.Instr) || s.Bar > 15 || s.Space >= isa.Generic {
				t.Fatalf("PC %d: %+v", pc, *s)
			}
			if !addressed(s.Space) || s.Mask == 0 {
				continue
			}
			for i, a := range s.Addr {
				if s.Mask>>i&1 != 0 && (a >= limitOf(s.Space) || s.Space != isa.Shared &&
					a%max(1, uint64(code.Instr[pc].Width)) != 0) {
					t.Fatalf("PC %d, lane %d: address 0x%x", pc, i, a)
				}
			}
		}
	})
}

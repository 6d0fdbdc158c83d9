package record

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
	"github.com/heddle-sim/heddle/isa"
)

// An index and a warp's stream that end anywhere are read to their end.
func TestTruncated(t *testing.T) {
	enc, err := newEncoder()
	if err != nil {
		t.Fatal(err)
	}
	small := &index{
		app: "a", codes: []*isa.Code{testCode()}, regions: []region{{name: "r", bytes: 256, base: 0xc0000000}},
		ops: []op{{kind: opAlloc}, {kind: opEvent, stream: 1}, {kind: opSync}, {kind: opTouch, n: 8}, {kind: opFree}},
	}
	whole := false
	truncated.Each(t, small.encode(), func(part []byte) { whole = use(forge(enc, part, nil)) == nil })
	if !whole {
		t.Error("the whole index is not read")
	}
	truncated.Each(t, forge(enc, small.encode(), nil), func(part []byte) { whole = use(part) == nil })
	if !whole {
		t.Error("the whole file is not read")
	}
	st := newStatic(testCode())
	stream := []byte{
		tagActive | tagJump, 2, 1, 0, 0, 0, payLanes << payAt, 1 | 2<<sizeAt, 2, 1, 2, 3, 4, 0x87, tagActive, 0xff,
		0xff, 0xff, 0xff, payAffine << payAt, 1, 8, 8,
	}
	truncated.Each(t, stream, func(part []byte) {
		c, s := cursor{buf: part}, &isa.Step{}
		for n := 0; c.pc >= 0; n++ {
			if n > (len(part)+1)*maxRun {
				t.Errorf("the first %d bytes: more steps than they can tell", len(part))
				return
			}
			if c.run > 0 {
				c.plainStep(st, s)
			} else if ok, err := c.event(st, s); !ok || err != nil {
				return
			}
		}
	})
}

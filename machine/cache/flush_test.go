package cache

import (
	"testing"

	"github.com/heddle-sim/heddle/mem"
)

// A flush writes back every dirty sector once, one line per call, waits for room
// towards DRAM, and leaves nothing.
func TestFlush(t *testing.T) {
	b := newBench(t, nil)
	var list []want
	for i := range uint64(10) {
		op, full := mem.Read, uint8(0)
		if i%2 == 0 {
			op, full = mem.Write, 0x3
		}
		list = append(list, want{line: i * 128, op: op, sectors: 0x3, full: full, at: i})
	}
	b.run(50, list...)
	asked := len(b.dram)
	b.s.StartFlush()
	calls, lines := 0, 0
	for !b.s.Flush() {
		calls++
		if b.s.Below.Len() == 1 && lines == 0 {
			for !b.s.Below.Full() { // no room: the flush has to wait
				b.s.Below.Push(mem.Fetch{Line: 1 << 30, Token: 0})
			}
			for range 20 {
				if b.s.Flush() {
					t.Fatal("the flush ended with dirty lines left")
				}
			}
		}
		for b.s.Below.Len() > 0 {
			if f := b.s.Below.Pop(); f.Line < 1<<30 {
				if !f.Write() || f.Sectors != 0x3 || f.Line%256 != 0 {
					t.Errorf("write-back %+v", f)
				}
				lines++
			}
		}
		if calls > 1000 {
			t.Fatal("the flush never ends")
		}
	}
	if lines != 5 || calls < 5 {
		t.Errorf("%d lines written back in %d calls; 5 of 10 lines were dirty, one is written back per call", lines,
			calls)
	}
	if !b.s.Empty() {
		t.Error("the slice is not empty")
	}
	b.dram = b.dram[:0]
	b.run(50, list[1])
	if len(b.dram) != 1 || asked == 0 {
		t.Error("a line was still there after the flush")
	}
}

// Clean writes one dirty line back under its tag; Drop forgets one without.
func TestClean(t *testing.T) {
	b := newBench(t, nil)
	b.run(50, want{line: 0, op: mem.Write, sectors: 1, full: 1}, want{line: 128, op: mem.Read, sectors: 1, at: 1},
		want{line: 256, op: mem.Write, sectors: 2, full: 2, at: 2})
	if wrote, ok := b.s.Clean(128, mem.ForCopyEngine, 7); wrote || !ok {
		t.Errorf("a clean line: wrote %v, ok %v", wrote, ok)
	}
	if wrote, ok := b.s.Clean(0, mem.ForCopyEngine, 7); !wrote || !ok {
		t.Errorf("a dirty line: wrote %v, ok %v", wrote, ok)
	}
	if f := b.s.Below.Pop(); f.Owner != mem.ForCopyEngine || f.Token != 7 || f.Line != 0 || f.Sectors != 1 {
		t.Errorf("write-back %+v", f)
	}
	if wrote, ok := b.s.Clean(0, mem.ForCopyEngine, 7); wrote || !ok {
		t.Error("a line was cleaned twice")
	}
	for !b.s.Below.Full() {
		b.s.Below.Push(mem.Fetch{})
	}
	if _, ok := b.s.Clean(256, mem.ForCopyEngine, 7); ok {
		t.Error("cleaned without room towards DRAM")
	}
	b.s.Drop(256)
	if wrote, ok := b.s.Clean(256, mem.ForCopyEngine, 7); wrote || !ok {
		t.Error("a dropped line is still there")
	}
}

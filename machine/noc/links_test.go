package noc

import (
	"slices"
	"testing"
)

// pairLinks joins inputs and outputs of partitions of two each.
func pairLinks(latch, classes int) *Links {
	return NewLinks(LinksConfig{
		Inputs: 4, Outputs: 4, Fan: 2, Classes: classes, FlitBytes: 16, Latency: 1, Latch: latch, Tenants: 1,
		Wire: func(_, out int) int { return out % 2 },
		From: func(out int) []int { return []int{out / 2 * 2, out/2*2 + 1} },
	})
}

// TestLinkLatency: a packet comes a clock after its last flit; the wire takes the next one
// behind it, and a wire to another output is free all the time.
func TestLinkLatency(t *testing.T) {
	a := pairLinks(2, 1).Class(0)
	if !a.Push(10, 0, 1, 9, 1, 0) || a.CanPush(18, 0, 1, 1) || !a.CanPush(10, 0, 0, 1) || !a.CanPush(19, 0, 1, 1) {
		t.Fatal("a packet of 9 flits keeps its own wire, and that only, for 9 clocks")
	}
	for now, due := uint64(10), uint64(0); now < 30; now++ {
		due = a.Tick(now)
		id, ok := a.Pop(1, now)
		if ok != (now == 19) || now < 19 && due != 19 {
			t.Errorf("clock %d: packet %d %v, due %d; want it at 19", now, id, ok, due)
		}
	}
}

// TestLinkArbiter: the wires of an output take turns; a full latch stops its own wire only.
func TestLinkArbiter(t *testing.T) {
	a := pairLinks(3, 1).Class(0)
	for i := range uint64(3) {
		a.Push(i, 0, 0, 1, int32(i), 0)
		a.Push(i, 1, 0, 1, int32(10+i), 0)
	}
	if a.CanPush(3, 0, 0, 1) || !a.CanPush(3, 0, 1, 1) {
		t.Error("a latch of three packets is full, and that of another wire is not")
	}
	var got []int32
	for now := uint64(4); now < 20; now++ {
		a.Tick(now)
		if now == 6 {
			a.Pass(0) // the receiver has no room for what it is offered
		}
		if id, ok := a.Pop(0, now); ok {
			got = append(got, id)
		}
	}
	if want := []int32{0, 10, 11, 1, 12, 2}; !slices.Equal(got, want) {
		t.Errorf("packets in order %v, want %v", got, want)
	}
	if a.Waiting() != 0 {
		t.Errorf("%d packets left", a.Waiting())
	}
}

// TestLinkClasses: classes share a wire, not its latches.
func TestLinkClasses(t *testing.T) {
	l := pairLinks(1, 2)
	a, b := l.Class(0), l.Class(1)
	if !a.Push(0, 0, 0, 2, 1, 0) || b.Push(1, 0, 0, 1, 2, 0) || a.CanPush(2, 0, 0, 1) {
		t.Error("a wire that carries a packet of one class carries none of the other, and a latch of one is full")
	}
	if !b.Push(2, 0, 0, 1, 2, 0) {
		t.Error("the full latch of a class stops the other")
	}
	a.Tick(9)
	b.Tick(9)
	if id, ok := b.Pop(0, 9); !ok || id != 2 {
		t.Errorf("class 1 gives %d %v", id, ok)
	}
	if id, ok := a.Pop(0, 9); !ok || id != 1 {
		t.Errorf("class 0 gives %d %v", id, ok)
	}
}

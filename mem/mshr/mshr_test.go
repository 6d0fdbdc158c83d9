package mshr

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// come makes sectors of a line arrive and returns who has all it waited for.
func come(f *File, line int32, sectors uint8) (done []int32, came int) {
	a := f.Arrive(line, sectors)
	for a.More() {
		token, got, all := f.Next(&a)
		for ; got != 0; got &= got - 1 {
			came++
		}
		if all {
			done = append(done, token)
		}
	}
	return done, came
}

// TestOrder: who waits is answered when the last of its sectors has come, the youngest
// first; merging ends at its limit and begins again when the sector has come.
func TestOrder(t *testing.T) {
	f := New(4, 3, 2)
	f.Ask(0b11)
	f.Wait(1, 10, 0b01)
	f.Wait(1, 11, 0b11)
	if f.Mergeable(1, 0b01) || !f.Mergeable(1, 0b10) || !f.Mergeable(2, 0b11) {
		t.Error("two requests wait for the first sector, one for the second")
	}
	if !f.Room(0b100) || f.Room(0b1100) {
		t.Error("two of three entries are in use")
	}
	if n := f.Waiting(1, 0b11); n != 3 {
		t.Errorf("requests wait for %d sectors, want 3", n)
	}
	if done, came := come(&f, 1, 0b01); !slices.Equal(done, []int32{10}) || came != 2 {
		t.Errorf("answered %v, %d sectors handed out", done, came)
	}
	f.Wait(1, 12, 0b10)
	if f.Mergeable(1, 0b10) || !f.Mergeable(1, 0b01) {
		t.Error("the first sector has come, two requests wait for the second")
	}
	if done, _ := come(&f, 1, 0b10); !slices.Equal(done, []int32{12, 11}) || f.Pending() != 0 {
		t.Errorf("answered %v, %d sectors pending", done, f.Pending())
	}
	if done, _ := come(&f, 1, 0b10); done != nil {
		t.Errorf("answered %v a second time", done)
	}
}

// TestAgainstList: the chains answer whom a plain list of requests answers, and storage
// is used again.
func TestAgainstList(t *testing.T) {
	type req struct {
		token   int32
		sectors uint8
	}
	rapid.Check(t, func(t *rapid.T) {
		const lines, most = 3, 3
		f := New(lines, 100, most)
		var list [lines][]req // the youngest first
		for token := range int32(60) {
			line := rapid.Int32Range(0, lines-1).Draw(t, "line")
			sectors := uint8(rapid.IntRange(1, 15).Draw(t, "sectors"))
			l := &list[line]
			if rapid.Bool().Draw(t, "arrive") {
				f.Ask(sectors)
				var want []int32
				rest := (*l)[:0]
				for _, r := range *l {
					if r.sectors &^= sectors; r.sectors == 0 {
						want = append(want, r.token)
					} else {
						rest = append(rest, r)
					}
				}
				*l = rest
				if done, _ := come(&f, line, sectors); !slices.Equal(done, want) || f.Pending() != 0 {
					t.Fatalf("line %d: answered %v, want %v; %d sectors pending", line, done, want, f.Pending())
				}
				continue
			}
			free := true
			for s := range 4 {
				n := 0
				for _, r := range *l {
					n += int(r.sectors >> s & 1)
				}
				free = free && (sectors>>s&1 == 0 || n < most)
			}
			if f.Mergeable(line, sectors) != free {
				t.Fatalf("line %d with %v: sectors %04b mergeable %v", line, *l, sectors, !free)
			}
			if free {
				f.Wait(line, token, sectors)
				*l = append([]req{{token, sectors}}, *l...)
			}
		}
	})
}

// TestNoAllocations: what has been taken once is used again.
func TestNoAllocations(t *testing.T) {
	f := New(8, 100, 8)
	round := func() {
		for line := range int32(8) {
			f.Ask(1)
			f.Wait(line, 1, 1)
			f.Wait(line, 2, 1)
		}
		for line := range int32(8) {
			come(&f, line, 1)
		}
	}
	round()
	if n := testing.AllocsPerRun(100, func() {
		for line := range int32(8) {
			f.Ask(1)
			f.Wait(line, 1, 1)
		}
		for line := range int32(8) {
			a := f.Arrive(line, 1)
			for a.More() {
				f.Next(&a)
			}
		}
	}); n != 0 || f.Pending() != 0 || len(f.registers) != 8 || len(f.waiters) != 16 {
		t.Errorf("%g allocations, %d sectors pending, %d registers, %d waiters",
			n, f.Pending(), len(f.registers), len(f.waiters))
	}
}

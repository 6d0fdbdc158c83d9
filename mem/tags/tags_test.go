package tags

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// The array agrees with a list-based LRU model, for scanned and for indexed sets.
func TestArrayIsLRU(t *testing.T) {
	for _, shape := range [][2]int{{4, 3}, {3, 5}, {1, 64}, {48, 2}} {
		rapid.Check(t, func(t *rapid.T) {
			a, err := New(shape[0], shape[1], 128, "lru", nil)
			if err != nil {
				t.Fatal(err)
			}
			model := make([][]uint64, shape[0])
			for range 300 {
				n := uint64(rapid.IntRange(0, 3*shape[0]*shape[1]).Draw(t, "line"))
				line, s := n*128, int(n)%shape[0]
				at := -1
				for i, x := range model[s] {
					if x == line {
						at = i
					}
				}
				i := a.Find(line)
				if (i != None) != (at >= 0) {
					t.Fatalf("line %d: Find %d, model has it at %d", n, i, at)
				}
				if at >= 0 {
					model[s] = append(model[s][:at], model[s][at+1:]...)
					a.Use(i)
				} else {
					v := a.Victim(line)
					if len(model[s]) == shape[1] {
						if a.Tag[v] != model[s][0] {
							t.Fatalf("victim %d, model says %d", a.Tag[v]/128, model[s][0]/128)
						}
						model[s] = model[s][1:]
					}
					a.Fill(v, line, 0)
				}
				model[s] = append(model[s], line)
			}
		})
	}
}

func TestPendingLinesStay(t *testing.T) {
	a, _ := New(1, 2, 128, "lru", nil)
	for i := range uint64(2) {
		v := a.Victim(i * 128)
		a.Fill(v, i*128, 0)
		a.Await(v, 1)
	}
	if v := a.Victim(512); v != None {
		t.Fatalf("victim %d of a set whose lines all wait for a fill", v)
	}
	a.Arrive(a.Find(128), 1)
	if v := a.Victim(512); a.Tag[v] != 128 {
		t.Fatalf("victim holds %d, want the line that waits for nothing", a.Tag[v])
	}
}

// A set has a victim as long as one of its lines waits for nothing, whatever has become of the others.
func TestPendingLinesAreCounted(t *testing.T) {
	const sets, ways = 3, 4
	a, _ := New(sets, ways, 128, "lru", nil)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		line := random.Uint64N(40) * 128
		i := a.Find(line)
		switch op := random.IntN(12); {
		case i == None:
			if i = a.Victim(line); i != None {
				a.Fill(i, line, 0)
				a.Await(i, 1<<random.IntN(4))
			}
		case op < 5:
			a.Await(i, 1<<random.IntN(4))
		case op < 9:
			a.Arrive(i, 1<<random.IntN(4))
		case op == 9:
			a.Drop(i)
		case op == 10:
			a.Release(i)
		case random.IntN(200) == 0:
			a.Reset()
		}
		for s := range sets {
			pending := 0
			for w := range ways {
				if a.Line[s*ways+w].Pending != 0 {
					pending++
				}
			}
			got, counted := a.Victim(uint64(s)*128), int(a.ends[s].pending)
			if (got == None) != (pending == ways) || counted != pending {
				t.Fatalf("set %d: victim %d, %d lines counted as pending, %d are", s, got, counted, pending)
			}
		}
	}
}

func BenchmarkHit(b *testing.B) {
	for _, w := range []int{16, 24, 256} {
		a, _ := New(16, w, 128, "lru", nil)
		for n := range uint64(16 * w) {
			a.Fill(a.Victim(n*128), n*128, 0)
		}
		b.Run(string(rune('0'+w/100))+"xx-ways", func(b *testing.B) {
			n := uint64(0)
			for b.Loop() {
				n += 7
				a.Use(a.Find(n % uint64(16*w) * 128))
			}
		})
	}
}

// Lines of given pages go, few pages or many, but those that wait for data.
func TestDropPages(t *testing.T) {
	for _, pages := range [][]uint64{{1}, {1, 2, 3, 5, 9}} {
		a, err := New(8, 4, 128, "lru", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []uint64{0, 512, 640, 1024} { // pages of 512 bytes: 0, 1, 1 and 2
			a.Fill(a.Victim(line), line, 0)
		}
		a.Await(a.Find(640), 1)
		a.DropPages(pages, 9)
		for line, want := range map[uint64]bool{0: true, 512: false, 640: true, 1024: len(pages) == 1} {
			if got := a.Find(line) != None; got != want {
				t.Errorf("pages %v: line %d is there: %v, want %v", pages, line, got, want)
			}
		}
	}
}

package cpu

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// cache is an LLC of 16 ways, LRU, of 1 KB a set.
type cache struct {
	tag   [][16]uint64 // line+1, most recent first
	dirty [][16]bool
}

func cacheOf(mb float64) *cache {
	n := int(mb * 1024)
	return &cache{make([][16]uint64, n), make([][16]bool, n)}
}

func (c *cache) access(l uint64, write bool) (miss, back bool) {
	set := l % uint64(len(c.tag))
	t, d := &c.tag[set], &c.dirty[set]
	w := 0
	for w < 15 && t[w] != l+1 {
		w++
	}
	if miss = t[w] != l+1; miss {
		back = t[w] != 0 && d[w]
		d[w] = false
	}
	was := d[w] || write
	copy(t[1:w+1], t[:w])
	copy(d[1:w+1], d[:w])
	t[0], d[0] = l+1, was
	return miss, back
}

// What larger caches see of a model called measured is what was measured, within 0.04 of what 2 MB see.
func TestMeasured(t *testing.T) {
	f, err := os.Open("published.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sizes := []float64{2, 7, 14, 19.25} // MB
	first := slices.Index(rows[0], "mpki_1.75")
	published := map[string]*[4]float64{} // sums over inputs
	for _, row := range rows[1:] {
		sum := published[row[0]]
		if sum == nil {
			sum = &[4]float64{}
			published[row[0]] = sum
		}
		insts, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		for i := range sizes {
			mpki, err := strconv.ParseFloat(row[first+i], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum[i] += insts * mpki
		}
	}
	if len(published) != 10 {
		t.Fatalf("%d programs", len(published))
	}
	for name, want := range published {
		m, err := Load(name + "-measured")
		if err != nil {
			t.Fatal(err)
		}
		var misses [4]float64
		for i, mb := range sizes {
			s, c := m.New(1), cacheOf(mb)
			var a Access
			for n := range 1_600_000 {
				s.Next(&a)
				if miss, _ := c.access(a.Addr/line, a.Write); miss && n >= 800_000 {
					misses[i]++
				}
			}
			if got, want := misses[i]/misses[0], want[i]/want[0]; math.Abs(got-want) > 0.04 {
				t.Errorf("%s: %g MB miss %.3f times as often as 2, measured %.3f", name, mb, got, want)
			}
		}
	}
}

// What a 2 MB cache sees of every model is what its file declares.
func TestDeclared(t *testing.T) {
	if len(Names()) != 20 {
		t.Fatalf("models: %v", Names())
	}
	for _, name := range Names() {
		m, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if kind := strings.HasSuffix(name, "-measured"); strings.HasPrefix(m.Source, "measured") != kind ||
			strings.HasPrefix(m.Source, "estimate") == kind {
			t.Errorf("%s: its source does not say what it is", name)
		}
		s, c := m.New(1), cacheOf(2)
		var a Access
		var insts, n, misses, backs, waits, visits float64
		last := uint64(math.MaxUint64)
		for i := range 600_000 {
			s.Next(&a)
			if a.Addr >= s.Bytes() || a.Addr%line != 0 {
				t.Fatalf("%s: address %x", name, a.Addr)
			}
			miss, back := c.access(a.Addr/line, a.Write)
			if a.Addr/line != last+1 || a.Addr%block == 0 {
				visits++
			}
			last = a.Addr / line
			if i < 200_000 { // the cache fills
				visits = 0
				continue
			}
			n++
			insts += float64(a.Gap)
			if miss {
				misses++
			}
			if back {
				backs++
			}
			if a.Dependent {
				waits++
			}
		}
		for _, v := range []struct {
			what           string
			got, want, tol float64
		}{
			{"MPKI", 1000 * misses / insts, m.MPKI, 0.1},
			{"writes", backs / (misses + backs), m.Writes, 0.1},
			{"lines per visit", n / visits, m.Spatial, 0.03},
			{"MLP", n / waits, m.MLP, 0.03},
		} {
			if math.Abs(v.got-v.want) > v.tol*v.want {
				t.Errorf("%s: %s is %.3f, declared %.3f", name, v.what, v.got, v.want)
			}
		}
	}
}

// The same seed gives the same stream, another one does not; nothing is allocated.
func TestStream(t *testing.T) {
	m, err := Load("mcf")
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := m.New(1), m.New(1), m.New(2)
	var x, y, z Access
	differ := 0
	for range 1000 {
		a.Next(&x)
		b.Next(&y)
		c.Next(&z)
		if x != y {
			t.Fatalf("%+v and %+v from one seed", x, y)
		}
		if x != z {
			differ++
		}
	}
	if differ < 900 {
		t.Errorf("two seeds differ in %d of 1000", differ)
	}
	if n := testing.AllocsPerRun(1000, func() { a.Next(&x) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func FuzzParse(f *testing.F) {
	src, err := shipped.ReadFile("lbm.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(src)
	f.Add(append([]byte("# one\n"), src...))
	f.Fuzz(func(t *testing.T, src []byte) {
		if m, err := Parse("f", src); (m == nil) == (err == nil) {
			t.Fatalf("%v, %v", m, err)
		}
	})
}

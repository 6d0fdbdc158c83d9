package vm

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/mem"

	"pgregory.net/rapid"
)

// model is a TLB as a list, most recent first, per set.
type model struct {
	sets [][][2]uint64
	ways int
}

func (m *model) find(k uint64) (set, i int) {
	set = int(k >> 8 % uint64(len(m.sets)))
	return set, slices.IndexFunc(m.sets[set], func(e [2]uint64) bool { return e[0] == k })
}

func (m *model) lookup(k uint64) (uint64, bool) {
	s, i := m.find(k)
	if i < 0 {
		return 0, false
	}
	e := m.sets[s][i]
	m.sets[s] = slices.Insert(slices.Delete(m.sets[s], i, i+1), 0, e)
	return e[1], true
}

func (m *model) insert(k, v uint64) {
	s, i := m.find(k)
	if i >= 0 {
		m.sets[s] = slices.Delete(m.sets[s], i, i+1)
	} else if len(m.sets[s]) == m.ways {
		m.sets[s] = m.sets[s][:m.ways-1]
	}
	m.sets[s] = slices.Insert(m.sets[s], 0, [2]uint64{k, v})
}

func TestTLBAgainstList(t *testing.T) {
	for _, c := range []struct{ entries, ways int }{{64, 0}, {8, 0}, {48, 16}, {32, 4}, {24, 8}, {1, 0}} {
		t.Run(fmt.Sprintf("%dx%d", c.entries, c.ways), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				tlb, err := NewTLB(c.entries, c.ways)
				if err != nil {
					t.Fatal(err)
				}
				ways := c.ways
				if ways == 0 {
					ways = c.entries
				}
				m := &model{sets: make([][][2]uint64, c.entries/ways), ways: ways}
				pages := uint64(c.entries + c.entries/2 + 2)
				for i := range 300 {
					op := rapid.IntRange(0, 20).Draw(t, "op")
					tenant := mem.TenantID(rapid.IntRange(0, 1).Draw(t, "tenant"))
					vpn := rapid.Uint64Range(0, pages).Draw(t, "page")
					k := pageKey(tenant, vpn)
					switch {
					case op < 10:
						p, ok := tlb.Lookup(tenant, vpn)
						if q, want := m.lookup(k); ok != want || p != q {
							t.Fatalf("lookup of %d/%d: %d %v, want %d %v", tenant, vpn, p, ok, q, want)
						}
					case op < 18:
						tlb.Insert(tenant, vpn, uint64(i))
						m.insert(k, uint64(i))
					case op < 20:
						s, i := m.find(k)
						if got := tlb.InvalidatePage(tenant, vpn); got != (i >= 0) {
							t.Fatalf("invalidation of %d/%d says %v", tenant, vpn, got)
						}
						if i >= 0 {
							m.sets[s] = slices.Delete(m.sets[s], i, i+1)
						}
					default:
						n := 0
						for s := range m.sets {
							m.sets[s] = slices.DeleteFunc(m.sets[s], func(e [2]uint64) bool {
								gone := mem.TenantID(e[0]) == tenant
								if gone {
									n++
								}
								return gone
							})
						}
						if got := tlb.InvalidateTenant(tenant); got != n {
							t.Fatalf("%d translations of tenant %d dropped, want %d", got, tenant, n)
						}
					}
				}
			})
		})
	}
}

// TestOwnGroups: pages and table nodes of a tenant lie in its groups, whatever
// the policy.
func TestOwnGroups(t *testing.T) {
	for _, policy := range []string{"round-robin", "least", "least-random", "first-touch", "lab", "lab-lowest"} {
		s := sheet(4096)
		s.VM.Placement, s.VM.LABThreshold = policy, 0.9
		tab := tables(t, s, 2)
		own := [][]int{{1, 4, 6}, {0, 7}}
		for tenant := range mem.TenantID(2) {
			if err := tab.SetGroups(tenant, own[tenant]); err != nil {
				t.Fatal(err)
			}
			mustMap(t, tab, tenant, base, 7<<20)
			var walk []uint64
			for vpn := page4k(0); vpn < page4k(7<<8); vpn++ {
				walk = tab.pt[tenant].Walk(vpn, append(walk[:0], frameOf(t, tab, tenant, vpn)<<12))
				for _, a := range walk {
					if g := tab.frames.Pool(a >> 12); !slices.Contains(own[tenant], g) {
						t.Fatalf("%s: tenant %d has address %#x in group %d", policy, tenant, a, g)
					}
				}
			}
			for _, g := range own[tenant] {
				if n, mean := tab.Pages(tenant, g), 7<<8/len(own[tenant]); n < mean-8 || n > mean+8 {
					t.Errorf("%s: tenant %d has %d pages in group %d, %d would be even", policy, tenant, n, g, mean)
				}
			}
		}
	}
	tab := tables(t, sheet(4096), 1)
	for _, bad := range [][]int{nil, {8}, {-1}, {2, 2}} {
		if tab.SetGroups(0, bad) == nil {
			t.Errorf("groups %v gave no error", bad)
		}
	}
}

// TestRegions maps, frees and moves overlapping-page regions at random and checks
// against a plain count of regions per page. In the end every frame is back.
func TestRegions(t *testing.T) {
	for _, page := range []int{4096, 2 << 20} {
		rapid.Check(t, func(rt *rapid.T) {
			tab := tables(t, sheet(page), 2)
			total := 0
			for p := range tab.frames.Pools() {
				total += tab.frames.Free(p)
			}
			type region struct {
				tenant      mem.TenantID
				base, bytes uint64
			}
			var live []region
			next := [2]uint64{base, base}
			for range 40 {
				tenant := mem.TenantID(rapid.IntRange(0, 1).Draw(rt, "tenant"))
				switch op := rapid.IntRange(0, 9).Draw(rt, "op"); {
				case op < 5:
					r := region{tenant, next[tenant], (uint64(rapid.IntRange(1, 3*page).Draw(rt, "bytes")) +
						255) &^ 255}
					var err error
					if op < 3 {
						err = tab.MapRegion(r.tenant, r.base, r.bytes)
					} else {
						err = tab.Reserve(r.tenant, r.base, r.bytes)
					}
					if err != nil {
						rt.Skip(err) // out of frames with 2 MB pages
					}
					next[tenant] += r.bytes
					live = append(live, r)
				case len(live) > 0:
					i := rapid.IntRange(0, len(live)-1).Draw(rt, "region")
					r := live[i]
					if op < 8 {
						tab.Unmap(r.tenant, r.base, r.bytes)
						live = slices.Delete(live, i, i+1)
					} else {
						tab.UnmapToHost(r.tenant, r.base, r.bytes)
					}
				}
			}
			frames := map[uint64]bool{}
			for tenant := range mem.TenantID(2) {
				for vpn := uint64(base) >> tab.bits; vpn <= next[tenant]>>tab.bits; vpn++ {
					covered := slices.ContainsFunc(live, func(r region) bool {
						first, end := tab.pageRange(r.base, r.bytes)
						return r.tenant == tenant && first <= vpn && vpn < end
					})
					ppn, s := tab.Lookup(tenant, vpn)
					if covered != (s != Absent) {
						rt.Fatalf("tenant %d page %#x is %v, covered: %v", tenant, vpn, s, covered)
					}
					if s == Resident {
						if frames[ppn] {
							rt.Fatalf("frame %#x is used twice", ppn)
						}
						frames[ppn] = true
					}
				}
			}
			tab.ReleaseTenant(0)
			tab.ReleaseTenant(1)
			for p := range tab.frames.Pools() {
				total -= tab.frames.Free(p)
			}
			if total != 0 || tab.Pages(0, 0) != 0 {
				rt.Fatalf("%d frames were lost", total)
			}
		})
	}
}

func TestMovePage(t *testing.T) {
	tab := tables(t, sheet(4096), 1)
	mustMap(t, tab, 0, base, 4096)
	shot := 0
	tab.Shootdown = func(mem.TenantID, uint64) { shot++ }
	id, err := tab.BeginMove(0, page4k(0), 1<<5)
	if err != nil {
		t.Fatal(err)
	}
	m := *tab.MoveOf(id)
	if _, s := tab.Lookup(0, page4k(0)); s != Moving || tab.frames.Pool(m.To) != 5 || m.From == m.To || shot != 1 {
		t.Errorf("state %v, move %+v, %d shootdowns", s, m, shot)
	}
	if _, err := tab.BeginMove(0, page4k(0), 1<<6); err == nil {
		t.Error("a page moves twice at once")
	}
	tab.EndMove(id)
	if frameOf(t, tab, 0, page4k(0)) != m.To {
		t.Error("the page is not where it moved")
	}
	if _, err := tab.BeginMove(0, page4k(1), 1<<5); err == nil {
		t.Error("an absent page moved")
	}
}

func BenchmarkTLB(b *testing.B) {
	for _, c := range []struct{ entries, ways, pages int }{
		{64, 0, 48},
		{64, 0, 1},
		{512, 0, 400},
		{512, 0, 700},
		{512, 16, 400},
	} {
		b.Run(fmt.Sprintf("%dx%d-%dpages", c.entries, c.ways, c.pages), func(b *testing.B) {
			tlb, err := NewTLB(c.entries, c.ways)
			if err != nil {
				b.Fatal(err)
			}
			x := uint64(1)
			for range b.N {
				x = x*6364136223846793005 + 1442695040888963407
				p := x >> 40 % uint64(c.pages)
				if _, ok := tlb.Lookup(0, p); !ok {
					tlb.Insert(0, p, p)
				}
			}
		})
	}
}

package sim

import (
	"strings"
	"testing"
)

// What CUDA's text says of each advice, counted in pages. A vector is vectorPages pages; kernels read a and b and
// write c.
func TestAdvice(t *testing.T) {
	const lines = vectorPages * 4096 / 128
	const launch = `
    launch(k, grid = (n + 255) // 256, block = 256, args = [a, b, c, n])
    device_synchronize()`
	for _, c := range []struct {
		name, before string
		capacity     string
		runtime      string
		want         map[string]uint64
	}{
		{
			// The device gets copies; the host reads its own.
			"copies", `    mem_advise(a, read_mostly)` + launch + `
    print(a[0], a[n - 1])`, "", "",
			map[string]uint64{"migrated_pages": 3 * vectorPages, "duplicated_pages": vectorPages, "returned_pages": 1},
		},
		{
			// Copies that are evicted cross no link, although everything else is written back.
			"evicted", `    mem_advise(a, read_mostly)
    mem_advise(b, read_mostly)` + launch + `
    prefetch_async(c)`, "458752", "", // 112 pages
			map[string]uint64{"written_pages": 0},
		},
		{
			// The host writes: the device's copies are void, and it gets new ones.
			"written by the host", `    mem_advise(a, read_mostly)` + launch + `
    a.random(seed = 3, lo = -1, hi = 1)`, "", "",
			map[string]uint64{
				"migrated_pages": 4 * vectorPages, "duplicated_pages": 2 * vectorPages, "voided_pages": vectorPages,
				"returned_pages": 1,
			},
		},
		{
			// The device writes: it is the only one with the page. The host reads: it has a copy again, and the
			// device still has the page.
			"written by the device", `    mem_advise(c, read_mostly)
    prefetch_async(c)` + launch + `
    print(c[0])`, "", "",
			map[string]uint64{
				"migrated_pages": 3 * vectorPages, "duplicated_pages": vectorPages, "collapsed_pages": vectorPages + 1,
				"returned_pages": 0, "copied_pages": 2,
			},
		},
		{
			// The host is where the pages are to be: the device is mapped to each when it faults.
			"preferred on the host", `    mem_advise(a, "preferred_location", to = host)` + launch, "", "driver-today",
			map[string]uint64{
				"migrated_pages": 2 * vectorPages, "link.remotes": 2 * lines, "pins": 0, "returned_pages": 1,
			},
		},
		{
			// So it is where the device writes.
			"written on the host", `    mem_advise(c, "preferred_location", to = host)`, "", "driver-today",
			map[string]uint64{"migrated_pages": 2 * vectorPages, "link.remotes": lines, "returned_pages": 0},
		},
		{
			// Mapped before it faults.
			"accessed by", `    mem_advise(a, "preferred_location", to = host)
    mem_advise(a, "accessed_by", to = device)
    prefetch_async(b)
    prefetch_async(c)`, "", "",
			map[string]uint64{"migrated_pages": 2 * vectorPages, "link.remotes": lines, "faults": 0},
		},
		{
			"taken back", `    mem_advise(a, read_mostly)
    mem_advise(b, accessed_by_device)
    mem_advise(c, "preferred_location", to = host)
    mem_advise(a, unset_read_mostly)
    mem_advise(b, unset_accessed_by)
    mem_advise(c, unset_preferred_location)`, "", "",
			map[string]uint64{
				"migrated_pages": 3 * vectorPages, "duplicated_pages": 0, "link.remotes": 0, "returned_pages": 1,
			},
		},
	} {
		s := vectors(t, "malloc_managed", c.before)
		s.Sharing.Memory.Unified.Capacity, s.Sharing.Memory.Unified.Runtime = c.capacity, c.runtime
		if c.capacity != "" {
			s.Sharing.Memory.Unified.Evict = "lru4k"
		}
		r := right(t, &s)
		n := totals(r, "uvm")
		n["link.remotes"] = totals(r, "link")["remotes"]
		for name, want := range c.want {
			if c.name == "evicted" && name == "written_pages" { // c's alone
				if n[name] == 0 || n[name] > 3*vectorPages || n["evicted_pages"] < n[name]+vectorPages {
					t.Errorf("%s: %v", c.name, n)
				}
				continue
			}
			if n[name] != want {
				t.Errorf("%s: %d %s, want %d: %v", c.name, n[name], name, want, n)
			}
		}
		if len(r.Warnings) > 0 {
			t.Errorf("%s: %q", c.name, r.Warnings)
		}
	}
}

// An advice that steers nothing says so, with what to do.
func TestIdleAdvice(t *testing.T) {
	for _, c := range []struct {
		machine, a string
		unified    Unified
		want       string
	}{
		{"uvm", "malloc_managed", Unified{}, "add memory: {unified:"},
		{"qv100", "malloc_managed", Unified{}, "add memory: {unified:"}, // which sets what qv100 lacks
		{"uvm", "malloc", Unified{All: true}, ""},
		{"uvm", "malloc", Unified{Prefetch: "tbn"}, "device memory"},
	} {
		s := vectors(t, c.a, `    mem_advise(a, read_mostly)
    mem_advise(a, read_mostly)`)
		s.Machine, s.Sharing.Memory.Unified = c.machine, c.unified
		r, err := Run(t.Context(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, w := range r.Warnings {
			if strings.HasPrefix(w, "mem_advise(") {
				n++
				if c.want == "" || !strings.Contains(w, c.want) || !strings.Contains(w, "read_mostly") {
					t.Errorf("%s, %s: %s", c.machine, c.a, w)
				}
			}
		}
		if n > 1 || n == 0 != (c.want == "") {
			t.Errorf("%s, %s: %d of %q", c.machine, c.a, n, r.Warnings)
		}
	}
}

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

// An advice that has no effect says so once, with why and what to do.
func TestIdleAdvice(t *testing.T) {
	const twice = `    mem_advise(a, read_mostly)
    mem_advise(a, read_mostly)`
	const host, dev, mapped = "    mem_advise(a, prefer_host)\n", "    mem_advise(a, prefer_device)\n",
		"    mem_advise(a, accessed_by_device)\n"
	const launch = `
    launch(k, grid = (n + 255) // 256, block = 256, args = [a, b, c, n])
    device_synchronize()
`
	for _, c := range []struct {
		name, machine, a, before string
		unified                  Unified
		advice, want             string
	}{
		{"no unified memory", "uvm", "malloc_managed", twice, Unified{}, "read_mostly", "add memory: {unified:"},
		{
			"which sets what qv100 lacks", "qv100", "malloc_managed", twice,
			Unified{},
			"read_mostly", "add memory: {unified:",
		},
		{"all: true", "uvm", "malloc", twice, Unified{All: true}, "", ""},
		{"plain memory", "uvm", "malloc", twice, Unified{Prefetch: "tbn"}, "read_mostly", "device memory"},
		{"soft pin", "uvm", "malloc_managed", host, Unified{}.with("dissertation", ""), "prefer_host", "higher ts"},
		{
			"soft pin, public", "uvm", "malloc_managed", host,
			Unified{}.with("uvmsmart-compat", ""), "prefer_host", "runtime: uvmsmart-compat",
		},
		{
			"as the rule has it", "uvm", "malloc_managed", host,
			Unified{}.with("dissertation", "always"), "prefer_host", "migrate: always",
		},
		{"a pin of many accesses", "uvm", "malloc_managed", host, Unified{Ts: 1000}, "", ""},
		{"as the driver has it", "uvm", "malloc_managed", host, Unified{}.with("driver-today", ""), "", ""},
		{
			"at first touch anyway", "uvm", "malloc_managed", dev,
			Unified{}.with("dissertation", ""), "prefer_device", "migrate: first-touch",
		},
		{
			"and in the driver", "uvm", "malloc_managed", dev,
			Unified{}.with("driver-today", ""), "prefer_device", "migrate: first-touch",
		},
		{"earlier", "uvm", "malloc_managed", dev, Unified{Migrate: "always", Ts: 1000}, "", ""},
		{"not earlier", "uvm", "malloc_managed", dev, Unified{Migrate: "always"}, "prefer_device", "migrate: always"},
		{"mapped", "uvm", "malloc_managed", mapped, Unified{}.with("dissertation", ""), "", ""},
		{"mapped and preferred", "uvm", "malloc_managed", host + mapped, Unified{}.with("dissertation", ""), "", ""},
		{
			"overridden", "uvm", "malloc_managed", dev + mapped,
			Unified{}.with("dissertation", ""), "prefer_device", "goes before it",
		},
		{
			"taken back late", "uvm", "malloc_managed", dev + launch + "    mem_advise(a, unset_preferred_location)\n",
			Unified{}.with("dissertation", ""), "prefer_device", "migrate: first-touch",
		},
		{
			"nothing to take back", "uvm", "malloc_managed", "    mem_advise(a, unset_read_mostly)\n",
			Unified{}.with("dissertation", ""), "unset_read_mostly", "no such advice",
		},
		{
			"there already", "uvm", "malloc_managed", "    prefetch_async(a)\n" + launch + twice,
			Unified{}.with("dissertation", ""), "read_mostly", "before they come",
		},
		{
			"written", "uvm", "malloc_managed", "    mem_advise(c, read_mostly)\n",
			Unified{}.with("dissertation", ""), "", "",
		}, // the host reads it
		{
			"not used", "uvm", "malloc_managed",
			launch + "    x = malloc_managed(f32, n)\n    mem_advise(x, prefer_host)\n",
			Unified{}.with("driver-today", ""), "prefer_host", "no kernel used alloc",
		},
	} {
		s := vectors(t, c.a, c.before)
		s.Machine, s.Sharing.Memory.Unified = c.machine, c.unified
		r, err := Run(t.Context(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, w := range r.Warnings {
			if strings.HasPrefix(w, "mem_advise(") {
				n++
				if c.want == "" || !strings.Contains(w, c.want) || !strings.Contains(w, ", "+c.advice+")") {
					t.Errorf("%s: %s", c.name, w)
				}
			}
		}
		if n > 1 || n == 0 != (c.want == "") {
			t.Errorf("%s: %d of %q", c.name, n, r.Warnings)
		}
	}
}

// with is unified memory under a runtime and a rule of migration.
func (u Unified) with(runtime, migrate string) Unified {
	u.Runtime, u.Migrate = runtime, migrate
	return u
}

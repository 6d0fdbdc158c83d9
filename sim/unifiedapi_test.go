package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	hostlink "github.com/heddle-sim/heddle/machine/link"
	"github.com/heddle-sim/heddle/machine/uvm"
)

// vectors is a host program that adds two vectors of n floats, with what each allocation is and what
// is said of it beforehand.
func vectors(t *testing.T, a, before string) Spec {
	t.Helper()
	dir := t.TempDir()
	ptx, err := os.ReadFile("../apps/micro/vecadd/kernel.ptx")
	if err != nil {
		t.Fatal(err)
	}
	script := `
def main(n = 65536):
    k = module("kernel.ptx").kernel("vecadd")
    a = ` + a + `(f32, n)
    b, c = malloc_managed(f32, n), malloc_managed(f32, n)
    a.random(seed = 1, lo = -1, hi = 1)
    b.random(seed = 2, lo = -1, hi = 1)
` + before + `
    launch(k, grid = (n + 255) // 256, block = 256, args = [a, b, c, n])
    device_synchronize()
    check(c, reference("micro_vecadd", a, b))
    print(c[0])
`
	for name, text := range map[string][]byte{"app.star": []byte(script), "kernel.ptx": ptx} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := unifiedSpec(Unified{Prefetch: "tbn"})
	s.Apps = []App{{Name: "vectors", Path: dir}}
	return s
}

// vectorPages is the pages of a vector: 256 KB.
const vectorPages = 64

// What CUDA says of each kind of memory, counted in pages and accesses.
func TestUnifiedAPI(t *testing.T) {
	const lines = vectorPages * 4096 / 128
	for _, c := range []struct {
		name, a, before            string
		migrated, returned, remote uint64
		faults                     bool
	}{
		{"managed", "malloc_managed", "", 3 * vectorPages, 1, 0, true},
		{"pinned", "malloc_managed", `    mem_advise(a, "accessed_by", to = device)`, 2 * vectorPages, 1, lines, true},
		{"registered", "host_array", `    host_register(a)`, 2 * vectorPages, 1, lines, true},
		{
			"prefetched", "malloc_managed", `
    prefetch_async(a, to = device)
    prefetch_async(b, to = device)
    prefetch_async(c, to = device)`, 3 * vectorPages, 1, 0, false,
		},
		{
			"back again", "malloc_managed", `
    prefetch_async(a, to = device)
    prefetch_async(a, to = host)`, 4 * vectorPages, vectorPages + 1, 0, true,
		},
	} {
		s := vectors(t, c.a, c.before)
		r := right(t, &s)
		n, link := totals(r, "uvm"), totals(r, "link")
		returned := n["returned_pages"]
		if n["migrated_pages"] != c.migrated || returned != c.returned || link["remotes"] != c.remote ||
			n["faults"] > 0 != c.faults {
			t.Errorf("%s: %v, %v", c.name, n, link)
		}
		if link["bytes"] != 4096*(n["migrated_pages"]+n["returned_pages"]) {
			t.Errorf("%s: %d bytes on the link for %v", c.name, link["bytes"], n)
		}
	}
}

// A soft pin delays migration: six accesses of a block are served on the host, of eight the last
// brings it, and those that wait with it are served on the device.
func TestSoftPin(t *testing.T) {
	for n, want := range map[string][2]uint64{"192": {2 * 16, 6}, "256": {3 * 16, 0}} {
		s := vectors(t, "malloc_managed", `    mem_advise(a, "preferred_location", to = host)`)
		s.Apps[0].Args = map[string]string{"n": n}
		r := right(t, &s)
		n, link := totals(r, "uvm"), totals(r, "link")
		if got := [2]uint64{n["migrated_pages"], link["remotes"]}; got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// One fault on an idle machine, cycle by cycle: the driver hears of it at the next microsecond, handles
// it for 45 us, and the link carries 4 KB in 2605 cycles, and its latency of 100.
func TestOneFault(t *testing.T) {
	s := vectors(t, "malloc_managed", "    prefetch_async(b, to = device)\n    prefetch_async(c, to = device)")
	s.Sharing.Memory.Unified = Unified{Prefetch: "none"}
	s.Apps[0].Args = map[string]string{"n": "32"}
	s.Timeline = true
	r := right(t, &s)
	var driver, link Span
	for _, x := range r.Spans {
		switch {
		case x.Track == "unified memory/driver":
			driver = x
		case x.Track == "unified memory/to the device" && driver.End > 0:
			link = x
		}
	}
	const us = 1481
	if driver.Start%us != 0 || driver.End-driver.Start != 45*us || driver.Name != "1 faults" {
		t.Errorf("the driver: %+v", driver)
	}
	if late := link.End - link.Start - 2605 - 100; link.Start != driver.End || late > 500 || link.Name != "4 KB" {
		t.Errorf("the link: %+v, after %+v", link, driver)
	}
}

// Under the public simulator's set a page that faults takes the link for the 45 us of its handling,
// and nothing but the link: two of them do so one after the other.
func TestFaultsOnLink(t *testing.T) {
	s := vectors(t, "malloc_managed", "    prefetch_async(c, to = device)")
	s.Sharing.Memory.Unified = Unified{Runtime: "uvmsmart-compat", Prefetch: "none"}
	s.Apps[0].Args = map[string]string{"n": "32"}
	s.Timeline = true
	r := right(t, &s)
	var came []Span
	for _, x := range r.Spans {
		if x.Track == "unified memory/to the device" {
			came = append(came, x)
		}
	}
	const us = 1481
	if len(came) != 3 {
		t.Fatalf("%d transfers, want one that is asked for and two pages that fault", len(came))
	}
	for _, x := range came[1:] {
		if late := x.End - x.Start - 45*us - 2605 - 100; late > 500 {
			t.Errorf("%+v takes %d cycles, late by %d", x, x.End-x.Start, late)
		}
	}
	if gap := came[2].Start - (came[1].Start + 45*us + 2605); gap > 500 {
		t.Errorf("the second begins %d cycles after the first has the link no more", int64(gap))
	}
	if n := totals(r, "uvm"); n["driver_cycles"] > n["batches"] {
		t.Errorf("the driver was busy: %v", n)
	}
}

// A set of policies is what its name says, and what is named besides comes before it.
func TestRuntimes(t *testing.T) {
	for with, want := range map[Unified]uvm.Options{
		{All: true}:                               {Prefetch: "tbn", Evict: "lru2m"},
		{Runtime: "driver-today"}:                 {Prefetch: "driver-today", Evict: "driver-today"},
		{Runtime: "driver-today", Evict: "tbn"}:   {Prefetch: "driver-today", Evict: "tbn"},
		{Runtime: "uvmsmart-compat"}:              {Prefetch: "tbn", Evict: "lru2m"},
		{Runtime: "uvmsmart-compat", Smart: true}: {Smart: true, Together: true},
	} {
		o, err := with.options(0)
		if err != nil || o.Prefetch != want.Prefetch || o.Evict != want.Evict || o.Together != want.Together ||
			o.Smart != want.Smart || o.FaultsOnLink != (with.Runtime == "uvmsmart-compat") {
			t.Errorf("%+v: %+v, %v; want %+v", with, o, err, want)
		}
	}
	_, err := (&Unified{Runtime: "driver"}).options(0)
	if err == nil || !strings.Contains(err.Error(), "driver-today") {
		t.Errorf("an unknown set: %v", err)
	}
}

// Faults for which there is no room are looked at again every quantum, also where faults are planned for
// as they come.
func TestFaultsOnLinkWait(t *testing.T) {
	s := unifiedSpec(Unified{Runtime: "uvmsmart-compat", All: true, Capacity: "65536"}, "micro/triad")
	r := right(t, &s)
	n := totals(r, "uvm")
	if quanta := r.Cycles/1481 + 1; n["deferred"] == 0 || n["batches"] > n["faults"]+quanta {
		t.Errorf("%d faults, %d put off, in %d batches; there are %d quanta", n["faults"], n["deferred"], n["batches"],
			quanta)
	}
}

// Kernels and the host take a page from each other: today's driver has the kernels wait 500 us from the third
// time within as long on, ten times, and then maps them to the host; a machine without throttling moves the page
// every time.
func TestThrottledPage(t *testing.T) {
	const rounds = 16
	run := func(runtime string) (r *Result, n, link map[string]uint64) {
		s := vectors(t, "malloc_managed", `
    for i in range(`+fmt.Sprint(rounds-1)+`):
        launch(k, grid = (n + 255) // 256, block = 256, args = [a, b, c, n])
        device_synchronize()
        print(a[0])`)
		s.Apps[0].Args = map[string]string{"n": "1024"}
		s.Sharing.Memory.Unified = Unified{Runtime: runtime}
		r = right(t, &s)
		return r, totals(r, "uvm"), totals(r, "link")
	}
	base, n, link := run("dissertation")
	if n["throttles"] != 0 || n["pins"] != 0 || link["remotes"] != 0 || n["returned_pages"] != rounds {
		t.Errorf("without throttling: %v, %v", n, link)
	}
	// The kernels take it twice before it thrashes and ten times after a lapse; the host as often, and the result.
	r, n, link := run("driver-today")
	if n["throttles"] != 10 || n["pins"] != 1 || n["returned_pages"] != 13 ||
		link["remotes"] != (rounds-12)*4096/128 {
		t.Errorf("%v, %v", n, link)
	}
	const lapse = 500 * 1481
	if late := r.Cycles - base.Cycles; late < 9*lapse || late > 11*lapse {
		t.Errorf("%d cycles with throttling, %d without", r.Cycles, base.Cycles)
	}
}

// Copies of a program and pages that fault share the link: the first pages wait for the megabyte before them. Bytes of
// pages are counted apart.
func TestCopyBeforePages(t *testing.T) {
	wait := func(before string) (cycles uint64, link map[string]uint64) {
		s := vectors(t, "malloc_managed", before+`
    launch(k, grid = n // 256, block = 256, args = [a, b, c, n], stream = stream())`)
		s.Apps[0].Args = map[string]string{"n": "1024"}
		r := right(t, &s)
		n, link := totals(r, "uvm"), totals(r, "link")
		if link["bytes"] != 4096*(n["migrated_pages"]+n["returned_pages"]) {
			t.Errorf("%d bytes of pages on the link for %v", link["bytes"], n)
		}
		return link["wait_cycles"], link
	}
	alone, _ := wait("")
	both, link := wait(`
    d, h = malloc(f32, 262144), host_array(f32, 262144)
    d.copy_from(h, stream = stream())`)
	// The copy takes 82.1 us, the driver 45 and up to 2 until it hears of two pages, which come with the rest of
	// their blocks: four transfers.
	const us, transfers = 1481, 4
	if late := both - alone; late < transfers*35*us || late > transfers*37*us {
		t.Errorf("the pages wait for %d cycles longer", late)
	}
	if link["copies"] != 1 || link["copy_bytes"] != 1<<20 || link["copy_lines"] == 0 {
		t.Errorf("%v", link)
	}
}

// Under the public simulator's set each access that finds no translation of a page that stays on the host takes the
// link for 200 cycles, and then is one to the device's caches; the text's set has each access go to the host.
func TestZeroCopyLooksLocal(t *testing.T) {
	pinned := func(u Unified, remote, n string) (r *Result, link map[string]uint64) {
		s := vectors(t, "malloc_managed", `    mem_advise(a, "accessed_by", to = device)
    prefetch_async(b, to = device)
    prefetch_async(c, to = device)`)
		s.Sharing.Memory.Unified = u
		s.Set = map[string]string{"uvm.remote": remote}
		s.Apps[0].Args = map[string]string{"n": n}
		r = right(t, &s)
		return r, totals(r, "link")
	}
	compat := Unified{Runtime: "uvmsmart-compat"}
	base, link := pinned(compat, "200", "32")
	busy := link["busy_cycles"]
	if link["remotes"] != 1 || link["remote_bytes"] != 128 {
		t.Errorf("one access: %v", link)
	}
	late, link := pinned(compat, "1200", "32")
	if late.Cycles-base.Cycles != 1000 || link["busy_cycles"]-busy != 1000 {
		t.Errorf("1000 cycles more on the link make %d cycles, and the link busy for %d more", late.Cycles-base.Cycles,
			link["busy_cycles"]-busy)
	}
	// A page of four CTAs on four SMs, 32 lines: walks at the same time are one, and no line has a translation yet.
	if _, link = pinned(compat, "200", "1024"); link["remotes"] != 32 {
		t.Errorf("four SMs that use one page: %v", link)
	}
	if _, link = pinned(Unified{Runtime: "dissertation"}, "200", "1024"); link["remotes"] != 32 {
		t.Errorf("the text's set: %v", link)
	}
}

// Under the public simulator's set the threshold of migration is asked at the end of a walk: 32 accesses of a block
// of one page have been counted by then, and one of another, and bring both. One alone is served on the host.
func TestThresholdAtEndOfWalk(t *testing.T) {
	for n, want := range map[string]uint64{"32": 1, "1056": 0} {
		s := vectors(t, "malloc_managed", `    prefetch_async(b, to = device)
    prefetch_async(c, to = device)`)
		s.Sharing.Memory.Unified = Unified{Runtime: "uvmsmart-compat", Migrate: "always", Ts: 8}
		s.Apps[0].Args = map[string]string{"n": n}
		if got := totals(right(t, &s), "link")["remotes"]; got != want {
			t.Errorf("%s floats: %d accesses are served on the host, want %d", n, got, want)
		}
	}
}

// Under the public simulator's set a copy of 2 MB has half the bandwidth, one of less all of it.
func TestLargeCopies(t *testing.T) {
	busy := func(runtime string, words int) uint64 {
		s := vectors(t, "malloc_managed", fmt.Sprintf(`
    d, h = malloc(f32, %d), host_array(f32, %d)
    d.copy_from(h)`, words, words))
		s.Sharing.Memory.Unified = Unified{Runtime: runtime, Prefetch: "none"}
		s.Set = map[string]string{"uvm.fault": "0"}
		s.Apps[0].Args = map[string]string{"n": "32"}
		return totals(right(t, &s), "link")["busy_cycles"]
	}
	const small, large = 262144, 524288 // words of 1 and of 2 MB
	if a, b := busy("dissertation", small), busy("uvmsmart-compat", small); a != b {
		t.Errorf("1 MB: %d cycles, %d in the text's set", b, a)
	}
	// 2 MB at 11.949 units of 2^30 bytes/s: 242,080 cycles of 1481 MHz, and once more.
	if a, b := busy("dissertation", large), busy("uvmsmart-compat", large); b-a != 242080 {
		t.Errorf("2 MB: %d cycles more", int64(b-a))
	}
}

// Memory is full and the page that comes needs the frame of one that leaves: in the public simulator it has it when the
// write-back begins, and the two are on the link at the same time; else when the last line has been read.
func TestFrameOfLeavingPage(t *testing.T) {
	var offsets []int
	for o := 4096; o <= 16*4096; o += 4096 {
		offsets = append(offsets, o)
	}
	for runtime, early := range map[string]bool{"dissertation": false, "uvmsmart-compat": true} {
		s := walk(2*block, Unified{Runtime: runtime, Prefetch: "none", Evict: "lru4k", Capacity: "65536"}, offsets...)
		s.Set = map[string]string{"uvm.fault": "0"}
		var in, out []Span
		for _, x := range right(t, &s).Spans {
			switch x.Track {
			case "unified memory/to the device":
				in = append(in, x)
			case "unified memory/to the host":
				out = append(out, x)
			}
		}
		if len(in) != 17 || len(out) == 0 {
			t.Fatalf("%s: %d pages come, %d leave", runtime, len(in), len(out))
		}
		// 4 KB take 2605 cycles.
		if late := int64(in[16].Start - out[0].Start); early != (late < 10) || !early && late < 2500 {
			t.Errorf("%s: the page comes %d cycles after the other begins to leave", runtime, late)
		}
	}
}

// device_synchronize, and no other wait, has the public simulator's set count accesses anew: seven of a block before
// it and seven of another page behind it do not bring the block, as fourteen without it do.
func TestSynchronizeCounts(t *testing.T) {
	for wait, want := range map[string]uint64{"    device_synchronize()": 0, "    print(c[0])": block / uvm.PageSize} {
		s := vectors(t, "malloc_managed", `    x = malloc_managed(f32, 2048)
    x.fill(1)
    mem_advise(x, "preferred_location", to = host)
    launch(k, grid = 1, block = 224, args = [x.slice(1024), b, c, 224])
`+wait+`
    launch(k, grid = 1, block = 224, args = [x, b, c, 224])`)
		s.Sharing.Memory.Unified = Unified{Runtime: "uvmsmart-compat"}
		s.Apps[0].Args = map[string]string{"n": "224"}
		if m := right(t, &s).Managed; len(m) != 4 || m[3].Migrated != want {
			t.Errorf("%s: %+v", wait, m)
		}
	}
}

// device_synchronize of the public simulator's set brings what a kernel has written back to the host, and nothing
// else: 256 KB in transfers of 4, 60, 4, 60, 4 and 124 KB, one behind the other on the link, before the program goes
// on. A second kernel, which finds the other two vectors, has 64 pages come again. In the text's
// set pages stay, but for the one that the program looks at.
func TestSynchronizeWritesBack(t *testing.T) {
	const sizes = "4 KB, 60 KB, 4 KB, 60 KB, 4 KB, 124 KB, "
	for runtime, want := range map[string]string{"dissertation": "4 KB, ", "uvmsmart-compat": sizes + sizes} {
		s := vectors(t, "malloc_managed", `    launch(k, grid = (n + 255) // 256, block = 256, args = [a, b, c, n])
    device_synchronize()`)
		s.Sharing.Memory.Unified = Unified{Runtime: runtime, Prefetch: "sl"}
		s.Timeline = true
		r := right(t, &s)
		var got string
		var out []Span
		for _, x := range r.Spans {
			if x.Track == "unified memory/to the host" {
				got += x.Name + ", "
				out = append(out, x)
			}
		}
		n := totals(r, "uvm")
		if bytes := totals(r, "link")["bytes"]; got != want || n["written_pages"]+n["evicted_pages"] != 0 ||
			bytes != uvm.PageSize*(n["migrated_pages"]+n["returned_pages"]) {
			t.Errorf("%s: %s\n%v, %d bytes on the link", runtime, got, n, bytes)
		}
		if runtime == "dissertation" {
			continue
		}
		if n["migrated_pages"] != 4*vectorPages || n["returned_pages"] != 2*vectorPages {
			t.Errorf("%v", n)
		}
		curve := hostlink.Config{Core: 1481, Peak: 12, Rate: 0.07292}
		for i, pages := range []int64{1, 15, 1, 15, 1} {
			begun, next := out[i].Start, out[i+1].Start
			if end := begun + curve.Cycles(pages*uvm.PageSize); next < end || next > end+2 {
				t.Errorf("transfer %d takes the link from %d to %d, the next begins at %d", i, begun, end, next)
			}
		}
		for _, x := range r.Spans {
			if x.Track == "unified memory/to the device" && x.End > out[0].Start && x.Start < out[5].End {
				t.Errorf("%s come at %d, before the last has left at %d", x.Name, x.Start, out[5].End)
			}
		}
	}
}

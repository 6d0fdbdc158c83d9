package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	hostlink "github.com/heddle-sim/heddle/machine/link"
	"github.com/heddle-sim/heddle/machine/uvm"
)

// unifiedSpec is applications on the machine of the dissertation with too little memory.
func unifiedSpec(u Unified, apps ...string) Spec {
	s := Spec{Machine: "uvm", Sharing: Sharing{Mode: "alone", Name: "alone"}, Seed: 1}
	if len(apps) > 1 {
		s.Sharing.Mode = "mps"
	}
	s.Sharing.Memory.Unified = u
	for i, a := range apps {
		s.Apps = append(s.Apps, App{Name: fmt.Sprint(filepath.Base(a), i), Path: "../apps/" + a})
	}
	return s
}

// totals sums a table over windows and what lies outside.
func totals(r *Result, owner string) map[string]uint64 {
	sum := map[string]uint64{}
	for _, t := range r.Tables {
		if t.Owner == owner && !t.Moved {
			for _, v := range t.Values {
				sum[v.Name] += v.N
			}
		}
	}
	return sum
}

// counterOf is a counter of a tenant's window.
func counterOf(r *Result, owner, tenant, name string) uint64 {
	for _, table := range r.Tables {
		if table.Owner == owner && table.Tenant == tenant && !table.Moved {
			for _, v := range table.Values {
				if v.Name == name {
					return v.N
				}
			}
		}
	}
	return 0
}

// right says what of a run under unified memory cannot be: checks that fail, bytes on the link
// that are not those of the pages moved, no eviction although memory was too small.
func right(t *testing.T, s *Spec) *Result {
	t.Helper()
	r, err := Run(context.Background(), *s, nil)
	if err != nil {
		t.Fatalf("%+v: %v", s.Sharing.Memory.Unified, err)
	}
	if len(r.Checks) == 0 {
		t.Error("nothing was checked")
	}
	for _, c := range r.Checks {
		if !c.OK {
			t.Errorf("%+v: %s: %s", s.Sharing.Memory.Unified, c.What, c.Msg)
		}
	}
	n, link := totals(r, "uvm"), totals(r, "link")
	if link["bytes"] > uvm.PageSize*(n["migrated_pages"]+n["written_pages"]+n["returned_pages"]+n["copied_pages"]) {
		t.Errorf("%d bytes on the link for %d pages that came, %d written back and %d returned", link["bytes"],
			n["migrated_pages"], n["written_pages"], n["returned_pages"])
	}
	var came, again, left uint64
	for _, m := range r.Managed {
		came, again, left = came+m.Migrated, again+m.Again, left+m.Left
	}
	if came < n["migrated_pages"] || again < n["thrashed_pages"] || left != n["evicted_pages"] {
		t.Errorf("by allocation %d pages came, %d again, %d left; in all %v", came, again, left, n)
	}
	if n["migrated_pages"] < max(n["prefetched_pages"], n["thrashed_pages"]) ||
		n["migrated_pages"]+link["remotes"] == 0 {
		t.Errorf("%v", n)
	}
	return r
}

// Megabytes are of 2^20 bytes, and the last page counts whole, as in the public simulator's logs.
func TestCapacityInMegabytes(t *testing.T) {
	for text, pages := range map[string]int64{
		"5MB": 1280, "0.00390625MB": 1, "15.96591MB": 4088, "14.05 MB": 3597, "1024MB": 262144,
		"6MiB": 1536, "64 KB": 16, "1GiB": 262144,
	} {
		if bytes, share, err := parseCapacity(text); err != nil || share != 0 || bytes != pages*4096 {
			t.Errorf("%s: %d bytes, share %g, %v; want %d pages", text, bytes, share, err, pages)
		}
	}
}

// One application at 110 % of memory, TBNp and LRU 2 MB: it faults, evicts, and gives the right
// result; with all the memory it needs nothing is evicted, and every page comes once.
func TestOversubscribed(t *testing.T) {
	s := unifiedSpec(Unified{All: true, Capacity: "100/110"}, "micro/triad")
	s.Apps[0].Args = map[string]string{"n": "262144"}
	n := totals(right(t, &s), "uvm")
	if n["evicted_pages"] == 0 || n["written_pages"] != n["evicted_pages"] {
		t.Errorf("%v", n)
	}
	s.Sharing.Memory.Unified.Capacity = ""
	n = totals(right(t, &s), "uvm")
	if n["evicted_pages"] != 0 || n["migrated_pages"] != 3*262144*4/uvm.PageSize || n["thrashed_pages"] != 0 {
		t.Errorf("%v", n)
	}
}

// Every application of the collection at three quarters of its memory, some beside a second one, and
// every pair of prefetcher and eviction: right results.
// TestOversubscription: data of 150 % of the memory is a capacity of 100/150 of the data.
func TestOversubscription(t *testing.T) {
	over, share := Unified{Oversubscription: "150%"}, Unified{Capacity: "100/150"}
	_, a, err := over.capacity()
	if err != nil {
		t.Fatal(err)
	}
	if _, b, err := share.capacity(); err != nil || a != b {
		t.Errorf("oversubscription 150%% is a share of %g, capacity 100/150 one of %g (%v)", a, b, err)
	}
}

func TestUnifiedPairs(t *testing.T) {
	found, err := filepath.Glob("../apps/*/*/app.star")
	if err != nil || len(found) < len(uvm.PrefetcherNames())*len(uvm.EvictionNames()) {
		t.Fatalf("%d applications, %v", len(found), err)
	}
	var apps []string
	for _, path := range found {
		apps = append(apps, strings.TrimPrefix(filepath.Dir(path), "../apps/"))
	}
	rng := rand.New(rand.NewPCG(4, 4))
	rng.Shuffle(len(apps), func(i, j int) { apps[i], apps[j] = apps[j], apps[i] })
	p, e, m := uvm.PrefetcherNames(), uvm.EvictionNames(), uvm.MigrationNames()
	for i, app := range apps {
		u := Unified{
			All: true, Capacity: "75%", Prefetch: p[i%len(p)], Evict: e[i/len(p)%len(e)], Reserve: rng.IntN(3) * 10,
			WriteBack: []string{"always", "dirty"}[rng.IntN(2)], Migrate: m[max(0, rng.IntN(6)-2)],
		}
		list := []string{app}
		if rng.IntN(4) == 0 {
			list = append(list, "polybench/atax")
		}
		t.Run(fmt.Sprint(u.Prefetch, " ", u.Evict, " ", list), func(t *testing.T) {
			if testing.Short() && i%12 > 0 {
				t.Skip("every twelfth application in short mode")
			}
			s := unifiedSpec(u, list...)
			right(t, &s)
		})
	}
}

// Skipping and lockstep change nothing under unified memory either.
func TestUnifiedDeterminism(t *testing.T) {
	for _, u := range []Unified{
		{All: true, Capacity: "75%", Evict: "tbn"},
		{All: true, Capacity: "60%", Prefetch: "random", Evict: "random4k", WriteBack: "dirty"},
		{All: true, Capacity: "75%", Evict: "lfu", Migrate: "adaptive", Ts: 2},
		{All: true, Capacity: "75%", Smart: true},
		{All: true, Capacity: "75%", Runtime: "driver-today"},
	} {
		s := unifiedSpec(u, "polybench/atax", "rodinia-like/bfs")
		want := right(t, &s)
		ways := []Spec{{Lockstep: true}, {NoSkip: true}}
		if testing.Short() { // the last takes longest
			ways = ways[:1]
		}
		for _, how := range ways {
			s.NoSkip, s.Lockstep = how.NoSkip, how.Lockstep
			got, err := Run(context.Background(), s, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Cycles != want.Cycles || !reflect.DeepEqual(got.Tables, want.Tables) {
				t.Errorf("%+v with %+v: another result", u, how)
			}
		}
	}
}

// Two applications under every way to share the link, with too little memory for both: right results,
// and who goes first waits less than under FR-FCFS.
func TestUnifiedLink(t *testing.T) {
	wait := func(u Unified) uint64 {
		s := unifiedSpec(u, "polybench/atax", "rodinia-like/bfs")
		return counterOf(right(t, &s), "link", "atax0", "wait_cycles")
	}
	u := Unified{All: true, Capacity: "75%"}
	base := wait(u)
	for _, name := range hostlink.ArbiterNames() {
		u.Link, u.Preserve = name, name == "static" || name == "adaptive"
		if got := wait(u); name == "static" && got > base {
			t.Errorf("who goes first waits %d cycles, %d under FR-FCFS", got, base)
		}
	}
}

// The driver takes the faults of the application that a run names first, whatever the order on the link: with
// batches of two, each waits less for the driver when it is named than when the other is.
func TestUnifiedFaultsOfOneFirst(t *testing.T) {
	var handling [2][2]uint64 // by who is named, of whom
	for high := range handling {
		s := unifiedSpec(Unified{All: true, Faults: "high", High: high}, "polybench/atax", "rodinia-like/bfs")
		s.Set = map[string]string{"uvm.batch": "2"}
		r := right(t, &s)
		for k := range r.Tenants {
			handling[high][k] = counterOf(r, "uvm", r.Tenants[k].Name, "handling_cycles")
		}
	}
	if handling[0][0] >= handling[1][0] || handling[1][1] >= handling[0][1] {
		t.Errorf("faults are handled in %d cycles; want less on the diagonal", handling)
	}
}

// What a machine has not, and what makes no sense, is refused with a reason.
func TestUnifiedRefused(t *testing.T) {
	for _, c := range []struct {
		machine string
		u       Unified
		want    string
	}{
		{"qv100", Unified{All: true}, "does not translate"},
		{"fermi", Unified{All: true}, "does not translate"},
		{"uvm", Unified{Capacity: "-5%"}, "memory.unified.capacity"},
		{"uvm", Unified{Capacity: "4096"}, "memory.unified.capacity"},
		{"uvm", Unified{Capacity: "1/0"}, "memory.unified.capacity"},
		{"uvm", Unified{Capacity: "0.0039MB"}, "memory.unified.capacity \"0.0039MB\" holds no page of 4096 bytes"},
		{"uvm", Unified{Capacity: "-1MB"}, "want bytes"},
		{"uvm", Unified{Capacity: "xMB"}, "want bytes"},
		{"uvm", Unified{Capacity: "1e9MB"}, "want bytes"},
		{"uvm", Unified{Ts: 1 << 27}, "memory.unified: ts is 134217728: use 1 to 134217727"},
		{"uvm", Unified{Ts: -1}, "memory.unified: ts is -1: use 1 to 134217727"},
		{"uvm", Unified{P: 1 << 27}, "memory.unified: p is 134217728: use 1 to 134217727"},
		{"uvm", Unified{Counters: "local"}, "memory.unified: counters \"local\": use all, remote"},
		{"uvm", Unified{Capacity: "150%"}, "write oversubscription: 150% (the same as capacity: 100/150)"},
		{"uvm", Unified{Oversubscription: "75%"}, "100% or more"},
		{"uvm", Unified{Oversubscription: "1.5"}, "100% or more"},
		{"uvm", Unified{Oversubscription: "150%", Capacity: "75%"}, "say the same"},
		{"uvm", Unified{Capacity: "274877906944"}, "more than dram.capacity"},
		{"uvm", Unified{Prefetch: "tree"}, "prefetcher"},
		{"uvm", Unified{Evict: "lru"}, "eviction"},
		{"uvm", Unified{Reserve: 100}, "reserve"},
		{"uvm", Unified{Link: "fifo"}, "memory.unified.link"},
		{"uvm", Unified{Preserve: true}, "needs an application that goes first"},
		{"uvm", Unified{High: 1}, "memory.unified.high"},
		{"uvm", Unified{Link: "static", High: 1}, "no application 1"},
		{"uvm", Unified{Faults: "high", High: 1}, "no application 1"},
		{"uvm", Unified{Faults: "first"}, "memory.unified.faults"},
		{"uvm", Unified{Smart: true, Prefetch: "tbn"}, "chooses prefetcher"},
		{"uvm", Unified{WriteBack: "never"}, "write_back"},
	} {
		s := unifiedSpec(c.u, "micro/triad")
		s.Machine = c.machine
		if _, err := Run(context.Background(), s, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %s", c.machine, c.u, err, c.want)
		}
	}
}

// Preserve evicts the pages of the application last that the adaptive scheduler prefers: with too little memory for
// both, fewer pages come again than without.
func TestPreserve(t *testing.T) {
	if testing.Short() {
		t.Skip("long runs, of which only numbers are compared")
	}
	again := func(preserve bool) (n uint64) {
		s := unifiedSpec(Unified{All: true, Capacity: "100/125", Link: "adaptive", Preserve: preserve},
			"polybench/atax", "rodinia-like/bfs")
		s.Apps[0].Args = map[string]string{"n": "512"}
		s.Apps[1].Args = map[string]string{"n": "32768"}
		r := right(t, &s)
		for k := range r.Tenants {
			n += counterOf(r, "uvm", r.Tenants[k].Name, "thrashed_pages")
		}
		return n
	}
	if with, without := again(true), again(false); with >= without {
		t.Errorf("%d pages come again with preserve, %d without", with, without)
	}
}

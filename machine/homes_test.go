package machine

import (
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// homesEvery is a NUBA machine whose intervals have so many cycles.
func homesEvery(interval int) func(m *sheets.Machine) {
	return func(m *sheets.Machine) {
		m.VM.HomeInterval, m.VM.HomePages, m.VM.FaultUs = interval, 64, 0
	}
}

// places is the partition of each page of a region, with the partitions of its copies behind it.
func places(r *rig, reg *mem.Region) (out []string) {
	x := &r.g.translation
	for va := reg.Base; va < reg.Base+uint64(reg.Len()); va += 4096 {
		ppn, state := x.Tables.Lookup(0, va>>12)
		if state != vm.Resident {
			out = append(out, state.String())
			continue
		}
		text := fmt.Sprint(x.Tables.Parts.Part(ppn))
		if frames, _ := x.Tables.Parts.Copies(ppn); frames != nil {
			for part := range frames {
				if vm.HasCopy(frames, part) {
					text += fmt.Sprintf("+%d", part)
				}
			}
		}
		out = append(out, text)
	}
	return out
}

// accesses are what an SM sends for a page: n requests, answered at once.
type accesses struct{ sm, page, n int }

// tellOf has SMs send requests for pages of a region, as their L1s would.
func tellOf(r *rig, reg *mem.Region, op mem.Op, list ...accesses) {
	h := &r.g.homes
	for _, q := range list {
		va := reg.Base + uint64(q.page)<<12
		ppn, _ := r.g.translation.Tables.Lookup(0, va>>12)
		h.Refuses(0, vm.Reply{PPN: ppn, VPN: va >> 12, SM: int16(q.sm)}) // names the page in the frame
		w := h.Watcher(q.sm / 2)
		for range q.n {
			w.Sent(ppn<<12, op)
			w.Answered(ppn << 12)
		}
	}
}

// TestPagesFollow: sequences of accesses as in Figure 6, SM: page, and where the pages are after the
// interval. Pages lie in partitions 0 to 3 at first; SMs 2k and 2k+1 are in partition k.
func TestPagesFollow(t *testing.T) {
	for _, c := range []struct {
		policy, what string
		reads        []accesses
		writes       []accesses
		want         string
	}{
		{"migrate", "each page by one SM", []accesses{{0, 0, 40}, {2, 2, 40}, {6, 1, 40}}, nil, "[0 3 1 3]"},
		{"migrate", "two SMs of a partition count as one", []accesses{{4, 0, 20}, {5, 0, 20}}, nil, "[2 1 2 3]"},
		{"migrate", "shared evenly with its home", []accesses{{0, 0, 30}, {2, 0, 59}}, nil, "[0 1 2 3]"},
		{"migrate", "twice as often as at home", []accesses{{0, 0, 30}, {2, 0, 60}}, nil, "[1 1 2 3]"},
		{"migrate", "writes count, too", nil, []accesses{{63, 3, 32}}, "[0 1 2 31]"},
		{"replicate", "each page by one SM", []accesses{{0, 0, 40}, {2, 2, 40}}, nil, "[0 1 2 3]"},
		{"replicate", "read in two partitions", []accesses{{0, 0, 8}, {2, 0, 8}, {4, 0, 7}}, nil, "[0+1 1 2 3]"},
		{"replicate", "read in two others", []accesses{{2, 0, 8}, {62, 0, 8}}, nil, "[0+1+31 1 2 3]"},
		{"replicate", "written once", []accesses{{0, 0, 8}, {2, 0, 8}}, []accesses{{0, 0, 1}}, "[0 1 2 3]"},
	} {
		r := newRig(t, "nuba", Options{Homes: c.policy}, func(m *sheets.Machine) {
			homesEvery(100_000)(m)
			m.VM.Placement = "round-robin"
		}, tenant("a", upTo(64)))
		reg := r.alloc(0, 4<<12, mem.Device)
		first, _ := r.g.translation.Tables.Lookup(0, reg.Base>>12)
		for r.g.translation.Tables.Parts.Part(first) != 0 { // the page table has taken the first frames
			reg = r.alloc(0, 4<<12, mem.Device)
			first, _ = r.g.translation.Tables.Lookup(0, reg.Base>>12)
			if reg.Base > 1<<40 {
				t.Fatal("no region begins in partition 0")
			}
		}
		tellOf(r, reg, mem.Read, c.reads...)
		tellOf(r, reg, mem.Write, c.writes...)
		r.step(99_990)
		if got := fmt.Sprint(places(r, reg)); got != "[0 1 2 3]" {
			t.Errorf("%s, %s: %s before the interval ends", c.policy, c.what, got)
		}
		r.step(20_000)
		if got := fmt.Sprint(places(r, reg)); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.policy, c.what, got, c.want)
		}
	}
}

// passes runs a kernel that scales n words several times over the same arrays and checks the result.
func passes(t *testing.T, r *rig, n, times int) (in, out *mem.Region, end uint64) {
	t.Helper()
	in, out = r.alloc(0, int64(4*n), mem.Device), r.alloc(0, int64(4*n), mem.Device)
	for i := range n {
		in.Data[4*i] = byte(i)
	}
	for range times {
		k := r.launch(0, "scale", uint32((n+127)/128), 128, out.Base, in.Base, uint64(n))
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		end = k.End
	}
	for i := range n {
		if got := out.Data[4*i]; got != 3*byte(i) {
			t.Fatalf("out[%d] = %d", i, got)
		}
	}
	return in, out, end
}

// Pages that two SMs alone use come to their partition, whatever is skipped; what was copied went
// through LLC and DRAM, and no frame is lost.
func TestPagesComeToTheirUser(t *testing.T) {
	var ends []uint64
	for _, o := range []Options{{Homes: "migrate"}, {Homes: "migrate", Every: true}} {
		r := newRig(t, "nuba", o, func(m *sheets.Machine) {
			homesEvery(3000)(m)
			m.VM.Placement = "round-robin"
		}, &sharing.Tenant{Name: "a", SMs: []int{10, 11}})
		in, out, end := passes(t, r, 8<<10, 16)
		ends = append(ends, end)
		for _, reg := range []*mem.Region{in, out} {
			if got := fmt.Sprint(places(r, reg)); got != "[5 5 5 5 5 5 5 5]" {
				t.Errorf("pages in partitions %v, want 5", got)
			}
		}
		moved := r.counted(0, "homes.migrations")
		if got := r.g.homes.Copies.Bytes; got != moved*4096 {
			t.Errorf("%d bytes copied for %d pages", got, moved)
		}
		used := 0
		for g := range r.g.translation.Tables.Frames().Pools() {
			used += r.g.translation.Tables.Frames().PerPool() - r.g.translation.Tables.Frames().Free(g)
			used -= r.g.translation.Tables.Pages(0, g)
		}
		if used != 0 {
			t.Errorf("%d frames are nobody's and not free", used)
		}
	}
	if ends[0] != ends[1] {
		t.Errorf("the last kernel ends at %v: skipping changes it", ends)
	}
}

// Pages that everybody reads get copies, whose frames are taken; a kernel that writes to them has them
// dropped before its first write, and the frames are free again.
func TestCopiesGoWithAWrite(t *testing.T) {
	var ends []uint64
	for _, o := range []Options{{Homes: "replicate"}, {Homes: "replicate", Every: true}} {
		r := newRig(t, "nuba", o, homesEvery(2000), tenant("a", upTo(64)))
		const words = 4 << 10
		in := r.alloc(0, 4*words, mem.Device)
		out := r.alloc(0, 4*words*64, mem.Device)
		tab := r.g.translation.Tables
		free := func() (n int) {
			for g := range tab.Frames().Pools() {
				n += tab.Frames().Free(g)
			}
			return n
		}
		before := free()
		for range 20 { // 8 launches at once spread over the SMs read the same pages
			for k := range 8 {
				r.launch(0, "scale", words/128, 128, out.Base+uint64(4*words*k), in.Base, words)
			}
			if err := r.finish(); err != nil {
				t.Fatal(err)
			}
		}
		copied := tab.Parts.CopyFrames()
		if copied < 8 {
			t.Fatalf("%d copies of %d pages: %v", copied, words/1024, places(r, in))
		}
		if took := before - free(); took < copied || took > copied+2 { // and a frame of entries
			t.Errorf("%d frames are taken for %d copies", took, copied)
		}
		last := r.launch(0, "scale", words/128, 128, in.Base, out.Base, words)
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, last.End)
		if n := tab.Parts.CopyFrames(); n != 0 {
			t.Errorf("%d copies are left after every page was written: %v", n, places(r, in))
		}
		if lost := before - free(); lost > 2 {
			t.Errorf("%d frames are not free again", lost)
		}
		if n := r.counted(0, "homes.collapses"); n == 0 {
			t.Error("no page has lost its copies")
		}
	}
	if ends[0] != ends[1] {
		t.Errorf("the last kernel ends at %v: skipping changes it", ends)
	}
}

// Copies give way: when every frame is taken, a page that is touched for the first time gets the frame of a copy, in
// partitions and in modules.
func TestCopiesGiveWay(t *testing.T) {
	for _, sheet := range []string{"nuba", "nuba-mcm"} {
		var ends []uint64
		for _, every := range []bool{false, true} {
			r := newRig(t, sheet, Options{Homes: "replicate", Every: every}, func(m *sheets.Machine) {
				homesEvery(2000)(m)
				m.DRAM.Capacity, m.VM.FirstTouch = 16<<20, true // 4096 frames
			}, tenant("a", upTo(64)))
			const words = 4 << 10
			in, out := r.alloc(0, 4*words, mem.Device), r.alloc(0, 4*words*64, mem.Device)
			for range 20 {
				for k := range 8 {
					r.launch(0, "scale", words/128, 128, out.Base+uint64(4*words*k), in.Base, words)
				}
				if err := r.finish(); err != nil {
					t.Fatal(err)
				}
			}
			tab := r.g.translation.Tables
			if n := tab.Parts.CopyFrames(); n < 8 {
				t.Fatalf("%s: %d copies", sheet, n)
			}
			for left := false; !left; {
				_, err := tab.TakeFrame(0)
				left = err != nil
			}
			next := r.alloc(0, 4*words, mem.Device)
			last := r.launch(0, "scale", words/128, 128, next.Base, in.Base, words)
			if err := r.finish(); err != nil {
				t.Fatalf("%s: %v", sheet, err)
			}
			for i := range words {
				if got := next.Data[4*i]; got != 3*in.Data[4*i] {
					t.Fatalf("%s: next[%d] = %d", sheet, i, got)
				}
			}
			if r.counted(0, "homes.reclaims") == 0 {
				t.Errorf("%s: no copies have given way", sheet)
			}
			ends = append(ends, last.End)
		}
		if ends[0] != ends[1] {
			t.Errorf("%s: the last kernel ends at %v: skipping changes it", sheet, ends)
		}
	}
}

// Once pages are where they are used, counting who uses them and deciding that they stay allocates nothing.
func TestSteadyHomesAllocateNothing(t *testing.T) {
	for policy, most := range map[string]int{"migrate": 59, "replicate": 7} { // requests of others that move no page
		r := newRig(t, "nuba", Options{Homes: policy}, func(m *sheets.Machine) {
			homesEvery(2000)(m)
			m.VM.Placement = "round-robin"
		}, tenant("a", upTo(64)))
		const pages = 256
		reg, h := r.alloc(0, pages<<12, mem.Device), &r.g.homes
		tab := r.g.translation.Tables
		var watch [32]sm.Watcher
		var line [pages]uint64
		for part := range watch {
			watch[part] = h.Watcher(part)
		}
		for k := range line {
			ppn, _ := tab.Lookup(0, reg.Base>>12+uint64(k))
			line[k] = ppn << 12
			h.Refuses(0, vm.Reply{PPN: ppn, VPN: reg.Base>>12 + uint64(k)})
		}
		plans := 0
		interval := func() {
			for _, a := range line {
				for part, w := range watch {
					n := most
					if part == tab.Parts.Part(a>>12) {
						n = 30
					}
					for range n {
						w.Sent(a, mem.Read)
						w.Answered(a)
					}
				}
			}
			r.step(2000)
			if n, _ := h.LastPlan(); n == pages {
				plans++
			}
		}
		r.step(10) // into the first interval
		for range 3 {
			interval()
		}
		if n := testing.AllocsPerRun(5, interval); n > 0 {
			t.Errorf("%s: %.0f allocations in an interval", policy, n)
		}
		if _, changes := h.LastPlan(); plans < 8 || changes > 0 || h.Copies.Bytes > 0 {
			t.Errorf("%s: %d plans, %d changes, %d bytes", policy, plans, changes, h.Copies.Bytes)
		}
	}
}

package probe

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/uvm"
)

const (
	base  = 0x200000
	block = uvm.BlockSize
)

// at is the address of a byte of the allocation.
func at(offset int) string { return fmt.Sprintf("0x%x", base+offset) }

// touch is a trace that reads the first byte of the given blocks.
func touch(alloc string, blocks ...int) string {
	var b strings.Builder
	b.WriteString(alloc)
	for _, k := range blocks {
		fmt.Fprintf(&b, "R %s\n", at(k*block))
	}
	return b.String()
}

func run(t *testing.T, o uvm.Options, trace string) *Result {
	t.Helper()
	if o.Ts == 0 {
		o.Ts, o.P = 8, 8
	}
	if o.Migrate == "" {
		o.Migrate = "first-touch"
	}
	r, err := Run(o, "t", strings.NewReader(trace))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// moves is the migrations of the events, offset and bytes in KB.
func moves(r *Result) (all [][][2]int) {
	for _, e := range r.Events {
		one := [][2]int{}
		for _, m := range e.Migrate {
			one = append(one, [2]int{offset(m.Page), int(m.Bytes >> 10)})
		}
		all = append(all, one)
	}
	return all
}

func offset(page string) int {
	var a int
	if _, err := fmt.Sscanf(page, "0x%x", &a); err != nil {
		panic(err)
	}
	return (a - base) >> 10
}

func evictions(r *Result) (all [][][2]int) {
	for _, e := range r.Events {
		one := [][2]int{}
		for _, m := range e.Evict {
			one = append(one, [2]int{offset(m.Page), int(m.Bytes >> 10)})
		}
		all = append(all, one)
	}
	return all
}

const half = "alloc a 0x200000 524288\n" // 512 KB, as in Figures 4 and 9

// Figure 4, first pattern: blocks 1, 3, 5, 7 one by one, each as 4 KB + 60 KB; then block 0 pulls
// in 2, and with it 4 and 6.
func TestFigure4First(t *testing.T) {
	r := run(t, uvm.Options{Capacity: 1 << 30, Prefetch: "tbn", Evict: "lru2m"}, touch(half, 1, 3, 5, 7, 0))
	want := [][][2]int{
		{{64, 4}, {68, 60}},
		{{192, 4}, {196, 60}},
		{{320, 4}, {324, 60}},
		{{448, 4}, {452, 60}},
		{{0, 4}, {4, 60}, {128, 64}, {256, 64}, {384, 64}},
	}
	if got := moves(r); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Figure 4, second pattern: blocks 1 and 3, then block 0 pulls in 2, then block 4 pulls in 5 to 7
// as one transfer of 252 KB behind the page that faulted.
func TestFigure4Second(t *testing.T) {
	r := run(t, uvm.Options{Capacity: 1 << 30, Prefetch: "tbn", Evict: "lru2m"}, touch(half, 1, 3, 0, 4))
	want := [][][2]int{
		{{64, 4}, {68, 60}},
		{{192, 4}, {196, 60}},
		{{0, 4}, {4, 60}, {128, 64}},
		{{256, 4}, {260, 252}},
	}
	if got := moves(r); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// In a full tree of 2 MB the second pattern brings 1020 KB in one go.
func TestFigure4FullTree(t *testing.T) {
	r := run(t, uvm.Options{Capacity: 1 << 30, Prefetch: "tbn", Evict: "lru2m"},
		touch("alloc a 0x200000 2097152\n", 1, 3, 0, 4, 8, 16))
	if got := moves(r)[5]; !reflect.DeepEqual(got, [][2]int{{1024, 4}, {1028, 1020}}) {
		t.Errorf("%v", got)
	}
}

// A fault inside a run: the page, the run below it, the run above it.
func TestSplit(t *testing.T) {
	r := run(t, uvm.Options{Capacity: 1 << 30, Prefetch: "sl", Evict: "lru2m"}, half+"R 0x205123\n")
	if got := moves(r)[0]; !reflect.DeepEqual(got, [][2]int{{20, 4}, {0, 20}, {24, 40}}) {
		t.Errorf("%v", got)
	}
}

// Figure 9: all of 512 KB is there, least recent blocks 1, 3, 4, 0. The fourth eviction takes 2
// by its ancestor of 256 KB, and 5 to 7 by the root, as one transfer.
func TestFigure9(t *testing.T) {
	fill := "alloc a 0x200000 524288\nalloc b 0x400000 524288\n"
	trace := touch(fill, 1, 3, 4, 0, 2, 5, 6, 7)
	for _, k := range []int{0, 1, 2, 3} { // of b, whose faults need one block each
		trace += fmt.Sprintf("R 0x%x\n", 0x400000+k*block)
	}
	r := run(t, uvm.Options{Capacity: 512 << 10, Prefetch: "sl", Evict: "tbn"}, trace)
	got := evictions(r)[8:]
	want := [][][2]int{{{64, 64}}, {{192, 64}}, {{256, 64}}, {{0, 64}, {128, 64}, {320, 192}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Figure 5: reads are served on the host until the threshold, a write migrates at once.
func TestFigure5(t *testing.T) {
	trace := half
	for range 8 {
		trace += "R 0x200000\n"
	}
	trace += "W 0x210000\nR 0x210000\nR 0x230000\n"
	r := run(t, uvm.Options{Capacity: 1 << 20, Prefetch: "none", Evict: "lru2m", Migrate: "always"}, trace)
	var got []string
	for _, e := range r.Events {
		got = append(got, fmt.Sprintf("%d %s", e.Access, e.Kind))
	}
	want := "0 remote, 1 remote, 2 remote, 3 remote, 4 remote, 5 remote, 6 remote, 7 fault, 8 fault, 10 remote"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("%s, want %s", s, want)
	}
	if r.Totals.Remote != 8 || r.Totals.Faults != 2 {
		t.Errorf("%+v", r.Totals)
	}
}

// Section 5.2.3: registers count accesses of both sides, Volta's those of pages on the host (counters: remote). A page
// of a block that was used five times on the device comes with its first access, and with its second where the
// threshold of 3 counts only those and the write that brought its neighbour.
func TestCounters(t *testing.T) {
	trace := half + "W 0x200000\n" + strings.Repeat("R 0x200000\n", 5) + "R 0x201000\nR 0x201000\n"
	for counters, want := range map[string]string{
		"": "0 fault, 6 fault", "all": "0 fault, 6 fault", "remote": "0 fault, 6 remote, 7 fault",
	} {
		r := run(t, uvm.Options{
			Capacity: 1 << 20, Prefetch: "none", Evict: "lru2m", Migrate: "always", Ts: 3, P: 8,
			Counters: counters,
		}, trace)
		var got []string
		for _, e := range r.Events {
			got = append(got, fmt.Sprintf("%d %s", e.Access, e.Kind))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("counters %q: %s, want %s", counters, s, want)
		}
	}
}

// Section 5.2.1's numbers: t_s = 8 and less than an eighth in use means first touch; after
// oversubscription with p = 2 the 16th access migrates, and after two round trips the 48th.
func TestEquation1(t *testing.T) {
	o := uvm.Options{
		Capacity: 64 << 10, Prefetch: "none", Evict: "lru4k", Migrate: "adaptive", Ts: 8, P: 2,
	}
	var b strings.Builder
	b.WriteString("alloc a 0x200000 131072\n")
	b.WriteString("R 0x200000\nR 0x201000\n") // 0 and then 1 of 16 pages in use: thresholds 1 and 1
	r := run(t, o, b.String())
	if r.Totals.Faults != 2 {
		t.Errorf("%+v", r.Totals)
	}
	for k := range 16 {
		fmt.Fprintf(&b, "W 0x%x\n", 0x200000+k*4096)
	}
	b.WriteString("W 0x210000\n") // does not fit: page 0 leaves, block 0 makes a trip
	b.WriteString("W 0x200000\n") // page 1 leaves
	r = run(t, o, b.String())
	last := r.Events[len(r.Events)-2:]
	if last[0].Evict[0].Page != "0x200000" || last[1].Evict[0].Page != "0x201000" {
		t.Errorf("%+v", last)
	}
	// Block 1 has been used once and has made no trip, so that its 16th access brings page 0x211.
	for range 15 {
		b.WriteString("R 0x211000\n")
	}
	r = run(t, o, b.String())
	last = r.Events[len(r.Events)-15:]
	if last[0].Kind != "remote" || last[13].Kind != "remote" || last[14].Kind != "fault" {
		t.Errorf("the 16th access: %+v", last)
	}
}

// Where only the chunk in which the page faults has pages, its least recent block goes, not all of it, and the
// block into which the page comes only when there is no other.
func TestOwnChunkLosesABlock(t *testing.T) {
	r := run(t, uvm.Options{Capacity: 2 * block, Prefetch: "sl", Evict: "lru2m"}, touch(half, 0, 1, 0, 2))
	if got, want := evictions(r), [][][2]int{{}, {}, {{64, 64}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("evicted %v, want %v", got, want)
	}
	if r.Totals.Fallbacks != 1 {
		t.Errorf("%d fallbacks", r.Totals.Fallbacks)
	}
	r = run(t, uvm.Options{Capacity: 4096, Prefetch: "none", Evict: "lfu"}, half+"R 0x200000\nR 0x201000\n")
	if got, want := evictions(r), [][][2]int{{}, {{0, 4}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("evicted %v, want %v", got, want)
	}
}

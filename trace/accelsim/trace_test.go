package accelsim

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
)

func mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// event is one replayed instruction.
type event struct {
	text  string
	mask  uint32
	space isa.Space
	addr  []uint64
}

// replayAll steps every warp of a CTA to its end.
func replayAll(t testing.TB, tr *Trace, cta int) [][]event {
	t.Helper()
	g := tr.Launch()
	c := g.Start(cta, isa.Place{})
	defer c.Release()
	out := make([][]event, g.Geometry().Warps)
	for w := range out {
		for c.PC(w) >= 0 {
			pc := c.PC(w)
			var s isa.Step
			if err := c.Step(w, 0, &s); err != nil {
				t.Fatal(err)
			}
			if s.Next != c.PC(w) {
				t.Fatalf("Step.Next = %d, PC = %d", s.Next, c.PC(w))
			}
			e := event{text: tr.Code.Text[pc], mask: s.Mask, space: s.Space}
			if s.Space != isa.NoSpace && s.Space != isa.Const {
				for l := range isa.Lanes {
					if s.Mask>>l&1 != 0 {
						e.addr = append(e.addr, s.Addr[l])
					}
				}
			}
			out[w] = append(out[w], e)
		}
	}
	return out
}

// TestRoundTrip writes kernels in every version and compression, with blocks in
// and out of order, in memory and on disk, and replays what was written.
func TestRoundTrip(t *testing.T) {
	const blocks = 9
	for _, suffix := range []string{"", ".gz", ".xz", ".zst"} {
		for version := 2; version <= 5; version++ {
			for _, mixed := range []bool{false, true} {
				for _, memory := range []int64{0, 1} {
					t.Run(fmt.Sprintf("v%d%s,mixed=%v,memory=%d", version, suffix, mixed, memory), func(t *testing.T) {
						h := vecadd(blocks)
						h.Version, h.LineInfo = version, mixed
						var order []int
						if mixed {
							order = shuffled(blocks)
						}
						file := filepath.Join(t.TempDir(), "k.traceg"+suffix)
						writeKernel(t, file, h, order, vecaddWarp)
						tr, err := Read(file, Options{Memory: memory})
						if err != nil {
							t.Fatal(err)
						}
						defer tr.Close()
						if (tr.store.f != nil) != (memory == 1) {
							t.Fatal("the records are not where they should be")
						}
						checkVecadd(t, tr, blocks)
					})
				}
			}
		}
	}
}

func checkVecadd(t *testing.T, tr *Trace, blocks int) {
	t.Helper()
	if tr.WarpInsts != uint64(blocks*4*11) || tr.ThreadInsts != uint64(blocks*4*10*32) || tr.Empty != 0 {
		t.Fatalf("%d warp instructions, %d thread instructions, %d empty", tr.WarpInsts, tr.ThreadInsts, tr.Empty)
	}
	for b := range blocks {
		for w, got := range replayAll(t, tr, b) {
			want := vecaddWarp(b, w)
			if len(got) != len(want) {
				t.Fatalf("block %d warp %d: %d instructions, want %d", b, w, len(got), len(want))
			}
			for i, e := range got {
				x := want[i]
				if !strings.HasPrefix(e.text, x.Op) || e.mask != x.Mask {
					t.Fatalf("block %d warp %d: %v, want %v", b, w, e, x)
				}
				var addr []uint64
				for _, a := range x.Addr {
					v, ok := tr.mapper.move(a)
					if !ok || v&(1<<32-1) != a&(1<<32-1) || v >= 1<<38 {
						t.Fatalf("0x%x moved to 0x%x", a, v)
					}
					addr = append(addr, v)
				}
				if !slices.Equal(e.addr, addr) || len(addr) > 0 && e.space != isa.Global {
					t.Fatalf("block %d warp %d instruction %d: %v, want %v", b, w, i, e, addr)
				}
			}
		}
	}
}

func TestCode(t *testing.T) {
	full := ^uint32(0)
	list := []Inst{
		{PC: 0x00, Mask: full, Dst: []int{4}, Op: "LDG.E.128.CONSTANT", Src: []int{2}, Addr: lanes(bufA, 16, full)},
		{PC: 0x10, Mask: full, Dst: []int{8}, Op: "DFMA", Src: []int{4, 6, 255}},
		{PC: 0x60, Mask: full, Op: "BRA"},
		{PC: 0x10, Mask: full, Dst: []int{3}, Op: "MUFU.RSQ", Src: []int{1}}, // a called function
		{PC: 0x70, Mask: full, Op: "STG.E.64.STRONG.GPU", Src: []int{2, 8}, Addr: lanes(bufA, 8, full)},
		{PC: 0x80, Mask: full, Op: "BAR.ARV"},
		{PC: 0x90, Mask: full, Op: "EXIT"},
	}
	h := vecadd(1)
	h.Block = [3]uint32{32, 1, 1}
	file := filepath.Join(t.TempDir(), "k.traceg")
	writeKernel(t, file, h, nil, func(int, int) []Inst { return list })
	tr, err := Read(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var got []string
	for pc, in := range tr.Code.Instr {
		regs := tr.Code.Regs[in.Reg : in.Reg+uint32(in.NReg)]
		got = append(got, fmt.Sprintf("%d %s k%d u%d t%d s%d c%d w%d dst%v src%v", pc, tr.Code.Text[pc], in.Kind,
			in.Unit, in.Timing, in.Space, in.Cache, in.Width, regs[:in.NDst], regs[in.NDst:]))
	}
	want := []string{
		fmt.Sprintf("0 LDG.E.128.CONSTANT R4, R2 k%d u%d t0 s%d c%d w16 dst[4 5 6 7] src[2]", isa.Load, isa.LDST,
			isa.Global, isa.CacheReadOnly),
		fmt.Sprintf("1 DFMA R8, R4, R6, RZ k0 u%d t%d s0 c0 w0 dst[8 9] src[4 5 6 7]", isa.DP, isa.DpMad),
		"2 (not executed) k0 u0 t0 s0 c0 w0 dst[] src[]",
		fmt.Sprintf("3 BRA k%d u0 t0 s0 c0 w0 dst[] src[]", isa.Branch),
		fmt.Sprintf("4 STG.E.64.STRONG.GPU R2, R8 k%d u%d t0 s%d c%d w8 dst[] src[2 8]", isa.Store, isa.LDST,
			isa.Global, isa.CacheGlobal),
		fmt.Sprintf("5 BAR.ARV k%d u0 t0 s0 c0 w0 dst[] src[]", isa.Barrier),
		fmt.Sprintf("6 EXIT k%d u0 t0 s0 c0 w0 dst[] src[]", isa.Exit),
		"7 (not executed) k0 u0 t0 s0 c0 w0 dst[] src[]",
		fmt.Sprintf("8 MUFU.RSQ R3, R1 k0 u%d t%d s0 c0 w0 dst[3] src[1]", isa.SFU, isa.Special),
		fmt.Sprintf("9 EXIT (of a warp without records) k%d u0 t0 s0 c0 w0 dst[] src[]", isa.Exit),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if tr.Code.NumRegs != 10 {
		t.Errorf("NumRegs = %d, want 10", tr.Code.NumRegs)
	}
	var s isa.Step
	c := tr.Launch().Start(0, isa.Place{})
	for range 6 {
		if err := c.Step(0, 0, &s); err != nil {
			t.Fatal(err)
		}
	}
	if !s.Arrive {
		t.Error("BAR.ARV waits")
	}
}

// TestSpaces: generic addresses find their windows, explicit ones are offsets.
func TestSpaces(t *testing.T) {
	m := uint32(0xf0)
	h := vecadd(1)
	h.Block = [3]uint32{32, 1, 1}
	at := func(base uint64) []uint64 { return lanes(base, 4, m) }
	list := []Inst{
		{PC: 0x00, Mask: m, Dst: []int{4}, Op: "LD.E", Src: []int{2}, Addr: at(h.SharedBase + 64), Mode: 1},
		{PC: 0x10, Mask: m, Dst: []int{4}, Op: "LD.E", Src: []int{2}, Addr: at(h.LocalBase + 0xfffc40), Mode: 2},
		{PC: 0x20, Mask: m, Dst: []int{4}, Op: "LD.E", Src: []int{2}, Addr: at(bufA)},
		{PC: 0x30, Mask: m, Dst: []int{4}, Op: "LDS", Src: []int{2}, Addr: at(128)},
		{PC: 0x40, Mask: m, Op: "STL", Src: []int{2}, Addr: at(0xfffc00)},
		{PC: 0x50, Mask: m, Op: "LDGSTS.E", Src: []int{2, 3}, Addr: at(256)},
		{PC: 0x50, Mask: m, Op: "LDGSTS.E", Src: []int{2, 3}, Addr: at(bufB)},
		{PC: 0x60, Mask: m, Op: "DEPBAR.LE"},
		{PC: 0x70, Mask: m, Dst: []int{4}, Op: "LDC", Src: []int{2}},
		{PC: 0x80, Mask: m, Op: "EXIT"},
	}
	file := filepath.Join(t.TempDir(), "k.traceg")
	writeKernel(t, file, h, nil, func(int, int) []Inst { return list })
	tr, err := Read(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if tr.LocalBytes != 0x50 { // 0xfffc00 to 0xfffc50
		t.Errorf("LocalBytes = %#x, want 0x50", tr.LocalBytes)
	}
	a, _ := tr.mapper.move(bufA)
	b, _ := tr.mapper.move(bufB)
	want := []event{
		{space: isa.Shared, addr: at(64)},
		{space: isa.Local, addr: at(0x40)},
		{space: isa.Global, addr: at(a)},
		{space: isa.Shared, addr: at(128)},
		{space: isa.Local, addr: at(0)},
		{space: isa.Shared, addr: at(256)},
		{space: isa.Global, addr: at(b)},
		{},
		{space: isa.Const},
		{},
	}
	for i, e := range replayAll(t, tr, 0)[0] {
		if e.space != want[i].space || !slices.Equal(e.addr, want[i].addr) {
			t.Errorf("%s: space %d at %x, want space %d at %x", e.text, e.space, e.addr, want[i].space, want[i].addr)
		}
	}
	if in := tr.Code.Instr[6]; in.Kind != isa.Await { // 0x00, 0x10, ... have no gaps
		t.Errorf("DEPBAR in a kernel with asynchronous copies is kind %d, want a wait for copies", in.Kind)
	}
}

// TestStepAllocates: replaying allocates nothing, in memory or on disk.
func TestStepAllocates(t *testing.T) {
	for _, memory := range []int64{0, 1} {
		file := filepath.Join(t.TempDir(), "k.traceg")
		h := vecadd(1)
		h.Block = [3]uint32{32, 1, 1}
		const n = 5000
		writeKernel(t, file, h, nil, func(int, int) []Inst {
			list := make([]Inst, n)
			for i := range list {
				list[i] = vecaddWarp(i, 0)[6+i%2]
			}
			return list
		})
		tr, err := Read(file, Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		g := tr.Launch()
		g.Start(0, isa.Place{}).Release() // makes the CTA that is reused
		c := g.Start(0, isa.Place{})
		var s isa.Step
		if err := c.Step(0, 0, &s); err != nil { // makes the window
			t.Fatal(err)
		}
		got := testing.AllocsPerRun(n-10, func() {
			if err := c.Step(0, 0, &s); err != nil {
				t.Fatal(err)
			}
		})
		if got != 0 {
			t.Errorf("memory %d: %v allocations per step", memory, got)
		}
	}
}

// TestMemory reads a trace of some 60 MB of text whose single block is almost all
// of it, with 1 MiB for records, and holds the heap to a few MiB.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 60 MB")
	}
	h := vecadd(2)
	h.Block = [3]uint32{64, 1, 1}
	file := filepath.Join(t.TempDir(), "k.traceg")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := NewWriter(f, h)
	const insts = 40_000
	var line []byte
	{
		var b bytes.Buffer
		one := NewWriter(&b, h)
		a := make([]uint64, 32)
		for k := range a {
			a[k] = bufA + uint64(k*k*64)
		}
		b.Reset()
		one.Inst(&Inst{PC: 0, Mask: ^uint32(0), Dst: []int{2}, Op: "LDG.E", Src: []int{3}, Addr: a})
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
		text := b.Bytes()
		line = text[bytes.LastIndexByte(text[:len(text)-1], '\n')+1:]
	}
	for b := range uint32(2) {
		w.Block(b, 0, 0)
		for warp := range 2 {
			n := insts
			if b == 1 {
				n = 1
			}
			w.Warp(warp, n)
			for range n {
				if _, err := w.w.Write(line); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	tr, err := Read(file, Options{Memory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	runtime.ReadMemStats(&after)
	grown := int64(after.TotalAlloc - before.TotalAlloc) // all that was ever allocated, garbage included
	t.Logf("%d MB of text, %d MB of records, %d KB allocated", tr.Bytes>>20, tr.Records>>20, grown>>10)
	if tr.Bytes < 40<<20 || tr.Records < 3<<20 || grown > 12<<20 {
		t.Errorf("reading %d bytes allocated %d", tr.Bytes, grown)
	}
	runtime.ReadMemStats(&before)
	n := 0
	for cta := range 2 {
		c := tr.Launch().Start(cta, isa.Place{})
		var s isa.Step
		for w := range 2 {
			for c.PC(w) >= 0 {
				if err := c.Step(w, 0, &s); err != nil {
					t.Fatal(err)
				}
				n++
			}
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; n != 2*insts+2 || grown > 64<<10 {
		t.Errorf("replaying %d instructions allocated %d bytes", n, grown)
	}
}

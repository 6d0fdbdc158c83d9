package machine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/sheets"
)

// streamLoads is how many loads of 16 bytes a thread of the stream has under way.
const streamLoads = 8

// streamKernel reads an array from end to end: each block 16 KB that follow each other.
func streamKernel() string {
	var b strings.Builder
	b.WriteString(`.version 6.4
.target sm_70
.address_size 64
.visible .entry stream(.param .u64 in) {
	.reg .b32 %r<6>; .reg .f32 %f<64>; .reg .b64 %rd<4>;
	ld.param.u64 %rd1, [in];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
`)
	fmt.Fprintf(&b, "\tmul.lo.s32 %%r1, %%r1, %d;\n\tmad.lo.s32 %%r4, %%r1, %%r2, %%r3;\n", streamLoads)
	b.WriteString("\tmul.wide.u32 %rd2, %r4, 16;\n\tadd.s64 %rd3, %rd1, %rd2;\n")
	for i := range streamLoads { // into registers of their own: no load waits for another
		fmt.Fprintf(&b, "\tld.global.v4.f32 {%%f%d, %%f%d, %%f%d, %%f%d}, [%%rd3+%d];\n", 4*i, 4*i+1, 4*i+2,
			4*i+3, i*128*16)
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

// streamed is the part of the fast tier's 819 GB/s that a stream of reads draws which lies there: the second of two
// passes over so many bytes, of which the caches above hold a MB.
func streamed(t *testing.T, bytes uint64, change func(*sheets.Machine)) float64 {
	t.Helper()
	r := newRig(t, "hydrogen", Options{}, func(m *sheets.Machine) {
		m.Memory.Hybrid.Policy, m.L3.Sets, m.LLC.Sets = "none", 32, 32
		if change != nil {
			change(m)
		}
	}, tenant("gpu", upTo(6)))
	var err error
	if r.mod, err = emulate.Load("stream.ptx", []byte(streamKernel())); err != nil {
		t.Fatal(err)
	}
	if r.in[0], err = r.mod.Bind(r.mems[0]); err != nil {
		t.Fatal(err)
	}
	const block = 128 * 16 * streamLoads
	in := r.alloc(0, int64(bytes), mem.Device)
	var took uint64
	for range 2 {
		from := r.g.Now()
		r.launch(0, "stream", uint32(bytes/block), 128, in.Base)
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		took = r.g.Now() - from
	}
	if n := r.counted(0, "hybrid.misses"); n > bytes/256+100 { // and some of page tables
		t.Fatalf("%d misses of %d blocks: the second pass was not in the fast tier", n, bytes/256)
	}
	const peak = 16 * 64 / 2 * 1600. / 1370 // bytes in a core cycle: bursts of two clocks on 16 channels
	return float64(bytes) / float64(took) / peak
}

// halfChannels leaves the fast tier half of its channels and all of its capacity, in more rows or in more levels.
func halfChannels(levels bool) func(*sheets.Machine) {
	return func(m *sheets.Machine) {
		d, at := &m.Memory.Fast.Device, &m.Memory.Fast.Map
		d.Channels, at.Channel = 8, []int{6, 7, 8}
		if levels {
			d.Ranks, at.Rank = 2*d.Ranks, append([]int{9}, at.Rank...)
			return
		}
		d.Rows *= 2
		at.Row = append([]int{9}, at.Row...)
	}
}

// TestStreamFillsTheFastTier: a GPU that reads what lies in the fast memory takes its bandwidth, and half of it from
// half of the channels: its speed follows the number of channels it has (Hydrogen, sections III-B and VI-B).
func TestStreamFillsTheFastTier(t *testing.T) {
	for _, c := range []struct {
		what        string
		change      func(*sheets.Machine)
		least, most float64
	}{
		{"all channels", nil, 0.85, 0.93}, // a refresh takes 260 of 3900 ns
		{"half of them, of more rows", halfChannels(false), 0.42, 0.47},
		{"half of them, of more levels", halfChannels(true), 0.42, 0.47},
	} {
		if got := streamed(t, 8<<20, c.change); got < c.least || got > c.most {
			t.Errorf("%s: %.3f of the peak, want %g to %g", c.what, got, c.least, c.most)
		}
	}
}

// TestStreamCaps: each of these alone keeps a stream from the fast tier's bandwidth.
func TestStreamCaps(t *testing.T) {
	if testing.Short() {
		t.Skip("ten seconds")
	}
	for _, c := range []struct {
		what   string
		change func(*sheets.Machine)
		most   float64
	}{
		{
			"64 entries in a sub-slice, which are 32 lines of two sectors",
			func(m *sheets.Machine) { m.L1D.MSHRs = 64 }, 0.5,
		},
		{"64 lines", func(m *sheets.Machine) { m.L1D.MSHRs = 128 }, 0.8},
		{"64 bytes a clock from a bank of the L3", func(m *sheets.Machine) { m.L3.PortBytes = 64 }, 0.84},
		{"64 bytes a clock to a sub-slice", func(m *sheets.Machine) { m.NoC.FlitBytes = 72 }, 0.6},
		{"sectors that are packets", func(m *sheets.Machine) { m.NoC.WholeLines = false }, 0.6},
		{"packets that wait behind others'", func(m *sheets.Machine) { m.NoC.VCs, m.NoC.Iterations = 1, 1 }, 0.84},
		{"one level of banks", func(m *sheets.Machine) {
			d, at := &m.Memory.Fast.Device, &m.Memory.Fast.Map
			d.Ranks, d.Rows, at.Row, at.Rank = 1, 2*d.Rows, append(at.Rank, at.Row...), nil
		}, 0.82},
	} {
		if got := streamed(t, 4<<20, c.change); got > c.most {
			t.Errorf("%s: %.3f of the peak, at most %g were expected", c.what, got, c.most)
		}
	}
}

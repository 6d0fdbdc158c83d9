package torture

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// wmmaType is an element type of a matrix: how numbers are stored.
type wmmaType struct {
	name  string
	bytes int
	put   func(b []byte, v float64)
	get   func(b []byte) float64
}

var (
	wmF16 = wmmaType{"f16", 2, func(b []byte, v float64) {
		binary.LittleEndian.PutUint16(b, exactHalf(v))
	}, func(b []byte) float64 { return fromHalf(binary.LittleEndian.Uint16(b)) }}
	wmBF16 = wmmaType{"bf16", 2, func(b []byte, v float64) {
		binary.LittleEndian.PutUint16(b, uint16(math.Float32bits(float32(v))>>16))
	}, func(b []byte) float64 {
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
	}}
	wmF32 = wmmaType{"f32", 4, func(b []byte, v float64) {
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v)))
	}, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) }}
	wmTF32 = wmmaType{"tf32", 4, wmF32.put, wmF32.get}
	wmS8   = wmmaType{"s8", 1, func(b []byte, v float64) { b[0] = byte(int8(v)) }, func(b []byte) float64 {
		return float64(int8(b[0]))
	}}
	wmU8 = wmmaType{"u8", 1, func(b []byte, v float64) { b[0] = byte(v) }, func(b []byte) float64 {
		return float64(b[0])
	}}
	wmS32 = wmmaType{
		"s32", 4, func(b []byte, v float64) { binary.LittleEndian.PutUint32(b, uint32(int32(v))) },
		func(b []byte) float64 { return float64(int32(binary.LittleEndian.Uint32(b))) },
	}
)

// exactHalf is the binary16 of a small integer or a multiple of 1/8, which is exact.
func exactHalf(v float64) uint16 {
	if v == 0 {
		return 0
	}
	m, e := math.Frexp(math.Abs(v))
	h := uint16(e+14)<<10 | uint16(m*2048)&1023
	if v < 0 {
		h |= 1 << 15
	}
	return h
}

// wmmaMatrix is a matrix in memory: row-major or not, with gap elements behind each line.
type wmmaMatrix struct {
	t          wmmaType
	rows, cols int
	layout     string
	gap        int
}

func (m wmmaMatrix) line() int {
	if m.layout == "row" {
		return m.cols + m.gap
	}
	return m.rows + m.gap
}

func (m wmmaMatrix) at(b []byte, row, col int) []byte {
	if m.layout == "col" {
		row, col = col, row
	}
	return b[(row*m.line()+col)*m.t.bytes:]
}

func (m wmmaMatrix) bytes() int {
	return max(m.rows, m.cols) * (max(m.rows, m.cols) + m.gap) * m.t.bytes
}

// wmmaCase multiplies two random matrices and compares with the sums.
func wmmaCase(t *testing.T, r *rand.Rand, shape string, a, b, c, d wmmaMatrix, space string) {
	t.Helper()
	list := func(name string, n int) string {
		var s []string
		for i := range n {
			s = append(s, fmt.Sprintf("%%%s%d", name, i))
		}
		return "{" + strings.Join(s, ", ") + "}"
	}
	regs := func(m wmmaMatrix, part byte) int {
		if m.t.name == "f16" && (part == 'a' || part == 'b') {
			return 8
		}
		return m.rows * m.cols * m.t.bytes / 128
	}
	types := fmt.Sprintf("%s.%s", d.t.name, c.t.name)
	if a.t.name != "f16" {
		types = fmt.Sprintf("%s.%s.%s.%s", d.t.name, a.t.name, b.t.name, c.t.name)
	}
	suffix := map[string]string{"global": ".global", "generic": ""}[space]
	stride := func(m wmmaMatrix, part string) string {
		if m.gap == 0 {
			return ""
		}
		return fmt.Sprintf(", %d", m.line())
	}
	src := legalHead + `
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{
	.reg .b64 %p<4>;
	.reg .b32 %a<8>, %b<8>, %c<8>, %d<8>;
	ld.param.u64 %p0, [a]; ld.param.u64 %p1, [b]; ld.param.u64 %p2, [c]; ld.param.u64 %p3, [d];
` + fmt.Sprintf("wmma.load.a.sync.aligned.%s.%s%s.%s %s, [%%p0]%s;\n", a.layout, shape, suffix, a.t.name,
		list("a", regs(a, 'a')), stride(a, "a")) +
		fmt.Sprintf("wmma.load.b.sync.aligned.%s.%s%s.%s %s, [%%p1]%s;\n", b.layout, shape, suffix, b.t.name,
			list("b", regs(b, 'b')), stride(b, "b")) +
		fmt.Sprintf("wmma.load.c.sync.aligned.%s.%s%s.%s %s, [%%p2]%s;\n", c.layout, shape, suffix, c.t.name,
			list("c", regs(c, 'c')), stride(c, "c")) +
		fmt.Sprintf("wmma.mma.sync.aligned.%s.%s.%s.%s %s, %s, %s, %s;\n", a.layout, b.layout, shape, types,
			list("d", regs(d, 'd')), list("a", regs(a, 'a')), list("b", regs(b, 'b')), list("c", regs(c, 'c'))) +
		fmt.Sprintf("wmma.store.d.sync.aligned.%s.%s%s.%s [%%p3], %s%s;\nret;\n}\n", d.layout, shape, suffix, d.t.name,
			list("d", regs(d, 'd')), stride(d, "d"))
	m, err := emulate.Load("wmma.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	sp := mem.NewSpace(0)
	inst, err := m.Bind(sp)
	if err != nil {
		t.Fatal(err)
	}
	var data [4][]byte
	var params []byte
	for i, x := range []wmmaMatrix{a, b, c, d} {
		reg, err := sp.Alloc(int64(x.bytes()), mem.Device, "m")
		if err != nil {
			t.Fatal(err)
		}
		data[i] = reg.Data
		params = binary.LittleEndian.AppendUint64(params, reg.Base)
		for row := range x.rows {
			for col := range x.cols {
				v := float64(r.IntN(17))
				if x.t.name != "u8" {
					v -= 8
				}
				if x.t.bytes > 1 && x.t.name != "s32" {
					v /= 4
				}
				x.t.put(x.at(reg.Data, row, col), v)
			}
		}
	}
	g, err := inst.Grid(m.Kernels()[0], emulate.Launch{Grid: d1(1), Block: d1(32), Params: params})
	if err == nil {
		_, err = emulate.Run(g, limit)
	}
	if err != nil {
		t.Fatal(err)
	}
	for row := range d.rows {
		for col := range d.cols {
			want := c.t.get(c.at(data[2], row, col))
			for k := range a.cols {
				want += a.t.get(a.at(data[0], row, k)) * b.t.get(b.at(data[1], k, col))
			}
			if got := d.t.get(d.at(data[3], row, col)); got != want {
				t.Fatalf("%s: D[%d][%d] = %v, want %v\n%s", shape, row, col, got, want, src)
			}
		}
	}
}

// TestWMMA: every shape, layout and type against sums of products; the numbers are such that
// no sum is rounded.
func TestWMMA(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, s := range []struct {
		name    string
		m, n, k int
	}{{"m16n16k16", 16, 16, 16}, {"m8n32k16", 8, 32, 16}, {"m32n8k16", 32, 8, 16}, {"m16n16k8", 16, 16, 8}} {
		kinds := [][4]wmmaType{ // A, B, C, D
			{wmF16, wmF16, wmF32, wmF32},
			{wmF16, wmF16, wmF16, wmF16},
			{wmF16, wmF16, wmF16, wmF32},
			{wmF16, wmF16, wmF32, wmF16},
			{wmBF16, wmBF16, wmF32, wmF32},
			{wmS8, wmS8, wmS32, wmS32},
			{wmU8, wmU8, wmS32, wmS32},
			{wmU8, wmS8, wmS32, wmS32},
		}
		if s.k == 8 {
			kinds = [][4]wmmaType{{wmTF32, wmTF32, wmF32, wmF32}}
		}
		for _, k := range kinds {
			for i := range 16 {
				layout := func(bit int) string { return []string{"row", "col"}[i>>bit&1] }
				gap := 16 * (i & 1) // in elements; 16 bytes for the smallest
				wmmaCase(t, r, s.name, wmmaMatrix{k[0], s.m, s.k, layout(0), gap},
					wmmaMatrix{k[1], s.k, s.n, layout(1), gap},
					wmmaMatrix{k[2], s.m, s.n, layout(2), gap}, wmmaMatrix{k[3], s.m, s.n, layout(3), gap},
					[]string{"global", "generic"}[i>>1&1])
			}
		}
	}
}

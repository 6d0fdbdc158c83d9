package emulate

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/mem"
)

type spec struct {
	Name, Kernel, PTX string
	Grid, Block       [3]uint32
	Launches          int
	Dynamic           int `json:"dynamic_shared"`
	Buffers           []specBuffer
	Args              []map[string]any
}

type specBuffer struct {
	Name, Dtype string
	Count       int
	Init        specInit
	Bytes       int
	InitHash    string   `json:"init_fnv64"`
	Hash        string   `json:"final_fnv64_clang"`
	First       []uint32 `json:"final_first8_u32_clang"`
}

type specInit struct {
	Kind            string
	Value           float64
	Seed, Mod       uint32
	Scale, Offset   float64
	Lines, Stride   int
	Order           string
	Min, Max, Heavy int
	HeavyDeg        int `json:"heavy_deg"`
}

func hash32(i int, seed uint32) uint32 {
	x := uint32(i)*0x9E3779B9 + seed
	x ^= x >> 16
	x *= 0x85EBCA6B
	x ^= x >> 13
	x *= 0xC2B2AE35
	return x ^ x>>16
}

// chain is a cyclic permutation that starts at slot 0.
func chain(n int, seed uint32) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := int(hash32(i, seed) % uint32(i+1))
		p[i], p[j] = p[j], p[i]
	}
	k := 0
	for p[k] != 0 {
		k++
	}
	return append(append([]int(nil), p[k:]...), p[:k]...)
}

// initial is the reference initialiser of the calibration set.
func (b specBuffer) initial(t testing.TB) []byte {
	out := make([]byte, b.Bytes)
	put := func(i int, v uint32) { binary.LittleEndian.PutUint32(out[4*i:], v) }
	in := b.Init
	switch in.Kind {
	case "none", "zero":
	case "const":
		for i := range b.Count {
			if b.Dtype == "f32" {
				put(i, math.Float32bits(float32(in.Value)))
			} else {
				put(i, uint32(int64(in.Value)))
			}
		}
	case "iota":
		for i := range b.Count {
			if b.Dtype == "f32" {
				put(i, math.Float32bits(float32(i)))
			} else {
				put(i, uint32(i))
			}
		}
	case "hashf":
		for i := range b.Count {
			put(i, math.Float32bits(float32(in.Offset+in.Scale*(float64(hash32(i, in.Seed)>>8)/16777216))))
		}
	case "hashu":
		for i := range b.Count {
			put(i, hash32(i, in.Seed)%in.Mod)
		}
	case "chase":
		o := make([]int, in.Lines)
		for i := range o {
			o[i] = i
		}
		if in.Order != "seq" {
			o = chain(in.Lines, in.Seed)
		}
		for q := range o {
			put(o[q]*in.Stride, uint32(o[(q+1)%len(o)]*in.Stride))
		}
	case "csr_rowptr":
		a := 0
		for r := range b.Count - 1 {
			n := in.Min + int(hash32(r, in.Seed)%uint32(in.Max-in.Min+1))
			if in.Heavy > 0 && r%in.Heavy == 0 {
				n = in.HeavyDeg
			}
			a += n
			put(r+1, uint32(a))
		}
	default:
		t.Fatalf("initialiser %q", in.Kind)
	}
	return out
}

// fnvOf is FNV-1a with the offset basis of the reference driver (which lacks the
// last digit of the standard one).
func fnvOf(b []byte) string {
	h := uint64(1469598103934665603)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return fmt.Sprintf("%016x", h)
}

// prepare loads a spec and binds its kernel to fresh buffers.
func prepare(t testing.TB, dir, file string) (*spec, *Instance, *Kernel, Launch, map[string]*mem.Region) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := new(spec)
	if err := json.Unmarshal(raw, s); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(filepath.Join(dir, filepath.Base(s.PTX)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Load(filepath.Base(s.PTX), src)
	if err != nil {
		t.Fatal(err)
	}
	sp := mem.NewSpace(0)
	bufs := map[string]*mem.Region{}
	for _, b := range s.Buffers {
		r, err := sp.Alloc(int64(b.Bytes), mem.Device, b.Name)
		if err != nil {
			t.Fatal(err)
		}
		copy(r.Data, b.initial(t))
		if b.InitHash != "" && fnvOf(r.Data) != b.InitHash {
			t.Fatalf("%s: buffer %s is initialised differently from the reference", s.Name, b.Name)
		}
		bufs[b.Name] = r
	}
	in, err := m.Bind(sp)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel(s.Kernel)
	if err != nil {
		t.Fatal(err)
	}
	return s, in, k, Launch{Grid: s.Grid, Block: s.Block, Params: s.params(t, k, bufs), SharedDynamic: s.Dynamic}, bufs
}

func (s *spec) params(t testing.TB, k *Kernel, bufs map[string]*mem.Region) []byte {
	params := make([]byte, k.ParamBytes)
	for i, a := range s.Args {
		p := params[k.Params[i].Offset:]
		for kind, v := range a {
			switch kind {
			case "ptr":
				binary.LittleEndian.PutUint64(p, bufs[v.(string)].Base)
			case "i32":
				binary.LittleEndian.PutUint32(p, uint32(int32(v.(float64))))
			case "f32":
				binary.LittleEndian.PutUint32(p, math.Float32bits(float32(v.(float64))))
			case "f64":
				binary.LittleEndian.PutUint64(p, math.Float64bits(v.(float64)))
			default:
				t.Fatalf("argument kind %q", kind)
			}
		}
	}
	return params
}

// likeReference makes a kernel compute as GPGPU-Sim does where that differs from the
// PTX ISA: its fma.rn.f32 rounds the product, its lg2 the natural logarithm, its shfl reads lanes it has already
// overwritten when source and destination are the same register. With these three
// the outputs must be the reference's, bit for bit; TestExact checks the real ones.
func likeReference(k *Kernel) {
	for i := range k.prog.ops {
		o := &k.prog.ops[i]
		text := k.Code.Text[i]
		switch {
		case strings.HasPrefix(text, "fma.rn.f32"):
			o.f32 = func(d, a, b, c *v32) {
				for i := range d {
					p := math.Float32frombits(a[i]) * math.Float32frombits(b[i])
					d[i] = math.Float32bits(p + math.Float32frombits(c[i]))
				}
			}
		case strings.HasPrefix(text, "lg2.approx.f32"):
			o.f32 = func(d, a, _, _ *v32) {
				for i := range d {
					ln := float32(math.Log(float64(math.Float32frombits(a[i]))))
					d[i] = math.Float32bits(float32(float64(ln) / math.Ln2))
				}
			}
		case strings.HasPrefix(text, "shfl.sync.bfly.b32") && o.d == o.a:
			o.fx = func(c *cta, wp *warp, o *op, mask uint32) error {
				d := &wp.r32[o.d]
				for i := range d {
					d[i] = d[i^int(c.row32(wp, o.b)[i])]
				}
				return nil
			}
		}
	}
}

// partial gives the words [from, to) to compare of buffers that are not comparable
// as a whole: those that hold clock values, and the results that depend on the host's
// logf and powf, of which the specification shows eight words.
func partial(name, buffer string) (from, to int) {
	switch {
	case buffer == "clk":
		return 8, 8
	case name == "option_price_big" && (buffer == "call" || buffer == "put"):
		return 0, 8
	case buffer != "out":
		return 0, 0
	case strings.HasPrefix(name, "self_"), strings.HasPrefix(name, "chase_"):
		return 2, 8
	case strings.HasPrefix(name, "dep_atom"):
		return 1, 8
	}
	return 0, 0
}

func TestCalibration(t *testing.T) {
	files, _ := filepath.Glob("testdata/calib/*.json")
	if len(files) < 60 {
		t.Fatalf("%d specs in testdata/calib, 64 expected", len(files))
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		t.Run(name, func(t *testing.T) {
			s, in, k, l, bufs := prepare(t, "testdata/calib", f)
			likeReference(k)
			for range max(s.Launches, 1) {
				g, err := in.Grid(k, l)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := Run(g, 0); err != nil {
					t.Fatal(err)
				}
			}
			for _, b := range s.Buffers {
				from, to := partial(name, b.Name)
				if to > 0 {
					for i := from; i < to; i++ {
						if got := binary.LittleEndian.Uint32(bufs[b.Name].Data[4*i:]); got != b.First[i] {
							t.Errorf("%s[%d] = %d, want %d", b.Name, i, got, b.First[i])
						}
					}
					continue
				}
				if got := fnvOf(bufs[b.Name].Data); got != b.Hash {
					var first [8]uint32
					for i := range first {
						if 4*i < b.Bytes {
							first[i] = binary.LittleEndian.Uint32(bufs[b.Name].Data[4*i:])
						}
					}
					t.Errorf("buffer %s: hash %s, want %s; first words %v, want %v", b.Name, got, b.Hash, first,
						b.First)
				}
			}
		})
	}
}

// TestExact checks what the reference does not compute as the ISA says: fused
// multiply-adds are rounded once, and a shuffle reads lanes as they were before it.
func TestExact(t *testing.T) {
	f32 := func(r *mem.Region, i int) float32 {
		return math.Float32frombits(binary.LittleEndian.Uint32(r.Data[4*i:]))
	}
	run := func(name string) (*spec, map[string]*mem.Region) {
		s, in, k, l, bufs := prepare(t, "testdata/calib", "testdata/calib/"+name+".json")
		g, err := in.Grid(k, l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Run(g, 0); err != nil {
			t.Fatal(err)
		}
		return s, bufs
	}
	exact := func(x, y, z float32) float32 {
		b := func(f float32) uint64 { return uint64(math.Float32bits(f)) }
		return math.Float32frombits(uint32(fmt32.fma(b(x), b(y), b(z), rn)))
	}
	s, bufs := run("matmul_tiled_128")
	n := int(s.Args[3]["i32"].(float64))
	for _, at := range [][2]int{{0, 0}, {0, 4}, {7, 100}, {n - 1, n - 1}, {63, 64}} {
		sum := float32(0)
		for k := range n {
			sum = exact(f32(bufs["A"], at[0]*n+k), f32(bufs["B"], k*n+at[1]), sum)
		}
		if got := f32(bufs["C"], at[0]*n+at[1]); got != sum {
			t.Errorf("C%v = %v, want %v", at, got, sum)
		}
	}
	_, bufs = run("dep_shfl") // an even number of exchanges with the neighbour
	for i := range 32 {
		if got := binary.LittleEndian.Uint32(bufs["out"].Data[4*i:]); got != uint32(i) {
			t.Errorf("lane %d has %d after an even number of exchanges", i, got)
		}
	}
}

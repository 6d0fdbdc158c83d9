package torture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// variants are the directories of testdata/clang: how the sources were compiled.
var variants = []string{"O2-sm70", "O0-sm70", "O2-sm90", "O0-sm90", "O1-short"}

// limit bounds the warp instructions of one launch; no kernel here needs a tenth.
const limit = 50_000_000

type dim = [3]uint32

func d1(x uint32) dim    { return dim{x, 1, 1} }
func d2(x, y uint32) dim { return dim{x, y, 1} }

// buffer is an argument in memory: a typed slice with the contents before the launch,
// and the contents wanted after it (nil: unchanged; any: not compared).
type buffer struct {
	in, want any
	any      bool
}

func in(v any) buffer       { return buffer{in: v} }
func out(want any) buffer   { return buffer{in: zeroed(want), want: want} }
func inout(v, w any) buffer { return buffer{in: v, want: w} }
func scratch(v any) buffer  { return buffer{in: v, any: true} }
func zeroed(like any) any {
	return reflect.MakeSlice(reflect.TypeOf(like), reflect.ValueOf(like).Len(), reflect.ValueOf(like).Len()).Interface()
}

func encoded(v any) []byte { b, err := binary.Append(nil, binary.LittleEndian, v); must(err); return b }

func must(err error) {
	if err != nil {
		panic(err) // a mistake in the tests themselves
	}
}

// launch is one kernel launch. Arguments are buffers and typed scalars; a []byte is a
// parameter passed by value (a struct).
type launch struct {
	kernel      string
	grid, block dim
	shared      int
	args        []any
}

// kernelTest is a sequence of launches in one instance of a module. A buffer used twice
// is the same *buffer.
type kernelTest struct {
	name   string
	file   string
	launch func() []launch
}

// one makes a test of a single launch of the kernel of the same name.
func one(file, name string, grid, block dim, shared int, args func() []any) kernelTest {
	return kernelTest{name, file, func() []launch {
		return []launch{{name, grid, block, shared, args()}}
	}}
}

// load reads a module of testdata.
func load(t *testing.T, path string) *emulate.Module {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	m, err := emulate.Load(path, src)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// executor runs a grid to its end.
type executor func(g isa.Grid, space *mem.Space) error

// functional is emulate.Run.
func functional(g isa.Grid, _ *mem.Space) error {
	_, err := emulate.Run(g, limit)
	return err
}

// run executes all launches and compares every buffer, with loops as they are and unrolled.
func (k *kernelTest) run(t *testing.T, m *emulate.Module, exec executor) {
	t.Helper()
	for _, unroll := range []bool{false, true} {
		k.once(t, m, exec, unroll)
	}
}

func (k *kernelTest) once(t *testing.T, m *emulate.Module, exec executor, unroll bool) {
	t.Helper()
	space := mem.NewSpace(0)
	inst, err := m.Bind(space)
	if err != nil {
		t.Fatal(err)
	}
	places := map[*buffer]*mem.Region{}
	for _, l := range k.launch() {
		g, err := prepare(m, inst, space, l, places, unroll)
		if err == nil {
			err = exec(g, space)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range l.args {
			b, ok := a.(*buffer)
			if !ok {
				continue
			}
			want := b.want
			if want == nil {
				want = b.in
			}
			if !b.any {
				compare(t, fmt.Sprintf("%s, argument %d", l.kernel, i), want, places[b].Data)
			}
		}
	}
}

// prepare allocates the buffers that are new and makes the grid of a launch.
func prepare(m *emulate.Module, inst *emulate.Instance, space *mem.Space, l launch,
	places map[*buffer]*mem.Region, unroll bool,
) (isa.Grid, error) {
	kern, err := m.Kernel(l.kernel)
	if err != nil {
		return nil, err
	}
	if len(kern.Params) != len(l.args) {
		return nil, fmt.Errorf("%s has %d parameters, the test gives %d", l.kernel, len(kern.Params), len(l.args))
	}
	params := make([]byte, kern.ParamBytes)
	for i, a := range l.args {
		p := kern.Params[i]
		var raw []byte
		switch a := a.(type) {
		case *buffer:
			if places[a] == nil {
				data := encoded(a.in)
				if places[a], err = space.Alloc(int64(len(data)), mem.Device, fmt.Sprintf("arg%d", i)); err != nil {
					return nil, err
				}
				copy(places[a].Data, data)
			}
			raw = encoded(places[a].Base)
		case []byte:
			raw = a
		default:
			raw = encoded(a)
		}
		if len(raw) != p.Size {
			return nil, fmt.Errorf("%s: parameter %d has %d bytes, the test gives %d", l.kernel, i, p.Size, len(raw))
		}
		copy(params[p.Offset:], raw)
	}
	return inst.Grid(kern, emulate.Launch{
		Grid: l.grid, Block: l.block, Params: params, SharedDynamic: l.shared, Unroll: unroll,
	})
}

// compare reports the first differing element. NaNs are equal whatever their payload,
// which IEEE 754 leaves open; everything else is compared bit by bit.
func compare(t *testing.T, what string, want any, got []byte) {
	t.Helper()
	if bytes.Equal(encoded(want), got) {
		return
	}
	w := reflect.ValueOf(want)
	g := reflect.New(w.Type()).Elem()
	g.Set(reflect.MakeSlice(w.Type(), w.Len(), w.Len()))
	if _, err := binary.Decode(got, binary.LittleEndian, g.Interface()); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	first, count := -1, 0
	for i := range w.Len() {
		if !same(w.Index(i), g.Index(i)) {
			count++
			if first < 0 {
				first = i
			}
		}
	}
	if first >= 0 {
		t.Errorf("%s: %d of %d elements differ, first [%d]: got %v (%#x), want %v (%#x)", what, count, w.Len(), first,
			g.Index(first), encoded(g.Index(first).Interface()), w.Index(first), encoded(w.Index(first).Interface()))
	}
}

func same(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		x, y := a.Float(), b.Float()
		return x == y && math.Signbit(x) == math.Signbit(y) || math.IsNaN(x) && math.IsNaN(y)
	}
	return a.Interface() == b.Interface()
}

// ---- inputs

// mix is the bijection of torture.cuh.
func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

// words gives n scrambled words.
func words(seed, n uint32) []uint32 {
	v := make([]uint32, n)
	for i := range v {
		v[i] = mix(seed*1000003 + uint32(i))
	}
	return v
}

// longs gives n scrambled 64-bit words.
func longs(seed, n uint32) []uint64 {
	v := make([]uint64, n)
	for i := range v {
		v[i] = uint64(mix(seed*77+2*uint32(i)))<<32 | uint64(mix(seed*77+2*uint32(i)+1))
	}
	return v
}

// table builds a slice from a function of the index.
func table[T any](n int, f func(i int) T) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = f(i)
	}
	return v
}

// unit gives n floats in [-1, 1).
func unit(seed, n uint32) []float32 {
	return table(int(n), func(i int) float32 {
		return float32(int32(words(seed, 1)[0]^mix(uint32(i)*7+
			seed))) / (1 << 31)
	})
}

func units(seed, n uint32) []float64 {
	return table(int(n), func(i int) float64 { return float64(int64(longs(seed+uint32(i)*13, 1)[0])) / (1 << 63) })
}

// ---- the test of everything compiled by clang

func clangTests() []kernelTest {
	return slices.Concat(divergence, shared, atomics, warp, integers, floats, calls, globals, syncs, algorithms)
}

// modules loads each module once.
type modules struct {
	byKey map[string]*emulate.Module
}

func (ms *modules) get(t *testing.T, path string) *emulate.Module {
	t.Helper()
	if ms.byKey[path] == nil {
		if ms.byKey == nil {
			ms.byKey = map[string]*emulate.Module{}
		}
		ms.byKey[path] = load(t, path)
	}
	return ms.byKey[path]
}

func TestClang(t *testing.T) {
	for _, v := range variants {
		var ms modules
		for _, k := range clangTests() {
			t.Run(v+"/"+k.name, func(t *testing.T) {
				k.run(t, ms.get(t, filepath.Join("clang", v, k.file+".ptx")), functional)
			})
		}
	}
}

// TestFastMath runs the modules compiled with fast math. What fast math does to
// loose point is the compiler's choice, so kernels that compute with it only have to
// run; the others must be as exact as ever.
func TestFastMath(t *testing.T) {
	loose := map[string]bool{
		"sh_dynamic": true, "sh_matmul": true, "sh_vector": true, "wp_shfl_part": true, "wp_wide": true,
		"ca_struct":  true,
		"ca_virtual": true, "ca_scalars": true, "gl_entries": true, "al_mandelbrot": true, "al_inverse": true,
		"al_fft32": true, "al_fft64": true,
	}
	for _, k := range floats {
		loose[k.name] = true
	}
	var ms modules
	for _, k := range clangTests() {
		t.Run(k.name, func(t *testing.T) {
			if loose[k.name] {
				exact := k.launch
				k.launch = func() []launch {
					all := exact()
					for _, l := range all {
						for _, a := range l.args {
							if b, ok := a.(*buffer); ok {
								b.any = true
							}
						}
					}
					return all
				}
			}
			k.run(t, ms.get(t, "clang/O3-fast/"+k.file+".ptx"), functional)
		})
	}
}

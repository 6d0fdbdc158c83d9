package host

import (
	"bytes"
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/mem"
)

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || err.Error() != text {
		t.Errorf("error %v\n want %s", err, text)
	}
}

// Every half converts to a float64 and back unchanged, and midpoints round to even.
func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		f := halfToFloat(uint16(h))
		if f != f {
			continue
		}
		if got := halfFromFloat(f); got != uint16(h) {
			t.Fatalf("%#04x -> %g -> %#04x", h, f, got)
		}
		next := halfToFloat(uint16(h + 1))
		if h&0x7fff >= 0x7bff || next != next {
			continue
		}
		even := uint16(h + h&1)
		if got := halfFromFloat((f + next) / 2); got != even {
			t.Fatalf("midpoint of %g and %g -> %#04x, want %#04x", f, next, got, even)
		}
		if got := halfFromFloat(math.Nextafter((f+next)/2, next)); got != uint16(h+1) {
			t.Fatalf("just past the midpoint of %g and %g -> %#04x", f, next, got)
		}
	}
	if halfFromFloat(65519.99) != 0x7bff || halfFromFloat(65520) != 0x7c00 ||
		halfFromFloat(math.NaN())&0x7c00 != 0x7c00 {
		t.Error("wrong at the end of the range")
	}
}

func TestScalarRanges(t *testing.T) {
	for _, c := range []struct {
		t    DType
		v    any
		bits uint64
		err  string
	}{
		{U8, 255, 255, ""},
		{U8, 256, 0, "256 is outside the range of u8 [0, 255]"},
		{U8, -1, 0, "-1 is outside the range of u8 [0, 255]"},
		{I8, -128, 0x80, ""},
		{I8, -129, 0, "-129 is outside the range of i8 [-128, 127]"},
		{I8, 128, 0, "128 is outside the range of i8 [-128, 127]"},
		{I32, 2.0, 2, ""},
		{I32, 1.5, 0, "1.5 cannot be stored as i32: it is not an integer"},
		{I32, math.NaN(), 0, "NaN cannot be stored as i32: it is not an integer"},
		{U64, uint64(math.MaxUint64), math.MaxUint64, ""},
		{
			I64, uint64(1 << 63), 0,
			"9223372036854775808 is outside the range of i64 [-9223372036854775808, 9223372036854775807]",
		},
		{I64, int64(math.MinInt64), 1 << 63, ""},
		{I64, new(big.Int).Lsh(big.NewInt(1), 64), 0, "18446744073709551616 does not fit in 64 bits"},
		{F32, 0.1, uint64(math.Float32bits(0.1)), ""},
		{F32, 1e39, 0, "1e+39 is outside the range of f32"},
		{F32, math.Inf(1), 0x7f800000, ""},
		{F16, 1, 0x3c00, ""},
		{F16, 65520.0, 0, "65520 is outside the range of f16"},
		{F64, int64(-3), math.Float64bits(-3), ""},
		{F32, true, 0x3f800000, ""},
		{F32, "x", 0, "x (string) is not a number"},
	} {
		s, err := NewScalar(c.t, c.v)
		if c.err != "" {
			wantError(t, err, c.err)
		} else if err != nil || s.Bits != c.bits {
			t.Errorf("%s(%v) = %#x, %v; want %#x", c.t, c.v, s.Bits, err, c.bits)
		}
	}
}

func values(t *testing.T, a *Array) any {
	t.Helper()
	return must[any](t)(a.Snapshot())
}

func TestFillArangeSum(t *testing.T) {
	c, _ := newSlow()
	for _, kind := range []func(DType, int64, string) (*Array, error){c.Malloc, c.MallocManaged, c.HostArray} {
		a := must[*Array](t)(kind(I16, 5, ""))
		noError(t, a.Fill(-7))
		if got := values(t, a); !reflect.DeepEqual(got, []int16{-7, -7, -7, -7, -7}) {
			t.Errorf("fill: %v", got)
		}
		noError(t, a.Arange(10, -4))
		if got := values(t, a); !reflect.DeepEqual(got, []int16{10, 6, 2, -2, -6}) {
			t.Errorf("arange: %v", got)
		}
		if s := must[any](t)(a.Sum()); s.(*big.Int).Int64() != 10 {
			t.Errorf("sum %v", s)
		}
		if lo, hi := must[Scalar](t)(a.Min()), must[Scalar](t)(a.Max()); lo.Value() != int64(-6) ||
			hi.Value() != int64(10) {
			t.Errorf("min %v max %v", lo, hi)
		}
	}
	f := must[*Array](t)(c.Malloc(F32, 4, ""))
	noError(t, f.Arange(0.5, 0.1))
	if got := values(t, f); !reflect.DeepEqual(got, []float32{0.5, 0.6, 0.7, float32(0.5 + 3*0.1)}) {
		t.Errorf("arange f32: %v", got)
	}
	noError(t, f.Set([]float32{1e8, 1, -1e8, 0.25}))
	if s := must[any](t)(f.Sum()); s != 1.25 {
		t.Errorf("f32 sums in float64: %v", s)
	}
	noError(t, f.Set([]float32{1, float32(math.NaN()), -1, 3}))
	if v := must[Scalar](t)(f.Max()).Value().(float64); v == v {
		t.Errorf("max with NaN: %v", v)
	}
	u := must[*Array](t)(c.Malloc(U64, 3, ""))
	noError(t, u.Fill(uint64(math.MaxUint64)))
	if s := must[any](t)(u.Sum()).(*big.Int).String(); s != "55340232221128654845" {
		t.Errorf("u64 sum %s", s)
	}
	i := must[*Array](t)(c.Malloc(I64, 3, ""))
	noError(t, i.Fill(int64(math.MinInt64)))
	if s := must[any](t)(i.Sum()).(*big.Int).String(); s != "-27670116110564327424" {
		t.Errorf("i64 sum %s", s)
	}
}

func TestFillErrors(t *testing.T) {
	c, _ := newSlow()
	b := must[*Array](t)(c.Malloc(U8, 200, ""))
	i := must[*Array](t)(c.Malloc(I64, 3, ""))
	f := must[*Array](t)(c.Malloc(F32, 3, ""))
	wantError(t, b.Fill(300), "fill: 300 is outside the range of u8 [0, 255]")
	wantError(t, b.Arange(0, 2), "arange: the last of 200 elements, 0 + 199*2, is outside the range of u8")
	wantError(t, b.Arange(0, -1), "arange: the last of 200 elements, 0 + 199*-1, is outside the range of u8")
	wantError(t, b.Arange(0, 0.5), "arange: step: 0.5 is not an integer of 64 bits")
	wantError(t, i.Arange(int64(math.MinInt64), uint64(math.MaxUint64)),
		"arange: the last of 3 elements, -9223372036854775808 + 2*18446744073709551615, is outside the range of i64")
	noError(t, i.Arange(int64(math.MinInt64), int64(math.MaxInt64)))
	wantError(t, b.Random(1, 5, 5), "random: [5, 5) holds no integer")
	wantError(t, b.Random(1, 0, 257), "random: hi: 256 is outside the range of u8 [0, 255]")
	wantError(t, b.Random(1, -1, 3), "random: lo: -1 is outside the range of u8 [0, 255]")
	wantError(t, f.Random(1, 2, 1), "random: [2, 1) is empty or too wide")
	wantError(t, f.SetBytes(make([]byte, 7)), "7 bytes given, but the array of 3 f32 has 12")
	wantError(t, f.Set([]float32{1}), "1 values given for an array of 3 elements")
	wantError(t, b.Set([]string{}), "[]string is not a slice of numbers ([]float32, []int32, ...)")
}

// The values are part of the contract: programs' expected results depend on them.
func TestRandomIsFixed(t *testing.T) {
	c, _ := newSlow()
	f := must[*Array](t)(c.Malloc(F64, 3, ""))
	noError(t, f.Random(1, 0, 1))
	i := must[*Array](t)(c.Malloc(I32, 6, ""))
	noError(t, i.Random(7, -2, 3))
	if got := values(t, f); !reflect.DeepEqual(got, []float64{
		0.9306946367796985, 0.7292144390802072,
		0.9018874003977504,
	}) {
		t.Errorf("f64: %v", got)
	}
	if got := values(t, i); !reflect.DeepEqual(got, []int32{0, -2, 0, -1, 2, 1}) {
		t.Errorf("i32: %v", got)
	}
	g := rand.NewPCG(7, 0x9e3779b97f4a7c15)
	for k, v := range values(t, i).([]int32) {
		x := new(big.Int).SetUint64(g.Uint64())
		x.Rsh(x.Mul(x, big.NewInt(5)), 64)
		if int64(v) != x.Int64()-2 {
			t.Errorf("element %d does not follow the documented formula", k)
		}
	}
}

func TestRandomRange(t *testing.T) {
	c, _ := newSlow()
	for typ := range DType(NumDTypes) {
		a := must[*Array](t)(c.Malloc(typ, 4000, ""))
		lo, hi := 3, 17
		noError(t, a.Random(5, lo, hi))
		b := must[*Array](t)(c.Malloc(typ, 4000, ""))
		noError(t, b.Random(5, lo, hi))
		if !reflect.DeepEqual(values(t, a), values(t, b)) {
			t.Errorf("%s: the same seed gives different values", typ)
		}
		seen := map[int]int{}
		for i := range a.n {
			v := typ.float(must[Scalar](t)(a.At(i)).Bits)
			if v < 3 || v >= 17 {
				t.Fatalf("%s: %g is outside [3, 17)", typ, v)
			}
			seen[int(v)]++
		}
		for v := lo; v < hi; v++ {
			if seen[v] < 200 || seen[v] > 380 { // expected 286, sigma 16
				t.Errorf("%s: %d of 4000 values in [%d, %d)", typ, seen[v], v, v+1)
			}
		}
	}
	full := must[*Array](t)(c.Malloc(I64, 64, ""))
	noError(t, full.Random(1, int64(math.MinInt64), uint64(1<<63)))
	neg := 0
	for _, v := range values(t, full).([]int64) {
		if v < 0 {
			neg++
		}
	}
	if neg < 16 || neg > 48 {
		t.Errorf("full range: %d of 64 are negative", neg)
	}
	// In [1, 1+2^-23) of f32 only 1 is left: a value that rounds up comes back down.
	one := must[*Array](t)(c.Malloc(F32, 100, ""))
	noError(t, one.Random(1, 1.0, 1+math.Ldexp(1, -23)))
	if hi := must[Scalar](t)(one.Max()); hi.Value() != 1.0 {
		t.Errorf("rounded up to hi: %v", hi)
	}
}

func TestViews(t *testing.T) {
	c, _ := newSlow()
	a := must[*Array](t)(c.Malloc(I32, 8, ""))
	noError(t, a.Arange(0, 1))
	s := must[*Array](t)(a.Slice(2, 5))
	if got := values(t, s); !reflect.DeepEqual(got, []int32{2, 3, 4}) || s.Addr() != a.Addr()+8 {
		t.Errorf("slice %v at %#x", got, s.Addr())
	}
	o := must[*Array](t)(a.Offset(20))
	if got := values(t, o); !reflect.DeepEqual(got, []int32{5, 6, 7}) {
		t.Errorf("offset %v", got)
	}
	back := must[*Array](t)(o.Offset(-20))
	if back.Len() != 8 || back.Addr() != a.Addr() {
		t.Errorf("offset back: %d elements", back.Len())
	}
	odd := must[*Array](t)(a.Offset(1))
	if got := values(t, odd); odd.Len() != 7 || got.([]int32)[0] != 1<<24 {
		t.Errorf("odd offset: %v", got)
	}
	if v := must[*Array](t)(s.View(U8)); v.Len() != 12 {
		t.Errorf("view has %d elements", v.Len())
	}
	noError(t, s.SetAt(0, -1))
	if v := must[Scalar](t)(a.At(2)); v.Value() != int64(-1) {
		t.Errorf("a slice must share the bytes: %v", v)
	}
	_, err := a.Slice(3, 9)
	wantError(t, err, "slice [3, 9) is outside the array's 8 elements")
	_, err = a.Offset(33)
	wantError(t, err, "offset of 33 bytes leaves alloc#0")
	_, err = a.Offset(math.MaxInt64)
	wantError(t, err, "offset of 9223372036854775807 bytes leaves alloc#0")
	_, err = a.At(8)
	wantError(t, err, "index 8 is outside the array's 8 elements")
	_, err = odd.View(I64)
	wantError(t, err, "28 bytes are not a whole number of i64 elements")
	empty := must[*Array](t)(a.Slice(8, 8))
	_, err = empty.Min()
	wantError(t, err, "min and max of an empty array are not defined")
	noError(t, empty.Fill(1))
}

func TestMemory(t *testing.T) {
	c, d := newSlow()
	c.SetWhere(func() string { return "app.star:4" })
	a := must[*Array](t)(c.Malloc(F32, 10, ""))
	b := must[*Array](t)(c.Malloc(F32, 10, "B"))
	if a.Addr()%256 != 0 || b.Addr() != a.Addr()+256 || c.Space().Find(a.Addr()+40) != nil {
		t.Errorf("addresses %#x %#x", a.Addr(), b.Addr())
	}
	part := must[*Array](t)(a.Slice(0, 4))
	wantError(t, c.Free(part), "cannot free a part of alloc#0 (app.star:4): free the array that malloc returned")
	noError(t, c.Free(a))
	wantError(t, c.Free(a), "alloc#0 (app.star:4) was freed")
	wantError(t, part.Fill(0), "alloc#0 (app.star:4) was freed")
	wantError(t, b.CopyFrom(a, nil), "alloc#0 (app.star:4) was freed")
	if got := strings.Join(d.allocs, " "); got != "+alloc#0 (app.star:4) +B (app.star:4) -alloc#0 (app.star:4)" {
		t.Errorf("device was told: %s", got)
	}
	_, err := c.Malloc(F32, 0, "")
	wantError(t, err, "cannot allocate 0 elements: the count must be positive")
	_, err = c.Malloc(F64, math.MaxInt64/4, "")
	wantError(t, err, "cannot allocate 2305843009213693951 elements of f64: too large")
	_, err = c.Malloc(U8, 1<<25, "")
	wantError(t, err, "out of device memory: 33554432 bytes asked, 40 of 16777216 in use")
	wantError(t, c.HostRegister(b),
		"host_register: B (app.star:4) is device memory; only host_array memory can be registered")
	wantError(t, c.PrefetchAsync(b, true, nil),
		"prefetch_async: B (app.star:4) is device memory; only malloc_managed memory migrates")
	wantError(t, c.SetQoS("k", math.NaN()), "set_qos: the IPC target of k must be a positive number, not NaN")
	h := must[*Array](t)(c.HostArray(F32, 10, ""))
	noError(t, c.HostRegister(h))
	if !h.Region().Registered || h.Kind() != mem.Host {
		t.Error("not registered")
	}
}

// TestInPlace: in place is the snapshot of an array, whatever its type and wherever it begins, and the
// array's own memory where elements lie as the computer has them.
func TestInPlace(t *testing.T) {
	c, _ := newSlow()
	for _, kind := range []DType{I8, U8, I16, U16, I32, U32, I64, U64, F16, F32, F64} {
		a := must[*Array](t)(c.Malloc(kind, 9, ""))
		noError(t, a.Arange(3, 7))
		for _, from := range []int64{0, 1, 9} {
			s := must[*Array](t)(a.Slice(from, 9))
			if got, want := must[any](t)(s.InPlace()), must[any](t)(s.Snapshot()); !reflect.DeepEqual(got, want) {
				t.Errorf("%s from %d: %v, want %v", kind, from, got, want)
			}
		}
		noError(t, a.SetAt(2, 1))
		view := must[any](t)(a.InPlace())
		noError(t, a.SetAt(2, 5))
		if same := reflect.DeepEqual(view, must[any](t)(a.Snapshot())); same != (kind != F16) {
			t.Errorf("%s: what is in place follows the array: %v", kind, same)
		}
	}
	odd := &Data{Type: F32, Bytes: make([]byte, 9)[1:]}
	odd.Bytes[3] = 0x40
	if got := odd.InPlace(); !reflect.DeepEqual(got, []float32{2, 0}) {
		t.Errorf("of bytes that are not aligned: %v", got)
	}
}

// TestResult: the result of a reference is taken as it is, but for what lies in an argument.
func TestResult(t *testing.T) {
	for _, s := range []any{
		[]int8{1, -2},
		[]uint8{1, 2},
		[]int16{1, -2},
		[]uint16{1, 2},
		[]int32{1, -2},
		[]uint32{1, 2},
		[]int64{1, -2},
		[]uint64{1, 2},
		[]float32{1.5, -2},
		[]float64{1.5, -2},
		[]float32{},
		[]int{3, -4},
	} {
		got, want := must[*Data](t)(Result(s, []any{"x", 3, s})), must[*Data](t)(NewData(s))
		if got.Type != want.Type || !bytes.Equal(got.Bytes, want.Bytes) {
			t.Errorf("%T: %+v, want %+v", s, got, want)
		}
		if got = must[*Data](t)(Result(s, nil)); got.Type != want.Type || !bytes.Equal(got.Bytes, want.Bytes) {
			t.Errorf("%T: %+v, want %+v", s, got, want)
		}
	}
	_, err := Result("x", nil)
	wantError(t, err, "string is not a slice of numbers ([]float32, []int32, ...)")
	whole := []float32{1, 2, 3, 4}
	for _, c := range []struct {
		out, in []float32
		copied  bool
	}{{whole[:2], whole[2:], false}, {whole[:3], whole[2:], true}, {whole[1:2], whole, true}} {
		d := must[*Data](t)(Result(c.out, []any{c.in}))
		c.out[0]++
		if kept := d.At(0).Value() != float64(c.out[0]); kept != c.copied {
			t.Errorf("%v of %v: copied %v, want %v", c.out, c.in, kept, c.copied)
		}
	}
}

// TestStoppedFill: filling an array of a gigabyte ends soon after the program has been stopped.
func TestStoppedFill(t *testing.T) {
	for name, fill := range map[string]func(a *Array) error{
		"random": func(a *Array) error { return a.Random(1, 0, 1) },
		"arange": func(a *Array) error { return a.Arange(0, 1) },
		"fill":   func(a *Array) error { return a.Fill(1) },
		"load":   func(a *Array) error { return a.Load(endless{}) },
	} {
		ctx, cancel := context.WithCancel(context.Background())
		c := New(NewFunctional(context.Background(), 0), mem.NewSpace(0), Options{Ctx: ctx})
		a := must[*Array](t)(c.Malloc(F32, 1<<26, ""))
		n := 0
		c.opt.Ctx = counting{ctx, func() {
			if n++; n == 4 {
				cancel()
			}
		}}
		_ = fill(a)
		all := a.data()
		if last := all[len(all)-4:]; !bytes.Equal(last, make([]byte, 4)) {
			t.Errorf("%s: the last element is %v after the stop", name, last)
		}
		cancel()
	}
}

// endless gives ones.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 1
	}
	return len(b), nil
}

// counting is a context that tells of every look at it.
type counting struct {
	context.Context
	look func()
}

func (c counting) Err() error {
	c.look()
	return c.Context.Err()
}

// TestSums: n sums of interleaved elements, exact for integers and going on from a start for floats, in one read of
// the array; and prefix sums, checked against the range of the type before anything is written.
func TestSums(t *testing.T) {
	c, dev := newSlow()
	f := must[*Array](t)(c.Malloc(F32, 5, ""))
	noError(t, f.Set([]float32{1, 1e8, 2, 1, 3}))
	before := len(dev.trace)
	if got := must[[]any](t)(f.Sums(2, []float64{0.5, -1e8})); !reflect.DeepEqual(got, []any{6.5, 1.0}) {
		t.Errorf("two sums: %v", got)
	}
	if n := len(dev.trace) - before; n != 1 {
		t.Errorf("%d copies from the device, want 1", n)
	}
	d := must[*Array](t)(c.HostArray(U8, 3, ""))
	noError(t, d.Set([]uint8{200, 55, 1}))
	p := must[*Array](t)(c.HostArray(I16, 4, ""))
	noError(t, p.PrefixSums(d))
	if got := values(t, p); !reflect.DeepEqual(got, []int16{0, 200, 255, 256}) {
		t.Errorf("prefix sums: %v", got)
	}
	narrow := must[*Array](t)(c.HostArray(U8, 4, ""))
	noError(t, narrow.Fill(9))
	for _, bad := range []struct {
		err  error
		want string
	}{
		{narrow.PrefixSums(d), "the sum of the first 3 elements, 256, is outside the range of u8"},
		{narrow.PrefixSums(narrow), "prefix sums of 4 elements are 5, and the array has 4"},
		{f.PrefixSums(d), "prefix sums need integers, not u8 into f32"},
		{second(f.Sums(0, nil)), "0 sums: it must be one or more"},
		{second(f.Sums(2, []float64{1})), "2 sums and 1 start values"},
		{second(d.Sums(1, []float64{1})), "sums of u8 begin with 0"},
	} {
		if bad.err == nil || !strings.Contains(bad.err.Error(), bad.want) {
			t.Errorf("%v, want %q", bad.err, bad.want)
		}
	}
	if got := values(t, narrow); !reflect.DeepEqual(got, []uint8{9, 9, 9, 9}) {
		t.Errorf("after an error: %v", got)
	}
}

func second[A any](_ A, err error) error { return err }

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/cuda"
)

// TestCCMath compiles testdata/math.cu of package cuda, runs it, and compares with Go's functions: the
// errors in units of the last place are the ones that docs/tutorial.md promises.
func TestCCMath(t *testing.T) {
	if _, err := cuda.Find(os.Getenv("CLANG")); err != nil {
		t.Skip("skipped, no function is tried: ", err)
	}
	dir := t.TempDir()
	ptx := filepath.Join(dir, "math.ptx")
	mustHeddle(t, "cc", "--ptx", "../../cuda/testdata/math.cu", "-o", ptx)
	const n = 2048
	in := make([]float64, n)
	var raw64, raw32 bytes.Buffer
	for i := range in {
		in[i] = float64(float32((float64(i) - n/2 + 0.37) / 37))
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(in[i]))
		raw64.Write(b[:])
		binary.LittleEndian.PutUint32(b[:], math.Float32bits(float32(in[i])))
		raw32.Write(b[:4])
	}
	write(t, filepath.Join(dir, "in64"), raw64.Bytes())
	write(t, filepath.Join(dir, "in32"), raw32.Bytes())
	pow := func(y float64) func(float64) float64 {
		return func(x float64) float64 { return math.Pow(math.Abs(x), y) }
	}
	abslog := func(x float64) float64 { return math.Log(math.Abs(x)) }
	names := strings.Fields("exp log sin cos pow atan tanh cbrt erf sin-large expm1 erfc")
	funcs := []func(float64) float64{
		math.Exp, abslog, math.Sin, math.Cos, pow(1.7), math.Atan, math.Tanh, math.Cbrt, math.Erf,
		func(x float64) float64 { return math.Sin(x * 1e6) }, math.Expm1, math.Erfc,
	}
	for _, kind := range []struct {
		kernel, in, typ string
		bytes, count    int
		most            float64 // units in the last place
	}{{"doubles", "in64", "f64", 8, 12, 24}, {"floats", "in32", "f32", 4, 8, 4}} {
		out := filepath.Join(dir, kind.kernel)
		mustHeddle(t, "ptx", "run", ptx, "--kernel", kind.kernel, "--grid", fmt.Sprint(n/128), "--block", "128",
			"--arg", fmt.Sprintf("buf:%s:%d:@%s", kind.typ, n, filepath.Join(dir, kind.in)),
			"--arg", fmt.Sprintf("buf:%s:%d", kind.typ, n*kind.count), "--arg", fmt.Sprintf("u32:%d", n),
			"--dump", "1="+out)
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		for f := range kind.count {
			worst, at := 0.0, 0.0
			for i, x := range in {
				got, ulp := 0.0, 0.0
				fn := funcs[f]
				if kind.bytes == 4 && names[f] == "pow" {
					fn = pow(float64(float32(1.7)))
				}
				want := fn(x)
				if kind.bytes == 8 {
					got = math.Float64frombits(binary.LittleEndian.Uint64(data[(f*n+i)*8:]))
					ulp = math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want)
				} else {
					got = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[(f*n+i)*4:])))
					w := float32(math.Abs(want))
					ulp = float64(math.Nextafter32(w, float32(math.Inf(1))) - w)
				}
				if e := math.Abs(got-want) / ulp; !(e <= worst) {
					worst, at = e, x
				}
			}
			t.Logf("%s %s: %.1f units in the last place, at %g", kind.kernel, names[f], worst, at)
			if !(worst <= kind.most) {
				t.Errorf("%s %s: at most %g are promised", kind.kernel, names[f], kind.most)
			}
		}
	}
}

func mustHeddle(t *testing.T, args ...string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := heddle(args, &out, &errs); code != exitOK {
		t.Fatalf("heddle %s: status %d: %s", strings.Join(args, " "), code, errs.String())
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

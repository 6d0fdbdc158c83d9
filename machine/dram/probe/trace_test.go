package probe

import (
	"io"
	"strings"
	"testing"
)

func TestTrace(t *testing.T) {
	in := "# head\n\nR 0x40\nw 0XfF # tail\n  W\t128  \r\nLD 0x80\nst 64\nSt 0x1 #\nR 0xffffffffffffffff"
	type req struct {
		addr  uint64
		write bool
	}
	want := []req{
		{0x40, false},
		{0xff, true},
		{128, true},
		{0x80, false},
		{64, true},
		{1, true},
		{^uint64(0), false},
	}
	tr := NewTrace("t", strings.NewReader(in))
	for i := 0; ; i++ {
		addr, write, ok, err := tr.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			if i != len(want) {
				t.Errorf("%d requests, want %d", i, len(want))
			}
			break
		}
		if i >= len(want) || (req{addr, write}) != want[i] {
			t.Fatalf("request %d is %#x %v, want %v", i, addr, write, want)
		}
	}
}

func TestTraceErrors(t *testing.T) {
	for in, want := range map[string]string{
		"R 0x40\nX 0x40\n": "t:2: want `R 0xADDR`, `W 0xADDR`, `LD 0xADDR` or `ST 0xADDR`, " +
			"got \"X 0x40\"",
		"R\n":                                   "t:1: ",
		"L 0x40\n":                              "t:1: ",
		"S":                                     "t:1: ",
		"LD0x40\n":                              "t:1: ",
		"LDR 0x40\n":                            "t:1: ",
		"R 0x\n":                                "t:1: ",
		"R40\n":                                 "t:1: ",
		"R 0x4g\n":                              "t:1: ",
		"R 4f\n":                                "t:1: ",
		"R 0x40 W 0x80\n":                       "t:1: ",
		"R 0x10000000000000000\n":               "t:1: ",
		"R -1\n":                                "t:1: ",
		"# ok\nR " + strings.Repeat("9", 1<<17): "t:2: ",
	} {
		tr := NewTrace("t", strings.NewReader(in))
		var err error
		for ok := true; ok && err == nil; {
			_, _, ok, err = tr.Next()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %q", in, err, want)
		}
	}
}

func FuzzTrace(f *testing.F) {
	f.Add("R 0x40\nW 0x80 # x\n")
	f.Add("\x00")
	f.Fuzz(func(t *testing.T, in string) {
		tr := NewTrace("t", strings.NewReader(in))
		for n := 0; ; n++ {
			_, _, ok, err := tr.Next()
			if err != nil || !ok {
				return
			}
			if n > len(in) {
				t.Fatal("more requests than bytes")
			}
		}
	})
}

// endless is a trace that never ends, to show that reading keeps no more than a line.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	const line = "R 0x0001240\n"
	n := min(len(p)/len(line), e.left)
	for i := range n {
		copy(p[i*len(line):], line)
	}
	e.left -= n
	return n * len(line), nil
}

// TestRunAllocations: memory does not grow with the trace.
func TestRunAllocations(t *testing.T) {
	d, err := LoadDevice("../testdata/devices.json", "hbm_v1tab")
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewMapper("RoBaRaCoCh", &d.Config, 1)
	if err != nil {
		t.Fatal(err)
	}
	measure := func(n int) float64 {
		return testing.AllocsPerRun(1, func() {
			if _, err := Run(d, m, NewTrace("t", &endless{left: n}), Options{Inject: 2}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if short, long := measure(2000), measure(60000); long > short+8 { // a longer histogram, a deeper ring
		t.Errorf("%g allocations for 2000 requests, %g for 60000", short, long)
	}
}

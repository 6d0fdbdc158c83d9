package emulate

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/mem"
)

// TestFormatC compares with what the printf of the C library wrote: each line of printf.txt
// is a text, the format and the bits of the arguments or their text behind an s.
func TestFormatC(t *testing.T) {
	data, err := os.ReadFile("testdata/printf.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		var args []byte
		for _, a := range f[2:] {
			if text, ok := strings.CutPrefix(a, "s"); ok {
				args = append(binary.LittleEndian.AppendUint64(args, uint64(len(text))), text...)
				continue
			}
			v, err := strconv.ParseUint(a, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			args = binary.LittleEndian.AppendUint64(args, v)
		}
		if got := formatC(f[1], args); got != f[0] {
			t.Errorf("%q of %v: %q, want %q", f[1], f[2:], got, f[0])
		}
		n++
	}
	if n < 700 {
		t.Errorf("%d cases", n)
	}
}

const printfText = fuzzHead + `
.global .align 1 .b8 fmt[] = {37, 100, 32, 37, 115, 32, 37, 108, 108, 120, 32, 37, 46, 49, 102, 10, 0}; // %d %s %llx %.1f\n
.const .align 1 .b8 name[4] = {97, 98, 99, 0};
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.visible .entry k(.param .u64 out) {
	.local .align 8 .b8 depot[32];
	.reg .b64 %f, %a, %s, %o;
	.reg .b32 %t, %n;
	.reg .pred %p;
	mov.u32 %t, %tid.x;
	setp.gt.u32 %p, %t, 2;
	@%p bra D;
	mov.u64 %a, depot;
	cvta.const.u64 %s, name;
	st.local.u32 [%a], %t;
	st.local.u64 [%a+8], %s;
	st.local.u64 [%a+16], 0xABCDEF0123;
	st.local.f64 [%a+24], 2.25;
	cvta.local.u64 %a, %a;
	cvta.global.u64 %f, fmt;
	{
	.param .b64 p;
	.param .b64 q;
	.param .b32 r;
	st.param.b64 [p], %f;
	st.param.b64 [q], %a;
	call.uni (r), vprintf, (p, q);
	ld.param.b32 %n, [r];
	}
	ld.param.u64 %o, [out];
	st.global.u32 [%o], %n;
D:	ret;
}`

// TestPrintf: threads print in order, the call returns the number of arguments, and a full
// buffer loses the oldest records.
func TestPrintf(t *testing.T) {
	m, err := Load("print.ptx", []byte(printfText))
	if err != nil || !m.Prints() {
		t.Fatal(err)
	}
	sp := mem.NewSpace(0)
	in, err := m.Bind(sp)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sp.Alloc(4, mem.Device, "out")
	if err != nil {
		t.Fatal(err)
	}
	run := func() {
		g, err := in.Grid(m.Kernels()[0], Launch{
			Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{32, 1, 1}, Params: binary.LittleEndian.AppendUint64(nil, r.Base),
		})
		if err == nil {
			_, err = Run(g, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	flush := func() string {
		var b strings.Builder
		in.Output().Flush(func(s string) { b.WriteString(s) })
		return b.String()
	}
	run()
	line := func(n string) string { return n + " abc abcdef0123 2.2\n" }
	if got := flush(); got != line("0")+line("1")+line("2") || r.Data[0] != 4 || flush() != "" {
		t.Errorf("%q, %d arguments", got, r.Data[0])
	}
	in.SetOutput(NewOutput(150)) // two records of 8+16+4*8+3
	run()
	if got := flush(); got != line("1")+line("2") || in.Output().Lost() != 1 {
		t.Errorf("%q, %d lost", got, in.Output().Lost())
	}
}

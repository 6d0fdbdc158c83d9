package emulate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

const regs = `.reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<16>; .reg .f64 %fd<16>;
`

// exec runs a body as a kernel of one block. %rd0 is the address of out (32-bit
// words, one row of `words` per thread in %rd1), %r0 the thread number.
func exec(t testing.TB, body string, threads, words int) ([]uint32, error) {
	t.Helper()
	src := fuzzHead + ".visible .entry k(.param .u64 out)\n{\n" + regs +
		fmt.Sprintf(`ld.param.u64 %%rd0, [out]; mov.u32 %%r0, %%tid.x; mad.wide.u32 %%rd1, %%r0, %d, %%rd0;
`, 4*words) + body + "\nret;\n}\n"
	m, err := Load("t.ptx", []byte(src))
	if err != nil {
		return nil, err
	}
	sp := mem.NewSpace(0)
	out, err := sp.Alloc(int64(4*words*threads), mem.Device, "out")
	if err != nil {
		t.Fatal(err)
	}
	in, err := m.Bind(sp)
	if err != nil {
		return nil, err
	}
	g, err := in.Grid(m.Kernels()[0], Launch{
		Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{uint32(threads), 1, 1},
		Params: binary.LittleEndian.AppendUint64(nil, out.Base),
	})
	if err != nil {
		return nil, err
	}
	if _, err := Run(g, 1000000); err != nil {
		return nil, err
	}
	res := make([]uint32, words*threads)
	for i := range res {
		res[i] = binary.LittleEndian.Uint32(out.Data[4*i:])
	}
	return res, nil
}

// TestForms runs single instructions on constants; want is written in %r1 (or %rd2,
// %f1, %fd1, %h1, %p1) by the code.
func TestForms(t *testing.T) {
	f := func(v float32) uint32 { return math.Float32bits(v) }
	for _, c := range []struct {
		code string
		want uint32
	}{
		{"mov.u32 %r2, 7; div.u32 %r1, %r2, 0;", 0xffffffff},
		{"mov.u32 %r2, 7; rem.u32 %r1, %r2, 0;", 7},
		{"mov.s32 %r2, 0x80000000; div.s32 %r1, %r2, -1;", 0x80000000},
		{"mov.s32 %r2, -7; rem.s32 %r1, %r2, 3;", 0xffffffff},
		{"mov.s32 %r2, -7; div.s32 %r1, %r2, 2;", 0xfffffffd},
		{"mov.u32 %r2, 1; shl.b32 %r1, %r2, 32;", 0},
		{"mov.u32 %r2, 1; shl.b32 %r1, %r2, 256;", 0},
		{"mov.u32 %r2, 0x80000000; shr.s32 %r1, %r2, 99;", 0xffffffff},
		{"mov.u32 %r2, 0x80000000; shr.u32 %r1, %r2, 99;", 0},
		{"mov.u32 %r2, 0xffffffff; mul.hi.u32 %r1, %r2, %r2;", 0xfffffffe},
		{"mov.u32 %r2, 0xffffffff; mul.hi.s32 %r1, %r2, %r2;", 0},
		{"mov.u32 %r2, 0x01ffffff; mul24.lo.u32 %r1, %r2, 2;", 0x01fffffe},
		{"mov.u32 %r2, 0x7fffffff; add.sat.s32 %r1, %r2, 1;", 0x7fffffff},
		{"mov.u32 %r2, 3; mov.u32 %r3, 10; sad.u32 %r1, %r2, %r3, 100;", 107},
		{"mov.u32 %r2, 0; bfind.u32 %r1, %r2;", 0xffffffff},
		{"mov.u32 %r2, -2; bfind.s32 %r1, %r2;", 0},
		{"mov.u32 %r2, 0x10; bfind.shiftamt.u32 %r1, %r2;", 27},
		{"mov.u32 %r2, 0; clz.b32 %r1, %r2;", 32},
		{"mov.u64 %rd2, 1; clz.b64 %r1, %rd2;", 63},
		{"mov.u32 %r2, 0x76543210; mov.u32 %r3, 0xfedcba98; prmt.b32 %r1, %r2, %r3, 0x7531;", 0xfeba7632},
		{"mov.u32 %r2, 0x80; prmt.b32 %r1, %r2, 0, 0x8888;", 0xffffffff},
		{
			"mov.u32 %r2, 0xf0; mov.u32 %r3, 0xcc; mov.u32 %r4, 0xaa; lop3.b32 %r1, %r2, %r3, %r4, 0x96;",
			0xf0 ^ 0xcc ^ 0xaa,
		},
		{"mov.u32 %r2, 1; mov.u32 %r3, 0x80000000; shf.l.wrap.b32 %r1, %r3, %r2, 33;", 3},
		{"mov.u32 %r2, 1; mov.u32 %r3, 0x80000000; shf.l.clamp.b32 %r1, %r3, %r2, 33;", 0x80000000},
		{"mov.f32 %f2, 0f7FC12345; add.f32 %f1, %f2, %f2; mov.b32 %r1, %f1;", 0x7fffffff},
		{"mov.f32 %f2, 0f7FC12345; mov.f32 %f3, 0f3F800000; min.f32 %f1, %f2, %f3; mov.b32 %r1, %f1;", f(1)},
		{"mov.f32 %f2, 0f80000000; mov.f32 %f3, 0f00000000; max.f32 %f1, %f2, %f3; mov.b32 %r1, %f1;", 0},
		{"mov.f32 %f2, 0f80000000; mov.f32 %f3, 0f00000000; min.f32 %f1, %f3, %f2; mov.b32 %r1, %f1;", 0x80000000},
		{"mov.f32 %f2, 0f00000001; add.ftz.f32 %f1, %f2, %f2; mov.b32 %r1, %f1;", 0},
		{"mov.f32 %f2, 0f80000001; mul.ftz.f32 %f1, %f2, 0f3F800000; mov.b32 %r1, %f1;", 0x80000000},
		{"mov.f32 %f2, 0f40400000; add.sat.f32 %f1, %f2, %f2; mov.b32 %r1, %f1;", f(1)},
		{"mov.f32 %f2, 0f3F800000; mov.f32 %f3, 0f33800000; add.rp.f32 %f1, %f2, %f3; mov.b32 %r1, %f1;", 0x3f800001},
		{"mov.f32 %f2, 0f3F800000; mov.f32 %f3, 0f33800000; add.rn.f32 %f1, %f2, %f3; mov.b32 %r1, %f1;", 0x3f800000},
		{"mov.f32 %f2, 0f3F800000; mov.f32 %f3, 0fB3000000; add.rz.f32 %f1, %f2, %f3; mov.b32 %r1, %f1;", 0x3f7fffff},
		{"mov.f32 %f2, 0f3F800000; div.rm.f32 %f1, %f2, 0f40400000; mov.b32 %r1, %f1;", 0x3eaaaaaa},
		{"mov.f32 %f2, 0f3F800000; div.rp.f32 %f1, %f2, 0f40400000; mov.b32 %r1, %f1;", 0x3eaaaaab},
		{"mov.f32 %f2, 0f40400000; ex2.approx.f32 %f1, %f2; mov.b32 %r1, %f1;", f(8)},
		{"mov.f32 %f2, 0fC0000000; sqrt.rn.f32 %f1, %f2; mov.b32 %r1, %f1;", 0x7fffffff},
		{"mov.f32 %f2, 0f40200000; cvt.rni.s32.f32 %r1, %f2;", 2},
		{"mov.f32 %f2, 0f40600000; cvt.rni.s32.f32 %r1, %f2;", 4},
		{"mov.f32 %f2, 0fC0200000; cvt.rmi.s32.f32 %r1, %f2;", 0xfffffffd},
		{"mov.f32 %f2, 0f7FC00000; cvt.rzi.s32.f32 %r1, %f2;", 0},
		{"mov.f32 %f2, 0f4F800000; cvt.rzi.u32.f32 %r1, %f2;", 0xffffffff},
		{"mov.f32 %f2, 0fBF800000; cvt.rzi.u32.f32 %r1, %f2;", 0},
		{"mov.f32 %f2, 0f40200000; cvt.rni.f32.f32 %f1, %f2; mov.b32 %r1, %f1;", f(2)},
		{"mov.u32 %r2, 0x1000001; cvt.rn.f32.u32 %f1, %r2; mov.b32 %r1, %f1;", f(0x1000000)},
		{"mov.u32 %r2, 0x1000001; cvt.rp.f32.u32 %f1, %r2; mov.b32 %r1, %f1;", f(0x1000002)},
		{"mov.u32 %r2, 300; cvt.sat.u8.u32 %r1, %r2;", 255},
		{"mov.u32 %r2, 300; cvt.u8.u32 %r1, %r2;", 44},
		{"mov.u32 %r2, 200; cvt.s8.u32 %r1, %r2;", 0xffffffc8},
		{"mov.s32 %r2, -5; cvt.sat.u16.s32 %r1, %r2;", 0},
		{"mov.f64 %fd1, 0d3FF0000010000000; cvt.rn.f32.f64 %f1, %fd1; mov.b32 %r1, %f1;", 0x3f800000},
		{"mov.f64 %fd1, 0d3FF0000030000000; cvt.rn.f32.f64 %f1, %fd1; mov.b32 %r1, %f1;", 0x3f800002},
		{"mov.b16 %h1, 0x8000; shr.s16 %h2, %h1, 20; cvt.u32.u16 %r1, %h2;", 0xffff},
		{"mov.b16 %h1, 200; mul.wide.u16 %r1, %h1, %h1;", 40000},
		{"mov.b16 %h1, -200; mul.wide.s16 %r1, %h1, %h1;", 40000},
		{"mov.b16 %h1, 0xffff; add.u16 %h2, %h1, 2; cvt.u32.u16 %r1, %h2;", 1},
		{"mov.b16 %h1, -3; setp.lt.s16 %p1, %h1, 2; selp.u32 %r1, 1, 0, %p1;", 1},
		{"mov.f32 %f2, 0f7FC00000; setp.ltu.f32 %p1, %f2, %f2; selp.u32 %r1, 1, 0, %p1;", 1},
		{"mov.f32 %f2, 0f7FC00000; setp.ne.f32 %p1, %f2, %f2; selp.u32 %r1, 1, 0, %p1;", 0},
		{"mov.u32 %r2, 3; setp.lt.and.u32 %p1|%p2, %r2, 5, 0; selp.u32 %r1, 1, 0, %p2;", 0},
		{"mov.u32 %r2, 3; set.lt.u32.u32 %r1, %r2, 5;", 0xffffffff},
		{"mov.u32 %r2, 3; set.lt.f32.u32 %f1, %r2, 5; mov.b32 %r1, %f1;", f(1)},
		{"mov.b64 %rd2, {5, 6}; mov.b64 {_, %r1}, %rd2;", 6},
		{"mov.u32 %r2, 0x12345678; bfe.s32 %r1, %r2, 4, 4;", 7},
		{"mov.u32 %r2, 0xff; mov.u32 %r3, 0; bfi.b32 %r1, %r2, %r3, 28, 8;", 0xf0000000},
		{"mov.b64 %rd2, -1; add.cc.u64 %rd3, %rd2, 1; addc.u32 %r1, 0, 0;", 1},
		{"mov.b32 %r2, 0; sub.cc.u32 %r3, %r2, 1; subc.u32 %r1, 0, 0;", 0xffffffff},
		{"fns.b32 %r1, 0x5, 0, 2;", 2},
	} {
		out, err := exec(t, c.code+" st.global.u32 [%rd1], %r1;", 1, 1)
		if err != nil {
			t.Errorf("%s: %v", c.code, err)
		} else if out[0] != c.want {
			t.Errorf("%s gives %#x, want %#x", c.code, out[0], c.want)
		}
	}
}

// TestMaskedLikeFull runs every form above's kind of op under a guard: the guarded
// lanes must get what the unguarded op gives, the others keep their value.
func TestMaskedLikeFull(t *testing.T) {
	for _, code := range []string{
		"add.u32 %r1, %r0, 3", "mul.wide.u32 %rd2, %r0, %r0", "cvt.rn.f32.u32 %f1, %r0",
		"fma.rn.f32 %f1, %f2, %f2, %f2",
		"add.f64 %fd1, %fd2, %fd2", "shl.b64 %rd2, %rd3, %r0", "popc.b64 %r1, %rd3", "selp.u32 %r1, %r0, 7, %p3",
		"add.ftz.f32 %f1, %f2, %f2",
		"shfl.sync.bfly.b32 %r1, %r0, 0, 31, -1", "atom.shared.add.u32 %r1, [sh], 0", "ld.shared.u32 %r1, [sh]",
		"mov.u64 %rd2, %rd3",
		"ld.param.u32 %r1, [out]", "mov.b32 {%h1, %h2}, %r0", "bfe.u64 %rd2, %rd3, 2, 7", "cvt.u32.u64 %r1, %rd3",
		"set.lt.u32.u32 %r1, %r0, 9",
		"slct.u64.s32 %rd2, %rd3, %rd4, %r0", "setp.lt.u32 %p1, %r0, 9", "dp4a.u32.u32 %r1, %r0, %r0, %r0",
		"madc.lo.u32 %r1, %r0, %r0, 5",
	} {
		setup := `.shared .align 4 .b8 sh[4]; cvt.rn.f32.u32 %f2, %r0; cvt.rn.f64.u32 %fd2, %r0; cvt.u64.u32 %rd3, %r0; mul.lo.u64 %rd3, %rd3, 12345; mov.u64 %rd4, 1;
			setp.lt.u32 %p3, %r0, 20; and.b32 %r20, %r0, 5; setp.eq.u32 %p4, %r20, 4; mov.u32 %r1, 99; mov.u64 %rd2, 98; mov.f32 %f1, 0f40000000; mov.f64 %fd1, 0d4000000000000000;
			setp.ne.u32 %p1, %r0, 100; mov.u16 %h1, 3; mov.u16 %h2, 4;`
		finish := `; st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %f1; cvt.u32.u64 %r9, %rd2; st.global.u32 [%rd1+8], %r9; cvt.rn.f32.f64 %f9, %fd1;
			st.global.u32 [%rd1+12], %f9; selp.u32 %r9, 1, 0, %p1; st.global.u32 [%rd1+16], %r9; cvt.u32.u16 %r9, %h1; st.global.u32 [%rd1+20], %r9;`
		full, err1 := exec(t, setup+code+finish, 40, 6)
		masked, err2 := exec(t, setup+"@%p4 "+code+finish, 40, 6)
		none, err3 := exec(t, setup+finish[1:], 40, 6)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Errorf("%s: %v", code, err)
			continue
		}
		changed := false
		for i := range full {
			want := none[i]
			if i/6&5 == 4 {
				want = full[i]
			}
			changed = changed || full[i] != none[i]
			if masked[i] != want {
				t.Errorf("%s, thread %d: word %d is %#x, want %#x", code, i/6, i%6, masked[i], want)
				break
			}
		}
		if !changed {
			t.Errorf("%s has no visible effect: the test is empty", code)
		}
	}
}

// TestSpinInWarp: all lanes of a warp take a spin lock in turn.
func TestSpinInWarp(t *testing.T) {
	out, err := exec(t, `.shared .align 4 .b8 lock[4]; .shared .align 4 .b8 count[4];
		setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [lock], 0; @%p1 st.shared.u32 [count], 0; bar.sync 0;
	SPIN:	atom.shared.cas.b32 %r1, [lock], 0, 1; setp.ne.u32 %p2, %r1, 0; @%p2 bra SPIN;
		ld.volatile.shared.u32 %r2, [count]; add.u32 %r2, %r2, 1; st.volatile.shared.u32 [count], %r2; membar.cta; atom.shared.exch.b32 %r3, [lock], 0;
		bar.sync 0; ld.shared.u32 %r4, [count]; st.global.u32 [%rd1], %r4;`, 96, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range out {
		if v != 96 {
			t.Fatalf("thread %d sees %d, want 96", i, v)
		}
	}
}

// TestProducerConsumer: one lane of a warp waits for another in the same warp.
func TestProducerConsumer(t *testing.T) {
	out, err := exec(t, `.shared .align 4 .b8 flag[4]; setp.eq.u32 %p1, %r0, 31; @%p1 bra PRODUCE;
	WAIT:	ld.volatile.shared.u32 %r1, [flag]; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT; bra DONE;
	PRODUCE: st.volatile.shared.u32 [flag], 5; mov.u32 %r1, 6;
	DONE:	st.global.u32 [%rd1], %r1;`, 32, 1)
	if err != nil {
		t.Fatal(err)
	}
	if out[0] != 5 || out[31] != 6 {
		t.Errorf("%v", out)
	}
}

// TestShuffleOfOthers: the first eight lanes of a warp add up, by steps that reach beyond them. A lane that the mask
// does not name gives 0; one that it names and that has gone another way gives what its register holds.
func TestShuffleOfOthers(t *testing.T) {
	out, err := exec(t, `setp.lt.u32 %p1, %r0, 8; add.u32 %r1, %r0, 100; mov.u32 %r2, %r1; @!%p1 bra DONE;
		shfl.sync.down.b32 %r3, %r1, 16, 31, 0xff; add.u32 %r1, %r1, %r3; shfl.sync.down.b32 %r3, %r1, 8, 31, 0xff; add.u32 %r1, %r1, %r3;
		shfl.sync.down.b32 %r3, %r1, 4, 31, 0xff; add.u32 %r1, %r1, %r3; shfl.sync.down.b32 %r3, %r1, 2, 31, 0xff; add.u32 %r1, %r1, %r3;
		shfl.sync.down.b32 %r3, %r1, 1, 31, 0xff; add.u32 %r1, %r1, %r3;
		shfl.sync.idx.b32 %r2, %r2, 20, 31, 0x1000ff;
	DONE:	st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2;`, 32, 2)
	if err != nil {
		t.Fatal(err)
	}
	if out[0] != 828 || out[1] != 120 {
		t.Errorf("lanes 0 to 7 add up to %d, want 828; lane 20 gives %d, want 120", out[0], out[1])
	}
}

// TestReconvergedLanes: after a diamond, a loop of lane-dependent length and an early
// exit, activemask shows the lanes together again.
func TestReconvergedLanes(t *testing.T) {
	out, err := exec(t, `and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN; mov.u32 %r2, 1; bra JOIN; EVEN: mov.u32 %r2, 2; JOIN: activemask.b32 %r3; st.global.u32 [%rd1], %r3;
	LOOP:	add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r0; @%p2 bra LOOP; activemask.b32 %r5; st.global.u32 [%rd1+4], %r5;
		setp.lt.u32 %p3, %r0, 4; @%p3 exit; activemask.b32 %r6; st.global.u32 [%rd1+8], %r6;`, 32, 3)
	if err != nil {
		t.Fatal(err)
	}
	for l := range 32 {
		last := uint32(0xfffffff0)
		if l < 4 {
			last = 0
		}
		if out[3*l] != 0xffffffff || out[3*l+1] != 0xffffffff || out[3*l+2] != last {
			t.Fatalf("lane %d: %#x", l, out[3*l:3*l+3])
		}
	}
}

// TestDivergentBarrier: both sides of a branch wait at the same barrier.
func TestDivergentBarrier(t *testing.T) {
	out, err := exec(t, `.shared .align 4 .b8 s[256]; shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0;
		and.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 0; B:
		xor.b32 %r5, %r1, 252; add.u32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5]; st.global.u32 [%rd1], %r6;`, 64, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range out {
		if v != uint32(63-i) {
			t.Fatalf("thread %d reads %d", i, v)
		}
	}
}

// TestLanesAtDifferentBarriers: from sm_70 on barriers count threads, so lanes of a warp that wait at different
// ones, or for each other, wait for ever. A warp whose lanes exit, or meet at one barrier in different places, passes.
func TestLanesAtDifferentBarriers(t *testing.T) {
	const odd = "and.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 0; "
	for code, want := range map[string]string{
		odd + "@%p1 bra A; barrier.sync 1; bra B; A: barrier.sync 2; B:":                     "lane",
		odd + "add.u32 %r5, %r4, 1; barrier.sync %r5;":                                       "lanes 0 and 1 of",
		odd + "@%p1 bra A; barrier.sync 1; bra B; A: bar.warp.sync 0xffffffff; B:":           "bar.warp.sync",
		odd + "@%p1 bra A; barrier.sync 1, 64; bra B; A: barrier.sync 1, 64; B:":             "",
		odd + "mov.u32 %r5, 3; @%p1 bra A; barrier.sync %r5; bra B; A: barrier.sync %r5; B:": "",
		odd + "@%p1 exit; barrier.sync 1;":                                                   "",
		"mov.u32 %r5, 33; barrier.sync 1, %r5;":                                              "for 33 threads",
		"barrier.sync 1, 33;":                                                                "for 33 threads",
		"barrier.red.and.pred %p1, 1, 33, %p2;":                                              "for 33 threads",
		"mov.u32 %r5, 16; barrier.sync %r5;":                                                 "does not exist",
		odd + "@%p1 bra A; bar.warp.sync 0xaaaaaaaa; A: barrier.sync 1;":                     "",
	} {
		_, err := exec(t, code, 64, 1)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", code, err, want)
		}
	}
}

// TestMixedSpaces: one generic load whose lanes read shared, local and global memory.
func TestMixedSpaces(t *testing.T) {
	out, err := exec(t, `.shared .align 8 .b8 s[8]; .local .align 8 .b8 l[8]; st.shared.u32 [s], 111; st.local.u32 [l], 222; st.global.u32 [%rd1+4], 333;
		mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2; mov.u64 %rd3, l; cvta.local.u64 %rd3, %rd3; add.u64 %rd4, %rd1, 4;
		rem.u32 %r1, %r0, 3; setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 2; selp.u64 %rd5, %rd3, %rd2, %p1; selp.u64 %rd5, %rd4, %rd5, %p2;
		ld.u32 %r2, [%rd5]; st.global.u32 [%rd1], %r2;`, 40, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if want := uint32(111 * (i%3 + 1)); out[2*i] != want {
			t.Fatalf("thread %d: %d, want %d", i, out[2*i], want)
		}
	}
}

// TestMMA multiplies small integers, which every type holds exactly.
func TestMMA(t *testing.T) {
	a := func(r, c int) int { return (r*3+c*5)%7 - 3 }
	b := func(r, c int) int { return (r*2+c)%5 - 2 }
	for _, m := range []struct {
		shape, types string
		k, n         int // depth; elements per register
		encode       func(v int) uint32
	}{
		{"m16n8k16", "f32.f16.f16.f32", 16, 2, func(v int) uint32 {
			return uint32(convertFloat(&fmt32, &fmt16, uint64(math.Float32bits(float32(v))), rn))
		}},
		{"m16n8k8", "f32.bf16.bf16.f32", 8, 2, func(v int) uint32 { return math.Float32bits(float32(v)) >> 16 }},
		{"m16n8k8", "f32.tf32.tf32.f32", 8, 1, func(v int) uint32 { return math.Float32bits(float32(v)) }},
		{"m16n8k4", "f32.tf32.tf32.f32", 4, 1, func(v int) uint32 { return math.Float32bits(float32(v)) }},
		{"m16n8k32", "s32.s8.s8.s32", 32, 4, func(v int) uint32 { return uint32(uint8(v)) }},
	} {
		// the fragments, written out from the figures of the ISA: rows g and g+8,
		// columns t*n .. t*n+n-1 and the same 4n further
		na, nb := 2*m.k/(4*m.n), m.k/(4*m.n)
		var body strings.Builder
		for i := range na {
			fmt.Fprintf(&body, "mov.u32 %%r%d, 0;\n", 4+i)
		}
		for lane := range 32 {
			g, q := lane/4, lane%4
			fmt.Fprintf(&body, "setp.eq.u32 %%p1, %%r0, %d;\n", lane)
			for i := range na {
				v := uint32(0)
				for e := range m.n {
					v |= m.encode(a(g+i%2*8, q*m.n+e+i/2*4*m.n)) << (32 / m.n * e)
				}
				fmt.Fprintf(&body, "@%%p1 mov.b32 %%r%d, %d;\n", 4+i, v)
			}
			for i := range nb {
				v := uint32(0)
				for e := range m.n {
					v |= m.encode(b(q*m.n+e+i*4*m.n, g)) << (32 / m.n * e)
				}
				fmt.Fprintf(&body, "@%%p1 mov.b32 %%r%d, %d;\n", 10+i, v)
			}
		}
		list := func(first, n int) string {
			var s []string
			for i := range n {
				s = append(s, fmt.Sprintf("%%r%d", first+i))
			}
			return "{" + strings.Join(s, ",") + "}"
		}
		fmt.Fprintf(&body, "mov.b32 %%r14, 0; mov.b32 %%r15, 0; mov.b32 %%r16, 0; mov.b32 %%r17, "+
			"0;\nmma.sync.aligned.%s.row.col.%s {%%r20,%%r21,%%r22,%%r23}, %s, %s, {%%r14,%%r15,%%r16,%%r17};\n",
			m.shape, m.types, list(4, na), list(10, nb))
		body.WriteString("st.global.v4.u32 [%rd1], {%r20,%r21,%r22,%r23};")
		out, err := exec(t, body.String(), 32, 4)
		if err != nil {
			t.Errorf("%s %s: %v", m.shape, m.types, err)
			continue
		}
		for lane := range 32 {
			for i := range 4 {
				r, c := lane/4+i/2*8, lane%4*2+i%2
				sum := 0
				for k := range m.k {
					sum += a(r, k) * b(k, c)
				}
				got := float64(math.Float32frombits(out[4*lane+i]))
				if m.n == 4 {
					got = float64(int32(out[4*lane+i]))
				}
				if got != float64(sum) {
					t.Fatalf("%s %s: D[%d][%d] = %v, want %d", m.shape, m.types, r, c, got, sum)
				}
			}
		}
	}
}

// TestLoadMatrix moves a tile through cp.async and ldmatrix.
func TestLoadMatrix(t *testing.T) {
	body := `.shared .align 16 .b8 s[512]; mul.lo.u32 %r1, %r0, 16; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; mul.wide.u32 %rd2, %r0, 16; add.u64 %rd2, %rd2, %rd0;
		mul.lo.u32 %r3, %r0, 8; mov.u32 %r4, 0; L: add.u32 %r5, %r3, %r4; cvt.u64.u32 %rd4, %r4; mad.lo.u64 %rd3, %rd4, 2, %rd2; st.global.u16 [%rd3], %r5; add.u32 %r4, %r4, 1;
		setp.lt.u32 %p1, %r4, 8; @%p1 bra L; bar.sync 0;
		cp.async.cg.shared.global [%r1], [%rd2], 16; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
		ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10,%r11,%r12,%r13}, [%r1]; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r14}, [%r1];
		bar.sync 0; st.global.u32 [%rd1], %r10; st.global.u32 [%rd1+4], %r13; st.global.u32 [%rd1+8], %r14;`
	out, err := exec(t, body, 32, 4)
	if err != nil {
		t.Fatal(err)
	}
	at := func(matrix, r, c int) uint32 { return uint32(64*matrix + 8*r + c) }
	for l := range 32 {
		r, c := l/4, l%4*2
		want := []uint32{
			at(0, r, c) | at(0, r, c+1)<<16, at(3, r, c) | at(3, r, c+1)<<16,
			at(0, c, r) | at(0, c+1, r)<<16,
		}
		for i, w := range want {
			if out[4*l+i] != w {
				t.Fatalf("lane %d word %d: %#x, want %#x", l, i, out[4*l+i], w)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	for body, want := range map[string]string{
		"st.global.u32 [%rd0+4096], %r0;":                                  "not allocated",
		"st.global.u32 [%rd0+2], %r0;":                                     "misaligned",
		".shared .b8 s[8]; st.shared.u32 [s+8], %r0;":                      "8 bytes of shared memory",
		"setp.eq.u32 %p1, %r0, 3; @%p1 trap;":                              "trap",
		"mov.u64 %rd3, 64; ld.u32 %r1, [%rd3];":                            "not allocated",
		".local .b8 l[8]; mov.u64 %rd3, l; ld.local.u32 %r1, [%rd3+4096];": "local memory",
	} {
		_, err := exec(t, body, 32, 1)
		var f *isa.Fault
		if !errors.As(err, &f) {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if !strings.Contains(f.Msg, want) || f.Kernel != "k" || f.File != "t.ptx" || f.Line < 7 {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
	for body, want := range map[string]string{
		"L: bra L;": "limit",
		"setp.lt.u32 %p1, %r0, 32; @%p1 bar.sync 1, 96;": "never be met",
	} {
		if _, err := exec(t, body, 64, 1); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "t.ptx:8") {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

// TestUnsupported: what is not executed is an error with line, form and text.
func TestUnsupported(t *testing.T) {
	for _, body := range []string{
		"wgmma.fence.sync.aligned;", "div.f32x2 %rd2, %rd2, %rd2;",
		"multimem.red.relaxed.sys.global.add.u32 [%rd1], %r1;",
		"tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1}];",
		"add.foo.u32 %r1, %r1, %r1;", "add.u32 %r1, %r1;", "add.u32 %r1, %rd1, %r1;", "add.u32 %p1, %r1, %r1;",
		"ld.global.u64 %r1, [%rd1];", "add.u32 %r1, %r1, 0f3F800000;",
		"cvt.f32.s32 %f1, %r1;", "cvt.s32.f32 %r1, %f1;", "fma.f32 %f1, %f1, %f1, %f1;", "ld.param.u32 %r1, [out+8];",
		"bar.sync 16;", "atom.global.inc.s32 %r1, [%rd1], 1;",
		"mov.u32 %r1, out;", "st.const.u32 [%rd1], %r1;", "setp.equ.s32 %p1, %r1, %r1;", "selp.u32 %r1, %r1, %r1, %r1;",
		"bra %r1;", "mov.u32 5, %r1;",
	} {
		_, err := exec(t, body, 1, 1)
		if err == nil || !strings.HasPrefix(err.Error(), "t.ptx:") ||
			!strings.Contains(err.Error(), strings.TrimSuffix(strings.Fields(body)[0], ";")) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

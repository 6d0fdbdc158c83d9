package emulate

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/parse"
)

const fuzzHead = ".version 8.0\n.target sm_90\n.address_size 64\n"

var fuzzSeeds = []string{
	fuzzHead + `.visible .entry k(.param .u64 p, .param .b8 s[8]) { .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .f32 %f<3>; .reg .b16 %h<3>;
		.shared .align 4 .b8 sh[64]; .local .align 8 .b8 loc[16];
		mov.u32 %r1, %tid.x; L: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra L; bar.sync 0; shfl.sync.bfly.b32 %r3|%p2, %r1, 1, 31, -1;
		vote.sync.ballot.b32 %r4, %p1, -1; st.shared.u32 [sh+4], %r1; atom.shared.add.u32 %r5, [sh], 1; mov.u64 %rd1, loc; st.local.u64 [%rd1+8], %rd2;
		cvta.local.u64 %rd3, %rd1; ld.u32 %r6, [%rd3]; ld.param.u64 %rd4, [p]; cvt.rn.f32.u32 %f1, %r6; sqrt.rn.f32 %f2, %f1; mov.b32 {%h1, %h2}, %r6; @%p2 exit; ret; }`,
	fuzzHead + `.func (.param .b32 r) f(.param .b32 a) { .reg .b32 x, y; .reg .pred p; ld.param.b32 x, [a]; setp.eq.u32 p, x, 0; @p bra D; sub.u32 x, x, 1;
		{ .param .b32 q; .param .b32 w; st.param.b32 [q], x; call.uni (w), f, (q); ld.param.b32 y, [w]; } D: st.param.b32 [r], x; ret; }
		.visible .entry k() { .reg .b32 x; .reg .b64 t; .param .b32 q; .param .b32 w; mov.u32 x, %laneid; st.param.b32 [q], x; call (w), f, (q); mov.u64 t, f;
		P: .callprototype (.param .b32 _) _ (.param .b32 _); call (w), t, (q), P; ret; }`,
	fuzzHead + `/* one */ .const .u32 c[2] = {1, 2 /* two */}; // three
		 .global .u64 g[2] = {c, generic(c)+4}; .visible .entry k() { .reg .b32 %r<4>; .reg .b64 %rd<3>; ld.const.u32 %r1, [c+4];
		ld.global.u64 %rd1, [g]; ld.u32 %r2, [%rd1]; mov.u32 %r3, %laneid; T: .branchtargets A, B; rem.u32 %r3, %r3, 2; brx.idx %r3, T; A: trap; B: bar.red.popc.u32 %r1, 0, 1; ret; }`,
}

// runtimeSeeds reach what later versions of the ISA and the runtime library have.
var runtimeSeeds = []string{
	printfText,
	fuzzHead + `.extern .func (.param .b64 p) malloc(.param .b64 n); .extern .func free(.param .b64 p);
		.visible .entry k() { .reg .b64 p, q; .reg .u32 t; .reg .v2 .f32 v; alloca.u64 p, 16, 8; stacksave.u64 q; cvta.local.u64 p, p; st.u32 [p], 1;
		stackrestore.u64 q; call (q), malloc, (16); st.u32 [q], 7; call free, (q); mov.u32 t, WARP_SZ*2; mov.b64 q, {v.x, v.y}; ret; }`,
	fuzzHead + `.global .align 32 .b8 g[2048]; .visible .entry k() { .reg .b32 a<8>, b<8>, c<8>; .reg .b64 p; mov.u64 p, g;
		wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {a0, a1, a2, a3, a4, a5, a6, a7}, [p], 16;
		wmma.load.b.sync.aligned.col.m16n16k16.f16 {b0, b1, b2, b3, b4, b5, b6, b7}, [p];
		wmma.load.c.sync.aligned.row.m16n16k16.f32 {c0, c1, c2, c3, c4, c5, c6, c7}, [p];
		wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {c0, c1, c2, c3, c4, c5, c6, c7}, {a0, a1, a2, a3, a4, a5, a6, a7},
		{b0, b1, b2, b3, b4, b5, b6, b7}, {c0, c1, c2, c3, c4, c5, c6, c7};
		wmma.store.d.sync.aligned.row.m16n16k16.f32 [p], {c0, c1, c2, c3, c4, c5, c6, c7}, 16; ret; }`,
	fuzzHead + `.global .texref tx; .global .samplerref sm = {addr_mode_0 = wrap, filter_mode = linear}; .global .surfref sf;
		.visible .entry k() { .reg .b32 a<4>; .reg .b64 p; .reg .f32 x; txq.width.b32 a0, [tx]; mov.u64 p, tx;
		tex.2d.v4.f32.f32 {a0, a1, a2, a3}, [tx, sm, {x, x}]; tex.a1d.v4.u32.s32 {a0, _, _, _}, [p, {a1, a2}];
		suld.b.1d.v2.b32.clamp {a0, a1}, [sf, {a2}]; sust.b.2d.b16.zero [p, {a0, a1}], 5; tld4.g.2d.v4.f32.f32 {a0, a1, a2, a3}, [tx, {x, x}]; ret; }`,
	".version 2.3\n.target sm_13\n.address_size 32\n" + `.global .u32 g[4]; .func (.reg .u32 r) f(.reg .u32 x, .reg .pred q) { @q add.u32 r, x, g[1]; ret; }
		.entry k(.param .u32 p) { .reg .u32 a, b; .reg .f32 x; .reg .pred q; ld.param.u32 a, [p]; mad.f32 x, x, x, x; mov.u32 b, g[2]; ld.global.u32 a, g[b+1];
		cvta.global.u32 b, b; ld.u32 a, [b]; call (a), f, (a, q); setp.gt.f32 q, x, 0f00000000; ret; }`,
}

// TestCheck: every problem of a file is found, with the feature where one is missing.
func TestCheck(t *testing.T) {
	_, all := Check("all.ptx", []byte(fuzzHead+`.global .u32 g[2 = 1;
.visible .entry k(.param .u64 p) {
	.reg .b32 %r<3>;
	add.u32 %r1, %r7, 1;
	add.u32 %r1, %r7, 2;
	add.rn.f32.bf16 %r1, %r1, %r2;
	frob.u32 %r1;
	ret
	add.u33 %r1, %r1, 1;
	bra NOWHERE;
	mbarrier.init.shared.b64 [%r1], 1;
	mbarrier.inval.shared.b64 [%r1];
	mov.u32 %r1, %clusterid.x;
	mov.b32 %r1, ? \x01;
	ret;
}
.func unused() { tanh.f64 1, 2; ret; }
.entry l() .reqnctapercluster 2 { ret; }
.entry m(.param .foo x) { .reg .u32 z; z: ret; }
.visible .entry n() { add.u32 1, 2; trap; }
`))
	want := []struct {
		line         int
		say, feature string
	}{
		{4, "found \"=\"", ""},
		{7, "%r7", ""},
		{9, "(PTX ISA 8.6, sm_100)", "other forms of add"},
		{10, "frob.u32 is not an", ""},
		{12, "found \"%r1\"", ""},
		{13, "NOWHERE", ""},
		{14, "mbarrier.init", "mbarrier"},
		{15, "mbarrier.inval", "mbarrier"},
		{16, "%clusterid", "clusters"},
		{17, "found \"?\"", ""},
		{20, "PTX has no tanh.f64", ""},
		{21, ".reqnctapercluster", "clusters"},
		{22, ".foo", ""},
		{23, "add", ""},
	}
	for i, w := range want {
		if i == len(all) {
			t.Fatalf("%d problems, want %d", len(all), len(want))
		}
		if e := all[i]; e.Line != w.line || !strings.Contains(e.Msg, w.say) || e.Feature != w.feature {
			t.Errorf("line %d, %q: %s; want line %d, %q, %q", e.Line, e.Feature, e.Msg, w.line, w.feature, w.say)
		}
	}
	for _, e := range all[min(len(all), len(want)):] {
		t.Errorf("more: %v", e)
	}
	if _, all := Check("good.ptx", []byte(fuzzSeeds[0])); len(all) != 0 {
		t.Errorf("a good module: %v", all)
	}
}

// FuzzLoad: a module that loads also runs, to an end or to an error; nothing panics.
func FuzzLoad(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s))
	}
	for _, s := range runtimeSeeds {
		f.Add([]byte(s))
	}
	files, _ := filepath.Glob("testdata/calib/*.ptx")
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(src) < 4000 {
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := Load("fuzz.ptx", src)
		// Check agrees with Load, but for functions that no kernel calls.
		if _, all := Check("fuzz.ptx", src); err != nil && len(all) == 0 {
			t.Fatalf("Load says %v, Check nothing", err)
		}
		if err != nil {
			var e *parse.Error
			if !errors.As(err, &e) || e.Line < 1 || e.Msg == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		in, err := m.Bind(mem.NewSpace(1 << 20))
		if err != nil {
			return
		}
		if m.Allocates() {
			h, err := NewHeap(in.space, 4096)
			if err != nil {
				return
			}
			in.SetHeap(h)
		}
		images := &Images{}
		in.SetImages(images)
		for i, v := range m.symbols { // what may be images is one, of the largest symbol
			if v.Type == parse.TexRef || v.Type == parse.SurfRef {
				img := &Image{Region: in.regions[i], Size: [3]int{2, 1, 1}, Channels: 1, Type: parse.F32}
				h, err := images.Add(img)
				if err == nil {
					err = in.BindImage(v.Name, h)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, k := range m.Kernels() {
			if k.ParamBytes > 1<<16 || k.LocalBytes > 1<<14 {
				continue
			}
			g, err := in.Grid(k, Launch{
				Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{40, 1, 1},
				Params: make([]byte, k.ParamBytes),
			})
			if err != nil {
				continue
			}
			if _, err := Run(g, 2000); err != nil {
				continue // the program is at fault, or spins
			}
			var s isa.Step
			c := g.Start(0, isa.Place{}) // and again on recycled state
			for range 50 {
				if c.PC(0) < 0 || c.Step(0, 1, &s) != nil {
					break
				}
			}
			c.Release()
		}
	})
}

// TestFuzzSeeds makes sure that the seeds are good modules.
func TestFuzzSeeds(t *testing.T) {
	for i, s := range append(slices.Clip(fuzzSeeds), runtimeSeeds...) {
		if _, err := Load("seed.ptx", []byte(s)); err != nil {
			t.Errorf("seed %d: %v", i, err)
		}
	}
}

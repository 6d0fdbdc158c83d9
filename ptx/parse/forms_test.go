package parse

import (
	"fmt"
	"strings"
	"testing"
)

func parts(text string) (string, []string) {
	list := strings.Split(text, ".")
	return list[0], list[1:]
}

// TestFormTable: each line of the table is well formed, and its opcode has one feature at most that is missing
// without a modifier.
func TestFormTable(t *testing.T) {
	for op, list := range forms() {
		for _, f := range list {
			var major, minor, target int
			n, _ := fmt.Sscanf(f.isa+" "+f.target, "%d.%d sm_%d", &major, &minor, &target)
			if n != 3 || major > 8 || target > 120 || target < 10 {
				t.Errorf("%s: PTX %s, %s", op, f.isa, f.target)
			}
			if f.typed && len(f.types) == 0 {
				t.Errorf("%s wants a type and has none", op)
			}
			for w := range f.types {
				if strings.ContainsAny(w, "@!") {
					t.Errorf("%s: %q is no word", op, w)
				}
			}
		}
	}
	if n := len(forms()); n < 130 {
		t.Errorf("the table has %d opcodes", n)
	}
}

// TestLegalForms: forms of the ISA are none of them slips, and the table knows who has them first.
func TestLegalForms(t *testing.T) {
	for _, pair := range strings.Split(strings.TrimSpace(`
add.s32 | 1.0, sm_10
add.sat.s32 | 1.0, sm_10
add.rn.ftz.sat.f32 | 1.0, sm_10
add.cc.u64 | 4.3, sm_20
add.rz.ftz.f32x2 | 8.6, sm_100
add.rn.f32.bf16 | 8.6, sm_100
fma.rn.relu.bf16x2 | 7.0, sm_80
fma.rn.oob.relu.f16 | 8.1, sm_90
min.ftz.NaN.xorsign.abs.f32 | 7.2, sm_86
max.relu.s16x2 | 8.0, sm_90
lop3.or.b32 | 8.2, sm_70
shf.l.wrap.b32 | 3.1, sm_32
setp.ge.and.bf16x2 | 7.8, sm_90
cvt.rs.satfinite.e4m3x4.f32 | 8.6, sm_100
cvt.rn.bf16x2.ue8m0x2 | 8.6, sm_100
cvt.rn.relu.bf16x2.f32 | 7.0, sm_80
ld.relaxed.gpu.global.L1::no_allocate.v4.f32 | 6.0, sm_70
ld.global.nc.L1::evict_last.L2::128B.v8.f32 | 8.8, sm_100
mov.v4.u16 | 1.0, sm_10
st.global.v8.b8 | 8.8, sm_100
ld.shared::cluster.b32 | 7.8, sm_90
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 | 8.1, sm_90
red.async.relaxed.cluster.global.add.u64 | 8.1, sm_90
atom.global.v4.f32.add | 8.1, sm_90
atom.acq_rel.gpu.global.cas.b128 | 8.3, sm_90
cp.async.cg.shared.global.L2::cache_hint.L2::128B | 7.0, sm_80
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster | 8.0, sm_90
cp.async.bulk.commit_group | 8.0, sm_90
cp.async.bulk.wait_group.read | 8.0, sm_90
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 | 8.0, sm_90
cp.async.mbarrier.arrive.noinc.shared.b64 | 7.0, sm_80
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 | 7.0, sm_80
mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 | 7.0, sm_80
wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 | 8.0, sm_90
tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.block32 | 8.6, sm_100
tcgen05.ld.sync.aligned.32x32b.x64.pack::16b.b32 | 8.6, sm_100
mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32 | 8.7, sm_120
mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 | 7.1, sm_80
vadd2.s32.u32.s32.sat | 3.0, sm_30
vset4.u32.u32.ne.add | 3.0, sm_30
redux.sync.min.abs.NaN.f32 | 8.6, sm_100
fence.proxy.tensormap::generic.acquire.gpu | 8.3, sm_90
fence.proxy.async.shared::cta | 7.5, sm_70
fence.mbarrier_init.release.cluster | 8.0, sm_90
barrier.cluster.arrive.release.aligned | 7.8, sm_90
multimem.ld_reduce.relaxed.sys.global.add.v4.f32 | 8.1, sm_90
tensormap.replace.tile.global_address.global.b1024.b64 | 8.3, sm_90
clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 | 8.6, sm_100
setmaxnreg.inc.sync.aligned.u32 | 8.0, sm_90
griddepcontrol.wait | 7.8, sm_90
stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 | 7.8, sm_90
createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 | 7.4, sm_80
tex.grad.a2d.v4.f32.f32 | 1.0, sm_10
`), "\n") {
		text, since, _ := strings.Cut(pair, " | ")
		op, mods := parts(text)
		if slip := Slip(op, mods); slip != "" {
			t.Errorf("%s: %s", text, slip)
		}
		if got := Since(op, mods); got != "PTX ISA "+since {
			t.Errorf("%s is %s, want %s", text, got, since)
		}
	}
}

// TestSlips: what no version has is a slip, and the suggestion is the form that was meant.
func TestSlips(t *testing.T) {
	for text, want := range map[string]string{
		"frob.u32":                  "frob.u32 is not an instruction of PTX",
		"ad.s32":                    "did you mean add?",
		"adds32":                    "did you mean add.s32?",
		"addi32":                    "did you mean add.s32?",
		"setpeq.s32":                "did you mean setp.eq.s32?",
		"add.s32x":                  "PTX has no add.s32x; did you mean .s32?",
		"add.i32":                   "PTX has no add.i32; did you mean .s32?",
		"add.float":                 "did you mean .f32?",
		"add.double":                "did you mean .f64?",
		"mov.int":                   "did you mean .s32?",
		"add.s33":                   "PTX has no add.s33; its types are .bf16 .bf16x2 .f16",
		"add.rn.u32":                "add.rn.u32 is no form of add: .rn does not go with .u32",
		"add.sat.f64":               "does not go with",
		"add":                       "a type is missing, add one of .bf16",
		"mul.wide.u64":              "does not go with",
		"add.row.u32":               "PTX has no add.row",
		"mbarrier.innit.shared.b64": "did you mean .init?",
		"ld.globl.u32":              "did you mean .global?",
		"wgmma.mma_async.sync.aligned.m64n7k16.f32.f16.f16": "PTX has no wgmma.m64n7k16",
	} {
		op, mods := parts(text)
		if slip := Slip(op, mods); !strings.Contains(slip, want) {
			t.Errorf("%s: %q, want %q", text, slip, want)
		}
		if got := Since(op, mods); got != "" {
			t.Errorf("%s has a place in the table: %s", text, got)
		}
	}
	for text, want := range map[string]string{
		"add s32 %a, %a, %a;":     "t.ptx:6: the dot before s32 is missing: write add.s32",
		"ld.global u32 %a, [%d];": "the dot before u32 is missing: write ld.global.u32",
		".reg s32 %x;":            `found "s32" where a type such as .u32 was expected: the dot is missing, write .s32`,
		".reg .i32 %x;":           `".i32" is not a type of PTX; did you mean .s32?`,
		".reg .int %x;":           "did you mean .s32?",
		".reg .s23 %x;":           "did you mean .s32?",
		".reg .f32x2 %x;":         ".f32x2 is a type of instructions: declare .reg .b64",
		"add.s32 %a, s32, %a;":    "s32 is not declared",
	} {
		_, err := File("t.ptx", []byte(head+".entry k() {\n.reg .b32 %a; .reg .b64 %d;\n"+text+"\nret; }"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestAttributes: what compilers say about memory, calls and registers is read, and what is wrong with it said.
func TestAttributes(t *testing.T) {
	m, err := File("t.ptx", []byte(head+`
.reg .b32 %common, %more<3>;
.global .attribute(.managed) .align 8 .u64 m;
.global .attribute(.unified(19, 0x5F), .managed) .f32 u;
.func .attribute(.unified(0xAB, 0xCD)) bar();
.visible .func (.param .b32 r) f(.param .b32 x) .noreturn .abi_preserve 8 .abi_preserve_control 4 ;
.func g() .noreturn .abi_preserve 3 { mov.u32 %more1, 1; ret; }
.pragma "nounroll";
.entry k() .pragma "used_bytes_mask 0xff";
.entry k() {
	.reg .b64 %q;
	.pragma "nounroll", "enable_smem_spilling";
	add.s32 %common, %more1, %more2;
	call %q, (), P;
P:	.callprototype () _ () .noreturn .abi_preserve 2 .abi_preserve_control 1;
	ret;
}`))
	if err != nil {
		t.Fatal(err)
	}
	k := m.Func("k")
	if len(k.Common) != 3 || len(k.Instrs[1].Also) != 3 || len(m.Func("g").Common) != 1 || m.Var("m") == nil {
		t.Errorf("%+v %+v", k.Common, k.Instrs[1].Also)
	}
	if k.Common[0].Module != m.Func("g").Common[0].Module && k.Common[1].Module != m.Func("g").Common[0].Module {
		t.Error("%more1 of k and g are not the same register of the module")
	}
	for text, want := range map[string]string{
		".global .attribute(.shiny) .u32 x;":                ".shiny is no attribute: PTX has .managed and",
		".global .attribute(.unified) .u32 x;":              "write .unified(uuid1, uuid2)",
		".global .attribute(.unified(1)) .u32 x;":           "between the halves of a UUID",
		".func f() .abi_preserve { ret; }":                  "found",
		".reg .v4 .f32 %v;":                                 "registers at module level are not supported yet",
		".entry k() { mov.u32 %late, 1; } .reg .b32 %late;": "%late",
	} {
		_, err := File("t.ptx", []byte(head+text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

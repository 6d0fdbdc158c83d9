package torture

import (
	"testing"
)

// TestModuleRegisters: a register of the module is one for a thread in all functions, across calls through names,
// registers and recursion, in divergent warps, and in each width.
func TestModuleRegisters(t *testing.T) {
	decl := `
.reg .b32 %count, %unused<2>;
.reg .u64 %wide;
.reg .pred %flag;
.reg .b16 %small;
.func leaf()
{
	add.u32 %count, %count, 1;
	add.u64 %wide, %wide, 0x100000000;
	not.pred %flag, %flag;
	add.u16 %small, %small, 3;
	ret;
}
.func between(.reg .u32 n)
{
	.reg .pred %p;
	.reg .b32 %mine;
	mov.u32 %mine, 7;
	setp.eq.u32 %p, n, 0;
	@%p ret;
	call leaf;
	add.u32 %count, %count, %mine;
	sub.u32 n, n, 1;
	call between, (n);
	ret;
}`
	body := `
	.reg .b64 %fn;
	.reg .b32 %c;
	mov.u32 %count, 1000;
	mov.u64 %wide, 5;
	setp.eq.u32 %flag, 0, 1;
	mov.u16 %small, 100;
	and.b32 %b, %t, 3;
	setp.eq.u32 %p, %b, 2;
	@%p bra SKIP;
	call between, (%b);
	mov.u64 %fn, leaf;
	call %fn, (), P;
P:	.callprototype _ ();
SKIP:
	mov.u32 %a, %count;
	shr.u64 %w, %wide, 32;
	cvt.u32.u64 %b, %w;
	mad.lo.u32 %a, %b, 10000, %a;
	cvt.u32.u64 %b, %wide;
	mad.lo.u32 %a, %b, 100000, %a;
	cvt.u32.u16 %b, %small;
	mad.lo.u32 %a, %b, 1000000, %a;
	@%flag or.b32 %a, %a, 0x80000000;`
	for i, v := range runText(t, legalSource(decl, body)) {
		n := uint32(i) & 3
		calls := n + 1
		if n == 2 {
			calls, n = 0, 0
		}
		want := 1000 + calls + 7*n + 10000*calls + 500000 + 1000000*(100+3*calls)
		if calls&1 != 0 {
			want |= 1 << 31
		}
		if v != want {
			t.Fatalf("thread %d: %d, want %d", i, v, want)
		}
	}
}

// TestModuleLocals: .local variables of the module are the thread's in all functions; their addresses have 32 or 64
// bits.
func TestModuleLocals(t *testing.T) {
	decl := `
.local .align 8 .b8 bytes[64];
.local .u32 one;
.local .u32 list[4];
.func bump()
{
	.local .u32 own;
	.reg .b32 %v, %at;
	st.local.u32 [own], 77;
	mov.u32 %at, list[2];
	ld.local.u32 %v, [%at];
	add.u32 %v, %v, 1;
	st.local.u32 [list+8], %v;
	ld.local.u32 %v, [one];
	add.u32 %v, %v, 100;
	st.local.u32 [one], %v;
	ret;
}`
	body := `
	.local .u32 mine;
	.reg .b32 %at;
	.reg .b64 %far;
	st.local.u32 [mine], 5;
	st.local.u32 [one], %t;
	mov.u32 %at, list;
	st.local.u32 [%at+8], 1000;
	mov.u64 %far, bytes[16];
	st.local.u64 [%far], 9;
	call bump;
	call bump;
	mov.u64 %far, list;
	cvta.local.u64 %far, %far;
	ld.u32 %a, [%far+8];
	cvta.local.u64 %far, one;
	ld.u32 %b, [%far];
	add.u32 %a, %a, %b;
	ld.local.u32 %b, [mine];
	add.u32 %a, %a, %b;
	ld.local.u32 %b, bytes[16];
	add.u32 %a, %a, %b;
	mov.u32 %b, 1;
	ld.local.u32 %b, list[%b+1];
	add.u32 %a, %a, %b;`
	for i, v := range runText(t, legalSource(decl, body)) {
		if want := uint32(1002 + i + 200 + 5 + 9 + 1002); v != want {
			t.Fatalf("thread %d: %d, want %d", i, v, want)
		}
	}
	refuses(t, decl, "ld.shared.u32 %a, [one];", "one is .local: use the instruction of that space")
	refuses(t, decl, "mov.b16 %a, one;", "this operand needs 16 bits")
}

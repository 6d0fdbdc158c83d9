//go:build amd64 && !purego

#include "textflag.h"

// AVX2 forms of the row functions, 8 (or 4) lanes at a time. Each has a pure Go twin;
// rows_amd64_test.go compares them.

// Macros first: go vet takes a macro for a part of the function above it.

#define ARGS3 \
	MOVQ d+0(FP), DI \
	MOVQ a+8(FP), SI \
	MOVQ b+16(FP), DX

#define ARGS4 \
	ARGS3 \
	MOVQ c+24(FP), CX

#define BIN(op, off) \
	VMOVDQU off(SI), Y0 \
	op off(DX), Y0, Y0 \
	VMOVDQU Y0, off(DI)

#define BIN4(op) \
	BIN(op, 0) \
	BIN(op, 32) \
	BIN(op, 64) \
	BIN(op, 96)

#define BIN8(op) \
	BIN4(op) \
	BIN(op, 128) \
	BIN(op, 160) \
	BIN(op, 192) \
	BIN(op, 224)

#define ROW32(op) \
	ARGS3 \
	BIN4(op) \
	VZEROUPPER \
	RET

#define ROW64(op) \
	ARGS3 \
	BIN8(op) \
	VZEROUPPER \
	RET

#define MAD(off) \
	VMOVDQU off(SI), Y0 \
	VPMULLD off(DX), Y0, Y0 \
	VPADDD off(CX), Y0, Y0 \
	VMOVDQU Y0, off(DI)

#define CANON32 \
	VPCMPEQD Y15, Y15, Y15 \
	VPSRLD $1, Y15, Y15

#define CANON64 \
	VPCMPEQD Y15, Y15, Y15 \
	VPSLLQ $51, Y15, Y15

#define FIX32(off) \
	VCMPPS $3, Y0, Y0, Y1 \
	VBLENDVPS Y1, Y15, Y0, Y0 \
	VMOVUPS Y0, off(DI)

#define FIX64(off) \
	VCMPPD $3, Y0, Y0, Y1 \
	VBLENDVPD Y1, Y15, Y0, Y0 \
	VMOVUPD Y0, off(DI)

#define FBIN(op, off) \
	VMOVUPS off(SI), Y0 \
	op off(DX), Y0, Y0 \
	FIX32(off)

#define FROW32(op) \
	ARGS3 \
	CANON32 \
	FBIN(op, 0) \
	FBIN(op, 32) \
	FBIN(op, 64) \
	FBIN(op, 96) \
	VZEROUPPER \
	RET

#define FFMA(off) \
	VMOVUPS off(SI), Y0 \
	VMOVUPS off(DX), Y2 \
	VFMADD213PS off(CX), Y2, Y0 \
	FIX32(off)

#define FSQRT(off) \
	VSQRTPS off(SI), Y0 \
	FIX32(off)

#define FRCP(off) \
	VDIVPS off(SI), Y14, Y0 \
	FIX32(off)

// rsqrt: the root rounded, then its reciprocal.
#define FRSQRT(off) \
	VSQRTPS off(SI), Y0 \
	VDIVPS Y0, Y14, Y0 \
	FIX32(off)

#define CVTSF(off) \
	VCVTDQ2PS off(SI), Y0 \
	VMOVUPS Y0, off(DI)

#define DBIN(op, off) \
	VMOVUPD off(SI), Y0 \
	op off(DX), Y0, Y0 \
	FIX64(off)

#define DROW64(op) \
	ARGS3 \
	CANON64 \
	DBIN(op, 0) \
	DBIN(op, 32) \
	DBIN(op, 64) \
	DBIN(op, 96) \
	DBIN(op, 128) \
	DBIN(op, 160) \
	DBIN(op, 192) \
	DBIN(op, 224) \
	VZEROUPPER \
	RET

#define DFMA(off) \
	VMOVUPD off(SI), Y0 \
	VMOVUPD off(DX), Y2 \
	VFMADD213PD off(CX), Y2, Y0 \
	FIX64(off)

#define WIDE(ext, mul, in, out) \
	ext in(SI), Y0 \
	ext in(DX), Y1 \
	mul Y1, Y0, Y0 \
	VMOVDQU Y0, out(DI)

#define WROW(ext, mul) \
	ARGS3 \
	WIDE(ext, mul, 0, 0) \
	WIDE(ext, mul, 16, 32) \
	WIDE(ext, mul, 32, 64) \
	WIDE(ext, mul, 48, 96) \
	WIDE(ext, mul, 64, 128) \
	WIDE(ext, mul, 80, 160) \
	WIDE(ext, mul, 96, 192) \
	WIDE(ext, mul, 112, 224) \
	VZEROUPPER \
	RET

#define WMAD(ext, mul, in, out) \
	ext in(SI), Y0 \
	ext in(DX), Y1 \
	mul Y1, Y0, Y0 \
	VPADDQ out(CX), Y0, Y0 \
	VMOVDQU Y0, out(DI)

#define WMADROW(ext, mul) \
	ARGS4 \
	WMAD(ext, mul, 0, 0) \
	WMAD(ext, mul, 16, 32) \
	WMAD(ext, mul, 32, 64) \
	WMAD(ext, mul, 48, 96) \
	WMAD(ext, mul, 64, 128) \
	WMAD(ext, mul, 80, 160) \
	WMAD(ext, mul, 96, 192) \
	WMAD(ext, mul, 112, 224) \
	VZEROUPPER \
	RET

#define EXT(ext, in, out) \
	ext in(SI), Y0 \
	VMOVDQU Y0, out(DI)

#define EXTROW(ext) \
	ARGS3 \
	EXT(ext, 0, 0) \
	EXT(ext, 16, 32) \
	EXT(ext, 32, 64) \
	EXT(ext, 48, 96) \
	EXT(ext, 64, 128) \
	EXT(ext, 80, 160) \
	EXT(ext, 96, 192) \
	EXT(ext, 112, 224) \
	VZEROUPPER \
	RET

// The low halves of 64-bit lanes.
#define LOW(in, out) \
	VMOVDQU in(SI), Y0 \
	VSHUFPS $0x88, in+32(SI), Y0, Y0 \
	VPERMQ $0xd8, Y0, Y0 \
	VMOVDQU Y0, out(DI)

#define SHIFT(op, in, out) \
	VPMOVZXDQ in(DX), Y1 \
	VMOVDQU out(SI), Y0 \
	op Y1, Y0, Y0 \
	VMOVDQU Y0, out(DI)

#define SHIFTROW(op) \
	ARGS3 \
	SHIFT(op, 0, 0) \
	SHIFT(op, 16, 32) \
	SHIFT(op, 32, 64) \
	SHIFT(op, 48, 96) \
	SHIFT(op, 64, 128) \
	SHIFT(op, 80, 160) \
	SHIFT(op, 96, 192) \
	SHIFT(op, 112, 224) \
	VZEROUPPER \
	RET

#define MASKS \
	VMOVMSKPS Y0, AX \
	VMOVMSKPS Y1, BX \
	VMOVMSKPS Y2, CX \
	VMOVMSKPS Y3, R8 \
	SHLL $8, BX \
	SHLL $16, CX \
	SHLL $24, R8 \
	ORL BX, AX \
	ORL R8, CX \
	ORL CX, AX \
	MOVL AX, ret+16(FP) \
	VZEROUPPER \
	RET

#define LOADAB \
	MOVQ a+0(FP), SI \
	MOVQ b+8(FP), DX \
	VMOVDQU (SI), Y0 \
	VMOVDQU 32(SI), Y1 \
	VMOVDQU 64(SI), Y2 \
	VMOVDQU 96(SI), Y3

#define GTU(y, off) \
	VPXOR Y15, y, y \
	VPXOR off(DX), Y15, Y14 \
	VPCMPGTD Y14, y, y

#define CMPF(imm) \
	LOADAB \
	VCMPPS $imm, (DX), Y0, Y0 \
	VCMPPS $imm, 32(DX), Y1, Y1 \
	VCMPPS $imm, 64(DX), Y2, Y2 \
	VCMPPS $imm, 96(DX), Y3, Y3 \
	MASKS

#define BLEND(off) \
	VMOVD AX, X1 \
	VPBROADCASTD X1, Y1 \
	VPAND Y15, Y1, Y1 \
	VPCMPEQD Y15, Y1, Y1 \
	VMOVDQU off(SI), Y0 \
	VPMASKMOVD Y0, Y1, off(DI) \
	SHRL $8, AX

#define BLENDQ(off) \
	VMOVQ AX, X1 \
	VPBROADCASTQ X1, Y1 \
	VPAND Y15, Y1, Y1 \
	VPCMPEQQ Y15, Y1, Y1 \
	VMOVDQU off(SI), Y0 \
	VPMASKMOVQ Y0, Y1, off(DI) \
	SHRL $4, AX

#define ADDO(off) \
	VPADDQ off(SI), Y15, Y0 \
	VMOVDQU Y0, off(DI)

// CHECK subtracts start, stores, gathers all bits in Y13 and whether limit (biased, in
// Y14) is exceeded in Y12.
#define CHECK(off) \
	VMOVDQU off(SI), Y0 \
	VPSUBQ Y15, Y0, Y0 \
	VMOVDQU Y0, off(DI) \
	VPOR Y0, Y13, Y13 \
	VPXOR Y0, Y11, Y0 \
	VPCMPGTQ Y14, Y0, Y0 \
	VPOR Y0, Y12, Y12

TEXT ·add32AVX2(SB), NOSPLIT, $0-32
	ROW32(VPADDD)

TEXT ·mulLo32AVX2(SB), NOSPLIT, $0-32
	ROW32(VPMULLD)

TEXT ·and32AVX2(SB), NOSPLIT, $0-32
	ROW32(VPAND)

TEXT ·or32AVX2(SB), NOSPLIT, $0-32
	ROW32(VPOR)

TEXT ·xor32AVX2(SB), NOSPLIT, $0-32
	ROW32(VPXOR)

TEXT ·minU32AVX2(SB), NOSPLIT, $0-32
	ROW32(VPMINUD)

TEXT ·maxU32AVX2(SB), NOSPLIT, $0-32
	ROW32(VPMAXUD)

TEXT ·minS32AVX2(SB), NOSPLIT, $0-32
	ROW32(VPMINSD)

TEXT ·maxS32AVX2(SB), NOSPLIT, $0-32
	ROW32(VPMAXSD)

TEXT ·sub32AVX2(SB), NOSPLIT, $0-32
	ROW32(VPSUBD)

TEXT ·shl32AVX2(SB), NOSPLIT, $0-32
	ROW32(VPSLLVD)

TEXT ·shrU32AVX2(SB), NOSPLIT, $0-32
	ROW32(VPSRLVD)

TEXT ·shrS32AVX2(SB), NOSPLIT, $0-32
	ROW32(VPSRAVD)

TEXT ·add64AVX2(SB), NOSPLIT, $0-32
	ROW64(VPADDQ)

TEXT ·sub64AVX2(SB), NOSPLIT, $0-32
	ROW64(VPSUBQ)

TEXT ·and64AVX2(SB), NOSPLIT, $0-32
	ROW64(VPAND)

TEXT ·or64AVX2(SB), NOSPLIT, $0-32
	ROW64(VPOR)

TEXT ·xor64AVX2(SB), NOSPLIT, $0-32
	ROW64(VPXOR)

TEXT ·madLo32AVX2(SB), NOSPLIT, $0-32
	ARGS4
	MAD(0)
	MAD(32)
	MAD(64)
	MAD(96)
	VZEROUPPER
	RET

// Floating point: a NaN result becomes the canonical one, held in Y15.

TEXT ·addF32AVX2(SB), NOSPLIT, $0-32
	FROW32(VADDPS)

TEXT ·subF32AVX2(SB), NOSPLIT, $0-32
	FROW32(VSUBPS)

TEXT ·mulF32AVX2(SB), NOSPLIT, $0-32
	FROW32(VMULPS)

TEXT ·divF32AVX2(SB), NOSPLIT, $0-32
	FROW32(VDIVPS)

TEXT ·fmaF32AVX2(SB), NOSPLIT, $0-32
	ARGS4
	CANON32
	FFMA(0)
	FFMA(32)
	FFMA(64)
	FFMA(96)
	VZEROUPPER
	RET

TEXT ·sqrtF32AVX2(SB), NOSPLIT, $0-32
	ARGS3
	CANON32
	FSQRT(0)
	FSQRT(32)
	FSQRT(64)
	FSQRT(96)
	VZEROUPPER
	RET

TEXT ·rcpF32AVX2(SB), NOSPLIT, $0-32
	ARGS3
	CANON32
	MOVL $0x3f800000, AX
	VMOVD AX, X14
	VPBROADCASTD X14, Y14
	FRCP(0)
	FRCP(32)
	FRCP(64)
	FRCP(96)
	VZEROUPPER
	RET

TEXT ·rsqrtF32AVX2(SB), NOSPLIT, $0-32
	ARGS3
	CANON32
	MOVL $0x3f800000, AX
	VMOVD AX, X14
	VPBROADCASTD X14, Y14
	FRSQRT(0)
	FRSQRT(32)
	FRSQRT(64)
	FRSQRT(96)
	VZEROUPPER
	RET

TEXT ·cvtS32F32AVX2(SB), NOSPLIT, $0-32
	ARGS3
	CVTSF(0)
	CVTSF(32)
	CVTSF(64)
	CVTSF(96)
	VZEROUPPER
	RET

TEXT ·addF64AVX2(SB), NOSPLIT, $0-32
	DROW64(VADDPD)

TEXT ·subF64AVX2(SB), NOSPLIT, $0-32
	DROW64(VSUBPD)

TEXT ·mulF64AVX2(SB), NOSPLIT, $0-32
	DROW64(VMULPD)

TEXT ·divF64AVX2(SB), NOSPLIT, $0-32
	DROW64(VDIVPD)

TEXT ·fmaF64AVX2(SB), NOSPLIT, $0-32
	ARGS4
	CANON64
	DFMA(0)
	DFMA(32)
	DFMA(64)
	DFMA(96)
	DFMA(128)
	DFMA(160)
	DFMA(192)
	DFMA(224)
	VZEROUPPER
	RET

// Products of 32 bits to 64: ext sign- or zero-extends four lanes, mul multiplies.

TEXT ·mulWideSAVX2(SB), NOSPLIT, $0-32
	WROW(VPMOVSXDQ, VPMULDQ)

TEXT ·mulWideUAVX2(SB), NOSPLIT, $0-32
	WROW(VPMOVZXDQ, VPMULUDQ)

TEXT ·madWideSAVX2(SB), NOSPLIT, $0-32
	WMADROW(VPMOVSXDQ, VPMULDQ)

TEXT ·madWideUAVX2(SB), NOSPLIT, $0-32
	WMADROW(VPMOVZXDQ, VPMULUDQ)

TEXT ·cvtS32S64AVX2(SB), NOSPLIT, $0-32
	EXTROW(VPMOVSXDQ)

TEXT ·cvtU32U64AVX2(SB), NOSPLIT, $0-32
	EXTROW(VPMOVZXDQ)

// func cvt64U32AVX2(d *v32, a, b *v64)
TEXT ·cvt64U32AVX2(SB), NOSPLIT, $0-24
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	LOW(0, 0)
	LOW(64, 32)
	LOW(128, 64)
	LOW(192, 96)
	VZEROUPPER
	RET

TEXT ·shl64AVX2(SB), NOSPLIT, $0-32
	SHIFTROW(VPSLLVQ)

TEXT ·shrU64AVX2(SB), NOSPLIT, $0-32
	SHIFTROW(VPSRLVQ)

// Comparisons: one bit per lane in the result.

// func eq32AVX2(a, b *v32) uint32
TEXT ·eq32AVX2(SB), NOSPLIT, $0-20
	LOADAB
	VPCMPEQD (DX), Y0, Y0
	VPCMPEQD 32(DX), Y1, Y1
	VPCMPEQD 64(DX), Y2, Y2
	VPCMPEQD 96(DX), Y3, Y3
	MASKS

// func gtS32AVX2(a, b *v32) uint32
TEXT ·gtS32AVX2(SB), NOSPLIT, $0-20
	LOADAB
	VPCMPGTD (DX), Y0, Y0
	VPCMPGTD 32(DX), Y1, Y1
	VPCMPGTD 64(DX), Y2, Y2
	VPCMPGTD 96(DX), Y3, Y3
	MASKS

// func gtU32AVX2(a, b *v32) uint32
TEXT ·gtU32AVX2(SB), NOSPLIT, $0-20
	LOADAB
	VPCMPEQD Y15, Y15, Y15
	VPSLLD $31, Y15, Y15
	GTU(Y0, 0)
	GTU(Y1, 32)
	GTU(Y2, 64)
	GTU(Y3, 96)
	MASKS

TEXT ·eqF32AVX2(SB), NOSPLIT, $0-20
	CMPF(0)

TEXT ·ltF32AVX2(SB), NOSPLIT, $0-20
	CMPF(17)

TEXT ·leF32AVX2(SB), NOSPLIT, $0-20
	CMPF(18)

TEXT ·numF32AVX2(SB), NOSPLIT, $0-20
	CMPF(7)

// Blending by a lane mask.

DATA laneBits<>+0(SB)/4, $1
DATA laneBits<>+4(SB)/4, $2
DATA laneBits<>+8(SB)/4, $4
DATA laneBits<>+12(SB)/4, $8
DATA laneBits<>+16(SB)/4, $16
DATA laneBits<>+20(SB)/4, $32
DATA laneBits<>+24(SB)/4, $64
DATA laneBits<>+28(SB)/4, $128
GLOBL laneBits<>(SB), RODATA|NOPTR, $32

DATA wideBits<>+0(SB)/8, $1
DATA wideBits<>+8(SB)/8, $2
DATA wideBits<>+16(SB)/8, $4
DATA wideBits<>+24(SB)/8, $8
GLOBL wideBits<>(SB), RODATA|NOPTR, $32

// func blend32AVX2(d, s *v32, mask uint32)
TEXT ·blend32AVX2(SB), NOSPLIT, $0-20
	MOVQ d+0(FP), DI
	MOVQ s+8(FP), SI
	MOVL mask+16(FP), AX
	VMOVDQU laneBits<>(SB), Y15
	BLEND(0)
	BLEND(32)
	BLEND(64)
	BLEND(96)
	VZEROUPPER
	RET

// func blend64AVX2(d, s *v64, mask uint32)
TEXT ·blend64AVX2(SB), NOSPLIT, $0-20
	MOVQ d+0(FP), DI
	MOVQ s+8(FP), SI
	MOVL mask+16(FP), AX
	VMOVDQU wideBits<>(SB), Y15
	BLENDQ(0)
	BLENDQ(32)
	BLENDQ(64)
	BLENDQ(96)
	BLENDQ(128)
	BLENDQ(160)
	BLENDQ(192)
	BLENDQ(224)
	VZEROUPPER
	RET

// func offset64AVX2(d, a *[32]uint64, n uint64)
TEXT ·offset64AVX2(SB), NOSPLIT, $0-24
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	VPBROADCASTQ n+16(FP), Y15
	ADDO(0)
	ADDO(32)
	ADDO(64)
	ADDO(96)
	ADDO(128)
	ADDO(160)
	ADDO(192)
	ADDO(224)
	VZEROUPPER
	RET

// func bounds64AVX2(d, a *[32]uint64, start, limit uint64) (all uint64, over bool)
TEXT ·bounds64AVX2(SB), NOSPLIT, $0-41
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	VPBROADCASTQ start+16(FP), Y15
	VPBROADCASTQ limit+24(FP), Y14
	VPCMPEQD Y11, Y11, Y11
	VPSLLQ $63, Y11, Y11
	VPXOR Y11, Y14, Y14
	VPXOR Y13, Y13, Y13
	VPXOR Y12, Y12, Y12
	CHECK(0)
	CHECK(32)
	CHECK(64)
	CHECK(96)
	CHECK(128)
	CHECK(160)
	CHECK(192)
	CHECK(224)
	VEXTRACTI128 $1, Y13, X0
	VPOR X0, X13, X0
	VPSRLDQ $8, X0, X1
	VPOR X1, X0, X0
	VMOVQ X0, all+32(FP)
	VPMOVMSKB Y12, AX
	TESTL AX, AX
	SETNE over+40(FP)
	VZEROUPPER
	RET

// Integer arithmetic at its edges. Every kernel writes `per` words per input pair.
#include "torture.cuh"

#define ASM2(OP, C, D, A, B) asm volatile(OP " %0, %1, %2;" : "=" C(D) : C(A), C(B))

KERNEL in_mul(const u32 *a, const u32 *b, u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 x = a[i], y = b[i], *o = out + 12 * i;
    u64 wide = (u64)x * y, xx = (u64)x << 32 | y, yy = (u64)y << 17 ^ x;
    i64 swide = (i64)(i32)x * (i32)y;
    o[0] = x * y;
    o[1] = (u32)(wide >> 32);
    o[2] = (u32)(swide >> 32);
    u64 acc = xx + wide;
    o[3] = (u32)acc;
    o[4] = (u32)(acc >> 32);
    o[5] = (u32)(((unsigned __int128)xx * yy) >> 64);
    o[6] = (u32)(u64)(((__int128)(i64)xx * (i64)yy) >> 64);
    u32 r;
    asm volatile("mad.hi.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(7));
    o[7] = r;
    asm volatile("mad.hi.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(7));
    o[8] = r;
    asm volatile("mul24.lo.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
    o[9] = r;
    asm volatile("mul24.hi.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
    o[10] = r;
    asm volatile("mad24.lo.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(9));
    o[11] = r;
}

KERNEL in_div(const u32 *a, const u32 *b, u64 *out, u32 n)
{
    u32 i = TID;
    if (i >= n || b[i] == 0) return;
    u32 x = a[i], y = b[i];
    u64 *o = out + 10 * i, xx = (u64)x << 32 | y, yy = (u64)y << (x & 31);
    o[0] = (u64)(x / y) << 32 | x % y;
    if (!(x == 0x80000000u && y == 0xffffffffu)) o[1] = (u64)(u32)((i32)x / (i32)y) << 32 | (u32)((i32)x % (i32)y);
    o[2] = xx / yy;
    o[3] = xx % yy;
    if (!((i64)xx == (i64)(1ull << 63) && (i64)yy == -1)) {
        o[4] = (u64)((i64)xx / (i64)yy);
        o[5] = (u64)((i64)xx % (i64)yy);
    }
    u16 xs = (u16)x, ys = (u16)(y | 1);
    o[6] = (u64)(xs / ys) << 32 | (u32)(xs % ys);
    u32 q, r;
    asm volatile("{ .reg .u16 p, s, t; cvt.u16.u32 s, %2; cvt.u16.u32 t, %3; div.s16 p, s, t; cvt.s32.s16 %0, p; rem.s16 p, s, t; cvt.s32.s16 %1, p; }"
                 : "=r"(q), "=r"(r) : "r"(x & 0x7fff), "r"(y | 1));
    o[7] = (u64)q << 32 | r;
    i8 xc = (i8)x, yc = (i8)((y & 0x7e) | 1);
    o[8] = (u64)(i64)(xc / yc) << 8 ^ (u64)(i64)(xc % yc);
    o[9] = xx / 1000000007ull + x / 7 + (u32)((i32)x / 12);
}

// Shift amounts from 0 to 2^32-1: PTX clamps them at the width.
KERNEL in_shift(const u32 *a, const u32 *b, u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 x = a[i], s = b[i], *o = out + 10 * i, r;
    u64 xx = (u64)x << 32 | ~x, rr;
    asm volatile("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(s)); o[0] = r;
    asm volatile("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(s)); o[1] = r;
    asm volatile("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(s)); o[2] = r;
    asm volatile("shl.b64 %0, %1, %2;" : "=l"(rr) : "l"(xx), "r"(s)); o[3] = (u32)rr ^ (u32)(rr >> 32);
    asm volatile("shr.u64 %0, %1, %2;" : "=l"(rr) : "l"(xx), "r"(s)); o[4] = (u32)rr ^ (u32)(rr >> 32);
    asm volatile("shr.s64 %0, %1, %2;" : "=l"(rr) : "l"(xx), "r"(s)); o[5] = (u32)rr ^ (u32)(rr >> 32);
    asm volatile("{ .reg .b16 h; cvt.u16.u32 h, %1; shl.b16 h, h, %2; cvt.u32.u16 %0, h; }" : "=r"(r) : "r"(x), "r"(s)); o[6] = r;
    asm volatile("{ .reg .b16 h; cvt.u16.u32 h, %1; shr.s16 h, h, %2; cvt.s32.s16 %0, h; }" : "=r"(r) : "r"(x), "r"(s)); o[7] = r;
    asm volatile("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(~x * 3), "r"(s)); o[8] = r;
    asm volatile("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(~x * 3), "r"(s)); o[9] = r;
}

KERNEL in_bits(const u32 *a, const u32 *b, u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 x = a[i], y = b[i], *o = out + 20 * i, r, p = y & 0xff, l = y >> 8 & 0xff;
    u64 xx = (u64)x << 32 | y, rr;
    asm volatile("popc.b32 %0, %1;" : "=r"(r) : "r"(x)); o[0] = r;
    asm volatile("popc.b64 %0, %1;" : "=r"(r) : "l"(xx)); o[1] = r;
    asm volatile("clz.b32 %0, %1;" : "=r"(r) : "r"(x)); o[2] = r;
    asm volatile("clz.b64 %0, %1;" : "=r"(r) : "l"(xx)); o[3] = r;
    asm volatile("brev.b32 %0, %1;" : "=r"(r) : "r"(x)); o[4] = r;
    asm volatile("brev.b64 %0, %1;" : "=l"(rr) : "l"(xx)); o[5] = (u32)(rr >> 13);
    asm volatile("bfind.u32 %0, %1;" : "=r"(r) : "r"(x)); o[6] = r;
    asm volatile("bfind.s32 %0, %1;" : "=r"(r) : "r"(x)); o[7] = r;
    asm volatile("bfind.shiftamt.u32 %0, %1;" : "=r"(r) : "r"(x)); o[8] = r;
    asm volatile("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(p), "r"(l)); o[9] = r;
    asm volatile("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(p), "r"(l)); o[10] = r;
    asm volatile("bfe.u64 %0, %1, %2, %3;" : "=l"(rr) : "l"(xx), "r"(p), "r"(l)); o[11] = (u32)rr ^ (u32)(rr >> 32);
    asm volatile("bfe.s64 %0, %1, %2, %3;" : "=l"(rr) : "l"(xx), "r"(p), "r"(l)); o[12] = (u32)rr ^ (u32)(rr >> 32);
    asm volatile("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(x), "r"(y), "r"(p), "r"(l)); o[13] = r;
    asm volatile("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(x >> 7)); o[14] = r;
    asm volatile("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r) : "r"(x), "r"(y), "r"(x * 77)); o[15] = r;
    asm volatile("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(x), "r"(y), "r"(x * 77)); o[16] = r;
    asm volatile("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(5)); o[17] = r;
    asm volatile("sad.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(5)); o[18] = r;
    asm volatile("cnot.b32 %0, %1;" : "=r"(r) : "r"(x & 1)); o[19] = r;
}

// Rotations, byte swaps, min, max, abs and a saturating sum, as a compiler forms them.
KERNEL in_idioms(const u32 *a, const u32 *b, u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 x = a[i], y = b[i], s = y & 31, *o = out + 10 * i;
    o[0] = x << s | x >> (-s & 31);
    o[1] = __builtin_bswap32(x) ^ (u32)(__builtin_bswap64((u64)x << 32 | y) >> 5);
    o[2] = (i32)x < (i32)y ? x : y;
    o[3] = (u32)((i32)x > (i32)y ? (i32)x : (i32)y) ^ (x > y ? x : y);
    o[4] = (u32)((i32)x < 0 ? 0u - x : x);
    u32 sum = x + y;
    o[5] = sum < x ? 0xffffffffu : sum;
    i64 wide = (i64)(i32)x + (i32)y;
    o[6] = (u32)(wide > 2147483647 ? 2147483647 : wide < -2147483647 - 1 ? -2147483647 - 1 : wide);
    o[7] = (x & y) + ((x ^ y) >> 1);
    o[8] = (u32)__builtin_popcountll((u64)x * y) + (u32)__builtin_ctz(x | 0x80000000u);
    u32 r;
    asm volatile("add.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
    o[9] = r;
}

// 8- and 16-bit memory and arithmetic, sign and zero extended.
KERNEL in_narrow(const i8 *b, const u16 *h, i8 *bo, u16 *ho, i64 *wo, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    i8 x = b[i];
    u8 ux = (u8)x;
    u16 y = h[i];
    i16 sy = (i16)y;
    bo[i] = (i8)(x * 3 + sy);
    ho[i] = (u16)(y + ux * 257);
    wo[4 * i] = (i64)x * sy;
    wo[4 * i + 1] = (i64)((u32)ux << 24) + (x < sy ? 1 : 0) + (ux < y ? 2 : 0);
    wo[4 * i + 2] = (i16)(sy >> 3) + (u16)(y >> 3) + (i8)(x >> 1) + (u8)(ux >> 1);
    wo[4 * i + 3] = (i64)(i8)(sy) - (i64)(u8)(y);
}

// Loads and stores of two and four elements, all widths.
KERNEL in_vector(const uint4 *a, const u64 *b, uint4 *o4, u64 *o2, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    uint4 v;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(&a[i]));
    u64 p, q;
    asm volatile("ld.global.nc.v2.u64 {%0, %1}, [%2+0];" : "=l"(p), "=l"(q) : "l"(&b[2 * i]));
    u32 c0, c1, c2, c3;
    asm volatile("{ .reg .u16 s, t, u, v; ld.global.v4.u8 {s, t, u, v}, [%4]; cvt.u32.u16 %0, s; cvt.u32.u16 %1, t; cvt.u32.u16 %2, u; cvt.u32.u16 %3, v; }"
                 : "=r"(c0), "=r"(c1), "=r"(c2), "=r"(c3) : "l"(&a[i]));
    i32 s0, s1;
    asm volatile("ld.global.v2.s16 {%0, %1}, [%2+4];" : "=r"(s0), "=r"(s1) : "l"(&a[i]));
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(&o4[i]), "r"(v.w + c0), "r"(v.z ^ c3), "r"(v.y + (u32)s0), "r"(v.x - (u32)s1 + c1 * c2) : "memory");
    asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(&o2[2 * i]), "l"(q), "l"(p ^ 1) : "memory");
}

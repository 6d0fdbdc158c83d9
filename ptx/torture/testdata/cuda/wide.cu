// Arithmetic wider than a register: the carry flag.
#include "torture.cuh"

// 128-bit products and sums.
KERNEL in_wide128(const u64 *a, const u64 *b, u64 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    unsigned __int128 p = (unsigned __int128)a[i] * b[i], s = p + a[i];
    s -= (unsigned __int128)b[i] << 40;
    s = s << (a[i] & 63) | s >> 90;
    out[2 * i] = (u64)s;
    out[2 * i + 1] = (u64)(s >> 64);
}

// Sums, differences and products of 96 and 128 bits with explicit carries.
KERNEL in_carry(const u32 *a, const u32 *b, u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    const u32 *x = a + 3 * i, *y = b + 3 * i;
    u32 *o = out + 13 * i, s0, s1, s2, s3, c;
    asm volatile("add.cc.u32 %0, %4, %7; addc.cc.u32 %1, %5, %8; addc.cc.u32 %2, %6, %9; addc.u32 %3, 0, 0;"
                 : "=&r"(s0), "=&r"(s1), "=&r"(s2), "=r"(c) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(y[0]), "r"(y[1]), "r"(y[2]));
    o[0] = s0; o[1] = s1; o[2] = s2; o[3] = c;
    asm volatile("sub.cc.u32 %0, %4, %7; subc.cc.u32 %1, %5, %8; subc.cc.u32 %2, %6, %9; subc.u32 %3, 0, 0;"
                 : "=&r"(s0), "=&r"(s1), "=&r"(s2), "=r"(c) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(y[0]), "r"(y[1]), "r"(y[2]));
    o[4] = s0; o[5] = s1; o[6] = s2; o[7] = c;
    asm volatile("{ .reg .u32 t; mul.lo.u32 %0, %4, %6; mul.hi.u32 t, %4, %6; mad.lo.cc.u32 %1, %4, %7, t; madc.hi.u32 %2, %4, %7, 0;"
                 " mad.lo.cc.u32 %1, %5, %6, %1; madc.hi.cc.u32 %2, %5, %6, %2; addc.u32 %3, 0, 0;"
                 " mad.lo.cc.u32 %2, %5, %7, %2; madc.hi.u32 %3, %5, %7, %3; }"
                 : "=&r"(s0), "=&r"(s1), "=&r"(s2), "=&r"(s3) : "r"(x[0]), "r"(x[1]), "r"(y[0]), "r"(y[1]));
    o[8] = s0; o[9] = s1; o[10] = s2; o[11] = s3;
    // The flag belongs to a thread: lanes that skip the middle keep theirs.
    u32 lo, hi;
    asm volatile("{ .reg .pred p; .reg .u32 t; add.cc.u32 %0, %2, %3; setp.lt.u32 p, %2, %4; @p add.cc.u32 t, %4, %4; addc.u32 %1, 0, 100; }"
                 : "=&r"(lo), "=r"(hi) : "r"(x[0]), "r"(y[0]), "r"(y[1]));
    o[12] = hi + (lo & 0);
}

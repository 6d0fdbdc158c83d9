// libdevice_simd.h -- arithmetic on two halves or four bytes of a word.
#pragma once

namespace heddle {
// Applies op to each of the lanes of a and b, as signed or unsigned numbers of so many bits.
template <int bits, bool sign, class Op> HEDDLE_DEVICE unsigned lanes(unsigned a, unsigned b, Op op)
{
    unsigned r = 0;
    const unsigned mask = bits == 8 ? 0xffu : 0xffffu;
#pragma unroll
    for (int i = 0; i < 32; i += bits) {
        int x = sign ? (int)(a << (32 - bits - i)) >> (32 - bits) : (int)(a >> i & mask);
        int y = sign ? (int)(b << (32 - bits - i)) >> (32 - bits) : (int)(b >> i & mask);
        r |= ((unsigned)op(x, y) & mask) << i;
    }
    return r;
}
template <int bits, bool sign, class Op> HEDDLE_DEVICE unsigned lane_sum(unsigned a, unsigned b, Op op)
{
    unsigned r = 0;
    const unsigned mask = bits == 8 ? 0xffu : 0xffffu;
#pragma unroll
    for (int i = 0; i < 32; i += bits) {
        int x = sign ? (int)(a << (32 - bits - i)) >> (32 - bits) : (int)(a >> i & mask);
        int y = sign ? (int)(b << (32 - bits - i)) >> (32 - bits) : (int)(b >> i & mask);
        r += (unsigned)op(x, y);
    }
    return r;
}
HEDDLE_DEVICE int clampi(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }
} // namespace heddle

#define HEDDLE_SIMD(NAME, BITS, SIGN, E)                                                                          \
    HEDDLE_LIB int __nv_v##NAME(int a, int b)                                                                     \
    {                                                                                                             \
        return (int)heddle::lanes<BITS, SIGN>((unsigned)a, (unsigned)b, [](int x, int y) -> int { return E; });   \
    }
#define HEDDLE_SIMD1(NAME, BITS, E)                                                                               \
    HEDDLE_LIB int __nv_v##NAME(int a)                                                                            \
    {                                                                                                             \
        return (int)heddle::lanes<BITS, true>((unsigned)a, 0u, [](int x, int) -> int { return E; });              \
    }
#define HEDDLE_SIMD_SUM(NAME, BITS, SIGN, E)                                                                      \
    HEDDLE_LIB int __nv_v##NAME(int a, int b)                                                                     \
    {                                                                                                             \
        return (int)heddle::lane_sum<BITS, SIGN>((unsigned)a, (unsigned)b, [](int x, int y) -> int { return E; }); \
    }

HEDDLE_SIMD1(abs2, 16, x < 0 ? -x : x)
HEDDLE_SIMD1(absss2, 16, x == -32768 ? 32767 : x < 0 ? -x : x)
HEDDLE_SIMD1(neg2, 16, -x)
HEDDLE_SIMD1(negss2, 16, x == -32768 ? 32767 : -x)
HEDDLE_SIMD(add2, 16, false, x + y)
HEDDLE_SIMD(addss2, 16, true, heddle::clampi(x + y, -32768, 32767))
HEDDLE_SIMD(addus2, 16, false, heddle::clampi(x + y, 0, 65535))
HEDDLE_SIMD(sub2, 16, false, x - y)
HEDDLE_SIMD(subss2, 16, true, heddle::clampi(x - y, -32768, 32767))
HEDDLE_SIMD(subus2, 16, false, heddle::clampi(x - y, 0, 65535))
HEDDLE_SIMD(absdiffs2, 16, true, x < y ? y - x : x - y)
HEDDLE_SIMD(absdiffu2, 16, false, x < y ? y - x : x - y)
HEDDLE_SIMD(avgs2, 16, true, (x + y + (x + y >= 0)) >> 1)
HEDDLE_SIMD(avgu2, 16, false, (x + y + 1) >> 1)
HEDDLE_SIMD(haddu2, 16, false, (x + y) >> 1)
HEDDLE_SIMD(maxs2, 16, true, x < y ? y : x)
HEDDLE_SIMD(maxu2, 16, false, x < y ? y : x)
HEDDLE_SIMD(mins2, 16, true, y < x ? y : x)
HEDDLE_SIMD(minu2, 16, false, y < x ? y : x)
HEDDLE_SIMD(cmpeq2, 16, false, x == y ? -1 : 0)
HEDDLE_SIMD(seteq2, 16, false, x == y)
HEDDLE_SIMD(cmpne2, 16, false, x != y ? -1 : 0)
HEDDLE_SIMD(setne2, 16, false, x != y)
HEDDLE_SIMD(cmpges2, 16, true, x >= y ? -1 : 0)
HEDDLE_SIMD(setges2, 16, true, x >= y)
HEDDLE_SIMD(cmpgeu2, 16, false, x >= y ? -1 : 0)
HEDDLE_SIMD(setgeu2, 16, false, x >= y)
HEDDLE_SIMD(cmpgts2, 16, true, x > y ? -1 : 0)
HEDDLE_SIMD(setgts2, 16, true, x > y)
HEDDLE_SIMD(cmpgtu2, 16, false, x > y ? -1 : 0)
HEDDLE_SIMD(setgtu2, 16, false, x > y)
HEDDLE_SIMD(cmples2, 16, true, x <= y ? -1 : 0)
HEDDLE_SIMD(setles2, 16, true, x <= y)
HEDDLE_SIMD(cmpleu2, 16, false, x <= y ? -1 : 0)
HEDDLE_SIMD(setleu2, 16, false, x <= y)
HEDDLE_SIMD(cmplts2, 16, true, x < y ? -1 : 0)
HEDDLE_SIMD(setlts2, 16, true, x < y)
HEDDLE_SIMD(cmpltu2, 16, false, x < y ? -1 : 0)
HEDDLE_SIMD(setltu2, 16, false, x < y)
HEDDLE_SIMD_SUM(sads2, 16, true, x < y ? y - x : x - y)
HEDDLE_SIMD_SUM(sadu2, 16, false, x < y ? y - x : x - y)
HEDDLE_SIMD1(abs4, 8, x < 0 ? -x : x)
HEDDLE_SIMD1(absss4, 8, x == -128 ? 127 : x < 0 ? -x : x)
HEDDLE_SIMD1(neg4, 8, -x)
HEDDLE_SIMD1(negss4, 8, x == -128 ? 127 : -x)
HEDDLE_SIMD(add4, 8, false, x + y)
HEDDLE_SIMD(addss4, 8, true, heddle::clampi(x + y, -128, 127))
HEDDLE_SIMD(addus4, 8, false, heddle::clampi(x + y, 0, 255))
HEDDLE_SIMD(sub4, 8, false, x - y)
HEDDLE_SIMD(subss4, 8, true, heddle::clampi(x - y, -128, 127))
HEDDLE_SIMD(subus4, 8, false, heddle::clampi(x - y, 0, 255))
HEDDLE_SIMD(absdiffs4, 8, true, x < y ? y - x : x - y)
HEDDLE_SIMD(absdiffu4, 8, false, x < y ? y - x : x - y)
HEDDLE_SIMD(avgs4, 8, true, (x + y + (x + y >= 0)) >> 1)
HEDDLE_SIMD(avgu4, 8, false, (x + y + 1) >> 1)
HEDDLE_SIMD(haddu4, 8, false, (x + y) >> 1)
HEDDLE_SIMD(maxs4, 8, true, x < y ? y : x)
HEDDLE_SIMD(maxu4, 8, false, x < y ? y : x)
HEDDLE_SIMD(mins4, 8, true, y < x ? y : x)
HEDDLE_SIMD(minu4, 8, false, y < x ? y : x)
HEDDLE_SIMD(cmpeq4, 8, false, x == y ? -1 : 0)
HEDDLE_SIMD(seteq4, 8, false, x == y)
HEDDLE_SIMD(cmpne4, 8, false, x != y ? -1 : 0)
HEDDLE_SIMD(setne4, 8, false, x != y)
HEDDLE_SIMD(cmpges4, 8, true, x >= y ? -1 : 0)
HEDDLE_SIMD(setges4, 8, true, x >= y)
HEDDLE_SIMD(cmpgeu4, 8, false, x >= y ? -1 : 0)
HEDDLE_SIMD(setgeu4, 8, false, x >= y)
HEDDLE_SIMD(cmpgts4, 8, true, x > y ? -1 : 0)
HEDDLE_SIMD(setgts4, 8, true, x > y)
HEDDLE_SIMD(cmpgtu4, 8, false, x > y ? -1 : 0)
HEDDLE_SIMD(setgtu4, 8, false, x > y)
HEDDLE_SIMD(cmples4, 8, true, x <= y ? -1 : 0)
HEDDLE_SIMD(setles4, 8, true, x <= y)
HEDDLE_SIMD(cmpleu4, 8, false, x <= y ? -1 : 0)
HEDDLE_SIMD(setleu4, 8, false, x <= y)
HEDDLE_SIMD(cmplts4, 8, true, x < y ? -1 : 0)
HEDDLE_SIMD(setlts4, 8, true, x < y)
HEDDLE_SIMD(cmpltu4, 8, false, x < y ? -1 : 0)
HEDDLE_SIMD(setltu4, 8, false, x < y)
HEDDLE_SIMD_SUM(sads4, 8, true, x < y ? y - x : x - y)
HEDDLE_SIMD_SUM(sadu4, 8, false, x < y ? y - x : x - y)
#undef HEDDLE_SIMD
#undef HEDDLE_SIMD1
#undef HEDDLE_SIMD_SUM

// cuda_bf16.h -- __nv_bfloat16 and pairs of them, with the functions of the CUDA math API. From sm_80 on sums and
// products are instructions for bfloat16; before, they go by way of float.
#pragma once
#define __CUDA_BF16_H__
#define __CUDA_BF16_TYPES_EXIST__

#include "cuda_runtime.h"
#include "heddle/narrow.h"

typedef struct __align__(2) { unsigned short x; } __nv_bfloat16_raw;
typedef struct __align__(4) { unsigned short x, y; } __nv_bfloat162_raw;

namespace heddle {
HEDDLE_BOTH float float_of_bf16(unsigned short h) { return __builtin_bit_cast(float, (unsigned)h << 16); }
// The nearest bfloat16, the even one of two; NaN is 0x7fff.
HEDDLE_BOTH unsigned short bf16_of(float f)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned short r;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(f));
    return r;
#else
    unsigned b = __builtin_bit_cast(unsigned, f);
    if ((b & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return (unsigned short)((b + 0x7fff + (b >> 16 & 1)) >> 16);
#endif
}
// Towards zero, down and up.
HEDDLE_BOTH unsigned short bf16_rz(float f)
{
    unsigned b = __builtin_bit_cast(unsigned, f);
    return (b & 0x7fffffff) > 0x7f800000 ? (unsigned short)0x7fff : (unsigned short)(b >> 16);
}
HEDDLE_BOTH unsigned short bf16_away(float f, bool negative)
{
    unsigned b = __builtin_bit_cast(unsigned, f);
    bool on = (b & 0xffff) && (b >> 31) == (unsigned)negative && (b & 0x7fffffff) < 0x7f800000;
    return (unsigned short)(bf16_rz(f) + on);
}
// By way of a float whose last bit is set where something was cut off: rounded once, then.
HEDDLE_BOTH unsigned short bf16_of_double(double d)
{
    float f = (float)d;
    unsigned b = __builtin_bit_cast(unsigned, f);
    if ((double)f != d && d == d && (b & 0x7fffffff) < 0x7f800000) {
        bool away = ((double)f > d) == (d > 0);
        b = (away ? b - 1 : b) | 1;
    }
    return bf16_of(__builtin_bit_cast(float, b));
}
} // namespace heddle

struct __align__(2) __nv_bfloat16 {
    unsigned short __x;

    __nv_bfloat16() = default;
    __host__ __device__ __nv_bfloat16(const __nv_bfloat16_raw &r) : __x(r.x) {}
    __host__ __device__ __nv_bfloat16(float f) : __x(heddle::bf16_of(f)) {}
#define HEDDLE_FROM(T) \
    __host__ __device__ __nv_bfloat16(T v) : __x(heddle::bf16_of_double((double)v)) {}
    HEDDLE_FROM(double)
    HEDDLE_FROM(int)
    HEDDLE_FROM(unsigned)
    HEDDLE_FROM(long)
    HEDDLE_FROM(unsigned long)
    HEDDLE_FROM(long long)
    HEDDLE_FROM(unsigned long long)
#undef HEDDLE_FROM
    __host__ __device__ __nv_bfloat16(short v) : __x(heddle::bf16_of((float)v)) {}
    __host__ __device__ __nv_bfloat16(unsigned short v) : __x(heddle::bf16_of((float)v)) {}
    __host__ __device__ operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
    __host__ __device__ operator float() const { return heddle::float_of_bf16(__x); }
    __host__ __device__ explicit operator double() const { return heddle::float_of_bf16(__x); }
    __host__ __device__ explicit operator bool() const { return (__x & 0x7fff) != 0; }
#define HEDDLE_TO(T) \
    __host__ __device__ explicit operator T() const { return (T)heddle::float_of_bf16(__x); }
    HEDDLE_TO(char)
    HEDDLE_TO(signed char)
    HEDDLE_TO(unsigned char)
    HEDDLE_TO(short)
    HEDDLE_TO(unsigned short)
    HEDDLE_TO(int)
    HEDDLE_TO(unsigned)
    HEDDLE_TO(long)
    HEDDLE_TO(unsigned long)
    HEDDLE_TO(long long)
    HEDDLE_TO(unsigned long long)
#undef HEDDLE_TO
};

struct __align__(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;

    __nv_bfloat162() = default;
    __host__ __device__ __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b) : x(a), y(b) {}
    __host__ __device__ __nv_bfloat162(const __nv_bfloat162_raw &r)
        : x(__nv_bfloat16_raw{r.x}), y(__nv_bfloat16_raw{r.y})
    {
    }
    __host__ __device__ operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.__x, y.__x}; }
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

namespace heddle {
template <> struct word_of<__nv_bfloat162> { typedef unsigned type; };
template <> HEDDLE_BOTH __nv_bfloat16 down<__nv_bfloat16>(float f) { return __nv_bfloat16(f); }
template <> HEDDLE_BOTH float up<__nv_bfloat16>(__nv_bfloat16 a) { return float_of_bf16(a.__x); }

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
HEDDLE_DEVICE __nv_bfloat16 fma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    unsigned short r;
    asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.__x), "h"(b.__x), "h"(c.__x));
    return __nv_bfloat16(__nv_bfloat16_raw{r});
}
HEDDLE_DEVICE __nv_bfloat162 fma(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c)
{
    unsigned r;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(bits_of(a)), "r"(bits_of(b)), "r"(bits_of(c)));
    return of_bits<__nv_bfloat162>(r);
}
// Before sm_90 there is only fma: a + b is 1 * a + b, a - b is -1 * b + a and a * b is a * b + -0.
HEDDLE_DEVICE __nv_bfloat162 pair(unsigned short h) { return of_bits<__nv_bfloat162>(h * 0x10001u); }
#define HEDDLE_BF16(NAME, EXPR)                                                          \
    HEDDLE_DEVICE __nv_bfloat16 NAME(__nv_bfloat16 a, __nv_bfloat16 b)                   \
    {                                                                                    \
        __nv_bfloat16 one(__nv_bfloat16_raw{0x3f80}), minus(__nv_bfloat16_raw{0xbf80}),  \
            nothing(__nv_bfloat16_raw{0x8000});                                          \
        (void)one, (void)minus, (void)nothing;                                           \
        return EXPR;                                                                     \
    }                                                                                    \
    HEDDLE_DEVICE __nv_bfloat162 NAME(__nv_bfloat162 a, __nv_bfloat162 b)                \
    {                                                                                    \
        __nv_bfloat162 one = pair(0x3f80), minus = pair(0xbf80), nothing = pair(0x8000); \
        (void)one, (void)minus, (void)nothing;                                           \
        return EXPR;                                                                     \
    }
HEDDLE_BF16(add, fma(a, one, b))
HEDDLE_BF16(sub, fma(b, minus, a))
HEDDLE_BF16(mul, fma(a, b, nothing))
#else
// Sums and products of bfloat16 in float are rounded once more to what a single rounding gives.
#define HEDDLE_BF16(NAME, EXPR)                                                          \
    HEDDLE_BOTH __nv_bfloat16 NAME(__nv_bfloat16 a, __nv_bfloat16 b)                     \
    {                                                                                    \
        float x = up(a), y = up(b);                                                      \
        return down<__nv_bfloat16>(EXPR);                                                \
    }                                                                                    \
    HEDDLE_BOTH __nv_bfloat162 NAME(__nv_bfloat162 a, __nv_bfloat162 b)                  \
    {                                                                                    \
        return __nv_bfloat162(NAME(a.x, b.x), NAME(a.y, b.y));                           \
    }
HEDDLE_BF16(add, x + y)
HEDDLE_BF16(sub, x - y)
HEDDLE_BF16(mul, x * y)
HEDDLE_BOTH __nv_bfloat16 fma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    return __nv_bfloat16((double)up(a) * (double)up(b) + (double)up(c));
}
HEDDLE_BOTH __nv_bfloat162 fma(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c)
{
    return __nv_bfloat162(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y));
}
#endif
#undef HEDDLE_BF16
HEDDLE_BOTH bool eq(__nv_bfloat16 a, __nv_bfloat16 b) { return up(a) == up(b); }
HEDDLE_BOTH bool lt(__nv_bfloat16 a, __nv_bfloat16 b) { return up(a) < up(b); }
HEDDLE_BOTH bool le(__nv_bfloat16 a, __nv_bfloat16 b) { return up(a) <= up(b); }
HEDDLE_BOTH __nv_bfloat16 div(__nv_bfloat16 a, __nv_bfloat16 b) { return down<__nv_bfloat16>(up(a) / up(b)); }
HEDDLE_BOTH __nv_bfloat16 neg(__nv_bfloat16 a) { return of_bits<__nv_bfloat16>(a.__x ^ 0x8000); }
HEDDLE_BOTH __nv_bfloat162 neg(__nv_bfloat162 a) { return of_bits<__nv_bfloat162>(bits_of(a) ^ 0x80008000u); }
HEDDLE_BOTH __nv_bfloat16 abs(__nv_bfloat16 a) { return of_bits<__nv_bfloat16>(a.__x & 0x7fff); }
HEDDLE_BOTH __nv_bfloat162 abs(__nv_bfloat162 a) { return of_bits<__nv_bfloat162>(bits_of(a) & 0x7fff7fffu); }
HEDDLE_BOTH __nv_bfloat16 least(__nv_bfloat16 a, __nv_bfloat16 b) { return down<__nv_bfloat16>(fminf(up(a), up(b))); }
HEDDLE_BOTH __nv_bfloat162 least(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __nv_bfloat162(least(a.x, b.x), least(a.y, b.y));
}
HEDDLE_BOTH __nv_bfloat16 most(__nv_bfloat16 a, __nv_bfloat16 b) { return down<__nv_bfloat16>(fmaxf(up(a), up(b))); }
HEDDLE_BOTH __nv_bfloat162 most(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __nv_bfloat162(most(a.x, b.x), most(a.y, b.y));
}
} // namespace heddle

#define HEDDLE_H __nv_bfloat16
#define HEDDLE_H2 __nv_bfloat162
#include "heddle/narrow_both.h"
#undef HEDDLE_H
#undef HEDDLE_H2

// ---- conversions

HEDDLE_BOTH __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
HEDDLE_BOTH __nv_bfloat16 __float2bfloat16_rn(float f) { return __nv_bfloat16(f); }
HEDDLE_BOTH __nv_bfloat16 __float2bfloat16_rz(float f) { return heddle::of_bits<__nv_bfloat16>(heddle::bf16_rz(f)); }
HEDDLE_BOTH __nv_bfloat16 __float2bfloat16_rd(float f)
{
    return heddle::of_bits<__nv_bfloat16>(heddle::bf16_away(f, true));
}
HEDDLE_BOTH __nv_bfloat16 __float2bfloat16_ru(float f)
{
    return heddle::of_bits<__nv_bfloat16>(heddle::bf16_away(f, false));
}
HEDDLE_BOTH __nv_bfloat16 __double2bfloat16(double d) { return __nv_bfloat16(d); }
HEDDLE_BOTH float __bfloat162float(__nv_bfloat16 a) { return heddle::up(a); }
HEDDLE_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
HEDDLE_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
HEDDLE_BOTH __nv_bfloat162 __float2bfloat162_rn(float f) { return __nv_bfloat162(f, f); }
HEDDLE_BOTH __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return __nv_bfloat162(a, b); }
HEDDLE_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 f) { return __nv_bfloat162(f.x, f.y); }
HEDDLE_BOTH float2 __bfloat1622float2(__nv_bfloat162 a) { return float2{heddle::up(a.x), heddle::up(a.y)}; }
HEDDLE_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
HEDDLE_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
HEDDLE_BOTH __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
HEDDLE_BOTH __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
HEDDLE_BOTH __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.x, b.x); }
HEDDLE_BOTH __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(a.y, b.y); }
HEDDLE_BOTH __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
HEDDLE_BOTH short __bfloat16_as_short(__nv_bfloat16 a) { return (short)a.__x; }
HEDDLE_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.__x; }
HEDDLE_BOTH __nv_bfloat16 __short_as_bfloat16(short v) { return heddle::of_bits<__nv_bfloat16>((unsigned short)v); }
HEDDLE_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { return heddle::of_bits<__nv_bfloat16>(v); }
HEDDLE_BOTH __nv_bfloat16 __int2bfloat16_rn(int v) { return __nv_bfloat16(v); }
HEDDLE_BOTH __nv_bfloat16 __uint2bfloat16_rn(unsigned v) { return __nv_bfloat16(v); }
HEDDLE_DEVICE int __bfloat162int_rn(__nv_bfloat16 a) { return __float2int_rn(heddle::up(a)); }
HEDDLE_DEVICE int __bfloat162int_rz(__nv_bfloat16 a) { return __float2int_rz(heddle::up(a)); }
HEDDLE_DEVICE unsigned __bfloat162uint_rz(__nv_bfloat16 a) { return __float2uint_rz(heddle::up(a)); }

// ---- atomic additions: before sm_90 by compare-and-swap, as there is no instruction for them

HEDDLE_SUBROUTINE __nv_bfloat162 atomicAdd(__nv_bfloat162 *p, __nv_bfloat162 v)
{
#if __CUDA_ARCH__ >= 900
    unsigned r;
    asm volatile("atom.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(heddle::bits_of(v)) : "memory");
    return heddle::of_bits<__nv_bfloat162>(r);
#else
    unsigned *word = reinterpret_cast<unsigned *>(p), old = *reinterpret_cast<heddle::alias32 *>(p), seen;
    do {
        seen = old;
        old = atomicCAS(word, seen, heddle::bits_of(heddle::add(heddle::of_bits<__nv_bfloat162>(seen), v)));
    } while (old != seen);
    return heddle::of_bits<__nv_bfloat162>(old);
#endif
}
HEDDLE_SUBROUTINE __nv_bfloat16 atomicAdd(__nv_bfloat16 *p, __nv_bfloat16 v)
{
#if __CUDA_ARCH__ >= 900
    unsigned short r;
    asm volatile("atom.add.noftz.bf16 %0, [%1], %2;" : "=h"(r) : "l"(p), "h"(v.__x) : "memory");
    return heddle::of_bits<__nv_bfloat16>(r);
#else
    unsigned short *word = reinterpret_cast<unsigned short *>(p), old = *reinterpret_cast<heddle::alias16 *>(p), seen;
    do {
        seen = old;
        old = atomicCAS(word, seen, heddle::bits_of(heddle::add(heddle::of_bits<__nv_bfloat16>(seen), v)));
    } while (old != seen);
    return heddle::of_bits<__nv_bfloat16>(old);
#endif
}

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)

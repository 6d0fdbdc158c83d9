// cuda_fp16.h -- half and half2 with the functions of the CUDA math API.
#pragma once
#define __CUDA_FP16_H__
#define __CUDA_FP16_TYPES_EXIST__

#include "cuda_runtime.h"
#include "heddle/narrow.h"

typedef struct __align__(2) { unsigned short x; } __half_raw;
typedef struct __align__(4) { unsigned short x, y; } __half2_raw;

namespace heddle {
// The half nearest to a float or double, and the float that a half is, as words.
HEDDLE_BOTH unsigned short half_of(float f)
{
#ifdef __CUDA_ARCH__
    unsigned short r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(f));
    return r;
#else
    unsigned b = __builtin_bit_cast(unsigned, f), sign = b >> 16 & 0x8000, mag = b & 0x7fffffff;
    if (mag > 0x7f800000) return 0x7fff;
    if (mag >= 0x477ff000) return (unsigned short)(sign | 0x7c00); // from 65520 on it is infinite
    if (mag < 0x38800000) { // below 2^-14: multiples of 2^-24, rounded by the addition
        float m = __builtin_bit_cast(float, mag) + 0.5f;
        return (unsigned short)(sign | (__builtin_bit_cast(unsigned, m) - 0x3f000000));
    }
    mag += 0xfff + (mag >> 13 & 1) - 0x38000000;
    return (unsigned short)(sign | mag >> 13);
#endif
}
HEDDLE_BOTH float float_of_half(unsigned short h)
{
#ifdef __CUDA_ARCH__
    float r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(h));
    return r;
#else
    unsigned sign = (unsigned)(h & 0x8000) << 16, mag = h & 0x7fff;
    if (mag >= 0x7c00) return __builtin_bit_cast(float, sign | 0x7f800000 | (mag & 0x3ff) << 13);
    if (mag < 0x400) { // multiples of 2^-24
        float f = (float)mag * 5.9604644775390625e-8f;
        return __builtin_bit_cast(float, sign | __builtin_bit_cast(unsigned, f));
    }
    return __builtin_bit_cast(float, sign | ((mag << 13) + 0x38000000));
#endif
}
// By way of a float that has the last bit set where something was cut off: rounded once, then.
HEDDLE_BOTH unsigned short half_of_double(double d)
{
#ifdef __CUDA_ARCH__
    unsigned short r;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(r) : "d"(d));
    return r;
#else
    float f = (float)d;
    unsigned b = __builtin_bit_cast(unsigned, f);
    if ((double)f != d && d == d && (b & 0x7fffffff) < 0x7f800000) {
        bool away = ((double)f > d) == (d > 0);
        b = (away ? b - 1 : b) | 1;
    }
    return half_of(__builtin_bit_cast(float, b));
#endif
}
} // namespace heddle

struct __align__(2) __half {
    unsigned short __x;

    __half() = default;
    __host__ __device__ __half(const __half_raw &r) : __x(r.x) {}
    __host__ __device__ __half(float f) : __x(heddle::half_of(f)) {}
    __host__ __device__ __half(double d) : __x(heddle::half_of_double(d)) {}
// By way of float, which is exact up to 2^24; from 65520 on a half is infinite.
#define HEDDLE_FROM(T) \
    __host__ __device__ __half(T v) : __x(heddle::half_of((float)v)) {}
    HEDDLE_FROM(short)
    HEDDLE_FROM(unsigned short)
    HEDDLE_FROM(int)
    HEDDLE_FROM(unsigned)
    HEDDLE_FROM(long)
    HEDDLE_FROM(unsigned long)
    HEDDLE_FROM(long long)
    HEDDLE_FROM(unsigned long long)
#undef HEDDLE_FROM
    __host__ __device__ operator __half_raw() const { return __half_raw{__x}; }
    __host__ __device__ operator float() const { return heddle::float_of_half(__x); }
    __host__ __device__ explicit operator double() const { return heddle::float_of_half(__x); }
    __host__ __device__ explicit operator bool() const { return (__x & 0x7fff) != 0; }
#define HEDDLE_TO(T) \
    __host__ __device__ explicit operator T() const { return (T)heddle::float_of_half(__x); }
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

struct __align__(4) __half2 {
    __half x, y;

    __half2() = default;
    __host__ __device__ __half2(const __half &a, const __half &b) : x(a), y(b) {}
    __host__ __device__ __half2(const __half2_raw &r) : x(__half_raw{r.x}), y(__half_raw{r.y}) {}
    __host__ __device__ operator __half2_raw() const { return __half2_raw{x.__x, y.__x}; }
};
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

namespace heddle {
template <> struct word_of<__half2> { typedef unsigned type; };
template <> HEDDLE_BOTH __half down<__half>(float f) { return __half(__half_raw{half_of(f)}); }
template <> HEDDLE_BOTH float up<__half>(__half a) { return float_of_half(a.__x); }

// One instruction of PTX each, and on the host by way of float (which rounds the sums, products and quotients of
// halves to what a single rounding gives).
#ifdef __CUDA_ARCH__
#define HEDDLE_HALF2(NAME, OP, EXPR)                                                     \
    HEDDLE_DEVICE __half NAME(__half a, __half b)                                        \
    {                                                                                    \
        unsigned short r;                                                                \
        asm(OP ".f16 %0, %1, %2;" : "=h"(r) : "h"(a.__x), "h"(b.__x));                   \
        return __half(__half_raw{r});                                                    \
    }                                                                                    \
    HEDDLE_DEVICE __half2 NAME(__half2 a, __half2 b)                                     \
    {                                                                                    \
        unsigned r;                                                                      \
        asm(OP ".f16x2 %0, %1, %2;" : "=r"(r) : "r"(bits_of(a)), "r"(bits_of(b)));       \
        return of_bits<__half2>(r);                                                      \
    }
#define HEDDLE_HALF_IS(NAME, OP, EXPR)                                                   \
    HEDDLE_DEVICE bool NAME(__half a, __half b)                                          \
    {                                                                                    \
        unsigned r;                                                                      \
        asm("{ .reg .pred p; setp." OP ".f16 p, %1, %2; selp.u32 %0, 1, 0, p; }"         \
            : "=r"(r)                                                                    \
            : "h"(a.__x), "h"(b.__x));                                                   \
        return r != 0;                                                                   \
    }
HEDDLE_DEVICE __half fma(__half a, __half b, __half c)
{
    unsigned short r;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.__x), "h"(b.__x), "h"(c.__x));
    return __half(__half_raw{r});
}
HEDDLE_DEVICE __half2 fma(__half2 a, __half2 b, __half2 c)
{
    unsigned r;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(bits_of(a)), "r"(bits_of(b)), "r"(bits_of(c)));
    return of_bits<__half2>(r);
}
#else
#define HEDDLE_HALF2(NAME, OP, EXPR)                                                     \
    HEDDLE_HOST __half NAME(__half a, __half b)                                          \
    {                                                                                    \
        float x = up(a), y = up(b);                                                      \
        return down<__half>(EXPR);                                                       \
    }                                                                                    \
    HEDDLE_HOST __half2 NAME(__half2 a, __half2 b) { return __half2(NAME(a.x, b.x), NAME(a.y, b.y)); }
#define HEDDLE_HALF_IS(NAME, OP, EXPR)                                                   \
    HEDDLE_HOST bool NAME(__half a, __half b)                                            \
    {                                                                                    \
        float x = up(a), y = up(b);                                                      \
        return EXPR;                                                                     \
    }
HEDDLE_HOST __half fma(__half a, __half b, __half c)
{
    return __half((double)up(a) * (double)up(b) + (double)up(c));
}
HEDDLE_HOST __half2 fma(__half2 a, __half2 b, __half2 c) { return __half2(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y)); }
#endif
HEDDLE_HALF2(add, "add.rn", x + y)
HEDDLE_HALF2(sub, "sub.rn", x - y)
HEDDLE_HALF2(mul, "mul.rn", x * y)
HEDDLE_HALF_IS(eq, "eq", x == y)
HEDDLE_HALF_IS(lt, "lt", x < y)
HEDDLE_HALF_IS(le, "le", x <= y)
#undef HEDDLE_HALF2
#undef HEDDLE_HALF_IS
HEDDLE_BOTH __half div(__half a, __half b) { return down<__half>(up(a) / up(b)); }
HEDDLE_BOTH __half neg(__half a) { return __half(__half_raw{(unsigned short)(a.__x ^ 0x8000)}); }
HEDDLE_BOTH __half2 neg(__half2 a) { return of_bits<__half2>(bits_of(a) ^ 0x80008000u); }
HEDDLE_BOTH __half abs(__half a) { return __half(__half_raw{(unsigned short)(a.__x & 0x7fff)}); }
HEDDLE_BOTH __half2 abs(__half2 a) { return of_bits<__half2>(bits_of(a) & 0x7fff7fffu); }
HEDDLE_BOTH __half least(__half a, __half b) { return down<__half>(fminf(up(a), up(b))); }
HEDDLE_BOTH __half2 least(__half2 a, __half2 b) { return __half2(least(a.x, b.x), least(a.y, b.y)); }
HEDDLE_BOTH __half most(__half a, __half b) { return down<__half>(fmaxf(up(a), up(b))); }
HEDDLE_BOTH __half2 most(__half2 a, __half2 b) { return __half2(most(a.x, b.x), most(a.y, b.y)); }
} // namespace heddle

#define HEDDLE_H __half
#define HEDDLE_H2 __half2
#include "heddle/narrow_both.h"
#undef HEDDLE_H
#undef HEDDLE_H2

// ---- conversions

HEDDLE_BOTH __half __float2half(float f) { return __half(f); }
HEDDLE_BOTH __half __float2half_rn(float f) { return __half(f); }
HEDDLE_BOTH __half __double2half(double d) { return __half(d); }
HEDDLE_BOTH float __half2float(__half a) { return heddle::up(a); }
HEDDLE_BOTH __half2 __half2half2(__half a) { return __half2(a, a); }
HEDDLE_BOTH __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
HEDDLE_BOTH __half2 __float2half2_rn(float f) { return __half2(__half(f), __half(f)); }
HEDDLE_BOTH __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
HEDDLE_BOTH __half2 __float22half2_rn(float2 f) { return __half2(__half(f.x), __half(f.y)); }
HEDDLE_BOTH float2 __half22float2(__half2 a) { return float2{heddle::up(a.x), heddle::up(a.y)}; }
HEDDLE_BOTH __half __low2half(__half2 a) { return a.x; }
HEDDLE_BOTH __half __high2half(__half2 a) { return a.y; }
HEDDLE_BOTH __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
HEDDLE_BOTH __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
HEDDLE_BOTH __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
HEDDLE_BOTH __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
HEDDLE_BOTH __half2 make_half2(__half a, __half b) { return __half2(a, b); }
HEDDLE_BOTH short __half_as_short(__half a) { return (short)a.__x; }
HEDDLE_BOTH unsigned short __half_as_ushort(__half a) { return a.__x; }
HEDDLE_BOTH __half __short_as_half(short v) { return __half(__half_raw{(unsigned short)v}); }
HEDDLE_BOTH __half __ushort_as_half(unsigned short v) { return __half(__half_raw{v}); }

// To and from integers; _rn, _rz, _rd and _ru are the ways to round.
#define HEDDLE_HALF_TO(NAME, T, PTX, C, R, MODE)                                         \
    HEDDLE_DEVICE T __half2##NAME##_##R(__half a)                                        \
    {                                                                                    \
        T r;                                                                             \
        asm("cvt." MODE "." PTX ".f16 %0, %1;" : "=" C(r) : "h"(a.__x));                 \
        return r;                                                                        \
    }
#define HEDDLE_HALF_FROM(NAME, T, PTX, C, R, MODE)                                       \
    HEDDLE_DEVICE __half __##NAME##2half_##R(T v)                                        \
    {                                                                                    \
        unsigned short r;                                                                \
        asm("cvt." MODE ".f16." PTX " %0, %1;" : "=h"(r) : C(v));                        \
        return __half(__half_raw{r});                                                    \
    }
#define HEDDLE_HALF_INTEGER(NAME, T, PTX, C)                                             \
    HEDDLE_HALF_TO(NAME, T, PTX, C, rn, "rni")                                           \
    HEDDLE_HALF_TO(NAME, T, PTX, C, rz, "rzi")                                           \
    HEDDLE_HALF_TO(NAME, T, PTX, C, rd, "rmi")                                           \
    HEDDLE_HALF_TO(NAME, T, PTX, C, ru, "rpi")                                           \
    HEDDLE_HALF_FROM(NAME, T, PTX, C, rn, "rn")                                          \
    HEDDLE_HALF_FROM(NAME, T, PTX, C, rz, "rz")                                          \
    HEDDLE_HALF_FROM(NAME, T, PTX, C, rd, "rm")                                          \
    HEDDLE_HALF_FROM(NAME, T, PTX, C, ru, "rp")
HEDDLE_HALF_INTEGER(short, short, "s16", "h")
HEDDLE_HALF_INTEGER(ushort, unsigned short, "u16", "h")
HEDDLE_HALF_INTEGER(int, int, "s32", "r")
HEDDLE_HALF_INTEGER(uint, unsigned, "u32", "r")
HEDDLE_HALF_INTEGER(ll, long long, "s64", "l")
HEDDLE_HALF_INTEGER(ull, unsigned long long, "u64", "l")
HEDDLE_HALF_FROM(float, float, "f32", "f", rz, "rz")
HEDDLE_HALF_FROM(float, float, "f32", "f", rd, "rm")
HEDDLE_HALF_FROM(float, float, "f32", "f", ru, "rp")
#undef HEDDLE_HALF_TO
#undef HEDDLE_HALF_FROM
#undef HEDDLE_HALF_INTEGER

// ---- atomic additions

HEDDLE_DEVICE __half2 atomicAdd(__half2 *p, __half2 v)
{
    unsigned r;
    asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(heddle::bits_of(v)) : "memory");
    return heddle::of_bits<__half2>(r);
}
HEDDLE_DEVICE __half atomicAdd(__half *p, __half v)
{
    unsigned short r;
    asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(r) : "l"(p), "h"(v.__x) : "memory");
    return __half(__half_raw{r});
}

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)

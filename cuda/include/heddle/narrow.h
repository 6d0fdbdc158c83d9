// What cuda_fp16.h and cuda_bf16.h have in common: the functions and operators of a 16-bit floating-point
// type H and of a pair H2 of them, made of a few of their own in namespace heddle: add, sub, mul, div, fma,
// neg, abs, least, most of H and H2, up (to float), down (from float), and the comparisons eq, lt, le.
#pragma once

namespace heddle {
template <class T> struct word_of { typedef unsigned short type; };
// Words in memory that are something else to the compiler, too.
typedef unsigned __attribute__((may_alias)) alias32;
typedef unsigned short __attribute__((may_alias)) alias16;
template <class T> HEDDLE_BOTH T of_bits(typename word_of<T>::type w) { return __builtin_bit_cast(T, w); }
template <class T> HEDDLE_BOTH typename word_of<T>::type bits_of(T v)
{
    return __builtin_bit_cast(typename word_of<T>::type, v);
}

// down is the H nearest to a float; up is the float that an H is. Each header specialises them.
template <class H> HEDDLE_BOTH H down(float f);
template <class H> HEDDLE_BOTH float up(H a);

template <class H> HEDDLE_BOTH bool unordered(H a, H b)
{
    float x = up(a), y = up(b);
    return x != x || y != y;
}
// Clamped to [0, 1]: NaN gives 0.
template <class H> HEDDLE_BOTH H sat1(H a)
{
    float f = up(a);
    return down<H>(f > 0.0f ? f < 1.0f ? f : 1.0f : 0.0f);
}
template <class H> HEDDLE_BOTH H relu1(H a)
{
    float f = up(a);
    return f < 0.0f ? down<H>(0.0f) : a;
}
template <class H> HEDDLE_BOTH H or_nan1(H a, H b, H r)
{
    return unordered(a, b) ? down<H>(__builtin_nanf("")) : r;
}
} // namespace heddle

// Arithmetic, under the names of intrinsics and as operators.
#define HEDDLE_NARROW_ARITHMETIC(H, S, ONE)                                                                       \
    HEDDLE_BOTH H __hadd##S(H a, H b) { return heddle::add(a, b); }                                               \
    HEDDLE_BOTH H __hsub##S(H a, H b) { return heddle::sub(a, b); }                                               \
    HEDDLE_BOTH H __hmul##S(H a, H b) { return heddle::mul(a, b); }                                               \
    HEDDLE_BOTH H __hadd##S##_rn(H a, H b) { return heddle::add(a, b); }                                          \
    HEDDLE_BOTH H __hsub##S##_rn(H a, H b) { return heddle::sub(a, b); }                                          \
    HEDDLE_BOTH H __hmul##S##_rn(H a, H b) { return heddle::mul(a, b); }                                          \
    HEDDLE_BOTH H __hfma##S(H a, H b, H c) { return heddle::fma(a, b, c); }                                       \
    HEDDLE_BOTH H __hadd##S##_sat(H a, H b) { return heddle::sat(heddle::add(a, b)); }                            \
    HEDDLE_BOTH H __hsub##S##_sat(H a, H b) { return heddle::sat(heddle::sub(a, b)); }                            \
    HEDDLE_BOTH H __hmul##S##_sat(H a, H b) { return heddle::sat(heddle::mul(a, b)); }                            \
    HEDDLE_BOTH H __hfma##S##_sat(H a, H b, H c) { return heddle::sat(heddle::fma(a, b, c)); }                    \
    HEDDLE_BOTH H __hfma##S##_relu(H a, H b, H c) { return heddle::relu(heddle::fma(a, b, c)); }                  \
    HEDDLE_BOTH H __hneg##S(H a) { return heddle::neg(a); }                                                       \
    HEDDLE_BOTH H __habs##S(H a) { return heddle::abs(a); }                                                       \
    HEDDLE_BOTH H __hmin##S(H a, H b) { return heddle::least(a, b); }                                             \
    HEDDLE_BOTH H __hmax##S(H a, H b) { return heddle::most(a, b); }                                              \
    HEDDLE_BOTH H __hmin##S##_nan(H a, H b) { return heddle::or_nan(a, b, heddle::least(a, b)); }                 \
    HEDDLE_BOTH H __hmax##S##_nan(H a, H b) { return heddle::or_nan(a, b, heddle::most(a, b)); }                  \
    HEDDLE_BOTH H operator+(H a, H b) { return heddle::add(a, b); }                                               \
    HEDDLE_BOTH H operator-(H a, H b) { return heddle::sub(a, b); }                                               \
    HEDDLE_BOTH H operator*(H a, H b) { return heddle::mul(a, b); }                                               \
    HEDDLE_BOTH H operator/(H a, H b) { return heddle::div(a, b); }                                               \
    HEDDLE_BOTH H &operator+=(H &a, H b) { return a = heddle::add(a, b); }                                        \
    HEDDLE_BOTH H &operator-=(H &a, H b) { return a = heddle::sub(a, b); }                                        \
    HEDDLE_BOTH H &operator*=(H &a, H b) { return a = heddle::mul(a, b); }                                        \
    HEDDLE_BOTH H &operator/=(H &a, H b) { return a = heddle::div(a, b); }                                        \
    HEDDLE_BOTH H operator+(H a) { return a; }                                                                    \
    HEDDLE_BOTH H operator-(H a) { return heddle::neg(a); }                                                       \
    HEDDLE_BOTH H &operator++(H &a) { return a = heddle::add(a, ONE); }                                           \
    HEDDLE_BOTH H &operator--(H &a) { return a = heddle::sub(a, ONE); }                                           \
    HEDDLE_BOTH H operator++(H &a, int)                                                                           \
    {                                                                                                             \
        H was = a;                                                                                                \
        a = heddle::add(a, ONE);                                                                                  \
        return was;                                                                                               \
    }                                                                                                             \
    HEDDLE_BOTH H operator--(H &a, int)                                                                           \
    {                                                                                                             \
        H was = a;                                                                                                \
        a = heddle::sub(a, ONE);                                                                                  \
        return was;                                                                                               \
    }

// A comparison: that of H, one that holds for NaN, too, those of pairs, and the operator, which for != (ALSO is u)
// holds for NaN.
#define HEDDLE_NARROW_COMPARE(H, H2, NAME, OP, EXPR, ALSO)                                                        \
    HEDDLE_BOTH bool __h##NAME(H a, H b) { return EXPR; }                                                         \
    HEDDLE_BOTH bool __h##NAME##u(H a, H b) { return (EXPR) || heddle::unordered(a, b); }                         \
    HEDDLE_BOTH bool operator OP(H a, H b) { return __h##NAME##ALSO(a, b); }                                      \
    HEDDLE_BOTH H2 __h##NAME##2(H2 a, H2 b)                                                                       \
    {                                                                                                             \
        return H2(H(__h##NAME(a.x, b.x) ? 1.0f : 0.0f), H(__h##NAME(a.y, b.y) ? 1.0f : 0.0f));                    \
    }                                                                                                             \
    HEDDLE_BOTH H2 __h##NAME##u2(H2 a, H2 b)                                                                      \
    {                                                                                                             \
        return H2(H(__h##NAME##u(a.x, b.x) ? 1.0f : 0.0f), H(__h##NAME##u(a.y, b.y) ? 1.0f : 0.0f));              \
    }                                                                                                             \
    HEDDLE_BOTH unsigned __h##NAME##2_mask(H2 a, H2 b)                                                            \
    {                                                                                                             \
        return (__h##NAME(a.x, b.x) ? 0xffffu : 0u) | (__h##NAME(a.y, b.y) ? 0xffff0000u : 0u);                   \
    }                                                                                                             \
    HEDDLE_BOTH bool __hb##NAME##2(H2 a, H2 b) { return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y); }             \
    HEDDLE_BOTH bool __hb##NAME##u2(H2 a, H2 b) { return __h##NAME##u(a.x, b.x) && __h##NAME##u(a.y, b.y); }      \
    HEDDLE_BOTH bool operator OP(H2 a, H2 b) { return __hb##NAME##ALSO##2(a, b); }

#define HEDDLE_NARROW_COMPARISONS(H, H2)                                                                          \
    HEDDLE_NARROW_COMPARE(H, H2, eq, ==, heddle::eq(a, b), )                                                      \
    HEDDLE_NARROW_COMPARE(H, H2, lt, <, heddle::lt(a, b), )                                                       \
    HEDDLE_NARROW_COMPARE(H, H2, le, <=, heddle::le(a, b), )                                                      \
    HEDDLE_NARROW_COMPARE(H, H2, gt, >, heddle::lt(b, a), )                                                       \
    HEDDLE_NARROW_COMPARE(H, H2, ge, >=, heddle::le(b, a), )                                                      \
    HEDDLE_NARROW_COMPARE(H, H2, ne, !=, !heddle::eq(a, b) && !heddle::unordered(a, b), u)                       \
    HEDDLE_BOTH bool __hisnan(H a) { return heddle::unordered(a, a); }                                            \
    HEDDLE_BOTH int __hisinf(H a)                                                                                 \
    {                                                                                                             \
        float f = heddle::up(a);                                                                                  \
        return f == __builtin_inff() ? 1 : f == -__builtin_inff() ? -1 : 0;                                       \
    }                                                                                                             \
    HEDDLE_BOTH H2 __hisnan2(H2 a)                                                                                \
    {                                                                                                             \
        return H2(H(__hisnan(a.x) ? 1.0f : 0.0f), H(__hisnan(a.y) ? 1.0f : 0.0f));                                \
    }

// A function of H by that of float, and of pairs.
#define HEDDLE_NARROW_MATH(H, H2, NAME, EXPR)                                                                     \
    HEDDLE_DEVICE H h##NAME(H a)                                                                                  \
    {                                                                                                             \
        float x = heddle::up(a);                                                                                  \
        return H(EXPR);                                                                                           \
    }                                                                                                             \
    HEDDLE_DEVICE H2 h2##NAME(H2 a) { return H2(h##NAME(a.x), h##NAME(a.y)); }

#define HEDDLE_NARROW_FUNCTIONS(H, H2)                                                                            \
    HEDDLE_NARROW_MATH(H, H2, sqrt, sqrtf(x))                                                                     \
    HEDDLE_NARROW_MATH(H, H2, rsqrt, rsqrtf(x))                                                                   \
    HEDDLE_NARROW_MATH(H, H2, rcp, 1.0f / x)                                                                      \
    HEDDLE_NARROW_MATH(H, H2, exp, expf(x))                                                                       \
    HEDDLE_NARROW_MATH(H, H2, exp2, exp2f(x))                                                                     \
    HEDDLE_NARROW_MATH(H, H2, exp10, exp10f(x))                                                                   \
    HEDDLE_NARROW_MATH(H, H2, log, logf(x))                                                                       \
    HEDDLE_NARROW_MATH(H, H2, log2, log2f(x))                                                                     \
    HEDDLE_NARROW_MATH(H, H2, log10, log10f(x))                                                                   \
    HEDDLE_NARROW_MATH(H, H2, sin, sinf(x))                                                                       \
    HEDDLE_NARROW_MATH(H, H2, cos, cosf(x))                                                                       \
    HEDDLE_NARROW_MATH(H, H2, tanh, tanhf(x))                                                                     \
    HEDDLE_NARROW_MATH(H, H2, ceil, ceilf(x))                                                                     \
    HEDDLE_NARROW_MATH(H, H2, floor, floorf(x))                                                                   \
    HEDDLE_NARROW_MATH(H, H2, trunc, truncf(x))                                                                   \
    HEDDLE_NARROW_MATH(H, H2, rint, rintf(x))

// Exchanges within a warp, and loads with a cache operator: of H as a 16-bit word, of a pair as a 32-bit one.
#define HEDDLE_NARROW_MOVES(T, WORD)                                                                              \
    HEDDLE_DEVICE T __shfl_sync(unsigned m, T v, int lane, int width = 32)                                        \
    {                                                                                                             \
        return heddle::of_bits<T>((WORD)__shfl_sync(m, (unsigned)heddle::bits_of(v), lane, width));               \
    }                                                                                                             \
    HEDDLE_DEVICE T __shfl_up_sync(unsigned m, T v, unsigned by, int width = 32)                                  \
    {                                                                                                             \
        return heddle::of_bits<T>((WORD)__shfl_up_sync(m, (unsigned)heddle::bits_of(v), by, width));              \
    }                                                                                                             \
    HEDDLE_DEVICE T __shfl_down_sync(unsigned m, T v, unsigned by, int width = 32)                                \
    {                                                                                                             \
        return heddle::of_bits<T>((WORD)__shfl_down_sync(m, (unsigned)heddle::bits_of(v), by, width));            \
    }                                                                                                             \
    HEDDLE_DEVICE T __shfl_xor_sync(unsigned m, T v, int by, int width = 32)                                      \
    {                                                                                                             \
        return heddle::of_bits<T>((WORD)__shfl_xor_sync(m, (unsigned)heddle::bits_of(v), by, width));             \
    }                                                                                                             \
    HEDDLE_DEVICE T __ldg(const T *p) { return heddle::of_bits<T>(__ldg((const WORD *)p)); }

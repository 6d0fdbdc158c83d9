// math_parts.h -- floats taken apart, and what is exact: fmod, frexp, ldexp, rounding, neighbours.
#pragma once

namespace heddle {
// of<T>: how a float is laid out.
template <class T> struct of;
template <> struct of<float> {
    typedef unsigned bits;
    static constexpr int mantissa = 23, bias = 127, top = 255;
};
template <> struct of<double> {
    typedef unsigned long long bits;
    static constexpr int mantissa = 52, bias = 1023, top = 2047;
};
template <class T> HEDDLE_DEVICE typename of<T>::bits raw(T a) { return __builtin_bit_cast(typename of<T>::bits, a); }
template <class T> HEDDLE_DEVICE T cooked(typename of<T>::bits b) { return __builtin_bit_cast(T, b); }
template <class T> HEDDLE_DEVICE int field(T a) { return (int)(raw(a) >> of<T>::mantissa) & of<T>::top; }
template <class T> HEDDLE_DEVICE T pow2(int e) { return cooked<T>((typename of<T>::bits)(e + of<T>::bias) << of<T>::mantissa); }
template <class T> HEDDLE_DEVICE T inf() { return cooked<T>((typename of<T>::bits)of<T>::top << of<T>::mantissa); }
template <class T> HEDDLE_DEVICE T nan() { return cooked<T>((typename of<T>::bits)(of<T>::top * 2 + 1) << (of<T>::mantissa - 1)); }
HEDDLE_DEVICE float abs1(float a) { return __builtin_fabsf(a); }
HEDDLE_DEVICE double abs1(double a) { return __builtin_fabs(a); }
HEDDLE_DEVICE float sign1(float a, float s) { return __builtin_copysignf(a, s); }
HEDDLE_DEVICE double sign1(double a, double s) { return __builtin_copysign(a, s); }
HEDDLE_DEVICE float fma1(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HEDDLE_DEVICE double fma1(double a, double b, double c) { return __builtin_fma(a, b, c); }
HEDDLE_DEVICE float sqrt1(float a) { return __nvvm_sqrt_rn_f(a); }
HEDDLE_DEVICE double sqrt1(double a) { return __nvvm_sqrt_rn_d(a); }
HEDDLE_DEVICE float rint1(float a) { return __builtin_rintf(a); }
HEDDLE_DEVICE double rint1(double a) { return __builtin_rint(a); }
HEDDLE_DEVICE float trunc1(float a) { return __builtin_truncf(a); }
HEDDLE_DEVICE double trunc1(double a) { return __builtin_trunc(a); }

// The exponent of a number that is not 0, subnormals included: 2^e <= |a| < 2^(e+1).
template <class T> HEDDLE_DEVICE int exponent(T a)
{
    int e = field(a);
    return e ? e - of<T>::bias : field(a * pow2<T>(of<T>::mantissa + 1)) - of<T>::bias - of<T>::mantissa - 1;
}
// a * 2^n, rounded once.
template <class T> HEDDLE_DEVICE T scale(T a, int n)
{
    const int most = of<T>::bias;
    if (n > most) {
        a *= pow2<T>(most);
        n -= most;
        if (n > most) {
            a *= pow2<T>(most);
            n = n - most > most ? most : n - most;
        }
    } else if (n < 1 - most) {
        const int down = most - 1 - of<T>::mantissa - 1; // what is left stays normal until the last product
        a *= pow2<T>(-down);
        n += down;
        if (n < 1 - most) {
            a *= pow2<T>(-down);
            n = n + down < 1 - most ? 1 - most : n + down;
        }
    }
    return a * pow2<T>(n);
}
template <class T> HEDDLE_DEVICE T frexp1(T a, int *e)
{
    *e = 0;
    if (a == 0 || !(abs1(a) < inf<T>())) return a;
    *e = exponent(a) + 1;
    return scale(a, -*e);
}
// The remainder of |a| / |b| with the sign of a, exactly; quotient takes the last bits of the quotient.
template <class T> HEDDLE_SUBROUTINE T fmod1(T a, T b, unsigned *quotient)
{
    *quotient = 0;
    T x = abs1(a), y = abs1(b);
    if (!(x < inf<T>()) || b != b || y == 0) return nan<T>();
    if (!(y < inf<T>()) || x < y) return a;
    int steps = exponent(x) - exponent(y);
    unsigned q = 0;
    for (; steps >= 0; steps--) {
        T d = scale(y, steps);
        q <<= 1;
        if (x >= d) {
            x -= d;
            q |= 1;
        }
    }
    *quotient = q;
    return sign1(x, a);
}
template <class T> HEDDLE_SUBROUTINE T remquo1(T a, T b, int *quotient)
{
    unsigned q;
    T r = fmod1(a, b, &q), x = abs1(r), y = abs1(b);
    bool flip = (raw(a) ^ raw(b)) >> (sizeof(T) * 8 - 1);
    if (x < inf<T>() && y < inf<T>()) {
        T half = y - x; // exact where it matters
        if (half < x || (half == x && (q & 1))) {
            x = x - y;
            q++;
            r = raw(a) >> (sizeof(T) * 8 - 1) ? -x : x;
        }
    }
    int low = (int)(q & 0x7fffffff);
    *quotient = flip ? -low : low;
    return r;
}
template <class T> HEDDLE_DEVICE T nextafter1(T a, T b)
{
    if (a != a || b != b) return a + b;
    if (a == b) return b;
    if (a == 0) return sign1(cooked<T>(1), b);
    return cooked<T>(raw(a) + ((a < b) == (a > 0) ? 1 : -1));
}
template <class T> HEDDLE_DEVICE T round1(T a)
{
    T t = trunc1(a);
    return abs1(a - t) >= (T)0.5 ? t + sign1((T)1, a) : sign1(t, a);
}
template <class T> HEDDLE_DEVICE int ilogb1(T a)
{
    if (a == 0 || a != a) return (int)0x80000000;
    if (!(abs1(a) < inf<T>())) return 0x7fffffff;
    return exponent(a);
}
template <class T> HEDDLE_DEVICE T logb1(T a)
{
    if (a == 0) return -inf<T>();
    if (!(abs1(a) < inf<T>())) return a * a;
    return (T)exponent(a);
}
template <class T> HEDDLE_DEVICE T modf1(T a, T *whole)
{
    *whole = trunc1(a);
    return sign1(abs1(a) < inf<T>() ? a - *whole : (a != a ? a : (T)0), a);
}
template <class T> HEDDLE_DEVICE T fdim1(T a, T b) { return a != a || b != b ? a + b : a > b ? a - b : (T)0; }
} // namespace heddle

#define HEDDLE_EXACT(T, F)                                                                                        \
    HEDDLE_LIB T __nv_fmod##F(T a, T b) { unsigned q; return heddle::fmod1(a, b, &q); }                           \
    HEDDLE_LIB T __nv_remquo##F(T a, T b, int *q) { return heddle::remquo1(a, b, q); }                            \
    HEDDLE_LIB T __nv_remainder##F(T a, T b) { int q; return heddle::remquo1(a, b, &q); }                         \
    HEDDLE_LIB T __nv_frexp##F(T a, int *e) { return heddle::frexp1(a, e); }                                      \
    HEDDLE_LIB T __nv_ldexp##F(T a, int n) { return heddle::scale(a, n); }                                        \
    HEDDLE_LIB T __nv_scalbn##F(T a, int n) { return heddle::scale(a, n); }                                       \
    HEDDLE_LIB T __nv_nextafter##F(T a, T b) { return heddle::nextafter1(a, b); }                                 \
    HEDDLE_LIB T __nv_round##F(T a) { return heddle::round1(a); }                                                 \
    HEDDLE_LIB long long __nv_llround##F(T a) { return (long long)heddle::round1(a); }                            \
    HEDDLE_LIB long long __nv_llrint##F(T a) { return (long long)heddle::rint1(a); }                              \
    HEDDLE_LIB int __nv_ilogb##F(T a) { return heddle::ilogb1(a); }                                               \
    HEDDLE_LIB T __nv_logb##F(T a) { return heddle::logb1(a); }                                                   \
    HEDDLE_LIB T __nv_modf##F(T a, T *w) { return heddle::modf1(a, w); }                                          \
    HEDDLE_LIB T __nv_fdim##F(T a, T b) { return heddle::fdim1(a, b); }                                           \
    HEDDLE_LIB T __nv_nan##F(const signed char *) { return heddle::nan<T>(); }
HEDDLE_EXACT(float, f)
HEDDLE_EXACT(double, )
#undef HEDDLE_EXACT

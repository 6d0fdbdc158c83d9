// math_special.h -- functions made of the elementary ones, in both precisions.
#pragma once

namespace heddle {
template <class T> HEDDLE_SUBROUTINE T pow1(T x, T y)
{
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return x + y;
    T ax = abs1(x);
    bool whole = rint1(y) == y, odd = whole && abs1(y) < (T)(1ull << 53) && ((long long)y & 1);
    if (ax == 0 || ax == inf<T>()) {
        T r = (ax == 0) == (y < 0) ? inf<T>() : (T)0;
        return odd ? sign1(r, x) : r;
    }
    if (abs1(y) == inf<T>()) return ax == 1 ? (T)1 : (ax > 1) == (y > 0) ? inf<T>() : (T)0;
    if (x < 0 && !whole) return nan<T>();
    T r = pow_positive(ax, y);
    return x < 0 && odd ? -r : r;
}
template <class T> HEDDLE_SUBROUTINE T powi1(T x, int n)
{
    T r = 1;
    for (unsigned k = n < 0 ? 0u - (unsigned)n : (unsigned)n; k; k >>= 1) {
        if (k & 1) r *= x;
        x *= x;
    }
    return n < 0 ? 1 / r : r;
}
template <class T> HEDDLE_SUBROUTINE T atan21(T y, T x)
{
    const T pi = (T)3.14159265358979323846;
    if (x != x || y != y) return x + y;
    bool left = raw(x) >> (sizeof(T) * 8 - 1);
    if (y == 0) return sign1(left ? pi : (T)0, y);
    if (x == 0) return sign1(pi / 2, y);
    T ax = abs1(x), ay = abs1(y), r;
    if (ax == inf<T>())
        r = ay == inf<T>() ? pi / 4 : (T)0;
    else if (ay == inf<T>())
        return sign1(pi / 2, y);
    else
        r = atan1(ay / ax);
    if (left) r = (pi - r) + (sizeof(T) == 8 ? (T)1.2246467991473532e-16 : (T)-8.7422777e-8);
    return sign1(r, y);
}
template <class T> HEDDLE_SUBROUTINE T asin1(T a)
{
    if (!(abs1(a) <= 1)) return nan<T>();
    return a == 0 ? a : atan21(a, sqrt1((1 - a) * (1 + a)));
}
template <class T> HEDDLE_SUBROUTINE T acos1(T a)
{
    if (!(abs1(a) <= 1)) return nan<T>();
    return 2 * atan21(sqrt1(1 - a), sqrt1(1 + a));
}
template <class T> HEDDLE_SUBROUTINE T sinh1(T a)
{
    T x = abs1(a);
    if (!(x < (sizeof(T) == 8 ? (T)709 : (T)88))) {
        T h = exp1(x * (T)0.5);
        return a != a ? a : sign1(h * (T)0.5 * h, a);
    }
    T t = expm11(x);
    return sign1((t + t / (t + 1)) * (T)0.5, a);
}
template <class T> HEDDLE_SUBROUTINE T cosh1(T a)
{
    T x = abs1(a);
    if (!(x < (sizeof(T) == 8 ? (T)709 : (T)88))) {
        T h = exp1(x * (T)0.5);
        return a != a ? a : h * (T)0.5 * h;
    }
    T t = exp1(x);
    return (T)0.5 * t + (T)0.5 / t;
}
template <class T> HEDDLE_SUBROUTINE T tanh1(T a)
{
    T x = abs1(a);
    if (a != a) return a;
    if (x > 22) return sign1((T)1, a);
    T t = expm11(2 * x);
    return sign1(t / (t + 2), a);
}
template <class T> HEDDLE_SUBROUTINE T asinh1(T a)
{
    T x = abs1(a);
    if (!(x < (T)1e9)) return sign1(log1(x) + (T)0.693147180559945309417, a);
    return sign1(log1p1(x + x * x / (1 + sqrt1(x * x + 1))), a);
}
template <class T> HEDDLE_SUBROUTINE T acosh1(T a)
{
    if (!(a >= 1)) return nan<T>();
    if (!(a < (T)1e9)) return log1(a) + (T)0.693147180559945309417;
    T t = a - 1;
    return log1p1(t + sqrt1(2 * t + t * t));
}
template <class T> HEDDLE_SUBROUTINE T atanh1(T a)
{
    T x = abs1(a);
    return sign1((T)0.5 * log1p1(2 * x / (1 - x)), a);
}
// The square root of a sum of squares, scaled so that no square leaves the range.
template <class T> HEDDLE_SUBROUTINE T norm1(int n, const T *v)
{
    T big = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        if (abs1(v[i]) == inf<T>()) return inf<T>();
        big = abs1(v[i]) > big || v[i] != v[i] ? abs1(v[i]) : big;
    }
    if (big == 0 || big != big) return big;
    int e = exponent(big);
    for (int i = 0; i < n; i++) {
        T s = scale(v[i], -e);
        sum = fma1(s, s, sum);
    }
    return scale(sqrt1(sum), e);
}
template <class T> HEDDLE_SUBROUTINE T norm_of(T a, T b, T c, T d)
{
    T v[4] = {a, b, c, d};
    return norm1(4, v);
}

// ---- error function and gamma, by series and continued fraction (Abramowitz and Stegun 7.1.6,
// 7.1.14) and by Lanczos' approximation

HEDDLE_SUBROUTINE double erf_series(double x)
{
    double t = x, sum = x, z = 2.0 * x * x;
    for (int k = 3; k < 140 && t > sum * 0x1p-56; k += 2) {
        t *= z / k;
        sum += t;
    }
    return 1.1283791670955126 * exp1(-x * x) * sum;
}
// e^(x*x) erfc(x) for x >= 0.75.
HEDDLE_SUBROUTINE double erfcx_fraction(double x)
{
    double t = 0;
    for (int k = x < 2 ? 400 : 100; k >= 1; k--) t = 0.5 * k / (x + t);
    return 0.5641895835477563 / (x + t);
}
// e^(-x*x), with the square's rounding error made good.
HEDDLE_DEVICE double exp_minus_square(double x)
{
    double s = x * x;
    return s > 746.0 ? 0.0 : exp_parts(-s, -fma1(x, x, -s));
}
HEDDLE_SUBROUTINE double erfc1(double a)
{
    if (a != a) return a;
    if (a > 27.3) return 0;
    if (a < -2.0) return 2.0 - exp_minus_square(a) * erfcx_fraction(-a);
    if (a < 0.5) return 1.0 + (a < 0 ? erf_series(-a) : -erf_series(a));
    if (a < 0.75) return 1.0 - erf_series(a);
    return exp_minus_square(a) * erfcx_fraction(a);
}
HEDDLE_SUBROUTINE double erf1(double a)
{
    double x = abs1(a);
    if (a != a || a == 0) return a;
    if (x > 6) return sign1(1.0, a);
    return sign1(x < 2 ? erf_series(x) : 1.0 - erfc1(x), a);
}
HEDDLE_SUBROUTINE double erfcx1(double a)
{
    if (a != a) return a;
    if (a < 2) return a < -26.7 ? inf<double>() : exp1(a * a) * erfc1(a);
    return erfcx_fraction(a);
}
// The inverse of the normal distribution: Newton's method in its logarithm.
HEDDLE_SUBROUTINE double normcdfinv1(double p)
{
    if (p == 0) return -inf<double>();
    if (p == 1) return inf<double>();
    if (!(p > 0 && p < 1)) return nan<double>();
    double q = p < 0.5 ? p : 1.0 - p, t = sqrt1(-2.0 * log1(q));
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int i = 0; i < 4; i++) {
        double d = 0.5 * erfc1(x * 0.7071067811865476), f = 0.3989422804014327 * exp1(-0.5 * x * x);
        double u = (d - q) / f;
        x += u / (1.0 - 0.5 * x * u);
    }
    return p < 0.5 ? -x : x;
}
HEDDLE_SUBROUTINE double lanczos(double x) // x >= 0.5, for x - 1
{
    static const double c[8] = {676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
                                12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};
    double s = 0.99999999999980993;
    for (int i = 0; i < 8; i++) s += c[i] / (x + i);
    return s;
}
HEDDLE_SUBROUTINE double tgamma1(double a)
{
    if (a != a || a == inf<double>()) return a;
    if (a == 0) return sign1(inf<double>(), a);
    if (a < 0 && rint1(a) == a) return nan<double>();
    if (a < 0.5) {
        double s, c;
        sincospi1(a, &s, &c);
        return 3.14159265358979323846 / (s * tgamma1(1.0 - a));
    }
    if (a > 171.7) return inf<double>();
    double t = a + 6.5, h = pow_positive(t, (a - 0.5) * 0.5);
    return 2.5066282746310002 * h * exp1(-t) * h * lanczos(a);
}
HEDDLE_SUBROUTINE double lgamma1(double a)
{
    if (a != a) return a;
    if (abs1(a) == inf<double>() || (a <= 0 && rint1(a) == a)) return inf<double>();
    if (a == 1 || a == 2) return 0;
    if (a < 0.5) {
        double s, c;
        sincospi1(a, &s, &c);
        return log1(3.14159265358979323846 / abs1(s)) - lgamma1(1.0 - a);
    }
    double t = a + 6.5;
    return 0.9189385332046728 + (a - 0.5) * log1(t) - t + log1(lanczos(a));
}
} // namespace heddle

#define HEDDLE_SPECIAL(T, F)                                                                                      \
    HEDDLE_LIB T __nv_pow##F(T a, T b) { return heddle::pow1(a, b); }                                             \
    HEDDLE_LIB T __nv_powi##F(T a, int n) { return heddle::powi1(a, n); }                                         \
    HEDDLE_LIB T __nv_atan2##F(T a, T b) { return heddle::atan21(a, b); }                                         \
    HEDDLE_LIB T __nv_asin##F(T a) { return heddle::asin1(a); }                                                   \
    HEDDLE_LIB T __nv_acos##F(T a) { return heddle::acos1(a); }                                                   \
    HEDDLE_LIB T __nv_sinh##F(T a) { return heddle::sinh1(a); }                                                   \
    HEDDLE_LIB T __nv_cosh##F(T a) { return heddle::cosh1(a); }                                                   \
    HEDDLE_LIB T __nv_tanh##F(T a) { return heddle::tanh1(a); }                                                   \
    HEDDLE_LIB T __nv_asinh##F(T a) { return heddle::asinh1(a); }                                                 \
    HEDDLE_LIB T __nv_acosh##F(T a) { return heddle::acosh1(a); }                                                 \
    HEDDLE_LIB T __nv_atanh##F(T a) { return heddle::atanh1(a); }                                                 \
    HEDDLE_LIB T __nv_norm##F(int n, const T *v) { return heddle::norm1(n, v); }                                  \
    HEDDLE_LIB T __nv_rnorm##F(int n, const T *v) { return 1 / heddle::norm1(n, v); }                             \
    HEDDLE_LIB T __nv_hypot##F(T a, T b) { return heddle::norm_of<T>(a, b, 0, 0); }                               \
    HEDDLE_LIB T __nv_rhypot##F(T a, T b) { return 1 / heddle::norm_of<T>(a, b, 0, 0); }                          \
    HEDDLE_LIB T __nv_norm3d##F(T a, T b, T c) { return heddle::norm_of<T>(a, b, c, 0); }                         \
    HEDDLE_LIB T __nv_rnorm3d##F(T a, T b, T c) { return 1 / heddle::norm_of<T>(a, b, c, 0); }                    \
    HEDDLE_LIB T __nv_norm4d##F(T a, T b, T c, T d) { return heddle::norm_of(a, b, c, d); }                       \
    HEDDLE_LIB T __nv_rnorm4d##F(T a, T b, T c, T d) { return 1 / heddle::norm_of(a, b, c, d); }                  \
    HEDDLE_LIB T __nv_erf##F(T a) { return (T)heddle::erf1(a); }                                                  \
    HEDDLE_LIB T __nv_erfc##F(T a) { return (T)heddle::erfc1(a); }                                                \
    HEDDLE_LIB T __nv_erfcx##F(T a) { return (T)heddle::erfcx1(a); }                                              \
    HEDDLE_LIB T __nv_normcdf##F(T a) { return (T)(0.5 * heddle::erfc1((double)a * -0.7071067811865476)); }       \
    HEDDLE_LIB T __nv_normcdfinv##F(T a) { return (T)heddle::normcdfinv1(a); }                                    \
    HEDDLE_LIB T __nv_erfinv##F(T a)                                                                              \
    {                                                                                                             \
        return a == 0 ? a : (T)(0.7071067811865476 * heddle::normcdfinv1(0.5 * ((double)a + 1.0)));               \
    }                                                                                                             \
    HEDDLE_LIB T __nv_erfcinv##F(T a) { return (T)(-0.7071067811865476 * heddle::normcdfinv1(0.5 * (double)a)); } \
    HEDDLE_LIB T __nv_tgamma##F(T a) { return (T)heddle::tgamma1(a); }                                            \
    HEDDLE_LIB T __nv_lgamma##F(T a) { return (T)heddle::lgamma1(a); }
HEDDLE_SPECIAL(float, f)
HEDDLE_SPECIAL(double, )
#undef HEDDLE_SPECIAL

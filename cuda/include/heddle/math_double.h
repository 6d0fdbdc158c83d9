// math_double.h -- elementary functions in double precision, from IEEE operations. The largest errors
// found by cuda's tests stand in docs/tutorial.md.
#pragma once

namespace heddle {
struct pair { double hi, lo; };
HEDDLE_DEVICE pair two_sum(double a, double b)
{
    double s = a + b, t = s - a;
    return pair{s, (a - (s - t)) + (b - t)};
}

// e^(a + lo) * 2^up for |a| < 1000. Cody and Waite's reduction, Taylor's polynomial.
HEDDLE_DEVICE double exp_parts(double a, double lo)
{
    double n = rint1(a * 0x1.71547652b82fep+0);
    double r = fma1(n, -0x1.62e42feep-1, a);
    double s = fma1(n, -0x1.a39ef35793c76p-33, lo);
    double x = r + s;
    s += r - x;
    double p = 1.0 / 6227020800.0;
    p = fma1(p, x, 1.0 / 479001600.0);
    p = fma1(p, x, 1.0 / 39916800.0);
    p = fma1(p, x, 1.0 / 3628800.0);
    p = fma1(p, x, 1.0 / 362880.0);
    p = fma1(p, x, 1.0 / 40320.0);
    p = fma1(p, x, 1.0 / 5040.0);
    p = fma1(p, x, 1.0 / 720.0);
    p = fma1(p, x, 1.0 / 120.0);
    p = fma1(p, x, 1.0 / 24.0);
    p = fma1(p, x, 1.0 / 6.0);
    p = fma1(p, x, 0.5);
    p = fma1(p * x, x, s);
    return scale(1.0 + (x + p), (int)n);
}
HEDDLE_SUBROUTINE double exp1(double a)
{
    if (a > 709.79) return inf<double>();
    if (a < -745.2) return 0.0;
    if (a != a) return a;
    return exp_parts(a, 0.0);
}
HEDDLE_SUBROUTINE double expm11(double a)
{
    if (a > 709.79) return inf<double>();
    if (a < -40.0) return -1.0;
    if (a != a || a == 0) return a;
    double n = rint1(a * 0x1.71547652b82fep+0);
    double r = fma1(n, -0x1.62e42feep-1, a);
    double s = n * -0x1.a39ef35793c76p-33;
    double x = r + s;
    s += r - x;
    double p = 1.0 / 87178291200.0;
    p = fma1(p, x, 1.0 / 6227020800.0);
    p = fma1(p, x, 1.0 / 479001600.0);
    p = fma1(p, x, 1.0 / 39916800.0);
    p = fma1(p, x, 1.0 / 3628800.0);
    p = fma1(p, x, 1.0 / 362880.0);
    p = fma1(p, x, 1.0 / 40320.0);
    p = fma1(p, x, 1.0 / 5040.0);
    p = fma1(p, x, 1.0 / 720.0);
    p = fma1(p, x, 1.0 / 120.0);
    p = fma1(p, x, 1.0 / 24.0);
    p = fma1(p, x, 1.0 / 6.0);
    p = fma1(p, x, 0.5);
    double y = x + fma1(p * x, x, s);
    if (n == 0) return y;
    if (n >= 1024) return scale(fma1(y, 0.5, 0.5), (int)n + 1);
    double two = pow2<double>((int)n);
    return fma1(y, two, two - 1.0);
}

// A number's logarithm as a sum: m in [sqrt(1/2), sqrt(2)), log m = 2 atanh(f / (2 + f)).
HEDDLE_DEVICE pair log_parts(double a)
{
    int e = exponent(a);
    double m = scale(a, -e);
    if (m > 0x1.6a09e667f3bcdp+0) {
        m *= 0.5;
        e++;
    }
    double f = m - 1.0, d = m + 1.0, dlo = m - (d - 1.0);
    double s = f / d;
    double slo = (fma1(-s, d, f) - s * dlo) / d;
    double z = s * s, zlo = fma1(s, s, -z) + 2.0 * s * slo;
    double p = 2.0 / 25.0;
    p = fma1(p, z, 2.0 / 23.0);
    p = fma1(p, z, 2.0 / 21.0);
    p = fma1(p, z, 2.0 / 19.0);
    p = fma1(p, z, 2.0 / 17.0);
    p = fma1(p, z, 2.0 / 15.0);
    p = fma1(p, z, 2.0 / 13.0);
    p = fma1(p, z, 2.0 / 11.0);
    p = fma1(p, z, 2.0 / 9.0);
    p = fma1(p, z, 2.0 / 7.0);
    p = fma1(p, z, 2.0 / 5.0);
    // z * (2/3 + z p) in twice the precision, times s
    double q = z * p;
    pair c = two_sum(0x1.5555555555555p-1, q);
    c.lo += 0x1.5555555555555p-55 + fma1(z, p, -q) + zlo * p;
    double t = z * c.hi, tlo = fma1(z, c.hi, -t) + z * c.lo + zlo * c.hi;
    double u = s * t, ulo = fma1(s, t, -u) + s * tlo + slo * t;
    double n = (double)e;
    pair r = two_sum(n * 0x1.62e42feep-1, 2.0 * s);
    pair r2 = two_sum(r.hi, u);
    double lo = r.lo + r2.lo + (2.0 * slo + ulo + n * 0x1.a39ef35793c76p-33);
    pair out = two_sum(r2.hi, lo);
    return out;
}
HEDDLE_SUBROUTINE double log1(double a)
{
    if (a == 0) return -inf<double>();
    if (!(a >= 0)) return nan<double>();
    if (!(a < inf<double>())) return a;
    pair l = log_parts(a);
    return l.hi + l.lo;
}
// log a / log base, as the product with 1 / log base in two parts.
HEDDLE_SUBROUTINE double log_base(double a, double hi, double lo)
{
    if (a == 0) return -inf<double>();
    if (!(a >= 0)) return nan<double>();
    if (!(a < inf<double>())) return a;
    pair l = log_parts(a);
    double p = l.hi * hi;
    return p + (fma1(l.hi, hi, -p) + l.hi * lo + l.lo * hi);
}
HEDDLE_SUBROUTINE double log1p1(double a)
{
    if (a == 0 || a == inf<double>()) return a;
    if (a <= -1) return a == -1 ? -inf<double>() : nan<double>();
    if (abs1(a) < 0x1p-54) return a;
    pair u = two_sum(1.0, a);
    pair l = log_parts(u.hi);
    return l.hi + (l.lo + u.lo / u.hi);
}
HEDDLE_SUBROUTINE double pow_positive(double x, double y)
{
    pair l = log_parts(x);
    double p = y * l.hi, lo = fma1(y, l.hi, -p) + y * l.lo;
    if (p > 709.9) return inf<double>();
    if (!(p > -746.0)) return p != p ? p : 0.0;
    return exp_parts(p, lo);
}

// ---- angles: a = n * pi/2 + hi + lo

static __constant__ const unsigned long long two_over_pi[20] = {
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull,
    0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull};

// Payne and Hanek: the product of a's mantissa with those bits of 2/pi that matter.
HEDDLE_SLOW int reduce_slow(double a, pair *r)
{
    unsigned long long m = (raw(a) & 0xfffffffffffffull) | 0x10000000000000ull;
    int first = field(a) - of<double>::bias - 52 - 2; // bits of 2/pi before this one give multiples of 4
    if (first < 0) {
        m <<= 0;
    }
    unsigned long long w[3];
    for (int i = 0; i < 3; i++) {
        int at = first + 64 * i, word = at >> 6, off = at & 63;
        unsigned long long h = word < 0 ? 0 : two_over_pi[word], l = word + 1 < 0 ? 0 : two_over_pi[word + 1];
        w[i] = off ? h << off | l >> (64 - off) : h;
    }
    // m * w mod 2^192: the top two bits are n, the rest is the fraction of pi/2
    unsigned long long p2 = m * w[2], h2 = __nv_umul64hi(m, w[2]), p1 = m * w[1], h1 = __nv_umul64hi(m, w[1]);
    unsigned long long mid = p1 + h2, top = m * w[0] + h1 + (mid < p1);
    (void)p2;
    int n = (int)(top >> 62);
    unsigned long long fh = top << 2 | mid >> 62, fl = mid << 2 | p2 >> 62;
    bool minus = fh >> 63;
    if (minus) {
        n++;
        fl = ~fl + 1;
        fh = ~fh + (fl == 0);
    }
    int z = fh ? __builtin_clzll(fh) : 64;
    if (z == 64) {
        fh = fl;
        fl = 0;
    } else if (z) {
        fh = fh << z | fl >> (64 - z);
        fl <<= z;
    }
    double hi = (double)(fh >> 11) * pow2<double>(-53 - z);
    double lo = (double)((fh << 53) | (fl >> 11)) * pow2<double>(-53 - z - 64);
    double p = hi * 0x1.921fb54442d18p+0;
    double q = fma1(hi, 0x1.921fb54442d18p+0, -p) + hi * 0x1.1a62633145c07p-54 + lo * 0x1.921fb54442d18p+0;
    *r = two_sum(p, q);
    bool negative = raw(a) >> 63;
    if (minus != negative) {
        r->hi = -r->hi;
        r->lo = -r->lo;
    }
    return negative ? -n : n;
}
HEDDLE_DEVICE int reduce(double a, pair *r)
{
    if (!(abs1(a) < 1e5)) return reduce_slow(a, r);
    double n = rint1(a * 0x1.45f306dc9c883p-1);
    double t = fma1(n, -0x1.921fb54442d18p+0, a);
    double p = n * 0x1.1a62633145c07p-54, plo = fma1(n, 0x1.1a62633145c07p-54, -p);
    pair s = two_sum(t, -p);
    s.lo += -plo + n * 0x1.f1976b7ed8fbcp-110;
    *r = two_sum(s.hi, s.lo);
    return (int)n;
}
HEDDLE_DEVICE double sin_poly(double x, double lo)
{
    double z = x * x, p = -1.0 / 121645100408832000.0;
    p = fma1(p, z, 1.0 / 355687428096000.0);
    p = fma1(p, z, -1.0 / 1307674368000.0);
    p = fma1(p, z, 1.0 / 6227020800.0);
    p = fma1(p, z, -1.0 / 39916800.0);
    p = fma1(p, z, 1.0 / 362880.0);
    p = fma1(p, z, -1.0 / 5040.0);
    p = fma1(p, z, 1.0 / 120.0);
    p = fma1(p, z, -1.0 / 6.0);
    return x + fma1(p * z, x, fma1(z * -0.5, lo, lo));
}
HEDDLE_DEVICE double cos_poly(double x, double lo)
{
    double z = x * x, p = 1.0 / 2432902008176640000.0;
    p = fma1(p, z, -1.0 / 6402373705728000.0);
    p = fma1(p, z, 1.0 / 20922789888000.0);
    p = fma1(p, z, -1.0 / 87178291200.0);
    p = fma1(p, z, 1.0 / 479001600.0);
    p = fma1(p, z, -1.0 / 3628800.0);
    p = fma1(p, z, 1.0 / 40320.0);
    p = fma1(p, z, -1.0 / 720.0);
    p = fma1(p, z, 1.0 / 24.0);
    double h = 0.5 * z, w = 1.0 - h;
    return w + (((1.0 - w) - h) + fma1(p * z, z, -x * lo));
}
HEDDLE_DEVICE void by_quadrant(int n, double x, double lo, double *s, double *c)
{
    double a = sin_poly(x, lo), b = cos_poly(x, lo);
    *s = n & 1 ? b : a;
    *c = n & 1 ? a : b;
    if (n & 2) *s = -*s;
    if ((n + 1) & 2) *c = -*c;
}
HEDDLE_SUBROUTINE void sincos1(double a, double *s, double *c)
{
    if (!(abs1(a) < inf<double>())) {
        *s = *c = nan<double>();
        return;
    }
    if (a == 0) {
        *s = a;
        *c = 1.0;
        return;
    }
    pair r;
    int n = reduce(a, &r);
    by_quadrant(n, r.hi, r.lo, s, c);
}
HEDDLE_SUBROUTINE void sincospi1(double a, double *s, double *c)
{
    if (!(abs1(a) < inf<double>())) {
        *s = *c = nan<double>();
        return;
    }
    double n = rint1(a * 2.0);
    double f = fma1(n, -0.5, a);
    double p = f * 0x1.921fb54442d18p+1, lo = fma1(f, 0x1.921fb54442d18p+1, -p) + f * 0x1.1a62633145c07p-53;
    double q = n - 4.0 * __builtin_floor(n * 0.25);
    by_quadrant((int)q, p, lo, s, c);
    if (f == 0 && !((int)q & 1)) *s = sign1(0.0, a);
    if (f == 0 && ((int)q & 1)) *c = 0.0;
}
HEDDLE_SUBROUTINE double atan1(double a)
{
    double x = abs1(a), hi = 0, lo = 0;
    if (x != x) return a;
    if (x > 2.414213562373095) {
        x = -1.0 / x;
        hi = 0x1.921fb54442d18p+0;
        lo = 0x1.1a62633145c07p-54;
    } else if (x > 0.4142135623730951) {
        x = (x - 1.0) / (x + 1.0);
        hi = 0x1.921fb54442d18p-1;
        lo = 0x1.1a62633145c07p-55;
    }
    double z = x * x, p = 0;
#pragma unroll
    for (int k = 41; k >= 3; k -= 2) p = fma1(p, z, (k & 2 ? -1.0 : 1.0) / k);
    double r = hi + (x + fma1(p * z, x, lo));
    return sign1(r, a);
}
HEDDLE_SUBROUTINE double cbrt1(double a)
{
    if (a == 0 || !(abs1(a) < inf<double>())) return a;
    int e = exponent(a), k = e >= 0 ? e / 3 : -((2 - e) / 3);
    double m = scale(abs1(a), -3 * k);
    double t = (double)__nvvm_ex2_approx_f(__nvvm_lg2_approx_f((float)m) * 0.333333333f);
    t = t - (t - m / (t * t)) * (1.0 / 3.0);
    double tt = t * t, err = fma1(t, tt, -m) + t * fma1(t, t, -tt);
    t -= err / (3.0 * tt);
    return scale(sign1(t, a), k);
}
} // namespace heddle

HEDDLE_LIB double __nv_exp(double a) { return heddle::exp1(a); }
HEDDLE_LIB double __nv_expm1(double a) { return heddle::expm11(a); }
HEDDLE_LIB double __nv_exp2(double a)
{
    if (a > 1025.0) return heddle::inf<double>();
    if (a < -1080.0) return 0.0;
    double n = heddle::rint1(a), f = a - n, p = f * 0x1.62e42fefa39efp-1;
    return a != a ? a : heddle::scale(heddle::exp_parts(p, heddle::fma1(f, 0x1.62e42fefa39efp-1, -p) + f * 0x1.abc9e3b39803fp-56), (int)n);
}
HEDDLE_LIB double __nv_exp10(double a)
{
    if (a > 309.0) return heddle::inf<double>();
    if (a < -325.0) return 0.0;
    double p = a * 0x1.26bb1bbb55516p+1;
    return a != a ? a : heddle::exp_parts(p, heddle::fma1(a, 0x1.26bb1bbb55516p+1, -p) + a * -0x1.f48ad494ea3e9p-53);
}
HEDDLE_LIB double __nv_log(double a) { return heddle::log1(a); }
HEDDLE_LIB double __nv_log2(double a) { return heddle::log_base(a, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56); }
HEDDLE_LIB double __nv_log10(double a) { return heddle::log_base(a, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57); }
HEDDLE_LIB double __nv_log1p(double a) { return heddle::log1p1(a); }
HEDDLE_LIB double __nv_sin(double a) { double s, c; heddle::sincos1(a, &s, &c); return s; }
HEDDLE_LIB double __nv_cos(double a) { double s, c; heddle::sincos1(a, &s, &c); return c; }
HEDDLE_LIB double __nv_tan(double a) { double s, c; heddle::sincos1(a, &s, &c); return s / c; }
HEDDLE_LIB void __nv_sincos(double a, double *s, double *c) { heddle::sincos1(a, s, c); }
HEDDLE_LIB void __nv_sincospi(double a, double *s, double *c) { heddle::sincospi1(a, s, c); }
HEDDLE_LIB double __nv_sinpi(double a) { double s, c; heddle::sincospi1(a, &s, &c); return s; }
HEDDLE_LIB double __nv_cospi(double a) { double s, c; heddle::sincospi1(a, &s, &c); return c; }
HEDDLE_LIB double __nv_atan(double a) { return heddle::atan1(a); }
HEDDLE_LIB double __nv_cbrt(double a) { return heddle::cbrt1(a); }
HEDDLE_LIB double __nv_rcbrt(double a) { return 1.0 / heddle::cbrt1(a); }

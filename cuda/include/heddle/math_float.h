// math_float.h -- elementary functions in single precision: float arithmetic, and the special function
// unit for 2^x, as compilers for GPUs have it.
#pragma once

namespace heddle {
struct pairf { float hi, lo; };

// e^(a + lo), |a| < 200.
HEDDLE_DEVICE float exp_parts(float a, float lo)
{
    float n = rint1(a * 1.44269504f);
    float r = fma1(n, -0x1.62ep-1f, a);
    r = fma1(n, -0x1.0bfbe8p-15f, r) + lo;
    float y = __nvvm_ex2_approx_f(r * 1.44269504f);
    int e = (int)n, half = e / 2;
    return y * pow2<float>(half) * pow2<float>(e - half);
}
HEDDLE_DEVICE float exp1(float a)
{
    if (a > 88.8f) return inf<float>();
    if (a < -104.0f) return 0.0f;
    return a != a ? a : exp_parts(a, 0.0f);
}
HEDDLE_DEVICE float expm11(float a)
{
    if (a > 88.8f) return inf<float>();
    if (a < -20.0f) return -1.0f;
    if (a != a || a == 0) return a;
    float n = rint1(a * 1.44269504f);
    float x = fma1(n, -0x1.62ep-1f, a);
    x = fma1(n, -0x1.0bfbe8p-15f, x);
    float p = 1.0f / 5040.0f;
    p = fma1(p, x, 1.0f / 720.0f);
    p = fma1(p, x, 1.0f / 120.0f);
    p = fma1(p, x, 1.0f / 24.0f);
    p = fma1(p, x, 1.0f / 6.0f);
    p = fma1(p, x, 0.5f);
    float y = fma1(p * x, x, x);
    if (n == 0) return y;
    if (n >= 128) return scale(fma1(y, 0.5f, 0.5f), (int)n + 1);
    float two = pow2<float>((int)n);
    return fma1(y, two, two - 1.0f);
}
// log a = hi + lo, with some 30 bits.
HEDDLE_DEVICE pairf log_parts(float a)
{
    int e = 0;
    if (a < 0x1p-126f) {
        a *= 0x1p24f;
        e = -24;
    }
    e += field(a) - 127;
    float m = cooked<float>((raw(a) & 0x7fffffu) | 0x3f800000u);
    if (m > 1.41421356f) {
        m *= 0.5f;
        e++;
    }
    float f = m - 1.0f, d = m + 1.0f, dlo = m - (d - 1.0f);
    float s = f / d;
    float slo = (fma1(-s, d, f) - s * dlo) / d;
    float z = s * s;
    float p = 2.0f / 11.0f;
    p = fma1(p, z, 2.0f / 9.0f);
    p = fma1(p, z, 2.0f / 7.0f);
    p = fma1(p, z, 2.0f / 5.0f);
    p = fma1(p, z, 2.0f / 3.0f);
    float n = (float)e, big = n * 0x1.62ep-1f, t = 2.0f * s;
    float h = big + t, hlo = (big - h) + t; // big is 0 or the larger one
    float lo = hlo + fma1(n, 0x1.0bfbe8p-15f, fma1(p * z, s, 2.0f * slo));
    float hi = h + lo;
    return pairf{hi, (h - hi) + lo};
}
HEDDLE_DEVICE bool log_edge(float a, float *r)
{
    if (a > 0 && a < inf<float>()) return false;
    *r = a == 0 ? -inf<float>() : a > 0 ? a : nan<float>();
    return true;
}
HEDDLE_DEVICE float log1(float a)
{
    float r;
    if (log_edge(a, &r)) return r;
    return log_parts(a).hi;
}
HEDDLE_DEVICE float log_base(float a, float hi, float lo)
{
    float r;
    if (log_edge(a, &r)) return r;
    pairf l = log_parts(a);
    return fma1(l.hi, hi, fma1(l.hi, lo, l.lo * hi));
}
HEDDLE_DEVICE float log1p1(float a)
{
    if (a == 0 || a == inf<float>()) return a;
    if (!(a > -1)) return a == -1 ? -inf<float>() : nan<float>();
    float u = 1.0f + a, t = u - 1.0f, ulo = (1.0f - (u - t)) + (a - t);
    pairf l = log_parts(u);
    return l.hi + (l.lo + ulo / u);
}
HEDDLE_SUBROUTINE float pow_positive(float x, float y)
{
    pairf l = log_parts(x);
    float p = y * l.hi, lo = fma1(y, l.hi, -p) + y * l.lo;
    if (p > 89.0f) return inf<float>();
    if (!(p > -105.0f)) return p != p ? p : 0.0f;
    return exp_parts(p, lo);
}
HEDDLE_SLOW int reduce_slow(float a, float *r)
{
    pair p;
    int n = reduce((double)a, &p);
    *r = (float)p.hi;
    return n;
}
HEDDLE_DEVICE int reduce(float a, float *r)
{
    if (!(abs1(a) < 30000.0f)) return reduce_slow(a, r);
    float n = rint1(a * 0.636619772f);
    float t = fma1(n, -0x1.921fb4p+0f, a);
    t = fma1(n, -0x1.4442d0p-24f, t);
    *r = fma1(n, -0x1.846988p-48f, t);
    return (int)n;
}
HEDDLE_DEVICE void by_quadrant(int n, float x, float *s, float *c)
{
    float z = x * x, p = 2.75573192e-6f;
    p = fma1(p, z, -1.98412698e-4f);
    p = fma1(p, z, 8.33333333e-3f);
    p = fma1(p, z, -0.166666667f);
    float a = fma1(p * z, x, x), q = -2.75573192e-7f;
    q = fma1(q, z, 2.48015873e-5f);
    q = fma1(q, z, -1.38888889e-3f);
    q = fma1(q, z, 4.16666667e-2f);
    q = fma1(q, z, -0.5f);
    float b = fma1(q, z, 1.0f);
    *s = n & 1 ? b : a;
    *c = n & 1 ? a : b;
    if (n & 2) *s = -*s;
    if ((n + 1) & 2) *c = -*c;
}
HEDDLE_DEVICE void sincos1(float a, float *s, float *c)
{
    if (!(abs1(a) < inf<float>())) {
        *s = *c = nan<float>();
        return;
    }
    float r = a;
    int n = a == 0 ? 0 : reduce(a, &r);
    by_quadrant(n, r, s, c);
}
HEDDLE_DEVICE void sincospi1(float a, float *s, float *c)
{
    if (!(abs1(a) < inf<float>())) {
        *s = *c = nan<float>();
        return;
    }
    float n = rint1(a * 2.0f), f = fma1(n, -0.5f, a);
    float q = n - 4.0f * __builtin_floorf(n * 0.25f);
    by_quadrant((int)q, f * 3.14159265f, s, c);
    if (f == 0 && !((int)q & 1)) *s = sign1(0.0f, a);
    if (f == 0 && ((int)q & 1)) *c = 0.0f;
}
HEDDLE_DEVICE float atan1(float a)
{
    float x = abs1(a), hi = 0;
    if (x != x) return a;
    if (x > 2.41421356f) {
        x = -1.0f / x;
        hi = 1.57079633f;
    } else if (x > 0.414213562f) {
        x = (x - 1.0f) / (x + 1.0f);
        hi = 0.785398163f;
    }
    float z = x * x, p = 0;
#pragma unroll
    for (int k = 19; k >= 3; k -= 2) p = fma1(p, z, (k & 2 ? -1.0f : 1.0f) / (float)k);
    return sign1(hi + fma1(p * z, x, x), a);
}
HEDDLE_DEVICE float cbrt1(float a)
{
    if (a == 0 || !(abs1(a) < inf<float>())) return a;
    int e = exponent(a), k = e >= 0 ? e / 3 : -((2 - e) / 3);
    float m = scale(abs1(a), -3 * k);
    float t = __nvvm_ex2_approx_f(__nvvm_lg2_approx_f(m) * 0.333333333f);
    float tt = t * t;
    t -= (fma1(t, tt, -m) + t * fma1(t, t, -tt)) / (3.0f * tt);
    return scale(sign1(t, a), k);
}
} // namespace heddle

HEDDLE_LIB float __nv_expf(float a)
{
#ifdef __CLANG_GPU_APPROX_TRANSCENDENTALS__
    return __nv_fast_expf(a);
#else
    return heddle::exp1(a);
#endif
}
HEDDLE_LIB float __nv_expm1f(float a) { return heddle::expm11(a); }
HEDDLE_LIB float __nv_exp2f(float a) { return __nvvm_ex2_approx_f(a); }
HEDDLE_LIB float __nv_exp10f(float a)
{
    if (a > 39.0f) return heddle::inf<float>();
    if (a < -46.0f) return 0.0f;
    float p = a * 2.30258509f;
    return a != a ? a : heddle::exp_parts(p, heddle::fma1(a, 2.30258509f, -p) + a * 3.1975436e-8f);
}
HEDDLE_LIB float __nv_logf(float a) { return heddle::log1(a); }
HEDDLE_LIB float __nv_log2f(float a) { return heddle::log_base(a, 0x1.715476p+0f, 0x1.4ae0bep-26f); }
HEDDLE_LIB float __nv_log10f(float a) { return heddle::log_base(a, 0.434294492f, -1.0100509e-8f); }
HEDDLE_LIB float __nv_log1pf(float a) { return heddle::log1p1(a); }
HEDDLE_LIB float __nv_sinf(float a) { float s, c; heddle::sincos1(a, &s, &c); return s; }
HEDDLE_LIB float __nv_cosf(float a) { float s, c; heddle::sincos1(a, &s, &c); return c; }
HEDDLE_LIB float __nv_tanf(float a) { float s, c; heddle::sincos1(a, &s, &c); return s / c; }
HEDDLE_LIB void __nv_sincosf(float a, float *s, float *c) { heddle::sincos1(a, s, c); }
HEDDLE_LIB void __nv_sincospif(float a, float *s, float *c) { heddle::sincospi1(a, s, c); }
HEDDLE_LIB float __nv_sinpif(float a) { float s, c; heddle::sincospi1(a, &s, &c); return s; }
HEDDLE_LIB float __nv_cospif(float a) { float s, c; heddle::sincospi1(a, &s, &c); return c; }
HEDDLE_LIB float __nv_atanf(float a) { return heddle::atan1(a); }
HEDDLE_LIB float __nv_cbrtf(float a) { return heddle::cbrt1(a); }
HEDDLE_LIB float __nv_rcbrtf(float a) { return 1.0f / heddle::cbrt1(a); }

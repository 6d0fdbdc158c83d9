// Functions that CUDA has in the global namespace for host and device and for more types than C:
// minimum and maximum, and the host's twins of device functions.
#pragma once

HEDDLE_HOST int max(int a, int b) { return a < b ? b : a; }
HEDDLE_HOST int min(int a, int b) { return b < a ? b : a; }
#define HEDDLE_MINMAX(R, A, B)                                                            \
    HEDDLE_BOTH R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }                     \
    HEDDLE_BOTH R min(A a, B b) { return (R)b < (R)a ? (R)b : (R)a; }
HEDDLE_MINMAX(unsigned, unsigned, unsigned)
HEDDLE_MINMAX(unsigned, int, unsigned)
HEDDLE_MINMAX(unsigned, unsigned, int)
HEDDLE_MINMAX(long, long, long)
HEDDLE_MINMAX(unsigned long, unsigned long, unsigned long)
HEDDLE_MINMAX(unsigned long, long, unsigned long)
HEDDLE_MINMAX(unsigned long, unsigned long, long)
HEDDLE_MINMAX(long long, long long, long long)
HEDDLE_MINMAX(unsigned long long, unsigned long long, unsigned long long)
HEDDLE_MINMAX(unsigned long long, long long, unsigned long long)
HEDDLE_MINMAX(unsigned long long, unsigned long long, long long)
#undef HEDDLE_MINMAX
// As fmax and fmin: a NaN gives way to a number.
#define HEDDLE_FMINMAX(R, A, B, F)                                                        \
    HEDDLE_BOTH R max(A a, B b) { return __builtin_fmax##F((R)a, (R)b); }                 \
    HEDDLE_BOTH R min(A a, B b) { return __builtin_fmin##F((R)a, (R)b); }
HEDDLE_FMINMAX(float, float, float, f)
HEDDLE_FMINMAX(double, double, double, )
HEDDLE_FMINMAX(double, float, double, )
HEDDLE_FMINMAX(double, double, float, )
#undef HEDDLE_FMINMAX

HEDDLE_HOST float rsqrtf(float a) { return 1.0f / ::sqrtf(a); }
HEDDLE_HOST double rsqrt(double a) { return 1.0 / ::sqrt(a); }
HEDDLE_HOST float rcbrtf(float a) { return 1.0f / ::cbrtf(a); }
HEDDLE_HOST double rcbrt(double a) { return 1.0 / ::cbrt(a); }
HEDDLE_HOST float sinpif(float a) { return (float)::sin(M_PI * (double)a); }
HEDDLE_HOST double sinpi(double a) { return ::sin(M_PI * a); }
HEDDLE_HOST float cospif(float a) { return (float)::cos(M_PI * (double)a); }
HEDDLE_HOST double cospi(double a) { return ::cos(M_PI * a); }
HEDDLE_HOST float fdividef(float a, float b) { return a / b; }
HEDDLE_HOST double normcdf(double a) { return 0.5 * ::erfc(-M_SQRT1_2 * a); }
HEDDLE_HOST float normcdff(float a) { return (float)normcdf((double)a); }
HEDDLE_HOST unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
HEDDLE_HOST unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
HEDDLE_HOST long long llmin(long long a, long long b) { return b < a ? b : a; }
HEDDLE_HOST long long llmax(long long a, long long b) { return a < b ? b : a; }

HEDDLE_BOTH float rsqrt(float a) { return rsqrtf(a); }
HEDDLE_BOTH float rcbrt(float a) { return rcbrtf(a); }
HEDDLE_BOTH float sinpi(float a) { return sinpif(a); }
HEDDLE_BOTH float cospi(float a) { return cospif(a); }
HEDDLE_BOTH float normcdf(float a) { return normcdff(a); }
HEDDLE_DEVICE void sincospi(float a, float *s, float *c) { sincospif(a, s, c); }
HEDDLE_DEVICE void sincos(float a, float *s, float *c) { sincosf(a, s, c); }
HEDDLE_DEVICE float erfinv(float a) { return erfinvf(a); }
HEDDLE_DEVICE float erfcinv(float a) { return erfcinvf(a); }
HEDDLE_DEVICE float erfcx(float a) { return erfcxf(a); }
HEDDLE_DEVICE float normcdfinv(float a) { return normcdfinvf(a); }
HEDDLE_DEVICE float exp10(float a) { return exp10f(a); }
HEDDLE_DEVICE float j0(float a) { return j0f(a); }
HEDDLE_DEVICE float j1(float a) { return j1f(a); }
HEDDLE_DEVICE float y0(float a) { return y0f(a); }
HEDDLE_DEVICE float y1(float a) { return y1f(a); }
HEDDLE_DEVICE float norm3d(float a, float b, float c) { return norm3df(a, b, c); }
HEDDLE_DEVICE float rhypot(float a, float b) { return rhypotf(a, b); }
HEDDLE_DEVICE float fdivide(float a, float b) { return fdividef(a, b); }
HEDDLE_BOTH long long abs(long long a) { return a < 0 ? -a : a; }

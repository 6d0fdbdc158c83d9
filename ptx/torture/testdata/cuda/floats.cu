// Floating point: every result here is defined by IEEE 754 or by the PTX ISA.
#include "torture.cuh"

KERNEL fl_f64(const double *a, const double *b, double *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    double x = a[i], y = b[i], *o = out + 10 * i;
    o[0] = x + y;
    o[1] = x * y;
    o[2] = x / y;
    o[3] = __nvvm_sqrt_rn_d(x);
    o[4] = fma(x, y, -x);
    o[5] = __nvvm_rcp_rn_d(y);
    o[6] = __builtin_fmin(x, y);
    o[7] = __builtin_fmax(x, y);
    o[8] = __builtin_floor(x) + __builtin_trunc(y);
    o[9] = x < y ? -x : __builtin_fabs(y);
}

KERNEL fl_f32(const float *a, const float *b, const float *c, float *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    float x = a[i], y = b[i], z = c[i], *o = out + 10 * i;
    o[0] = x + y;
    o[1] = x * y;
    o[2] = x / y;
    o[3] = sqrtf(x);
    o[4] = fmaf(x, y, z);
    o[5] = __nvvm_rcp_rn_f(y);
    o[6] = fminf(x, y);
    o[7] = fmaxf(x, z);
    o[8] = floorf(x) - __builtin_ceilf(y) + __builtin_truncf(z);
    o[9] = x - y * z;
}

// All four rounding modes of add, multiply, divide, fused multiply-add and square root.
#define MODES(OP, T, A, B, O)          \
    O[0] = __nvvm_##OP##_rn_##T(A, B); \
    O[1] = __nvvm_##OP##_rz_##T(A, B); \
    O[2] = __nvvm_##OP##_rm_##T(A, B); \
    O[3] = __nvvm_##OP##_rp_##T(A, B)
#define MODES1(OP, T, A, O)         \
    O[0] = __nvvm_##OP##_rn_##T(A); \
    O[1] = __nvvm_##OP##_rz_##T(A); \
    O[2] = __nvvm_##OP##_rm_##T(A); \
    O[3] = __nvvm_##OP##_rp_##T(A)
#define MODES3(OP, T, A, B, C, O)         \
    O[0] = __nvvm_##OP##_rn_##T(A, B, C); \
    O[1] = __nvvm_##OP##_rz_##T(A, B, C); \
    O[2] = __nvvm_##OP##_rm_##T(A, B, C); \
    O[3] = __nvvm_##OP##_rp_##T(A, B, C)

KERNEL fl_round32(const float *a, const float *b, const float *c, float *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    float x = a[i], y = b[i], z = c[i], *o = out + 24 * i;
    MODES(add, f, x, y, o);
    MODES(mul, f, x, y, (o + 4));
    MODES(div, f, x, y, (o + 8));
    MODES3(fma, f, x, y, z, (o + 12));
    MODES1(sqrt, f, fabsf(x), (o + 16));
    MODES1(rcp, f, y, (o + 20));
}

KERNEL fl_round64(const double *a, const double *b, const double *c, double *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    double x = a[i], y = b[i], z = c[i], *o = out + 24 * i;
    MODES(add, d, x, y, o);
    MODES(mul, d, x, y, (o + 4));
    MODES(div, d, x, y, (o + 8));
    MODES3(fma, d, x, y, z, (o + 12));
    MODES1(sqrt, d, fabs(x), (o + 16));
    MODES1(rcp, d, y, (o + 20));
}

#define CVT(D, S, CD, CS, OUT, IN) asm volatile("cvt." D "." S " %0, %1;" : "=" CD(OUT) : CS(IN))

// To integers: four roundings, saturation at the ends of the range, NaN is zero.
KERNEL fl_to_int(const float *a, const double *b, i32 *o32, u64 *o64, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    float x = a[i];
    double y = b[i];
    i32 r;
    u64 w;
    i32 *o = o32 + 12 * i;
    u64 *q = o64 + 6 * i;
    CVT("rni.s32", "f32", "r", "f", r, x); o[0] = r;
    CVT("rzi.s32", "f32", "r", "f", r, x); o[1] = r;
    CVT("rmi.s32", "f32", "r", "f", r, x); o[2] = r;
    CVT("rpi.s32", "f32", "r", "f", r, x); o[3] = r;
    CVT("rni.u32", "f32", "r", "f", r, x); o[4] = r;
    CVT("rzi.u32", "f32", "r", "f", r, x); o[5] = r;
    CVT("rni.s32", "f64", "r", "d", r, y); o[6] = r;
    CVT("rzi.s32", "f64", "r", "d", r, y); o[7] = r;
    CVT("rmi.u32", "f64", "r", "d", r, y); o[8] = r;
    CVT("rpi.s32", "f64", "r", "d", r, y); o[9] = r;
    asm volatile("{ .reg .s16 h; cvt.rzi.s16.f32 h, %1; cvt.s32.s16 %0, h; }" : "=r"(r) : "f"(x)); o[10] = r;
    asm volatile("{ .reg .u16 h; cvt.rni.u16.f32 h, %1; cvt.u32.u16 %0, h; }" : "=r"(r) : "f"(x)); o[11] = r;
    CVT("rni.s64", "f32", "l", "f", w, x); q[0] = w;
    CVT("rzi.u64", "f32", "l", "f", w, x); q[1] = w;
    CVT("rni.s64", "f64", "l", "d", w, y); q[2] = w;
    CVT("rmi.s64", "f64", "l", "d", w, y); q[3] = w;
    CVT("rpi.u64", "f64", "l", "d", w, y); q[4] = w;
    CVT("rzi.u64", "f64", "l", "d", w, y); q[5] = w;
}

// From integers and between precisions, four roundings.
KERNEL fl_from_int(const u32 *a, const u64 *b, const double *c, float *f, double *d, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 x = a[i];
    u64 y = b[i];
    double z = c[i], *q = d + 6 * i;
    float *o = f + 16 * i, r;
    double w;
    CVT("rn.f32", "s32", "f", "r", r, x); o[0] = r;
    CVT("rz.f32", "s32", "f", "r", r, x); o[1] = r;
    CVT("rm.f32", "s32", "f", "r", r, x); o[2] = r;
    CVT("rp.f32", "s32", "f", "r", r, x); o[3] = r;
    CVT("rn.f32", "u32", "f", "r", r, x); o[4] = r;
    CVT("rz.f32", "u32", "f", "r", r, x); o[5] = r;
    CVT("rn.f32", "s64", "f", "l", r, y); o[6] = r;
    CVT("rn.f32", "u64", "f", "l", r, y); o[7] = r;
    CVT("rm.f32", "s64", "f", "l", r, y); o[8] = r;
    CVT("rp.f32", "u64", "f", "l", r, y); o[9] = r;
    CVT("rn.f32", "f64", "f", "d", r, z); o[10] = r;
    CVT("rz.f32", "f64", "f", "d", r, z); o[11] = r;
    CVT("rm.f32", "f64", "f", "d", r, z); o[12] = r;
    CVT("rp.f32", "f64", "f", "d", r, z); o[13] = r;
    CVT("rni.f32", "f32", "f", "f", r, o[10]); o[14] = r;
    CVT("rpi.f32", "f32", "f", "f", r, o[10]); o[15] = r;
    q[0] = (double)(i32)x;
    q[1] = (double)x;
    CVT("rn.f64", "s64", "d", "l", w, y); q[2] = w;
    CVT("rz.f64", "u64", "d", "l", w, y); q[3] = w;
    q[4] = (double)o[10];
    CVT("rni.f64", "f64", "d", "d", w, z); q[5] = w;
}

// Every ordered and unordered comparison of every pair of special values.
KERNEL fl_compare(const float *v, const double *w, u32 *out, u32 n)
{
    u32 i = threadIdx.x, j = threadIdx.y, r, acc = 0;
    if (i >= n || j >= n) return;
    float x = v[i], y = v[j];
    double s = w[i], t = w[j];
#define CMP(OP)                                                                                                             \
    asm volatile("{ .reg .pred p; setp." OP ".f32 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "f"(x), "f"(y));          \
    acc = acc << 1 | r;                                                                                                     \
    asm volatile("{ .reg .pred p; setp." OP ".f64 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "d"(s), "d"(t));          \
    acc = acc << 1 | r
    CMP("eq"); CMP("ne"); CMP("lt"); CMP("le"); CMP("gt"); CMP("ge");
    CMP("equ"); CMP("neu"); CMP("ltu"); CMP("leu"); CMP("gtu"); CMP("geu");
    CMP("num"); CMP("nan");
    out[i * n + j] = acc;
}

// Minimum, maximum, saturation, flush to zero, sign operations on special values.
KERNEL fl_special(const float *v, float *out, u32 n)
{
    u32 i = threadIdx.x, j = threadIdx.y;
    if (i >= n || j >= n) return;
    float x = v[i], y = v[j], r, *o = out + 10 * (i * n + j);
    asm volatile("min.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); o[0] = r;
    asm volatile("max.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); o[1] = r;
    asm volatile("add.sat.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); o[2] = r;
    asm volatile("mul.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); o[3] = r;
    asm volatile("add.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); o[4] = r;
    asm volatile("fma.rn.ftz.sat.f32 %0, %1, %2, %1;" : "=f"(r) : "f"(x), "f"(y)); o[5] = r;
    asm volatile("neg.f32 %0, %1;" : "=f"(r) : "f"(x)); o[6] = r;
    asm volatile("abs.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); o[7] = r;
    asm volatile("cvt.sat.f32.f32 %0, %1;" : "=f"(r) : "f"(x)); o[8] = r;
    asm volatile("copysign.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); o[9] = r;
}

// 2^k for integer k is exact, also by approximation.
KERNEL fl_ex2(float *out)
{
    u32 i = TID;
    out[i] = heddle_ex2((float)((i32)i - 126));
}

// Kahan summation: fails if the compiler or the emulator reorders.
KERNEL fl_kahan(const float *in, float *out, u32 per)
{
    u32 i = TID;
    float sum = 0, lost = 0;
    for (u32 k = 0; k < per; k++) {
        float y = in[i * per + k] - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    out[2 * i] = sum;
    out[2 * i + 1] = lost;
}

// Bit patterns: exponent and significand taken apart and put together again.
KERNEL fl_bits(const double *in, double *out, i32 *expo, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u64 b = __builtin_bit_cast(u64, in[i]);
    i32 e = (i32)(b >> 52 & 0x7ff) - 1022;
    expo[i] = e;
    out[i] = __builtin_bit_cast(double, (b & ~(0x7ffull << 52)) | 1022ull << 52) * (e & 1 ? 2.0 : 1.0);
}

// The special function unit; the ISA bounds the error of each.
KERNEL fl_approx(const float *in, float *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    float x = in[i], y = in[(i * 7 + 1) % n], r, *o = out + 10 * i;
    o[0] = heddle_ex2(x);
    o[1] = heddle_lg2(x);
    o[2] = heddle_rcp(x);
    o[3] = heddle_rsqrt(x);
    asm volatile("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x)); o[4] = r;
    o[5] = heddle_sin(x);
    o[6] = heddle_cos(x);
    asm volatile("div.approx.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); o[7] = r;
    asm volatile("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); o[8] = r;
    asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x)); o[9] = r;
}

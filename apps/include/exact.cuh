// exact.cuh -- elementary functions from IEEE operations only, for kernels whose results
// a CPU reference must reproduce bit for bit. reference/exact.go does the same there.
#pragma once

#include "heddle.cuh"

// exact_exp is e^a for |a| < 87, good to 1 ulp or so: 2^t times a polynomial of the rest,
// which lies within half of ln 2 (Cody and Waite's reduction, Taylor coefficients).
HEDDLE_FN float exact_exp(float a)
{
    float t = __builtin_rintf(a * 1.44269504f);
    float r = fmaf(t, -0.693359375f, a);
    r = fmaf(t, 2.12194440e-4f, r);
    float p = fmaf(r, 1.0f / 720.0f, 1.0f / 120.0f);
    p = fmaf(r, p, 1.0f / 24.0f);
    p = fmaf(r, p, 1.0f / 6.0f);
    p = fmaf(r, p, 0.5f);
    p = fmaf(r, p, 1.0f);
    p = fmaf(r, p, 1.0f);
    return p * __int_as_float(((int)t + 127) << 23);
}

// cuComplex.h -- complex numbers as pairs, x + iy.
#pragma once
#define CU_COMPLEX_H_

#include <math.h>
#include "vector_functions.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// The quotient is scaled by the divisor's larger part, so that no square overflows (Smith's method).
#define HEDDLE_COMPLEX(V, T, f, F, ABS, SQRT)                                                                    \
    HEDDLE_BOTH V make_cu##F##Complex(T r, T i) { return V{r, i}; }                                              \
    HEDDLE_BOTH T cuCreal##f(V a) { return a.x; }                                                                \
    HEDDLE_BOTH T cuCimag##f(V a) { return a.y; }                                                                \
    HEDDLE_BOTH V cuConj##f(V a) { return V{a.x, -a.y}; }                                                        \
    HEDDLE_BOTH V cuCadd##f(V a, V b) { return V{a.x + b.x, a.y + b.y}; }                                        \
    HEDDLE_BOTH V cuCsub##f(V a, V b) { return V{a.x - b.x, a.y - b.y}; }                                        \
    HEDDLE_BOTH V cuCmul##f(V a, V b) { return V{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }                \
    HEDDLE_BOTH V cuCfma##f(V a, V b, V c) { return cuCadd##f(cuCmul##f(a, b), c); }                             \
    HEDDLE_BOTH V cuCdiv##f(V a, V b)                                                                            \
    {                                                                                                            \
        if (ABS(b.x) >= ABS(b.y)) {                                                                              \
            T q = b.y / b.x, d = b.x + b.y * q;                                                                  \
            return V{(a.x + a.y * q) / d, (a.y - a.x * q) / d};                                                  \
        }                                                                                                        \
        T q = b.x / b.y, d = b.x * q + b.y;                                                                      \
        return V{(a.x * q + a.y) / d, (a.y * q - a.x) / d};                                                      \
    }                                                                                                            \
    HEDDLE_BOTH T cuCabs##f(V a)                                                                                 \
    {                                                                                                            \
        T x = ABS(a.x), y = ABS(a.y), l = x > y ? x : y, s = x > y ? y : x;                                      \
        if (l == 0 || l == (T)__builtin_huge_val() || s != s) return x + y;                                       \
        return l * SQRT(1 + (s / l) * (s / l));                                                                  \
    }
HEDDLE_COMPLEX(cuFloatComplex, float, f, Float, fabsf, sqrtf)
HEDDLE_COMPLEX(cuDoubleComplex, double, , Double, fabs, sqrt)
#undef HEDDLE_COMPLEX

HEDDLE_BOTH cuComplex make_cuComplex(float r, float i) { return cuComplex{r, i}; }
HEDDLE_BOTH cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex c) { return cuDoubleComplex{c.x, c.y}; }
HEDDLE_BOTH cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex c) { return cuFloatComplex{(float)c.x, (float)c.y}; }

// Kernels that are measured beside each other. Products are unrolled four times, as nvcc unrolls them. Copies are not:
// what clang makes of unrolled ones has more 64-bit additions than nvcc's, which moves a row of 32 in 22 to 24 cycles
// of a scheduler.
#include "common.h"
#define MUL64(N, BODY)                                                                         \
    extern "C" __global__ void mul64_ilp##N(const double *a, const double *b, double *out, u64 turns) \
    {                                                                                          \
        double p = a[threadIdx.x], q = b[threadIdx.x], x0 = 1, x1 = 1, x2 = 1, x3 = q;         \
        _Pragma("unroll 4") for (u64 i = 0; i < turns; i++) { BODY }                           \
        out[threadIdx.x] = x0 + x1 + x2 + x3;                                                  \
    }
MUL64(1, x0 *= p;)
MUL64(2, x0 *= p; x1 *= q;)
MUL64(3, x0 *= p; x1 *= q; x2 *= p;)
MUL64(4, x0 *= p; x1 *= q; x2 *= p; x3 *= q;)
// the whole grid copies n floats, again and again; in and out may be the same to the compiler
extern "C" __global__ void copy(const float *in, float *out, u64 n, u64 turns)
{
    u64 first = threadIdx.x + (u64)blockDim.x * blockIdx.x, step = (u64)gridDim.x * blockDim.x;
    for (u64 j = 0; j < turns; j++) {
        _Pragma("unroll 1") for (u64 i = first; i < n; i += step) out[i] = in[i];
    }
}
// every block copies n floats of its own, `apart` floats from the next block's
extern "C" __global__ void copy_blocks(const float *in, float *out, u32 n, u32 apart, u64 turns)
{
    u32 first = blockIdx.x * apart, end = first + n;
    for (u64 j = 0; j < turns; j++) {
        _Pragma("unroll 1") for (u32 i = first + threadIdx.x; i < end; i += blockDim.x) out[i] = in[i];
    }
}
extern "C" __global__ void sleeper(u64 turns)
{
    _Pragma("unroll 1") for (u64 i = 0; i < turns; i++) asm volatile("nanosleep.u32 1000;");
}

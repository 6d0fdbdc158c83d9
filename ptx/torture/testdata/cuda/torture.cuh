// torture.cuh -- what all torture kernels share, on top of the applications' header.
#pragma once
#include "heddle.cuh"

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

#define KERNEL extern "C" __global__ void
#define TID (blockIdx.x * blockDim.x + threadIdx.x)

// mix scrambles the bits of x (a bijection), so that neighbouring threads diverge.
HEDDLE_FN u32 mix(u32 x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

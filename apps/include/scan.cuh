// scan.cuh -- exclusive prefix sums of integers (Blelloch 1990; by warps with shuffles,
// Sengupta et al. 2007), 256 elements per block. A script scans the block sums again
// until one block is left, then adds the results back level by level.
#pragma once
#include "heddle.cuh"

#define SCAN_BLOCK 256

// Inclusive sum over the lanes up to this one.
HEDDLE_FN int warp_inclusive(int v)
{
    int lane = threadIdx.x & 31;
    for (unsigned d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= (int)d) v += left;
    }
    return v;
}

extern "C" __global__ void scan_blocks(const int *in, int *out, int *sum, int n)
{
    __shared__ int warp[SCAN_BLOCK / 32];
    int t = threadIdx.x, i = blockIdx.x * SCAN_BLOCK + t;
    int own = i < n ? in[i] : 0, upto = warp_inclusive(own);
    if ((t & 31) == 31) warp[t >> 5] = upto;
    __syncthreads();
    if (t < 32) {
        int s = t < SCAN_BLOCK / 32 ? warp[t] : 0;
        s = warp_inclusive(s);
        if (t < SCAN_BLOCK / 32) warp[t] = s;
    }
    __syncthreads();
    int before = t < 32 ? 0 : warp[(t >> 5) - 1];
    if (i < n) out[i] = before + upto - own;
    if (t == SCAN_BLOCK - 1) sum[blockIdx.x] = before + upto;
}

extern "C" __global__ void scan_add(int *out, const int *before, int n)
{
    int i = blockIdx.x * SCAN_BLOCK + threadIdx.x;
    if (i < n) out[i] += before[blockIdx.x];
}

// sort.cuh -- bitonic sort (Batcher 1968) of pairs (64-bit key, 32-bit value) by key,
// then value. The length is a power of two and at least SORT_TILE. A block of
// SORT_TILE / 2 threads does in shared memory all steps that stay within its tile.
#pragma once
#include "heddle.cuh"

#define SORT_TILE 1024

// Puts the pair (i, j) in order: ascending where bit `size` of i is 0.
HEDDLE_FN void compare(unsigned long long *key, unsigned *value, unsigned i, unsigned j, bool ascending)
{
    unsigned long long a = key[i], b = key[j];
    unsigned x = value[i], y = value[j];
    bool above = a > b || (a == b && x > y);
    if (above != ascending) return;
    key[i] = b;
    key[j] = a;
    value[i] = y;
    value[j] = x;
}

// The lower element of the t-th pair of elements `stride` apart.
HEDDLE_FN unsigned lower(unsigned t, unsigned stride) { return 2 * t - (t & (stride - 1)); }

// Steps with stride up to SORT_TILE / 2 of the merges of `from` to `to` elements.
extern "C" __global__ void sort_tile(unsigned long long *key, unsigned *value, unsigned from, unsigned to)
{
    __shared__ unsigned long long k[SORT_TILE];
    __shared__ unsigned v[SORT_TILE];
    unsigned t = threadIdx.x, base = blockIdx.x * SORT_TILE;
    for (unsigned s = t; s < SORT_TILE; s += SORT_TILE / 2) {
        k[s] = key[base + s];
        v[s] = value[base + s];
    }
    __syncthreads();
    for (unsigned size = from; size <= to; size *= 2)
        for (unsigned stride = min((int)size, SORT_TILE) / 2; stride > 0; stride /= 2) {
            unsigned i = lower(t, stride);
            compare(k, v, i, i + stride, ((base + i) & size) == 0);
            __syncthreads();
        }
    for (unsigned s = t; s < SORT_TILE; s += SORT_TILE / 2) {
        key[base + s] = k[s];
        value[base + s] = v[s];
    }
}

extern "C" __global__ void sort_step(unsigned long long *key, unsigned *value, unsigned size, unsigned stride)
{
    unsigned i = lower(blockIdx.x * blockDim.x + threadIdx.x, stride);
    compare(key, value, i, i + stride, (i & size) == 0);
}

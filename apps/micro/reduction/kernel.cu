// reduction: the sum of n floats in two launches of the same kernel. A block adds its
// grid-stride share, then its warps reduce by shuffles and the first warp adds the
// partial sums of the warps. Blocks of 32..1024 threads, a multiple of 32.
#include "heddle.cuh"

static __device__ __forceinline__ float warp_sum(float v)
{
    for (unsigned d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

extern "C" __global__ void reduce_sum(const float *in, float *out, unsigned n)
{
    __shared__ float partial[32];
    unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5, stride = gridDim.x * blockDim.x;
    float v = 0.0f;
    for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += stride) v += in[i];
    v = warp_sum(v);
    if (lane == 0) partial[warp] = v;
    __syncthreads();
    if (warp != 0) return;
    v = lane < (blockDim.x >> 5) ? partial[lane] : 0.0f;
    v = warp_sum(v);
    if (lane == 0) out[blockIdx.x] = v;
}

// histogram: 256 bins over bytes. Each block counts its grid-stride share of 4-byte
// words in shared memory and adds its counts to the global bins at the end.
#include "heddle.cuh"

extern "C" __global__ void histogram256(const unsigned *words, unsigned *bins, unsigned n)
{
    __shared__ unsigned count[256];
    for (unsigned b = threadIdx.x; b < 256; b += blockDim.x) count[b] = 0;
    __syncthreads();
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned w = words[i];
        atomicAdd(&count[w & 255], 1u);
        atomicAdd(&count[w >> 8 & 255], 1u);
        atomicAdd(&count[w >> 16 & 255], 1u);
        atomicAdd(&count[w >> 24], 1u);
    }
    __syncthreads();
    for (unsigned b = threadIdx.x; b < 256; b += blockDim.x)
        if (count[b]) atomicAdd(&bins[b], count[b]);
}

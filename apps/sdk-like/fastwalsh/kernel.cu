// fastwalsh: the fast Walsh-Hadamard transform in natural order (Fino and Algazi 1976)
// and a product, from which the host builds a dyadic convolution. The large strides go
// through global memory, two stages of butterflies at a time; the stages within a tile
// through shared memory.
#include "heddle.cuh"

#define LOG_TILE 11

// A thread takes four values `stride` apart through the stages of strides 2 stride and stride, in place. Each row of
// the grid has an array of its own.
extern "C" __global__ void fwt_global(float *data, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = 4 * gridDim.x * blockDim.x, low = i & (stride - 1);
    float *d = data + blockIdx.y * n;
    int i0 = 4 * (i - low) + low, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
    float d0 = d[i0], d1 = d[i1], d2 = d[i2], d3 = d[i3];
    float s0 = d0 + d2, s2 = d0 - d2, s1 = d1 + d3, s3 = d1 - d3;
    d[i0] = s0 + s1;
    d[i1] = s0 - s1;
    d[i2] = s2 + s3;
    d[i3] = s2 - s3;
}

// A block transforms a tile of 2^log_tile values, at most 2^LOG_TILE.
extern "C" __global__ void fwt_tile(float *data, unsigned log_tile)
{
    __shared__ float s[1 << LOG_TILE];
    unsigned tile = 1u << log_tile, t = threadIdx.x;
    float *d = data + (unsigned long long)blockIdx.x * tile;
    for (unsigned i = t; i < tile; i += blockDim.x) s[i] = d[i];
    for (unsigned stride = tile / 2; stride > 0; stride /= 2) {
        __syncthreads();
        for (unsigned i = t; i < tile / 2; i += blockDim.x) {
            unsigned low = i & (stride - 1), at = 2 * (i - low) + low;
            float a = s[at], b = s[at + stride];
            s[at] = a + b;
            s[at + stride] = a - b;
        }
    }
    __syncthreads();
    for (unsigned i = t; i < tile; i += blockDim.x) d[i] = s[i];
}

extern "C" __global__ void fwt_product(float *a, const float *b, float scale, unsigned n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] = a[i] * b[i] * scale;
}

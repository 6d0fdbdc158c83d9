// triad: a = b + s * c, the fourth kernel of McCalpin's STREAM, one element per thread.
#include "heddle.cuh"

extern "C" __global__ void triad(float *a, const float *b, const float *c, float s, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = fmaf(s, c[i], b[i]);
}

// gesummv: y = alpha A x + beta B x for two row-major nx x ny matrices. A thread owns a
// row of both, so a warp reads 32 rows of each at once (one line per lane).
#include "heddle.cuh"

extern "C" __global__ void gesummv(const float *A, const float *B, const float *x, float *y, float alpha, float beta, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nx) return;
    float a = 0.0f, b = 0.0f;
    for (int j = 0; j < ny; j++) {
        long long at = (long long)i * ny + j;
        float v = x[j];
        a = fmaf(A[at], v, a);
        b = fmaf(B[at], v, b);
    }
    y[i] = fmaf(alpha, a, beta * b);
}

// bicg: the two products of a BiCG step, s = A^T r and q = A p, for a row-major nx x ny
// matrix. In the first kernel a thread owns a column, so a warp reads 32 neighbouring
// words; in the second a thread owns a row, so a warp reads 32 rows at once (one line
// per lane).
#include "heddle.cuh"

extern "C" __global__ void bicg_s(const float *A, const float *r, float *s, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= ny) return;
    float sum = 0.0f;
    for (int i = 0; i < nx; i++) sum = fmaf(A[(long long)i * ny + j], r[i], sum);
    s[j] = sum;
}

extern "C" __global__ void bicg_q(const float *A, const float *p, float *q, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nx) return;
    float sum = 0.0f;
    for (int j = 0; j < ny; j++) sum = fmaf(A[(long long)i * ny + j], p[j], sum);
    q[i] = sum;
}

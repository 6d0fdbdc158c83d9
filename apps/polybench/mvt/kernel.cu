// mvt: x1 = x1 + A y1 and x2 = x2 + A^T y2 for a row-major nx x ny matrix. In the first
// kernel a thread owns a row, so a warp reads 32 rows at once (one line per lane); in
// the second a thread owns a column, so a warp reads 32 neighbouring words.
#include "heddle.cuh"

extern "C" __global__ void mvt_rows(const float *A, const float *y1, float *x1, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nx) return;
    float sum = x1[i];
    for (int j = 0; j < ny; j++) sum = fmaf(A[(long long)i * ny + j], y1[j], sum);
    x1[i] = sum;
}

extern "C" __global__ void mvt_columns(const float *A, const float *y2, float *x2, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= ny) return;
    float sum = x2[j];
    for (int i = 0; i < nx; i++) sum = fmaf(A[(long long)i * ny + j], y2[i], sum);
    x2[j] = sum;
}

// atax: y = A^T (A x) for a row-major nx x ny matrix, in two kernels. In the first a
// thread owns a row, so a warp reads 32 rows at once (one line per lane); in the second
// a thread owns a column, so a warp reads 32 neighbouring words.
#include "heddle.cuh"

extern "C" __global__ void atax_ax(const float *A, const float *x, float *tmp, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nx) return;
    float sum = 0.0f;
    for (int j = 0; j < ny; j++) sum = fmaf(A[(long long)i * ny + j], x[j], sum);
    tmp[i] = sum;
}

extern "C" __global__ void atax_aty(const float *A, const float *tmp, float *y, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= ny) return;
    float sum = 0.0f;
    for (int i = 0; i < nx; i++) sum = fmaf(A[(long long)i * ny + j], tmp[i], sum);
    y[j] = sum;
}

// As PolyBench writes it: each product is added to the result in memory, of which the compiler may keep only the value.
extern "C" __global__ void atax_ax_stored(const float *A, const float *x, float *tmp, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nx) return;
    for (int j = 0; j < ny; j++) tmp[i] = fmaf(A[(long long)i * ny + j], x[j], tmp[i]);
}

extern "C" __global__ void atax_aty_stored(const float *A, const float *tmp, float *y, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= ny) return;
    for (int i = 0; i < nx; i++) y[j] = fmaf(A[(long long)i * ny + j], tmp[i], y[j]);
}

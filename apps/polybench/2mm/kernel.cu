// 2mm: D = alpha A B C + beta D in two untiled products of row-major matrices: tmp
// (ni x nj) = alpha A (ni x nk) B (nk x nj), then D (ni x nl) = tmp C (nj x nl) + beta D.
// A thread computes one element; a warp reads one word of the left matrix and 32
// neighbouring words of the right one per step.
#include "heddle.cuh"

extern "C" __global__ void mm_first(const float *A, const float *B, float *tmp, float alpha, int ni, int nj, int nk)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= ni || j >= nj) return;
    float sum = 0.0f;
    for (int k = 0; k < nk; k++) sum = fmaf(alpha * A[i * nk + k], B[k * nj + j], sum);
    tmp[i * nj + j] = sum;
}

extern "C" __global__ void mm_second(const float *tmp, const float *C, float *D, float beta, int ni, int nj, int nl)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= ni || j >= nl) return;
    float sum = beta * D[i * nl + j];
    for (int k = 0; k < nj; k++) sum = fmaf(tmp[i * nj + k], C[k * nl + j], sum);
    D[i * nl + j] = sum;
}

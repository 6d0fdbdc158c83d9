// 2mm: D = alpha A B C + beta D in two untiled products of row-major matrices: tmp
// (ni x nj) = alpha A (ni x nk) B (nk x nj), then D (ni x nl) = tmp C (nj x nl) + beta D.
// A thread computes one element; a warp reads one word of the left matrix and 32
// neighbouring words of the right one per step. The sum stands in global memory and is added to at every
// step: no pointer says that it meets no other, so that the compiler may not keep it in a register alone.
#include "heddle.cuh"

extern "C" __global__ void mm_first(const float *A, const float *B, float *tmp, float alpha, int ni, int nj, int nk)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= ni || j >= nj) return;
    tmp[i * nj + j] = 0.0f;
    for (int k = 0; k < nk; k++) tmp[i * nj + j] = fmaf(alpha * A[i * nk + k], B[k * nj + j], tmp[i * nj + j]);
}

extern "C" __global__ void mm_second(const float *tmp, const float *C, float *D, float beta, int ni, int nj, int nl)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= ni || j >= nl) return;
    D[i * nl + j] *= beta;
    for (int k = 0; k < nj; k++) D[i * nl + j] = fmaf(tmp[i * nj + k], C[k * nl + j], D[i * nl + j]);
}

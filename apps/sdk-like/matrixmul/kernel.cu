// matrixmul: C (m x n) = A (m x k) B (k x n), row-major, in 32 x 32 tiles of shared
// memory; m, n and k are multiples of 32. A block has 32 x 8 threads, each of which
// computes four rows of one column of the tile.
#include "heddle.cuh"

#define T 32
#define ROWS 4

extern "C" __global__ void matrixmul(const float *A, const float *B, float *C, int n, int k)
{
    __shared__ float a[T][T], b[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * T + tx, row = blockIdx.y * T + ty;
    float acc[ROWS] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k0 = 0; k0 < k; k0 += T) {
        for (int r = 0; r < ROWS; r++) {
            a[ty + 8 * r][tx] = A[(row + 8 * r) * k + k0 + tx];
            b[ty + 8 * r][tx] = B[(k0 + ty + 8 * r) * n + col];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; i++)
            for (int r = 0; r < ROWS; r++) acc[r] = fmaf(a[ty + 8 * r][i], b[i][tx], acc[r]);
        __syncthreads();
    }
    for (int r = 0; r < ROWS; r++) C[(row + 8 * r) * n + col] = acc[r];
}

// sgemm: C = alpha A B^T + beta C, column-major, A m x k, B n x k, C m x n, blocked for
// registers (Volkov and Demmel 2008): a block of 16 x 8 threads computes 128 x 16
// elements, a thread one row of 16. A's column is read once per thread and stays in a
// register; 8 x 16 words of B stand in shared memory. m, n and k are multiples of 128,
// 16 and 8.
#include "heddle.cuh"

#define N 16
#define K 8

extern "C" __global__ void sgemm(const float *A, const float *B, float *C, float alpha, float beta, int m, int n, int k)
{
    __shared__ float b[K][N];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.x * 128 + ty * 16 + tx, col = blockIdx.y * N;
    float acc[N];
#pragma unroll
    for (int j = 0; j < N; j++) acc[j] = 0.0f;
    for (int k0 = 0; k0 < k; k0 += K) {
        b[ty][tx] = B[(k0 + ty) * n + col + tx];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < K; i++) {
            float a = A[(k0 + i) * m + row];
#pragma unroll
            for (int j = 0; j < N; j++) acc[j] = fmaf(a, b[i][j], acc[j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < N; j++) {
        float *c = C + (col + j) * m + row;
        *c = fmaf(alpha, acc[j], beta * *c);
    }
}

// lud: LU decomposition in place without pivoting, by blocks of 16 x 16 (Golub and Van
// Loan, Matrix Computations, section 3.2.10). Per block step three kernels: the diagonal
// block, the blocks right of and below it, and the update of all that remains. Every
// element subtracts its products in the order of k, so the result does not depend on the
// block size.
#include "heddle.cuh"

#define B 16

// One block of B threads: thread t owns row t.
extern "C" __global__ void lud_diagonal(float *a, int n, int at)
{
    __shared__ float d[B][B];
    int t = threadIdx.x;
    for (int r = 0; r < B; r++) d[r][t] = a[(at + r) * n + at + t];
    __syncthreads();
    for (int k = 0; k < B - 1; k++) {
        if (t > k) {
            d[t][k] /= d[k][k];
            for (int j = k + 1; j < B; j++) d[t][j] = fmaf(-d[t][k], d[k][j], d[t][j]);
        }
        __syncthreads();
    }
    for (int r = 0; r < B; r++) a[(at + r) * n + at + t] = d[r][t];
}

// Block b does the b-th block to the right (threads 0 to 15, a column each) and the b-th
// below (threads 16 to 31, a row each).
extern "C" __global__ void lud_perimeter(float *a, int n, int at)
{
    __shared__ float d[B][B], right[B][B], below[B][B + 1];
    int t = threadIdx.x & (B - 1), half = threadIdx.x / B, off = at + B * (1 + (int)blockIdx.x);
    for (int r = half; r < B; r += 2) {
        d[r][t] = a[(at + r) * n + at + t];
        right[r][t] = a[(at + r) * n + off + t];
        below[r][t] = a[(off + r) * n + at + t];
    }
    __syncthreads();
    if (half == 0) {
        for (int k = 0; k < B - 1; k++)
            for (int r = k + 1; r < B; r++) right[r][t] = fmaf(-d[r][k], right[k][t], right[r][t]);
    } else {
        for (int k = 0; k < B; k++) {
            below[t][k] /= d[k][k];
            for (int j = k + 1; j < B; j++) below[t][j] = fmaf(-below[t][k], d[k][j], below[t][j]);
        }
    }
    __syncthreads();
    for (int r = half; r < B; r += 2) {
        a[(at + r) * n + off + t] = right[r][t];
        a[(off + r) * n + at + t] = below[r][t];
    }
}

extern "C" __global__ void lud_internal(float *a, int n, int at)
{
    __shared__ float l[B][B], u[B][B];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = at + B * (1 + (int)blockIdx.y) + ty, col = at + B * (1 + (int)blockIdx.x) + tx;
    l[ty][tx] = a[row * n + at + tx];
    u[ty][tx] = a[(at + ty) * n + col];
    __syncthreads();
    float v = a[row * n + col];
    for (int k = 0; k < B; k++) v = fmaf(-l[ty][k], u[k][tx], v);
    a[row * n + col] = v;
}

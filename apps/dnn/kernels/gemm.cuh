// Dense products: a tiled matrix product in floats or bytes, and matrix times vector.
#pragma once
#include "dnn.cuh"

#define TILE_M 32
#define TILE_N 64
#define TILE_K 16

DNN_FN float multiply_add(float a, float b, float sum) { return fmaf(a, b, sum); }

// Four signed bytes times four, summed: one instruction.
DNN_FN int multiply_add(int a, int b, int sum)
{
    int r;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(sum));
    return r;
}

// C (m x n) = activation(alpha A (m x k) B + bias + residual), for each blockIdx.z with
// the three matrices step_* elements further. B is k x n, or with BT n x k. bias (one
// per column) and residual (laid out as C) may be null. T is float, or int for four
// signed bytes along k. 16 x 8 threads compute a tile of 32 x 64, 4 x 4 each, 8 rows
// and 16 columns apart so that no banks conflict; each element is summed over k in order.
template <typename T, bool BT, Activation ACT>
DNN_FN void gemm(const T *A, const T *B, const float *bias, const float *residual, float *C, int m, int n, int k,
                 int lda, int ldb, int ldc, int step_a, int step_b, int step_c, float alpha)
{
    __shared__ T a[TILE_K][TILE_M + 1], b[TILE_K][TILE_N + 1];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    int row0 = blockIdx.y * TILE_M, col0 = blockIdx.x * TILE_N;
    A += blockIdx.z * step_a;
    B += blockIdx.z * step_b;
    C += blockIdx.z * step_c;
    T sum[4][4] = {}, next_a[TILE_M * TILE_K / 128], next_b[TILE_N * TILE_K / 128];
    // The next tiles are on their way, in registers, while these are multiplied.
    auto fetch = [&](int k0) {
#pragma unroll
        for (int e = 0; e < TILE_M * TILE_K / 128; e++) {
            int i = row0 + (e * 128 + t) / TILE_K, l = k0 + t % TILE_K;
            next_a[e] = i < m && l < k ? A[i * lda + l] : T(0);
        }
#pragma unroll
        for (int e = 0; e < TILE_N * TILE_K / 128; e++) {
            int j = col0 + (BT ? (e * 128 + t) / TILE_K : t % TILE_N), l = k0 + (BT ? t % TILE_K : (e * 128 + t) / TILE_N);
            next_b[e] = j < n && l < k ? B[BT ? j * ldb + l : l * ldb + j] : T(0);
        }
    };
    fetch(0);
    for (int k0 = 0; k0 < k; k0 += TILE_K) {
#pragma unroll
        for (int e = 0; e < TILE_M * TILE_K / 128; e++) a[t % TILE_K][(e * 128 + t) / TILE_K] = next_a[e];
#pragma unroll
        for (int e = 0; e < TILE_N * TILE_K / 128; e++) {
            int at = e * 128 + t;
            b[BT ? t % TILE_K : at / TILE_N][BT ? at / TILE_K : t % TILE_N] = next_b[e];
        }
        __syncthreads();
        fetch(k0 + TILE_K);
        for (int l = 0; l < TILE_K; l++) {
            T of_a[4], of_b[4];
#pragma unroll
            for (int i = 0; i < 4; i++) of_a[i] = a[l][ty + 8 * i], of_b[i] = b[l][tx + 16 * i];
            asm volatile("" ::: "memory"); // all eight are under way before the first is used
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] = multiply_add(of_a[i], of_b[j], sum[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int row = row0 + ty + 8 * i, col = col0 + tx + 16 * j;
            if (row >= m || col >= n) continue;
            float v = float(sum[i][j]) * alpha;
            if (bias) v += bias[col];
            if (residual) v += residual[row * ldc + col];
            C[row * ldc + col] = activate<ACT>(v);
        }
}

// y = activation(W x + bias): a warp per row, lane l takes elements l, l+32, ...
template <Activation ACT>
DNN_FN void matvec(const float *W, const float *x, const float *bias, float *y, int rows, int k)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = lane; i < k; i += 32) sum = fmaf(W[row * k + i], x[i], sum);
    sum = warp_sum(sum);
    if (lane == 0) y[row] = activate<ACT>(sum + bias[row]);
}

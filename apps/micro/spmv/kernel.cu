// spmv: y = A x with A in compressed sparse rows, in two shapes: one thread per row
// (scalar: neighbouring threads walk different rows, so matrix accesses scatter) and
// one warp per row (vector: the row is read coalesced, then reduced by shuffles).
#include "heddle.cuh"

extern "C" __global__ void spmv_scalar(const int *row, const int *col, const float *val, const float *x, float *y, int rows)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.0f;
    for (int k = row[r], end = row[r + 1]; k < end; k++) sum = fmaf(val[k], x[col[k]], sum);
    y[r] = sum;
}

extern "C" __global__ void spmv_vector(const int *row, const int *col, const float *val, const float *x, float *y, int rows)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (r >= rows) return; // the whole warp leaves: r is the same in all its lanes
    float sum = 0.0f;
    for (int k = row[r] + lane, end = row[r + 1]; k < end; k += 32) sum = fmaf(val[k], x[col[k]], sum);
    for (unsigned d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) y[r] = sum;
}

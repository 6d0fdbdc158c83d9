// lstm: the entries of the network; the kernels stand in ../kernels.
#include "../kernels/gemm.cuh"
#include "../kernels/sequence.cuh"

// x (m x k) W^T (n x k) + bias: all time steps' products with the input at once.
extern "C" __global__ void project(const float *x, const float *W, const float *bias, float *y, int m, int n, int k)
{
    gemm<float, true, LINEAR>(x, W, bias, nullptr, y, m, n, k, k, k, n, 0, 0, 0, 1.0f);
}

extern "C" __global__ void recur(const float *W, const float *x, const float *bias, float *y, int rows, int k)
{
    matvec<LINEAR>(W, x, bias, y, rows, k);
}

extern "C" __global__ void cell(const float *x, const float *h, const float *cell, float *new_cell, float *new_state, int units)
{
    lstm_cell(x, h, cell, new_cell, new_state, units);
}

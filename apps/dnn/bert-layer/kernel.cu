// bert-layer: the entries of the layer; the kernels stand in ../kernels.
#include "../kernels/gemm.cuh"
#include "../kernels/rows.cuh"
#include "../kernels/sequence.cuh"

// y (m x n) = alpha x (m x k) W^T (n x k) + bias + residual, the residual possibly null.
extern "C" __global__ void linear(const float *x, const float *W, const float *bias, const float *residual, float *y, int m, int n, int k, float alpha)
{
    gemm<float, true, LINEAR>(x, W, bias, residual, y, m, n, k, k, k, n, 0, 0, 0, alpha);
}

extern "C" __global__ void linear_gelu(const float *x, const float *W, const float *bias, const float *residual, float *y, int m, int n, int k, float alpha)
{
    gemm<float, true, GELU>(x, W, bias, residual, y, m, n, k, k, k, n, 0, 0, 0, alpha);
}

// The same in signed bytes; k is in words of four.
extern "C" __global__ void linear8(const int *x, const int *W, const float *bias, const float *residual, float *y, int m, int n, int k, float alpha)
{
    gemm<int, true, LINEAR>(x, W, bias, residual, y, m, n, k, k, k, n, 0, 0, 0, alpha);
}

extern "C" __global__ void linear8_gelu(const int *x, const int *W, const float *bias, const float *residual, float *y, int m, int n, int k, float alpha)
{
    gemm<int, true, GELU>(x, W, bias, residual, y, m, n, k, k, k, n, 0, 0, 0, alpha);
}

// Per head (blockIdx.z), whose columns are `depth` of the `width` of q and k: alpha q k^T.
extern "C" __global__ void scores(const float *q, const float *k, float *y, int tokens, int width, int depth, float alpha)
{
    gemm<float, true, LINEAR>(q, k, nullptr, nullptr, y, tokens, tokens, depth, width, width, tokens, depth, depth, tokens * tokens, alpha);
}

// Per head: probabilities (tokens x tokens) times v.
extern "C" __global__ void context(const float *p, const float *v, float *y, int tokens, int width, int depth)
{
    gemm<float, false, LINEAR>(p, v, nullptr, nullptr, y, tokens, depth, tokens, tokens, width, width, tokens * tokens, depth, depth, 1.0f);
}

extern "C" __global__ void softmax(const float *x, float *y, int n) { softmax_rows(x, y, n); }

extern "C" __global__ void layernorm(const float *x, const float *gain, const float *shift, float *y, int n, float inverse, float epsilon)
{
    layernorm_rows(x, gain, shift, y, n, inverse, epsilon);
}

extern "C" __global__ void to_bytes(const float *x, signed char *y, int n, float inverse) { quantize(x, y, n, inverse); }

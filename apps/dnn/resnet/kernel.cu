// resnet: the entries of the network; the kernels stand in ../kernels.
#include "../kernels/conv.cuh"
#include "../kernels/gemm.cuh"
#include "../kernels/image.cuh"
#include "../kernels/rows.cuh"

extern "C" __global__ void columns(const float *x, float *cols, int side, int k, int stride, int pad, int out)
{
    im2col(x, cols, side, k, stride, pad, out);
}

// filters (m x k) times columns (k x n).
extern "C" __global__ void product(const float *w, const float *cols, float *y, int m, int n, int k)
{
    gemm<float, false, LINEAR>(w, cols, nullptr, nullptr, y, m, n, k, k, n, n, 0, 0, 0, 1.0f);
}

extern "C" __global__ void norm(const float *x, const float *scale, const float *shift, const float *shortcut, float *y, int pixels)
{
    batchnorm<LINEAR>(x, scale, shift, shortcut, y, pixels);
}

extern "C" __global__ void norm_relu(const float *x, const float *scale, const float *shift, const float *shortcut, float *y, int pixels)
{
    batchnorm<RELU>(x, scale, shift, shortcut, y, pixels);
}

extern "C" __global__ void maxpool(const float *x, float *y, int side, int k, int stride, int pad, int out)
{
    pool_max(x, y, side, k, stride, pad, out);
}

extern "C" __global__ void meanpool(const float *x, float *y, int channels, int pixels, float inverse)
{
    pool_mean(x, y, channels, pixels, inverse);
}

extern "C" __global__ void dense(const float *W, const float *x, const float *bias, float *y, int rows, int k)
{
    matvec<LINEAR>(W, x, bias, y, rows, k);
}

extern "C" __global__ void softmax(const float *x, float *y, int n) { softmax_rows(x, y, n); }

// alexnet: the entries of the network; the kernels stand in ../kernels.
#include "../kernels/conv.cuh"
#include "../kernels/gemm.cuh"
#include "../kernels/image.cuh"
#include "../kernels/rows.cuh"

extern "C" __global__ void conv_relu(const float *x, const float *w, const float *bias, float *y, int c, int side, int filters, int k, int stride, int pad, int out)
{
    conv_direct<RELU>(x, w, bias, y, c, side, filters, k, stride, pad, out);
}

extern "C" __global__ void lrn(const float *x, float *y, int channels, int pixels, int reach, float bias, float alpha)
{
    normalize_local(x, y, channels, pixels, reach, bias, alpha);
}

extern "C" __global__ void maxpool(const float *x, float *y, int side, int k, int stride, int pad, int out)
{
    pool_max(x, y, side, k, stride, pad, out);
}

extern "C" __global__ void dense_relu(const float *W, const float *x, const float *bias, float *y, int rows, int k)
{
    matvec<RELU>(W, x, bias, y, rows, k);
}

extern "C" __global__ void dense(const float *W, const float *x, const float *bias, float *y, int rows, int k)
{
    matvec<LINEAR>(W, x, bias, y, rows, k);
}

extern "C" __global__ void softmax(const float *x, float *y, int n) { softmax_rows(x, y, n); }

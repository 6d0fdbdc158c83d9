// squeezenet: the entries of the network; the kernels stand in ../kernels.
#include "../kernels/conv.cuh"
#include "../kernels/image.cuh"
#include "../kernels/rows.cuh"

extern "C" __global__ void conv_relu(const float *x, const float *w, const float *bias, float *y, int c, int side, int filters, int k, int stride, int pad, int out)
{
    conv_direct<RELU>(x, w, bias, y, c, side, filters, k, stride, pad, out);
}

extern "C" __global__ void maxpool(const float *x, float *y, int side, int k, int stride, int pad, int out)
{
    pool_max(x, y, side, k, stride, pad, out);
}

extern "C" __global__ void meanpool(const float *x, float *y, int channels, int pixels, float inverse)
{
    pool_mean(x, y, channels, pixels, inverse);
}

extern "C" __global__ void softmax(const float *x, float *y, int n) { softmax_rows(x, y, n); }

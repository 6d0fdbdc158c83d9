// resnet: the entries of the network; the kernels stand in ../kernels.
#include "../kernels/image.cuh"

extern "C" __global__ void conv(const float *x, const float *w, float *y, int c, int side, int filters, int k, int stride, int pad, int out,
                                int row0, int col0)
{
    convolve<LINEAR>(x, w, nullptr, y, c, side, filters, filters, k, stride, pad, ByFilter{out, row0, col0});
}

extern "C" __global__ void norm(const float *x, const float *scale, const float *shift, const float *shortcut, float *y, int channels, int out,
                                int row0, int col0)
{
    rescale<LINEAR>(x, scale, shift, shortcut, y, channels, ByFilter{out, row0, col0});
}

extern "C" __global__ void norm_relu(const float *x, const float *scale, const float *shift, const float *shortcut, float *y, int channels, int out,
                                     int row0, int col0)
{
    rescale<RELU>(x, scale, shift, shortcut, y, channels, ByFilter{out, row0, col0});
}

extern "C" __global__ void maxpool(const float *x, float *y, int channels, int side, int k, int stride, int pad, int out, int row0, int col0)
{
    greatest(x, y, channels, side, k, stride, pad, ByFilter{out, row0, col0});
}

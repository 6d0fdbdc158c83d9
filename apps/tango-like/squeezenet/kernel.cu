// squeezenet: the entries of the network; the kernels stand in ../kernels.
#include "../kernels/image.cuh"

extern "C" __global__ void conv_relu(const float *x, const float *w, const float *bias, float *y, int c, int side, int filters, int k, int stride,
                                     int pad, int out)
{
    convolve<RELU>(x, w, bias, y, c, side, filters, filters, k, stride, pad, ByColumn{out});
}

extern "C" __global__ void maxpool(const float *x, float *y, int channels, int side, int k, int stride, int pad, int out)
{
    greatest(x, y, channels, side, k, stride, pad, ByColumn{out});
}

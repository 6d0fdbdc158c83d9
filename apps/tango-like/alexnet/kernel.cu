// alexnet: the entries of the network; the kernels stand in ../kernels.
#include "../kernels/image.cuh"

extern "C" __global__ void conv_relu(const float *x, const float *w, const float *bias, float *y, int c, int side, int filters, int group, int k,
                                     int stride, int pad, int out, int row0, int col0)
{
    convolve<RELU>(x, w, bias, y, c, side, filters, group, k, stride, pad, ByFilter{out, row0, col0});
}

extern "C" __global__ void lrn(const float *x, float *y, int channels, int reach, float bias, float alpha, int out, int row0, int col0)
{
    respond(x, y, channels, reach, bias, alpha, ByFilter{out, row0, col0});
}

extern "C" __global__ void maxpool(const float *x, float *y, int channels, int side, int k, int stride, int pad, int out, int row0, int col0)
{
    greatest(x, y, channels, side, k, stride, pad, ByFilter{out, row0, col0});
}

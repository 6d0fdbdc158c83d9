// Convolutions, direct and by the way of a matrix product.
#pragma once
#include "dnn.cuh"

// One output pixel per thread, one filter per row of blocks (blockIdx.y). All threads of
// a block read the same weight at a time, all filters of a group the same image. c and
// filters are those of one group. Taps outside the image are left out.
template <Activation ACT>
DNN_FN void conv_direct(const float *x, const float *w, const float *bias, float *y, int c, int side, int filters,
                        int k, int stride, int pad, int out)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y;
    if (p >= out * out) return;
    int row = p / out * stride - pad, col = p % out * stride - pad;
    int ky0 = max(0, -row), ky1 = min(k, side - row), kx0 = max(0, -col), kx1 = min(k, side - col);
    x += m / filters * c * side * side + row * side + col;
    w += m * c * k * k;
    float sum = 0.0f;
    for (int i = 0; i < c; i++, x += side * side, w += k * k)
        for (int ky = ky0; ky < ky1; ky++)
            for (int kx = kx0; kx < kx1; kx++) sum = fmaf(w[ky * k + kx], x[ky * side + kx], sum);
    y[m * out * out + p] = activate<ACT>(sum + bias[m]);
}

// Row (i, ky, kx), column p of the matrix is what tap (ky, kx) of channel i sees at
// output pixel p, zero outside the image: filters times this matrix is the convolution.
DNN_FN void im2col(const float *x, float *columns, int side, int k, int stride, int pad, int out)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x, tap = blockIdx.y;
    if (p >= out * out) return;
    int i = tap / (k * k), ky = tap / k % k, kx = tap % k;
    int row = p / out * stride - pad + ky, col = p % out * stride - pad + kx;
    bool inside = row >= 0 && row < side && col >= 0 && col < side;
    columns[tap * out * out + p] = inside ? x[(i * side + row) * side + col] : 0.0f;
}

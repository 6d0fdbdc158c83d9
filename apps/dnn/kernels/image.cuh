// The small layers of networks on images.
#pragma once
#include "dnn.cuh"

// One output pixel per thread, one channel per blockIdx.y. What lies outside is left out.
DNN_FN void pool_max(const float *x, float *y, int side, int k, int stride, int pad, int out)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    if (p >= out * out) return;
    int row = p / out * stride - pad, col = p % out * stride - pad;
    float best = -3.4e38f;
    for (int i = max(row, 0); i < min(row + k, side); i++)
        for (int j = max(col, 0); j < min(col + k, side); j++) best = fmaxf(best, x[(c * side + i) * side + j]);
    y[c * out * out + p] = best;
}

// The mean of each channel: a warp per channel.
DNN_FN void pool_mean(const float *x, float *y, int channels, int pixels, float inverse)
{
    int c = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (c >= channels) return;
    float sum = 0.0f;
    for (int p = lane; p < pixels; p += 32) sum += x[c * pixels + p];
    sum = warp_sum(sum);
    if (lane == 0) y[c] = sum * inverse;
}

// Local response normalisation over `reach` channels to either side:
// y = x / (bias + alpha * sum of squares)^(3/4).
DNN_FN void normalize_local(const float *x, float *y, int channels, int pixels, int reach, float bias, float alpha)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    if (p >= pixels) return;
    float squares = 0.0f;
    for (int i = max(c - reach, 0); i <= min(c + reach, channels - 1); i++) {
        float v = x[i * pixels + p];
        squares = fmaf(v, v, squares);
    }
    float root = sqrtf(fmaf(alpha, squares, bias));
    y[c * pixels + p] = x[c * pixels + p] / (root * sqrtf(root));
}

// Batch normalisation with the statistics folded into a scale and a shift per channel
// (blockIdx.y), plus the shortcut unless it is null.
template <Activation ACT>
DNN_FN void batchnorm(const float *x, const float *scale, const float *shift, const float *shortcut, float *y, int pixels)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y, at = c * pixels + p;
    if (p >= pixels) return;
    float v = fmaf(x[at], scale[c], shift[c]);
    if (shortcut) v += shortcut[at];
    y[at] = activate<ACT>(v);
}

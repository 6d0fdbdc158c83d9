// What the kernels of the networks share. They are function templates, compiled into
// the entries that a network's kernel.cu names, so each is written once and a network
// carries only what it launches. Tensors are row-major floats, images (channel, row,
// column) and square; one image at a time.
#pragma once
#include "heddle.cuh"

// With line information, unlike HEDDLE_FN: a profile shows lines of these files.
#define DNN_FN static __inline__ __attribute__((device, always_inline))

enum Activation { LINEAR, RELU, GELU };

DNN_FN float sigmoid(float v) { return 1.0f / (1.0f + __expf(-v)); }
DNN_FN float tanh_(float v) { return 1.0f - 2.0f / (1.0f + __expf(2.0f * v)); }

template <Activation ACT> DNN_FN float activate(float v)
{
    if (ACT == RELU) return fmaxf(v, 0.0f);
    // Hendrycks and Gimpel's approximation by tanh.
    if (ACT == GELU) return 0.5f * v * (1.0f + tanh_(0.79788456f * fmaf(0.044715f * v * v, v, v)));
    return v;
}

// The sum over a warp, in lane 0: the upper half is added onto the lower until one is left.
DNN_FN float warp_sum(float v)
{
    for (int half = 16; half > 0; half /= 2) v += __shfl_down_sync(0xffffffffu, v, half);
    return v;
}

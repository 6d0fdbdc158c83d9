// The elementwise parts of recurrent and quantised networks: one element per thread.
#pragma once
#include "dnn.cuh"

// One step of an LSTM. x and h hold the four gates' products with input and state,
// biases included: input, forget, cell, output, `units` each.
DNN_FN void lstm_cell(const float *x, const float *h, const float *cell, float *new_cell, float *new_state, int units)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= units) return;
    float in = sigmoid(x[i] + h[i]);
    float forget = sigmoid(x[units + i] + h[units + i]);
    float candidate = tanh_(x[2 * units + i] + h[2 * units + i]);
    float out = sigmoid(x[3 * units + i] + h[3 * units + i]);
    float c = fmaf(forget, cell[i], in * candidate);
    new_cell[i] = c;
    new_state[i] = out * tanh_(c);
}

// One step of a GRU; the gates are reset, update, candidate.
DNN_FN void gru_cell(const float *x, const float *h, const float *state, float *new_state, int units)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= units) return;
    float reset = sigmoid(x[i] + h[i]);
    float update = sigmoid(x[units + i] + h[units + i]);
    float candidate = tanh_(fmaf(reset, h[2 * units + i], x[2 * units + i]));
    new_state[i] = fmaf(update, state[i] - candidate, candidate);
}

// Floats to signed bytes: to nearest, ties to even, at most 127 either way.
DNN_FN void quantize(const float *x, signed char *y, int n, float inverse)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = (signed char)(int)fminf(fmaxf(__builtin_rintf(x[i] * inverse), -127.0f), 127.0f);
}

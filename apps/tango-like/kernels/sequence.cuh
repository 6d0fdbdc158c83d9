// Recurrent layers: a CTA has a unit, its threads share the inputs and the state. Weights lie as the frameworks store
// them, inputs by (gate, unit), so that a CTA walks along a column and all CTAs touch every row.
#pragma once
#include "../../dnn/kernels/rows.cuh"

// A thread's part of input times column `at` of a matrix with `width` columns.
DNN_FN float along(const float *w, const float *x, int n, int width, int at)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += ROW_THREADS) sum = fmaf(w[i * width + at], x[i], sum);
    return sum;
}

// One step of a GRU; the gates are reset, update, candidate, the reset gate behind the product.
DNN_FN void gru_unit(const float *x, const float *w, const float *u, const float *bias, const float *state, float *next, int inputs, int units)
{
    __shared__ float cell[ROW_THREADS];
    int j = blockIdx.x, width = 3 * units;
    float reset = fold<SUM>(along(w, x, inputs, width, j) + along(u, state, units, width, j), cell);
    float update = fold<SUM>(along(w, x, inputs, width, units + j) + along(u, state, units, width, units + j), cell);
    float in = fold<SUM>(along(w, x, inputs, width, 2 * units + j), cell);
    float back = fold<SUM>(along(u, state, units, width, 2 * units + j), cell);
    if (threadIdx.x) return;
    float candidate = tanh_(fmaf(sigmoid(reset + bias[j]), back, in + bias[2 * units + j]));
    next[j] = fmaf(sigmoid(update + bias[units + j]), state[j] - candidate, candidate);
}

// One step of an LSTM; the gates are input, forget, cell, output.
DNN_FN void lstm_unit(const float *x, const float *w, const float *u, const float *bias, const float *state, const float *memory, float *next,
                      float *next_memory, int inputs, int units)
{
    __shared__ float cell[ROW_THREADS];
    int j = blockIdx.x, width = 4 * units;
    float v[4];
    for (int g = 0; g < 4; g++)
        v[g] = fold<SUM>(along(w, x, inputs, width, g * units + j) + along(u, state, units, width, g * units + j), cell) + bias[g * units + j];
    if (threadIdx.x) return;
    float c = fmaf(sigmoid(v[1]), memory[j], sigmoid(v[0]) * tanh_(v[2]));
    next_memory[j] = c;
    next[j] = sigmoid(v[3]) * tanh_(c);
}

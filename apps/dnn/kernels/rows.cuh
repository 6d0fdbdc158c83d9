// Layers that work on the rows of a matrix: a block of 128 threads per row.
#pragma once
#include "dnn.cuh"

#define ROW_THREADS 128

enum Fold { SUM, MAX };

// Folds one value per thread, by a tree in shared memory; every thread gets the result.
template <Fold F> DNN_FN float fold(float v, float *cell)
{
    int t = threadIdx.x;
    cell[t] = v;
    __syncthreads();
    for (int half = ROW_THREADS / 2; half > 0; half /= 2) {
        if (t < half) cell[t] = F == MAX ? fmaxf(cell[t], cell[t + half]) : cell[t] + cell[t + half];
        __syncthreads();
    }
    v = cell[0];
    __syncthreads(); // the next fold writes the cells again
    return v;
}

DNN_FN void softmax_rows(const float *x, float *y, int n)
{
    __shared__ float cell[ROW_THREADS];
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    float best = -3.4e38f, sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += ROW_THREADS) best = fmaxf(best, x[i]);
    best = fold<MAX>(best, cell);
    for (int i = threadIdx.x; i < n; i += ROW_THREADS) sum += __expf(x[i] - best);
    sum = fold<SUM>(sum, cell);
    for (int i = threadIdx.x; i < n; i += ROW_THREADS) y[i] = __expf(x[i] - best) / sum;
}

// y = gain (x - mean) / sqrt(variance + epsilon) + shift; inverse is 1/n.
DNN_FN void layernorm_rows(const float *x, const float *gain, const float *shift, float *y, int n, float inverse, float epsilon)
{
    __shared__ float cell[ROW_THREADS];
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += ROW_THREADS) sum += x[i];
    float mean = fold<SUM>(sum, cell) * inverse;
    for (int i = threadIdx.x; i < n; i += ROW_THREADS) {
        float d = x[i] - mean;
        squares = fmaf(d, d, squares);
    }
    float deviation = sqrtf(fmaf(fold<SUM>(squares, cell), inverse, epsilon));
    for (int i = threadIdx.x; i < n; i += ROW_THREADS) y[i] = fmaf((x[i] - mean) / deviation, gain[i], shift[i]);
}

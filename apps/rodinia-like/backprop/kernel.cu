// backprop: one step of training a perceptron with one hidden layer of 16 units
// (Rumelhart, Hinton and Williams 1986). Almost all work is between the n inputs and the
// hidden layer, and is done here; the sixteen sums, the output unit and the error terms
// are the host's. Row 0 of the weights belongs to the bias, row i+1 to input i.
#include "heddle.cuh"

#define HIDDEN 16
#define ROWS 16

// A block adds up 16 inputs times their weights for the 16 hidden units, by a tree in
// shared memory: one row of partial sums per block.
extern "C" __global__ void backprop_forward(const float *input, const float *weight, float *partial)
{
    __shared__ float in[ROWS], product[ROWS][HIDDEN];
    unsigned tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * ROWS + ty;
    if (tx == 0) in[ty] = input[i];
    __syncthreads();
    product[ty][tx] = weight[(i + 1) * HIDDEN + tx] * in[ty];
    __syncthreads();
    for (unsigned half = ROWS / 2; half > 0; half /= 2) {
        if (ty < half) product[ty][tx] += product[ty + half][tx];
        __syncthreads();
    }
    if (ty == 0) partial[blockIdx.y * HIDDEN + tx] = product[0][tx];
}

// Gradient descent with momentum: step = rate * delta * input + momentum * last step.
extern "C" __global__ void backprop_adjust(const float *input, const float *delta, float *weight, float *step, float rate, float momentum)
{
    unsigned tx = threadIdx.x, i = blockIdx.y * ROWS + threadIdx.y;
    unsigned at = (i + 1) * HIDDEN + tx;
    float d = rate * delta[tx];
    float now = fmaf(d, input[i], momentum * step[at]);
    weight[at] += now;
    step[at] = now;
    if (i == 0) { // the bias: an input that is always 1
        now = fmaf(momentum, step[tx], d);
        weight[tx] += now;
        step[tx] = now;
    }
}

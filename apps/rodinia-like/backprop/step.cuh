// The two kernels of kernel.cu, which says how they are called, which of its grid's numbers a block has and how wide rows are.

// A block adds up 16 inputs times their weights for the 16 hidden units, by a tree in
// shared memory: one row of partial sums per block.
extern "C" __global__ void KERNEL(backprop_forward)(const float *input, const float *weight, float *partial)
{
    __shared__ float in[ROWS], product[ROWS][HIDDEN];
    unsigned tx = threadIdx.x, ty = threadIdx.y, i = BLOCK * ROWS + ty;
    if (tx == 0) in[ty] = input[i];
    __syncthreads();
    product[ty][tx] = weight[(i + 1) * STRIDE + STRIDE - HIDDEN + tx] * in[ty];
    __syncthreads();
    for (unsigned half = ROWS / 2; half > 0; half /= 2) {
        if (ty < half) product[ty][tx] += product[ty + half][tx];
        __syncthreads();
    }
    if (ty == 0) partial[BLOCK * HIDDEN + tx] = product[0][tx];
}

// Gradient descent with momentum: step = rate * delta * input + momentum * last step.
extern "C" __global__ void KERNEL(backprop_adjust)(const float *input, const float *delta, float *weight, float *step, float rate, float momentum)
{
    unsigned tx = threadIdx.x, i = BLOCK * ROWS + threadIdx.y;
    unsigned at = (i + 1) * STRIDE + STRIDE - HIDDEN + tx;
    float d = rate * delta[tx];
    float now = fmaf(d, input[i], momentum * step[at]);
    weight[at] += now;
    step[at] = now;
    if (i == 0) { // the bias: an input that is always 1
        now = fmaf(momentum, step[STRIDE - HIDDEN + tx], d);
        weight[STRIDE - HIDDEN + tx] += now;
        step[STRIDE - HIDDEN + tx] = now;
    }
}

// binomialoptions: European calls by the binomial tree (Cox, Ross, Rubinstein 1979). A
// block values one option with 8 steps per thread: a thread keeps eight neighbouring
// nodes in registers and gets the next one, its right neighbour's first, through shared
// memory. Step by step the tree narrows and the threads to the right fall idle.
#include "heddle.cuh"

#define NODES 8
#define MAX_THREADS 256

// up and down are the discounted probabilities, width the logarithm of one step's ratio.
extern "C" __global__ void binomial_call(const float *price, const float *strike, const float *width, const float *up, const float *down, float *call)
{
    __shared__ float first[2][MAX_THREADS + 1];
    int t = threadIdx.x, steps = NODES * blockDim.x;
    float s = price[blockIdx.x], x = strike[blockIdx.x], w = width[blockIdx.x], pu = up[blockIdx.x], pd = down[blockIdx.x];
    float v[NODES + 1];
#pragma unroll
    for (int i = 0; i <= NODES; i++) v[i] = fmaxf(fmaf(s, __expf(w * (float)(2 * (NODES * t + i) - steps)), -x), 0.0f);
    if (t == blockDim.x - 1) first[0][t + 1] = first[1][t + 1] = v[NODES];
    for (int step = steps; step > 0; step--) { // nodes 0 to step - 1 of the level are needed
        first[step & 1][t] = v[0];
        __syncthreads();
        if (NODES * t >= step) continue;
        v[NODES] = first[step & 1][t + 1];
#pragma unroll
        for (int i = 0; i < NODES; i++) v[i] = fmaf(pu, v[i + 1], pd * v[i]);
    }
    if (t == 0) call[blockIdx.x] = v[0];
}

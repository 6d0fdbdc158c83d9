// lstm: the entry of the layer; the kernel stands in ../kernels.
#include "../kernels/sequence.cuh"

extern "C" __global__ void step(const float *x, const float *w, const float *u, const float *bias, const float *state, const float *memory,
                                float *next, float *next_memory, int inputs, int units)
{
    lstm_unit(x, w, u, bias, state, memory, next, next_memory, inputs, units);
}

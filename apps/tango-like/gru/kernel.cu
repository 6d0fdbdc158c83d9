// gru: the entry of the layer; the kernel stands in ../kernels.
#include "../kernels/sequence.cuh"

extern "C" __global__ void step(const float *x, const float *w, const float *u, const float *bias, const float *state, float *next, int inputs,
                                int units)
{
    gru_unit(x, w, u, bias, state, next, inputs, units);
}

// cp: Coulombic potential on a plane of lattice points by direct summation over atoms
// (Stone et al. 2007). Atoms stand in constant memory as (x, y, z^2, charge) and are
// replaced batch by batch from the host; each launch adds one batch. A thread computes
// UNROLL points of a row, a block's width apart, which share the y distance.
#include "heddle.cuh"

#define MAX_ATOMS 4000
#define UNROLL 2

__constant__ float atoms[4 * MAX_ATOMS];

extern "C" __global__ void cp_batch(float *energy, int count, float spacing)
{
    unsigned width = gridDim.x * blockDim.x * UNROLL;
    unsigned col = blockIdx.x * blockDim.x * UNROLL + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float y = spacing * (float)row, x0 = spacing * (float)col, x1 = spacing * (float)(col + blockDim.x);
    float e0 = 0.0f, e1 = 0.0f;
    for (int i = 0; i < count; i++) {
        float dy = y - atoms[4 * i + 1], q = atoms[4 * i + 3];
        float dyz = fmaf(dy, dy, atoms[4 * i + 2]);
        float dx0 = x0 - atoms[4 * i], dx1 = x1 - atoms[4 * i];
        e0 = fmaf(q, heddle_rsqrt(fmaf(dx0, dx0, dyz)), e0);
        e1 = fmaf(q, heddle_rsqrt(fmaf(dx1, dx1, dyz)), e1);
    }
    energy[row * width + col] += e0;
    energy[row * width + col + blockDim.x] += e1;
}

// 3dconv: one plane of a three-dimensional convolution with 15 fixed coefficients: the
// centre, its 6 face neighbours and its 8 corner neighbours. The host launches a plane
// at a time; the border of the result stays as it was. A thread computes one result
// straight from global memory.
#include "heddle.cuh"

extern "C" __global__ void conv3d_plane(const float *a, float *b, int nj, int nk, int i)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (j < 1 || k < 1 || j >= nj - 1 || k >= nk - 1) return;
    int plane = nj * nk, at = (i * nj + j) * nk + k;
    const float *up = a + at - plane, *mid = a + at, *down = a + at + plane;
    float sum = 0.6f * mid[0];
    sum = fmaf(0.2f, up[0], sum);
    sum = fmaf(-0.3f, down[0], sum);
    sum = fmaf(0.4f, mid[-nk], sum);
    sum = fmaf(-0.5f, mid[nk], sum);
    sum = fmaf(0.7f, mid[-1], sum);
    sum = fmaf(-0.8f, mid[1], sum);
    sum = fmaf(0.9f, up[-nk - 1], sum);
    sum = fmaf(-0.1f, up[-nk + 1], sum);
    sum = fmaf(0.15f, up[nk - 1], sum);
    sum = fmaf(-0.25f, up[nk + 1], sum);
    sum = fmaf(0.35f, down[-nk - 1], sum);
    sum = fmaf(-0.45f, down[-nk + 1], sum);
    sum = fmaf(0.55f, down[nk - 1], sum);
    sum = fmaf(-0.65f, down[nk + 1], sum);
    b[at] = sum;
}

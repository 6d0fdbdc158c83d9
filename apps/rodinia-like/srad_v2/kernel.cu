// srad_v2: speckle-reducing anisotropic diffusion (Yu and Acton 2002) on an n x n image.
// Each iteration has two kernels on 16 x 16 tiles. The first computes the four
// differences to the neighbours and the diffusion coefficient from the instantaneous
// coefficient of variation; the second moves the image by the divergence, for which it
// needs the coefficients of the southern and eastern neighbours. At the border a pixel is
// its own neighbour.
#include "heddle.cuh"

#define TILE 16

extern "C" __global__ void srad_coefficient(const float *J, float *c, float *dN, float *dS, float *dW, float *dE, int n, float q0)
{
    __shared__ float t[TILE + 2][TILE + 2];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty, at = y * n + x;
    t[ty + 1][tx + 1] = J[at];
    if (ty == 0) t[0][tx + 1] = J[max(y - 1, 0) * n + x];
    if (ty == TILE - 1) t[TILE + 1][tx + 1] = J[min(y + 1, n - 1) * n + x];
    if (tx == 0) t[ty + 1][0] = J[y * n + max(x - 1, 0)];
    if (tx == TILE - 1) t[ty + 1][TILE + 1] = J[y * n + min(x + 1, n - 1)];
    __syncthreads();
    float here = t[ty + 1][tx + 1];
    float north = t[ty][tx + 1] - here, south = t[ty + 2][tx + 1] - here;
    float west = t[ty + 1][tx] - here, east = t[ty + 1][tx + 2] - here;
    float squares = fmaf(east, east, fmaf(west, west, fmaf(south, south, north * north)));
    float gradient = squares / (here * here);
    float laplace = (north + south + west + east) / here;
    float top = fmaf(0.5f, gradient, -0.0625f * laplace * laplace);
    float bottom = fmaf(0.25f, laplace, 1.0f);
    float q = top / (bottom * bottom);
    float k = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    c[at] = k < 0.0f ? 0.0f : k > 1.0f ? 1.0f : k;
    dN[at] = north;
    dS[at] = south;
    dW[at] = west;
    dE[at] = east;
}

extern "C" __global__ void srad_update(float *J, const float *c, const float *dN, const float *dS, const float *dW, const float *dE, int n, float lambda)
{
    __shared__ float t[TILE + 1][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty, at = y * n + x;
    t[ty][tx] = c[at];
    if (ty == TILE - 1) t[TILE][tx] = c[min(y + 1, n - 1) * n + x];
    if (tx == TILE - 1) t[ty][TILE] = c[y * n + min(x + 1, n - 1)];
    __syncthreads();
    float here = t[ty][tx];
    float flow = fmaf(t[ty][tx + 1], dE[at], fmaf(here, dW[at], fmaf(t[ty + 1][tx], dS[at], here * dN[at])));
    J[at] = fmaf(0.25f * lambda, flow, J[at]);
}

// hotspot: explicit time steps of the heat equation on a chip's floor plan (the RC
// model of HotSpot, Huang et al. 2006). A block keeps a 16 x 16 tile in shared memory
// and takes up to HALO steps before the next exchange through global memory: it loads
// HALO cells more on every side and the computed area shrinks by one cell per step
// (ghost zones, Meng and Skadron 2009). Outside the chip the temperature is that of the
// border cell, so no heat leaves through the edges.
#include "heddle.cuh"

#define TILE 16

// DOUBLES: the literal 2 is a double, and so is most of a step, as in Rodinia's program.
template <bool DOUBLES>
__device__ __forceinline__ void walk(float (*t)[TILE], const float *power, const float *in, float *out, int n, int steps, int halo,
                                     float step_per_cap, float inv_rx, float inv_ry, float inv_rz, float ambient)
{
    int tx = threadIdx.x, ty = threadIdx.y, inner = TILE - 2 * halo;
    int x = (int)blockIdx.x * inner - halo + tx, y = (int)blockIdx.y * inner - halo + ty;
    bool chip = x >= 0 && x < n && y >= 0 && y < n;
    float p = 0.0f;
    if (chip) {
        t[ty][tx] = in[y * n + x];
        p = power[y * n + x];
    }
    // Neighbours in the tile; at the chip's edge a cell is its own neighbour.
    int west = x == 0 ? tx : tx - 1, east = x == n - 1 ? tx : tx + 1;
    int north = y == 0 ? ty : ty - 1, south = y == n - 1 ? ty : ty + 1;
    __syncthreads();
    for (int s = 0; s < steps; s++) {
        bool inside = chip && tx > s && tx < TILE - 1 - s && ty > s && ty < TILE - 1 - s;
        float next = 0.0f;
        if (inside && DOUBLES) {
            float c = t[ty][tx];
            double flow = __builtin_fma(t[south][tx] + t[north][tx] - 2.0 * c, (double)inv_ry, (double)p);
            flow = __builtin_fma(t[ty][east] + t[ty][west] - 2.0 * c, (double)inv_rx, flow);
            next = (float)__builtin_fma((double)step_per_cap, flow + (ambient - c) * inv_rz, (double)c);
        } else if (inside) {
            float c = t[ty][tx];
            float flow = fmaf(t[south][tx] + t[north][tx] - 2.0f * c, inv_ry, p);
            flow = fmaf(t[ty][east] + t[ty][west] - 2.0f * c, inv_rx, flow);
            flow = fmaf(ambient - c, inv_rz, flow);
            next = fmaf(step_per_cap, flow, c);
        }
        __syncthreads();
        if (inside) t[ty][tx] = next;
        __syncthreads();
    }
    if (chip && tx >= halo && tx < TILE - halo && ty >= halo && ty < TILE - halo) out[y * n + x] = t[ty][tx];
}

extern "C" __global__ void hotspot_steps(const float *power, const float *in, float *out, int n, int steps, int halo,
                                         float step_per_cap, float inv_rx, float inv_ry, float inv_rz, float ambient)
{
    __shared__ float t[TILE][TILE];
    walk<false>(t, power, in, out, n, steps, halo, step_per_cap, inv_rx, inv_ry, inv_rz, ambient);
}

extern "C" __global__ void hotspot_steps_doubles(const float *power, const float *in, float *out, int n, int steps, int halo,
                                                 float step_per_cap, float inv_rx, float inv_ry, float inv_rz, float ambient)
{
    __shared__ float t[TILE][TILE];
    walk<true>(t, power, in, out, n, steps, halo, step_per_cap, inv_rx, inv_ry, inv_rz, ambient);
}

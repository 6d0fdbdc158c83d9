// euler3d: the compressible Euler equations on an unstructured mesh, cell-centred finite
// volumes with four faces per cell (Corrigan et al. 2009): central fluxes with scalar
// dissipation, local time steps, three Runge-Kutta stages. State, fluxes and normals are
// stored variable by variable: value v of cell i is at [v * n + i].
#include "heddle.cuh"

#define VARS 5 // density, momentum in x, y and z, energy
#define FACES 4
#define WALL -1
#define FAR -2
#define WINDOW 128 // cells that are numbered at random among themselves
#define APART 32   // of so many cells one is far from its neighbours
#define SMOOTHING 0.2f

// What lies far away: density, momentum, energy.
__constant__ float far[VARS];

// ---- the mesh: a strip of width x height square cells in space, whose sides have length 1 and the directions a and
// b. Cells are numbered at random within windows of 128, and the first of each 32 somewhere in the mesh, as in one
// that was refined here and there after it had been numbered.

HEDDLE_FN bool whole(unsigned i, unsigned n) { return (i | (WINDOW - 1)) < n; } // the last window may not be
HEDDLE_FN unsigned mix(unsigned i, unsigned n, unsigned odd) // odd: 37, or 45, which undoes it
{
    return whole(i, n) ? (i & ~(WINDOW - 1u)) | (i * odd & (WINDOW - 1)) : i;
}

// Exchanges the first cells of 32, the bits of their numbers reversed, as far as a power of two of them goes.
HEDDLE_FN unsigned scatter(unsigned i, unsigned bits)
{
    unsigned k = i / APART;
    return i % APART == 0 && k >> bits == 0 ? (__builtin_bitreverse32(k) >> (32 - bits)) * APART : i;
}

HEDDLE_FN unsigned place_of(unsigned cell, unsigned n, unsigned bits) { return mix(scatter(cell, bits), n, 37); }
HEDDLE_FN unsigned cell_at(unsigned place, unsigned n, unsigned bits) { return scatter(mix(place, n, 45), bits); }

extern "C" __global__ void euler_mesh(int *neighbour, float *normal, int width, int height, unsigned bits)
{
    unsigned n = width * height, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int place = place_of(i, n, bits), x = place % width, y = place / width;
    neighbour[i] = x == 0 ? FAR : (int)cell_at(place - 1, n, bits);
    neighbour[n + i] = x == width - 1 ? FAR : (int)cell_at(place + 1, n, bits);
    neighbour[2 * n + i] = y == 0 ? WALL : (int)cell_at(place - width, n, bits);
    neighbour[3 * n + i] = y == height - 1 ? FAR : (int)cell_at(place + width, n, bits);
    const float a[3] = {0.36f, 0.48f, 0.8f}, b[3] = {0.8f, -0.6f, 0.0f};
    for (int d = 0; d < 3; d++) { // outward normals, as long as the face
        normal[d * n + i] = -a[d];
        normal[(3 + d) * n + i] = a[d];
        normal[(6 + d) * n + i] = -b[d];
        normal[(9 + d) * n + i] = b[d];
    }
}

// The far field everywhere, disturbed by a factor per cell that leaves the velocity.
extern "C" __global__ void euler_init(float *state, const float *factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int v = 0; v < VARS; v++) state[v * n + i] = far[v] * factor[i];
}

// ---- the flow

struct Gas {
    float u[VARS];           // the conserved variables
    float vx, vy, vz;        // velocity
    float pressure, fastest; // speed of the gas plus that of sound
};

HEDDLE_FN Gas derive(const float *u, int stride)
{
    Gas g;
    for (int v = 0; v < VARS; v++) g.u[v] = u[v * stride];
    float inverse = 1.0f / g.u[0];
    g.vx = g.u[1] * inverse;
    g.vy = g.u[2] * inverse;
    g.vz = g.u[3] * inverse;
    float square = fmaf(g.vz, g.vz, fmaf(g.vy, g.vy, g.vx * g.vx));
    g.pressure = 0.4f * fmaf(-0.5f * g.u[0], square, g.u[4]);
    g.fastest = sqrtf(square) + sqrtf(1.4f * g.pressure * inverse);
    return g;
}

extern "C" __global__ void euler_step_factor(const float *state, const float *area, float *factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    factor[i] = 0.5f / (sqrtf(area[i]) * derive(state + i, n).fastest);
}

// Adds to sum the flow out of g through a face, times weight.
HEDDLE_FN void outflow(float *sum, const Gas &g, float nx, float ny, float nz, float weight)
{
    float through = weight * fmaf(g.vz, nz, fmaf(g.vy, ny, g.vx * nx)), push = weight * g.pressure;
    sum[0] = fmaf(g.u[0], through, sum[0]);
    sum[1] = fmaf(push, nx, fmaf(g.u[1], through, sum[1]));
    sum[2] = fmaf(push, ny, fmaf(g.u[2], through, sum[2]));
    sum[3] = fmaf(push, nz, fmaf(g.u[3], through, sum[3]));
    sum[4] = fmaf(g.u[4] + g.pressure, through, sum[4]);
}

extern "C" __global__ void euler_flux(const int *neighbour, const float *normal, const float *state, float *flux, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Gas here = derive(state + i, n);
    float sum[VARS] = {0, 0, 0, 0, 0};
    for (int f = 0; f < FACES; f++) {
        int to = neighbour[f * n + i];
        float nx = normal[(3 * f) * n + i], ny = normal[(3 * f + 1) * n + i], nz = normal[(3 * f + 2) * n + i];
        if (to == WALL) {
            sum[1] = fmaf(here.pressure, nx, sum[1]);
            sum[2] = fmaf(here.pressure, ny, sum[2]);
            sum[3] = fmaf(here.pressure, nz, sum[3]);
            continue;
        }
        Gas there = to == FAR ? derive(far, 1) : derive(state + to, n);
        outflow(sum, here, nx, ny, nz, 0.5f);
        outflow(sum, there, nx, ny, nz, 0.5f);
        float length = sqrtf(fmaf(nz, nz, fmaf(ny, ny, nx * nx)));
        float damp = SMOOTHING * 0.5f * length * (here.fastest + there.fastest);
        for (int v = 0; v < VARS; v++) sum[v] = fmaf(damp, here.u[v] - there.u[v], sum[v]);
    }
    for (int v = 0; v < VARS; v++) flux[v * n + i] = sum[v];
}

// Stage 0, 1 or 2: a third, a half and all of the step from the old state.
extern "C" __global__ void euler_time_step(int stage, const float *old, float *state, const float *factor, const float *flux, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float step = factor[i] / (float)(3 - stage);
    for (int v = 0; v < VARS; v++) state[v * n + i] = fmaf(-step, flux[v * n + i], old[v * n + i]);
}

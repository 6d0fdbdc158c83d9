// lbm: one step of a lattice-Boltzmann fluid with 19 velocities in three dimensions and
// a single relaxation time (Qian, d'Humieres, Lallemand 1992). A thread owns a cell:
// it reads the cell's 19 populations, lets them collide and pushes each to the
// neighbour it moves to. Populations are stored one direction after the other, so that
// a warp reads 32 neighbouring words; `cells` words apart. Direction 0 rests; 2p + 1
// and 2p + 2 are opposite.
#include "heddle.cuh"

enum { FLUID = 0, SOLID = 1, LID = 2 };

// collide relaxes a pair of opposite populations; keep is 1 - omega. eu is the velocity
// along the first, base is 1 - 3/2 u^2, weight the pair's times the density and omega.
static __device__ __forceinline__ void collide(float &plus, float &minus, float eu, float base, float weight, float keep)
{
    float even = weight * fmaf(4.5f * eu, eu, base), odd = 3.0f * weight * eu;
    plus = fmaf(keep, plus, even + odd);
    minus = fmaf(keep, minus, even - odd);
}

// push writes a cell's populations to its neighbours; turned 1 exchanges opposite ones.
static __device__ __forceinline__ void push(float *dst, long long cells, int row, int plane, const float *f, int turned)
{
    long long step[9] = {1, row, plane, row + 1, row - 1, plane + 1, plane - 1, plane + row, plane - row};
    *dst = f[0];
#pragma unroll
    for (int p = 0; p < 9; p++) {
        dst += cells;
        dst[step[p]] = f[2 * p + 1 + turned];
        dst += cells;
        dst[-step[p]] = f[2 * p + 2 - turned];
    }
}

extern "C" __global__ void lbm_step(const float *src, float *dst, const unsigned *flags, float omega, float lid, int row, int plane, long long cells)
{
    int cell = 2 * plane + blockIdx.y * plane + blockIdx.x * row + threadIdx.x;
    float f[19];
    src += cell;
#pragma unroll
    for (int i = 0; i < 19; i++, src += cells) f[i] = *src;
    unsigned flag = flags[cell];
    dst += cell;
    if (flag == SOLID) { // what arrives leaves the way it came
        push(dst, cells, row, plane, f, 1);
        return;
    }
    float rho = f[0];
#pragma unroll
    for (int i = 1; i < 19; i++) rho += f[i];
    // Pairs 3 to 8 are x+y, y-x, x+z, z-x, y+z, z-y.
    float xy = f[7] - f[8], yx = f[9] - f[10], xz = f[11] - f[12], zx = f[13] - f[14], yz = f[15] - f[16], zy = f[17] - f[18];
    float inverse = 1.0f / rho;
    float ux = (f[1] - f[2] + xy - yx + xz - zx) * inverse;
    float uy = (f[3] - f[4] + xy + yx + yz - zy) * inverse;
    float uz = (f[5] - f[6] + xz + zx + yz + zy) * inverse;
    if (flag == LID) ux = lid, uy = 0.4f * lid, uz = 0.0f;
    float base = fmaf(-1.5f, fmaf(ux, ux, fmaf(uy, uy, uz * uz)), 1.0f);
    float keep = 1.0f - omega, part = omega * rho, axis = part * (1.0f / 18.0f), edge = part * (1.0f / 36.0f);
    f[0] = fmaf(keep, f[0], part * (1.0f / 3.0f) * base);
    collide(f[1], f[2], ux, base, axis, keep);
    collide(f[3], f[4], uy, base, axis, keep);
    collide(f[5], f[6], uz, base, axis, keep);
    collide(f[7], f[8], ux + uy, base, edge, keep);
    collide(f[9], f[10], uy - ux, base, edge, keep);
    collide(f[11], f[12], ux + uz, base, edge, keep);
    collide(f[13], f[14], uz - ux, base, edge, keep);
    collide(f[15], f[16], uy + uz, base, edge, keep);
    collide(f[17], f[18], uz - uy, base, edge, keep);
    push(dst, cells, row, plane, f, 0);
}

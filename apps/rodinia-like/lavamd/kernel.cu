// lavamd: potential and force between particles in a box and in the 26 around it
// (Szafaryn et al. 2011), in double precision. The potential is q exp(-a r^2), cut off at
// the neighbouring boxes. A block owns a box and stages one neighbour after the other in
// shared memory. The sum includes the particle itself, which adds q to its potential.
#include "heddle.cuh"

#define STAGED 250 // particles of the other box in shared memory at a time

struct alignas(16) double4_16 { double x, y, z, w; };

// e^x for -700 < x <= 0: Cody and Waite's reduction by multiples of ln 2 and the Taylor
// polynomial of degree 13, within 2 units of the last place.
HEDDLE_FN double exp_negative(double x)
{
    const double magic = 6755399441055744.0; // 1.5 * 2^52: adding it rounds to an integer
    double k = fma(x, 1.4426950408889634, magic) - magic;
    double r = fma(-k, 0.693147180369123816490, x);
    r = fma(-k, 1.90821492927058770002e-10, r);
    double p = 1.6059043836821614599e-10;
    p = fma(p, r, 2.0876756987868098979e-9);
    p = fma(p, r, 2.5052108385441718775e-8);
    p = fma(p, r, 2.7557319223985890653e-7);
    p = fma(p, r, 2.7557319223985890653e-6);
    p = fma(p, r, 2.4801587301587301587e-5);
    p = fma(p, r, 1.9841269841269841270e-4);
    p = fma(p, r, 1.3888888888888888889e-3);
    p = fma(p, r, 8.3333333333333333333e-3);
    p = fma(p, r, 4.1666666666666666667e-2);
    p = fma(p, r, 1.6666666666666666667e-1);
    p = fma(p, r, 0.5);
    p = fma(p, r, 1.0);
    p = fma(p, r, 1.0);
    return __builtin_bit_cast(double, __builtin_bit_cast(long long, p) + ((long long)k << 52));
}

// at holds the place of each particle in its box, of side 1 (w is not used); force gets the potential in w. Places and
// sums stay in global memory, not in registers: for each pair of particles a thread reads the place and the sum of its
// own, adds, and writes the sum through. The other particle of a pair changes last but one, so that a block comes
// to all its own particles before it comes to one of them again.
extern "C" __global__ void lavamd_forces(const double4_16 *at, const double *charge, double4_16 *force, int boxes, int particles, double a)
{
    __shared__ double4_16 other[STAGED];
    __shared__ double weight[STAGED];
    int home = blockIdx.x;
    int hx = home % boxes, hy = home / boxes % boxes, hz = home / (boxes * boxes);
    const double4_16 *own = at + (long long)home * particles;
    double4_16 *sum = force + (long long)home * particles;
    for (int i = threadIdx.x; i < particles; i += blockDim.x) sum[i] = {0, 0, 0, 0};
    for (int z = max(hz - 1, 0); z <= min(hz + 1, boxes - 1); z++)
        for (int y = max(hy - 1, 0); y <= min(hy + 1, boxes - 1); y++)
            for (int x = max(hx - 1, 0); x <= min(hx + 1, boxes - 1); x++) {
                long long from = (long long)((z * boxes + y) * boxes + x) * particles;
                double sx = x - hx, sy = y - hy, sz = z - hz;
                for (int first = 0; first < particles; first += STAGED) {
                    int staged = min(STAGED, particles - first);
                    __syncthreads();
                    for (int j = threadIdx.x; j < staged; j += blockDim.x) {
                        other[j] = at[from + first + j];
                        weight[j] = charge[from + first + j];
                    }
                    __syncthreads();
                    for (int j = 0; j < staged; j++)
                        for (int i = threadIdx.x; i < particles; i += blockDim.x) {
                            double4_16 me = own[i], f = sum[i];
                            double dx = (me.x - other[j].x) - sx, dy = (me.y - other[j].y) - sy, dz = (me.z - other[j].z) - sz;
                            double r2 = fma(dz, dz, fma(dy, dy, dx * dx));
                            double v = weight[j] * exp_negative(-a * r2);
                            double s = 2.0 * a * v;
                            f.x = fma(s, dx, f.x);
                            f.y = fma(s, dy, f.y);
                            f.z = fma(s, dz, f.z);
                            f.w += v;
                            sum[i] = f;
                            asm volatile("" ::: "memory"); // the compiler would keep them in registers
                        }
                }
            }
}

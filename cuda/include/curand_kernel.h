// curand_kernel.h -- random numbers within kernels: XORWOW (Marsaglia, "Xorshift RNGs", 2003), Philox-4x32-10
// (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011) and MRG32k3a (L'Ecuyer, "Good Parameters and
// Implementations for Combined Multiple Recursive Random Number Generators", 1999).
//
// Philox gives the numbers that its authors publish for key and counter. XORWOW and MRG32k3a have their recurrences,
// but begin from a state that is hashed of seed and sequence here: their numbers are others than those of NVIDIA's
// library, and curand_init is shorter.
#pragma once
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"

// What normal numbers keep of their pairs; the generators' states begin with it.
struct heddle_curand_pair {
    float spare;
    double spare_double;
    bool has, has_double;
};
struct curandStateXORWOW : heddle_curand_pair {
    unsigned d, v[5];
};
struct curandStatePhilox4_32_10 : heddle_curand_pair {
    uint4 ctr, output;
    uint2 key;
    unsigned used; // of output
};
struct curandStateMRG32k3a : heddle_curand_pair {
    unsigned s1[3], s2[3];
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

#ifdef __CUDA__ // a C++ file has no kernels

namespace heddle {
// The finaliser of splitmix64: neighbouring seeds and sequences begin far apart.
HEDDLE_DEVICE unsigned long long scrambled(unsigned long long &x)
{
    unsigned long long z = x += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
} // namespace heddle

// ---- XORWOW

HEDDLE_DEVICE unsigned curand(curandStateXORWOW *s)
{
    unsigned t = s->v[0] ^ s->v[0] >> 2;
    s->v[0] = s->v[1], s->v[1] = s->v[2], s->v[2] = s->v[3], s->v[3] = s->v[4];
    s->v[4] = (s->v[4] ^ s->v[4] << 4) ^ (t ^ t << 1);
    s->d += 362437;
    return s->v[4] + s->d;
}
HEDDLE_DEVICE void skipahead(unsigned long long n, curandStateXORWOW *s)
{
    for (; n; n--) curand(s);
}
HEDDLE_DEVICE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                               curandStateXORWOW *s)
{
    unsigned long long x = seed;
    x = heddle::scrambled(x) ^ sequence;
    for (int i = 0; i < 5; i++) s->v[i] = (unsigned)heddle::scrambled(x) | (i == 0); // never all zeros
    s->d = (unsigned)heddle::scrambled(x);
    s->has = s->has_double = false;
    skipahead(offset, s);
}

// ---- Philox-4x32-10

namespace heddle {
HEDDLE_DEVICE uint4 philox(uint4 c, uint2 k)
{
    for (int round = 0; round < 10; round++) {
        unsigned hi0 = __umulhi(0xd2511f53u, c.x), lo0 = 0xd2511f53u * c.x;
        unsigned hi1 = __umulhi(0xcd9e8d57u, c.z), lo1 = 0xcd9e8d57u * c.z;
        c = uint4{hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0};
        k.x += 0x9e3779b9u, k.y += 0xbb67ae85u;
    }
    return c;
}
HEDDLE_DEVICE void philox_add(curandStatePhilox4_32_10 *s, unsigned long long n)
{
    unsigned long long low = (unsigned long long)s->ctr.y << 32 | s->ctr.x, sum = low + n;
    s->ctr.x = (unsigned)sum, s->ctr.y = (unsigned)(sum >> 32);
    if (sum < low && ++s->ctr.z == 0) s->ctr.w++;
}
} // namespace heddle

HEDDLE_DEVICE void skipahead(unsigned long long n, curandStatePhilox4_32_10 *s)
{
    n += s->used;
    heddle::philox_add(s, n / 4);
    s->used = (unsigned)(n % 4);
    s->output = heddle::philox(s->ctr, s->key);
}
HEDDLE_DEVICE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *s)
{
    unsigned long long sum = ((unsigned long long)s->ctr.w << 32 | s->ctr.z) + n;
    s->ctr.z = (unsigned)sum, s->ctr.w = (unsigned)(sum >> 32);
    s->output = heddle::philox(s->ctr, s->key);
}
HEDDLE_DEVICE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                               curandStatePhilox4_32_10 *s)
{
    s->ctr = uint4{0, 0, 0, 0};
    s->key = uint2{(unsigned)seed, (unsigned)(seed >> 32)};
    s->used = 0;
    s->has = s->has_double = false;
    skipahead_sequence(sequence, s);
    skipahead(offset, s);
}
HEDDLE_DEVICE unsigned curand(curandStatePhilox4_32_10 *s)
{
    unsigned r = s->used == 0 ? s->output.x : s->used == 1 ? s->output.y : s->used == 2 ? s->output.z : s->output.w;
    if (++s->used == 4) skipahead(0, s);
    return r;
}
HEDDLE_DEVICE uint4 curand4(curandStatePhilox4_32_10 *s)
{
    uint4 r;
    r.x = curand(s), r.y = curand(s), r.z = curand(s), r.w = curand(s);
    return r;
}

// ---- MRG32k3a

HEDDLE_DEVICE unsigned curand(curandStateMRG32k3a *s)
{
    const unsigned long long m1 = 4294967087ull, m2 = 4294944443ull;
    unsigned long long a = (1403580ull * s->s1[1] + (m1 - 810728ull) * s->s1[0]) % m1;
    unsigned long long b = (527612ull * s->s2[2] + (m2 - 1370589ull) * s->s2[0]) % m2;
    s->s1[0] = s->s1[1], s->s1[1] = s->s1[2], s->s1[2] = (unsigned)a;
    s->s2[0] = s->s2[1], s->s2[1] = s->s2[2], s->s2[2] = (unsigned)b;
    return (unsigned)(a > b ? a - b : a + m1 - b);
}
HEDDLE_DEVICE void skipahead(unsigned long long n, curandStateMRG32k3a *s)
{
    for (; n; n--) curand(s);
}
HEDDLE_DEVICE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                               curandStateMRG32k3a *s)
{
    unsigned long long x = seed;
    x = heddle::scrambled(x) ^ sequence;
    for (int i = 0; i < 3; i++) {
        s->s1[i] = 1 + (unsigned)(heddle::scrambled(x) % 4294967086ull);
        s->s2[i] = 1 + (unsigned)(heddle::scrambled(x) % 4294944442ull);
    }
    s->has = s->has_double = false;
    skipahead(offset, s);
}

// ---- distributions: uniform ones in (0, 1], normal ones by Box and Muller

template <class S> HEDDLE_DEVICE float curand_uniform(S *s)
{
    return (float)curand(s) * 2.3283064365386963e-10f + 1.1641532182693481e-10f;
}
template <class S> HEDDLE_DEVICE double curand_uniform_double(S *s)
{
    unsigned long long high = curand(s);
    return ((double)((high << 32 | curand(s)) >> 11) + 0.5) * 1.1102230246251565e-16;
}
template <class S> HEDDLE_DEVICE float2 curand_normal2(S *s)
{
    float r = sqrtf(-2.0f * logf(curand_uniform(s))), a = 6.2831853071795865f * curand_uniform(s);
    return float2{r * cosf(a), r * sinf(a)};
}
template <class S> HEDDLE_DEVICE double2 curand_normal2_double(S *s)
{
    double r = sqrt(-2.0 * log(curand_uniform_double(s))), a = 6.2831853071795865 * curand_uniform_double(s);
    return double2{r * cos(a), r * sin(a)};
}
template <class S> HEDDLE_DEVICE float curand_normal(S *s)
{
    if (s->has) {
        s->has = false;
        return s->spare;
    }
    float2 two = curand_normal2(s);
    s->spare = two.y, s->has = true;
    return two.x;
}
template <class S> HEDDLE_DEVICE double curand_normal_double(S *s)
{
    if (s->has_double) {
        s->has_double = false;
        return s->spare_double;
    }
    double2 two = curand_normal2_double(s);
    s->spare_double = two.y, s->has_double = true;
    return two.x;
}
template <class S> HEDDLE_DEVICE float curand_log_normal(S *s, float mean, float deviation)
{
    return expf(mean + deviation * curand_normal(s));
}
template <class S> HEDDLE_DEVICE double curand_log_normal_double(S *s, double mean, double deviation)
{
    return exp(mean + deviation * curand_normal_double(s));
}
template <class S> HEDDLE_DEVICE float4 curand_uniform4(S *s)
{
    float4 r;
    r.x = curand_uniform(s), r.y = curand_uniform(s), r.z = curand_uniform(s), r.w = curand_uniform(s);
    return r;
}
template <class S> HEDDLE_DEVICE float4 curand_normal4(S *s)
{
    float2 a = curand_normal2(s), b = curand_normal2(s);
    return float4{a.x, a.y, b.x, b.y};
}
// The number of events of a Poisson process in the time lambda: as many intervals as fit into it.
template <class S> HEDDLE_SUBROUTINE unsigned curand_poisson(S *s, double lambda)
{
    unsigned n = 0;
    for (double t = -log(curand_uniform_double(s)); t < lambda; t -= log(curand_uniform_double(s))) n++;
    return n;
}
#endif

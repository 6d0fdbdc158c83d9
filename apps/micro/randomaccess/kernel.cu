// randomaccess: accesses at random places of a table, in two shapes. ra_sparse is the
// unified-memory study's program: of many threads a few (percent of them) touch one
// random element of three arrays, a triad at random. ra_update is RandomAccess of the
// HPC Challenge (Luszczek et al. 2005): every thread follows the generator
// x <- 2x + (top bit ? 7 : 0) over GF(2) and combines x into the table by exclusive or.
#include "heddle.cuh"

// The finaliser of MurmurHash3 (Appleby): a bijection of 32 bits.
HEDDLE_FN unsigned scramble(unsigned h)
{
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

extern "C" __global__ void ra_sparse(float *a, const float *b, const float *c, float s, unsigned n, unsigned percent, unsigned seed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = scramble(i + seed);
    if (h % 100 >= percent) return;
    // Threads that meet at an element store the same value.
    unsigned j = scramble(h) % n;
    a[j] = fmaf(s, c[j], b[j]);
}

// Every so many-th thread reads the key of its number, in order, which says where it reads the table and writes.
extern "C" __global__ void ra_gather(const float *key, float *out, const float *table, unsigned n, unsigned percent)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || i % (100 / percent) != 0) return;
    unsigned j = min((unsigned)(key[i] * (float)n), n - 1);
    out[j] = table[j] * (float)j;
}

extern "C" __global__ void ra_update(unsigned long long *table, unsigned n, unsigned updates, unsigned seed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long x = (unsigned long long)scramble(i + seed) << 32 | scramble(i ^ ~seed);
    for (unsigned u = 0; u < updates; u++) {
        x = (x << 1) ^ ((long long)x < 0 ? 7ull : 0ull);
        atomicXor(&table[x & (n - 1)], x); // n is a power of two
    }
}

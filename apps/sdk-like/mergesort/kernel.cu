// mergesort: a stable sort of keys with values. Tiles of 1024 are sorted in shared
// memory by merging runs, where every element finds its place by a binary search in the
// other run (Satish, Harris, Garland 2009). Then each pass merges pairs of sorted runs:
// one kernel finds, along the merge path (Odeh et al. 2012), how much of the first run
// stands before each tile of the output; the other merges tile by tile.
#include "heddle.cuh"

#define TILE 1024
#define THREADS 512

// below counts the elements of a sorted run less than key (or equal to it, if `equal`).
static __device__ __forceinline__ int below(const unsigned *run, int length, unsigned key, bool equal)
{
    int low = 0, high = length;
    while (low < high) {
        int mid = (low + high) / 2;
        if (run[mid] < key || (equal && run[mid] == key)) low = mid + 1; else high = mid;
    }
    return low;
}

extern "C" __global__ void sort_tiles(const unsigned *key_in, const unsigned *value_in, unsigned *key_out, unsigned *value_out, int n)
{
    __shared__ unsigned key[TILE], value[TILE];
    int t = threadIdx.x, first = blockIdx.x * TILE, length = min(TILE, n - first);
    for (int i = t; i < TILE; i += THREADS) { // the greatest key fills up: it stays behind, as the sort is stable
        key[i] = i < length ? key_in[first + i] : 0xffffffffu;
        value[i] = i < length ? value_in[first + i] : 0;
    }
    for (int run = 1; run < TILE; run *= 2) {
        __syncthreads();
        int at = t & (run - 1), a = 2 * (t - at), b = a + run;
        unsigned ka = key[a + at], va = value[a + at], kb = key[b + at], vb = value[b + at];
        int to_a = a + at + below(key + b, run, ka, false), to_b = a + at + below(key + a, run, kb, true);
        __syncthreads();
        key[to_a] = ka;
        value[to_a] = va;
        key[to_b] = kb;
        value[to_b] = vb;
    }
    __syncthreads();
    for (int i = t; i < length; i += THREADS) {
        key_out[first + i] = key[i];
        value_out[first + i] = value[i];
    }
}

// A thread per tile: split[tile] elements of the first run stand before the tile.
extern "C" __global__ void merge_split(const unsigned *key, int *split, int n, int run)
{
    int tile = blockIdx.x * blockDim.x + threadIdx.x, start = tile * TILE;
    if (start >= n) return;
    int pair = start / (2 * run) * (2 * run), middle = min(pair + run, n), end = min(pair + 2 * run, n);
    int diagonal = start - pair, low = max(0, diagonal - (end - middle)), high = min(diagonal, middle - pair);
    while (low < high) {
        int mid = (low + high) / 2;
        if (key[pair + mid] <= key[middle + diagonal - 1 - mid]) low = mid + 1; else high = mid;
    }
    split[tile] = low;
}

extern "C" __global__ void merge_tiles(const unsigned *key_in, const unsigned *value_in, unsigned *key_out, unsigned *value_out,
                                       const int *split, int n, int run)
{
    __shared__ unsigned key[TILE], value[TILE];
    int t = threadIdx.x, tile = blockIdx.x, start = tile * TILE, length = min(TILE, n - start);
    int pair = start / (2 * run) * (2 * run), middle = min(pair + run, n), end = min(pair + 2 * run, n);
    int a = split[tile], b = start - pair - a;
    int a_end = start + length == end ? middle - pair : split[tile + 1], from_a = a_end - a, from_b = length - from_a;
    for (int i = t; i < length; i += THREADS) {
        int at = i < from_a ? pair + a + i : middle + b + i - from_a;
        key[i] = key_in[at];
        value[i] = value_in[at];
    }
    __syncthreads();
    unsigned k[TILE / THREADS], v[TILE / THREADS];
    int to[TILE / THREADS];
#pragma unroll
    for (int r = 0; r < TILE / THREADS; r++) {
        int i = t + r * THREADS;
        if (i >= length) continue;
        k[r] = key[i];
        v[r] = value[i];
        to[r] = i < from_a ? i + below(key + from_a, from_b, k[r], false) : i - from_a + below(key, from_a, k[r], true);
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < TILE / THREADS; r++) {
        if (t + r * THREADS >= length) continue;
        key[to[r]] = k[r];
        value[to[r]] = v[r];
    }
    __syncthreads();
    for (int i = t; i < length; i += THREADS) {
        key_out[start + i] = key[i];
        value_out[start + i] = value[i];
    }
}

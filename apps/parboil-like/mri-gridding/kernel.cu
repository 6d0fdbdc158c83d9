// mri-gridding: samples of k-space at arbitrary places are spread onto a regular cube of
// side^3 points with a Kaiser-Bessel window (Jackson et al. 1991), by gathering: samples
// are sorted by the cell they lie in, and then every point collects those of the cells
// around it (Obeid et al. 2011), so no atomics are needed. The sort is a stable radix
// sort, four bits a pass: count digits per tile, scan the counts, scatter (Satish,
// Harris, Garland 2009).
#include "heddle.cuh"

#define THREADS 256
#define ROUNDS 4
#define TILE (THREADS * ROUNDS)
#define WARPS (THREADS / 32)
#define DIGITS 16
#define REACH 2  // half the window's width, in cells
#define STEPS 128 // of the window's table per cell

__constant__ float window[REACH * STEPS + 1]; // by distance; the last is 0

extern "C" __global__ void cell_of(const float *x, const float *y, const float *z, unsigned *key, unsigned *index, int n, int side)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    key[i] = ((int)z[i] * side + (int)y[i]) * side + (int)x[i];
    index[i] = i;
}

extern "C" __global__ void sort_count(const unsigned *key, unsigned *count, int n, int shift)
{
    __shared__ unsigned digits[DIGITS];
    int t = threadIdx.x;
    if (t < DIGITS) digits[t] = 0;
    __syncthreads();
    for (int r = 0; r < ROUNDS; r++) {
        int i = blockIdx.x * TILE + r * THREADS + t;
        if (i < n) atomicAdd(&digits[key[i] >> shift & (DIGITS - 1)], 1u);
    }
    __syncthreads();
    if (t < DIGITS) count[t * gridDim.x + blockIdx.x] = digits[t];
}

// scan_tile replaces the values of a tile by the sums of those before them in the tile;
// sums gets the tile's total.
extern "C" __global__ void scan_tile(unsigned *data, unsigned *sums, int n)
{
    __shared__ int totals[WARPS];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, first = blockIdx.x * TILE + t * ROUNDS;
    int v[ROUNDS], sum = 0;
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        v[r] = first + r < n ? data[first + r] : 0;
        sum += v[r];
    }
    int before = sum;
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffffu, before, d);
        if (lane >= d) before += left;
    }
    if (lane == 31) totals[warp] = before;
    __syncthreads();
    before -= sum;
    for (int w = 0; w < warp; w++) before += totals[w];
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) {
        if (first + r < n) data[first + r] = before;
        before += v[r];
    }
    if (t == THREADS - 1) sums[blockIdx.x] = before;
}

extern "C" __global__ void scan_add(unsigned *data, const unsigned *sums, int n)
{
    for (int r = 0; r < ROUNDS; r++) {
        int i = blockIdx.x * TILE + r * THREADS + threadIdx.x;
        if (i < n) data[i] += sums[blockIdx.x];
    }
}

// sort_scatter moves a tile's elements behind those of lesser digits and earlier tiles,
// in their order. Lanes with the same digit find each other by votes.
extern "C" __global__ void sort_scatter(const unsigned *key_in, const unsigned *index_in, unsigned *key_out, unsigned *index_out,
                                        const unsigned *offset, int n, int shift)
{
    __shared__ unsigned next[DIGITS], place[WARPS][DIGITS];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    if (t < DIGITS) next[t] = offset[t * gridDim.x + blockIdx.x];
    for (int r = 0; r < ROUNDS; r++) {
        int i = blockIdx.x * TILE + r * THREADS + t;
        bool in = i < n;
        unsigned key = in ? key_in[i] : 0, digit = key >> shift & (DIGITS - 1);
        if (t < WARPS * DIGITS) place[t / DIGITS][t % DIGITS] = 0;
        unsigned same = __ballot_sync(0xffffffffu, in);
        for (int b = 0; b < 4; b++) {
            unsigned vote = __ballot_sync(0xffffffffu, digit >> b & 1);
            same &= digit >> b & 1 ? vote : ~vote;
        }
        int rank = __popc(same & ((1u << lane) - 1));
        __syncthreads();
        if (in && rank == 0) place[warp][digit] = __popc(same);
        __syncthreads();
        if (t < DIGITS) {
            unsigned at = next[t];
            for (int w = 0; w < WARPS; w++) {
                unsigned count = place[w][t];
                place[w][t] = at;
                at += count;
            }
            next[t] = at;
        }
        __syncthreads();
        if (in) {
            unsigned to = place[warp][digit] + rank;
            key_out[to] = key;
            index_out[to] = index_in[i];
        }
        __syncthreads();
    }
}

extern "C" __global__ void reorder(const unsigned *index, const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[index[i]];
}

// cell_starts: start[c] is the first sample of cell c or a later one; start[cells] is n.
extern "C" __global__ void cell_starts(const unsigned *key, unsigned *start, int n, int cells)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n) return;
    int last = i < n ? key[i] : cells;
    for (int c = i > 0 ? key[i - 1] + 1 : 0; c <= last; c++) start[c] = i;
}

extern "C" __global__ void gridding(const float *x, const float *y, const float *z, const float *re, const float *im, const unsigned *start,
                                    float *grid_re, float *grid_im, int side)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= side * side * side) return;
    int px = p % side, py = p / side % side, pz = p / side / side;
    int left = max(px - REACH, 0), right = min(px + REACH, side);
    float fx = (float)px, fy = (float)py, fz = (float)pz, sum_re = 0.0f, sum_im = 0.0f;
    for (int cz = max(pz - REACH, 0); cz < min(pz + REACH, side); cz++)
        for (int cy = max(py - REACH, 0); cy < min(py + REACH, side); cy++) {
            int row = (cz * side + cy) * side;
            for (unsigned s = start[row + left], end = start[row + right]; s < end; s++) {
                float wx = window[(int)(fabsf(x[s] - fx) * STEPS)], wy = window[(int)(fabsf(y[s] - fy) * STEPS)];
                float w = wx * wy * window[(int)(fabsf(z[s] - fz) * STEPS)];
                sum_re = fmaf(w, re[s], sum_re);
                sum_im = fmaf(w, im[s], sum_im);
            }
        }
    grid_re[p] = sum_re;
    grid_im[p] = sum_im;
}

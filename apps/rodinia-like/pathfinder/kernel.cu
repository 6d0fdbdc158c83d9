// pathfinder: dynamic programming over a grid of weights: the cheapest way from the
// first row to each cell of the last, moving down, down-left or down-right. Weights are
// below 10: bytes, with which the walk is compute-bound, or words, as Rodinia's are. One launch
// advances up to HALO rows: a block keeps its 256 columns in shared memory, of which
// the outer HALO on each side are redundant and lose one column per row (ghost zones,
// Meng and Skadron 2009).
#include "heddle.cuh"

#define BLOCK 256

template <typename W>
__device__ __forceinline__ void walk(int *prev, int *here, const W *weight, const int *in, int *out, int cols, int first_row, int rows, int halo)
{
    int t = threadIdx.x, x = (int)blockIdx.x * (BLOCK - 2 * halo) - halo + t;
    bool grid = x >= 0 && x < cols;
    if (grid) prev[t] = in[x];
    __syncthreads();
    int west = x == 0 ? t : t - 1, east = x == cols - 1 ? t : t + 1;
    for (int r = 0; r < rows; r++) {
        bool inside = grid && t > r && t < BLOCK - 1 - r;
        if (inside) {
            int best = min(prev[t], min(prev[west], prev[east]));
            here[t] = best + weight[(long long)(first_row + r) * cols + x];
        }
        __syncthreads();
        if (inside) prev[t] = here[t];
        __syncthreads();
    }
    if (grid && t >= halo && t < BLOCK - halo) out[x] = prev[t];
}

extern "C" __global__ void pathfinder_rows(const unsigned char *weight, const int *in, int *out, int cols, int first_row, int rows, int halo)
{
    __shared__ int prev[BLOCK], here[BLOCK];
    walk(prev, here, weight, in, out, cols, first_row, rows, halo);
}

extern "C" __global__ void pathfinder_rows_words(const int *weight, const int *in, int *out, int cols, int first_row, int rows, int halo)
{
    __shared__ int prev[BLOCK], here[BLOCK];
    walk(prev, here, weight, in, out, cols, first_row, rows, halo);
}

// nw: global alignment of two sequences by dynamic programming (Needleman and Wunsch
// 1970). The (n+1) x (n+1) matrix of costs is computed in 16 x 16 tiles; a launch does
// the tiles of one anti-diagonal, a block of 16 threads one tile, whose anti-diagonals it
// walks in shared memory.
#include "heddle.cuh"

#define TILE 16

// pad is the rows and columns that the scores have before the first, and the columns beside those.
__device__ __forceinline__ void tile(int (*c)[TILE + 1], int (*s)[TILE], const int *score, int *cost, int n, int gap, int diagonal, int first, int pad)
{
    int t = threadIdx.x, bx = first + (int)blockIdx.x, by = diagonal - bx;
    int pitch = n + 1, x0 = bx * TILE, y0 = by * TILE; // the tile's corner: the cell up left of its first
    for (int r = 0; r < TILE; r++) s[r][t] = score[(y0 + r + pad) * (n + pad) + x0 + t + pad];
    c[0][t + 1] = cost[y0 * pitch + x0 + t + 1];
    c[t + 1][0] = cost[(y0 + t + 1) * pitch + x0];
    if (t == 0) c[0][0] = cost[y0 * pitch + x0];
    __syncthreads();
    for (int d = 0; d < 2 * TILE - 1; d++) {
        int x = t, y = d - t; // thread t owns column t
        if (y >= 0 && y < TILE) {
            int replace = c[y][x] + s[y][x];
            int skip = max(c[y][x + 1], c[y + 1][x]) - gap;
            c[y + 1][x + 1] = max(replace, skip);
        }
        __syncthreads();
    }
    for (int r = 0; r < TILE; r++) cost[(y0 + r + 1) * pitch + x0 + t + 1] = c[r + 1][t + 1];
}

extern "C" __global__ void nw_diagonal(const int *score, int *cost, int n, int gap, int diagonal, int first)
{
    __shared__ int c[TILE + 1][TILE + 1], s[TILE][TILE];
    tile(c, s, score, cost, n, gap, diagonal, first, 0);
}

extern "C" __global__ void nw_diagonal_padded(const int *score, int *cost, int n, int gap, int diagonal, int first)
{
    __shared__ int c[TILE + 1][TILE + 1], s[TILE][TILE];
    tile(c, s, score, cost, n, gap, diagonal, first, 1);
}

// dwt2d: one level of the forward two-dimensional wavelet transform of JPEG 2000, the
// reversible 5/3 filter by lifting (Le Gall and Tabatabai 1988, Sweldens 1996; ISO
// 15444-1 annex F). A block transforms a tile of 32 x 32 samples in shared memory, with
// two more on the left and above and one on the right and below; beyond the image the
// samples are mirrored about the border sample. The low band goes to a buffer of its own,
// the next level's input, the three others to their quadrants of out.
#include "heddle.cuh"

#define TILE 32
#define ROOM (TILE + 3)
#define THREADS 256

// Mirrors i about 0 and size - 1. Tiles that hang over may go further: those are unused.
HEDDLE_FN int mirror(int i, int size)
{
    if (i < 0) i = -i;
    if (i >= size) i = 2 * (size - 1) - i;
    return max(i, 0);
}

extern "C" __global__ void dwt_level(const int *in, int in_pitch, int size, int *low, int low_pitch, int *out, int out_pitch)
{
    __shared__ int t[ROOM][ROOM + 1];
    int x0 = (int)blockIdx.x * TILE, y0 = (int)blockIdx.y * TILE, half = size / 2;
    for (int s = threadIdx.x; s < ROOM * ROOM; s += THREADS) {
        int r = s / ROOM, c = s % ROOM;
        t[r][c] = in[mirror(y0 + r - 2, size) * in_pitch + mirror(x0 + c - 2, size)];
    }
    __syncthreads();
    // Rows. Odd samples become the difference to the mean of their neighbours ...
    for (int s = threadIdx.x; s < ROOM * (TILE / 2 + 1); s += THREADS) {
        int r = s / (TILE / 2 + 1), c = 2 * (s % (TILE / 2 + 1)) + 1;
        t[r][c] -= (t[r][c - 1] + t[r][c + 1]) >> 1;
    }
    __syncthreads();
    // ... and even ones are smoothed by the differences beside them.
    for (int s = threadIdx.x; s < ROOM * (TILE / 2); s += THREADS) {
        int r = s / (TILE / 2), c = 2 * (s % (TILE / 2)) + 2;
        t[r][c] += (t[r][c - 1] + t[r][c + 1] + 2) >> 2;
    }
    __syncthreads();
    // Columns, those of the tile only.
    for (int s = threadIdx.x; s < (TILE / 2 + 1) * TILE; s += THREADS) {
        int r = 2 * (s / TILE) + 1, c = s % TILE + 2;
        t[r][c] -= (t[r - 1][c] + t[r + 1][c]) >> 1;
    }
    __syncthreads();
    for (int s = threadIdx.x; s < TILE / 2 * TILE; s += THREADS) {
        int r = 2 * (s / TILE) + 2, c = s % TILE + 2;
        t[r][c] += (t[r - 1][c] + t[r + 1][c] + 2) >> 2;
    }
    __syncthreads();
    // A warp writes half a row of two bands: even samples, then odd ones.
    for (int s = threadIdx.x; s < TILE * TILE; s += THREADS) {
        int odd = s / (TILE / 2) % 2, r = s / TILE, c = 2 * (s % (TILE / 2)) + odd;
        int x = x0 + c, y = y0 + r, v = t[r + 2][c + 2];
        if (x >= size || y >= size) continue;
        if (!odd && !(r & 1)) low[(y / 2) * low_pitch + x / 2] = v;
        else out[(y / 2 + (r & 1) * half) * out_pitch + x / 2 + odd * half] = v;
    }
}

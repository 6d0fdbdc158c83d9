// convsep: a separable convolution of a width x height image with 17 x 17 taps, first
// along the rows, then along the columns; outside the image is zero. Blocks of 16 x 4
// threads compute 128 x 4 results of the row pass, blocks of 16 x 8 threads 16 x 64 of
// the column pass, from a tile in shared memory that reaches RADIUS beyond the results.
#include "heddle.cuh"

#define RADIUS 8
#define X 16      // threads along a row, both passes; twice RADIUS
#define ROW_Y 4   // threads along a column, row pass
#define COLUMN_Y 8
#define STEPS 8   // results of a thread

__constant__ float taps[2 * RADIUS + 1];

extern "C" __global__ void conv_rows(const float *in, float *out, int width, int height)
{
    __shared__ float tile[ROW_Y][STEPS * X + 2 * RADIUS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x0 = blockIdx.x * STEPS * X, y = blockIdx.y * ROW_Y + ty;
    in += y * width;
    out += y * width;
#pragma unroll
    for (int s = 0; s <= STEPS; s++) {
        int i = s * X + tx, x = x0 + i - RADIUS;
        float v = 0.0f;
        if (y < height && (unsigned)x < width) v = in[x]; // a negative x is a great unsigned one
        tile[ty][i] = v;
    }
    __syncthreads();
    if (y >= height) return;
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        int i = s * X + tx;
        if (x0 + i >= width) return;
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k <= 2 * RADIUS; k++) sum = fmaf(taps[k], tile[ty][i + k], sum);
        out[x0 + i] = sum;
    }
}

extern "C" __global__ void conv_columns(const float *in, float *out, int width, int height)
{
    __shared__ float tile[STEPS * COLUMN_Y + 2 * RADIUS][X];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * X + tx, y0 = blockIdx.y * STEPS * COLUMN_Y;
#pragma unroll
    for (int s = 0; s < STEPS + 2 * RADIUS / COLUMN_Y; s++) {
        int i = s * COLUMN_Y + ty, y = y0 + i - RADIUS;
        float v = 0.0f;
        if (x < width && (unsigned)y < height) v = in[y * width + x];
        tile[i][tx] = v;
    }
    __syncthreads();
    if (x >= width) return;
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        int i = s * COLUMN_Y + ty;
        if (y0 + i >= height) return;
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k <= 2 * RADIUS; k++) sum = fmaf(taps[k], tile[i + k][tx], sum);
        out[(y0 + i) * width + x] = sum;
    }
}

// convsep: a separable convolution of a width x height image with 17 x 17 taps, first
// along the rows, then along the columns; outside the image is zero. Blocks of 16 x 4
// threads compute 128 x 4 results of the row pass, blocks of 16 x 8 threads 16 x 64 of
// the column pass, from a tile in shared memory that reaches RADIUS beyond the results.
#include "heddle.cuh"

#define RADIUS 8
#define X 16      // threads along a row, both passes
#define ROW_Y 4   // threads along a column, row pass
#define COLUMN_Y 8
#define STEPS 8   // results of a thread

__constant__ float taps[2 * RADIUS + 1];

extern "C" __global__ void conv_rows(const float *in, float *out, int width, int height)
{
    __shared__ float tile[ROW_Y][STEPS * X + 2 * RADIUS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x0 = blockIdx.x * STEPS * X, y = blockIdx.y * ROW_Y + ty;
    for (int i = tx; i < STEPS * X + 2 * RADIUS; i += X) {
        int x = x0 + i - RADIUS;
        tile[ty][i] = y < height && x >= 0 && x < width ? in[y * width + x] : 0.0f;
    }
    __syncthreads();
    if (y >= height) return;
    for (int s = 0; s < STEPS; s++) {
        int i = s * X + tx;
        if (x0 + i >= width) return;
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k <= 2 * RADIUS; k++) sum = fmaf(taps[k], tile[ty][i + k], sum);
        out[y * width + x0 + i] = sum;
    }
}

extern "C" __global__ void conv_columns(const float *in, float *out, int width, int height)
{
    __shared__ float tile[STEPS * COLUMN_Y + 2 * RADIUS][X];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * X + tx, y0 = blockIdx.y * STEPS * COLUMN_Y;
    for (int i = ty; i < STEPS * COLUMN_Y + 2 * RADIUS; i += COLUMN_Y) {
        int y = y0 + i - RADIUS;
        tile[i][tx] = x < width && y >= 0 && y < height ? in[y * width + x] : 0.0f;
    }
    __syncthreads();
    if (x >= width) return;
    for (int s = 0; s < STEPS; s++) {
        int i = s * COLUMN_Y + ty;
        if (y0 + i >= height) return;
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k <= 2 * RADIUS; k++) sum = fmaf(taps[k], tile[i + k][tx], sum);
        out[(y0 + i) * width + x] = sum;
    }
}

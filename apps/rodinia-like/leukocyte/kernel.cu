// leukocyte: finds white blood cells in a frame of intravital video and computes the
// field that tracks them. A cell shows as a circle across which the brightness changes:
// the score of a pixel is the largest GICOV, mean squared over variance of the outward
// gradient along circles of several radii (Dong, Ray and Acton 2005); a cell is where the
// score equals its dilation. Around each cell the motion gradient vector flow is relaxed
// (Ray and Acton 2004). Threads are numbered along rows.
#include "heddle.cuh"

#define CIRCLES 7
#define POINTS 150
#define MARGIN 22 // no circle reaches farther from its centre
#define REACH 12  // of the dilation's disc
#define ROWS 41   // of the window around a cell
#define COLS 81
#define MU 0.1f
#define LAMBDA 0.4f
#define SHARPNESS 100.0f // of the smoothed step
#define THREADS 320

// The directions of a circle's points, and their offsets from the centre per circle.
__constant__ float cosine[POINTS], sine[POINTS];
__constant__ int dx[CIRCLES * POINTS], dy[CIRCLES * POINTS];

extern "C" __global__ void leukocyte_gradient(const float *image, float *gx, float *gy, int width, int height)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    int x = i % width, row = i - x, y = i / width;
    gx[i] = 0.5f * (image[row + min(x + 1, width - 1)] - image[row + max(x - 1, 0)]);
    gy[i] = 0.5f * (image[min(y + 1, height - 1) * width + x] - image[max(y - 1, 0) * width + x]);
}

// Pixels less than MARGIN from a border have no score.
extern "C" __global__ void leukocyte_gicov(const float *gx, const float *gy, float *score, int width, int height)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, inner = width - 2 * MARGIN;
    if (i >= inner * (height - 2 * MARGIN)) return;
    int centre = (MARGIN + i / inner) * width + MARGIN + i % inner;
    float best = 0.0f;
    for (int c = 0; c < CIRCLES; c++) {
        float sum = 0.0f, squares = 0.0f;
        for (int p = 0; p < POINTS; p++) {
            int at = centre + dy[c * POINTS + p] * width + dx[c * POINTS + p];
            float outward = fmaf(gy[at], sine[p], gx[at] * cosine[p]);
            sum += outward;
            squares = fmaf(outward, outward, squares);
        }
        float mean = sum / (float)POINTS;
        float variance = fmaf(-sum, mean, squares) / (float)(POINTS - 1);
        best = fmaxf(best, mean * mean / variance);
    }
    score[centre] = best;
}

extern "C" __global__ void leukocyte_dilate(const float *score, float *dilated, int width, int height)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height) return;
    int x = i % width, y = i / width;
    float most = 0.0f;
    for (int v = max(-REACH, -y); v <= min(REACH, height - 1 - y); v++)
        for (int u = max(-REACH, -x); u <= min(REACH, width - 1 - x); u++)
            if (u * u + v * v <= REACH * REACH) most = fmaxf(most, score[i + v * width + u]);
    dilated[i] = most;
}

// A step smoothed over 1 / SHARPNESS: 1/2 + arctan(z) / pi, with the arctangent to 0.005
// (Abramowitz and Stegun 4.4.48).
HEDDLE_FN float smooth_step(float z)
{
    z *= SHARPNESS;
    float square = z * z;
    if (square <= 1.0f) return fmaf(z / fmaf(0.28f, square, 1.0f), 0.318309886f, 0.5f);
    return fmaf(z / (square + 0.28f), -0.318309886f, z > 0.0f ? 1.0f : 0.0f);
}

// Block b relaxes the field of cell b in its window; the edge strength f is the length of
// the gradient, up to 1. A neighbour counts as far as it leads along the motion (vx, vy).
extern "C" __global__ void leukocyte_field(const float *gx, const float *gy, const int *cells, float *field, int width, int height, int steps, float vx, float vy)
{
    __shared__ float now[ROWS * COLS], next[ROWS * COLS];
    int left = cells[2 * blockIdx.x] - COLS / 2, top = cells[2 * blockIdx.x + 1] - ROWS / 2;
    for (int s = 0; s < steps; s++) {
        for (int i = threadIdx.x; i < ROWS * COLS; i += THREADS) {
            int x = i % COLS, y = i / COLS;
            int at = min(max(top + y, 0), height - 1) * width + min(max(left + x, 0), width - 1);
            float f = fminf(sqrtf(fmaf(gy[at], gy[at], gx[at] * gx[at])), 1.0f);
            if (s == 0) {
                next[i] = f;
                continue;
            }
            float here = now[i], pull = 0.0f;
            for (int v = -1; v <= 1; v++)
                for (int u = -1; u <= 1; u++) {
                    if (u == 0 && v == 0) continue;
                    float rise = now[min(max(y + v, 0), ROWS - 1) * COLS + min(max(x + u, 0), COLS - 1)] - here;
                    pull = fmaf(smooth_step(rise * fmaf(vy, (float)v, vx * (float)u)), rise, pull);
                }
            next[i] = fmaf(-LAMBDA * f, here - f, fmaf(MU, pull, here));
        }
        __syncthreads();
        for (int i = threadIdx.x; i < ROWS * COLS; i += THREADS) now[i] = next[i];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < ROWS * COLS; i += THREADS) field[blockIdx.x * ROWS * COLS + i] = now[i];
}

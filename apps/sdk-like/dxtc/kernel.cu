// dxtc: DXT1 compression of an image by cluster fit (Brown 2006; Castano 2007). A block
// of 64 threads compresses 4 x 4 pixels: it sorts the colours along their principal
// axis, and its threads share out the 969 ways to cut the sorted colours into four
// groups. For each, least squares give the two end colours, which are rounded to 5:6:5
// bits; the cut with the least error wins, the first one among equals.
#include "heddle.cuh"

#define CUTS 969 // of 16 colours into 4 groups in order: C(19, 3)
#define THREADS 64

struct fit { float error; unsigned cut, start, end; };

// end_points solves for one channel: ax and bx are the sums of the colours weighted for
// either end, a9, b9 and ab9 nine times the sums of squared and mixed weights, scale
// nine over their determinant; levels is 31 or 63. It returns the two codes and adds
// the error, without the part that is the same for all cuts.
static __device__ __forceinline__ void end_points(float ax, float bx, float a9, float b9, float ab9, float scale, float levels,
                                                  unsigned &start, unsigned &end, float &error)
{
    float a = fminf(fmaxf(scale * fmaf(ax, b9, -(bx * ab9)), 0.0f), 1.0f);
    float b = fminf(fmaxf(scale * fmaf(bx, a9, -(ax * ab9)), 0.0f), 1.0f);
    start = (unsigned)fmaf(a, levels, 0.5f);
    end = (unsigned)fmaf(b, levels, 0.5f);
    a = (float)start / levels;
    b = (float)end / levels;
    float square = fmaf(a * a, a9, fmaf(b * b, b9, 2.0f * (a * b) * ab9)) * (1.0f / 9.0f);
    error += fmaf(-2.0f, fmaf(a, ax, b * bx), square);
}

static __device__ __forceinline__ fit try_cut(unsigned packed, unsigned cut, const float (*sum)[3])
{
    int i = packed & 255, j = packed >> 8 & 255, k = packed >> 16;
    int a9 = 9 * i + 4 * (j - i) + (k - j), b9 = 9 * (16 - k) + 4 * (k - j) + (j - i), ab9 = 2 * (k - i);
    int determinant = a9 * b9 - ab9 * ab9;
    fit f = {__uint_as_float(0x7f800000), cut, 0, 0};
    if (determinant == 0) return f; // all colours in one group
    float scale = 9.0f / (float)determinant;
    f.error = 0.0f;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        float ax = (sum[i][c] + sum[j][c] + sum[k][c]) * (1.0f / 3.0f), bx = sum[16][c] - ax;
        unsigned start, end;
        end_points(ax, bx, (float)a9, (float)b9, (float)ab9, scale, c == 1 ? 63.0f : 31.0f, start, end, f.error);
        int shift = c == 0 ? 11 : c == 1 ? 5 : 0;
        f.start |= start << shift;
        f.end |= end << shift;
    }
    return f;
}

// principal_axis is the dominant direction of the colours, by eight power iterations.
static __device__ __forceinline__ void principal_axis(const float (*colour)[3], float *axis)
{
    float mean[3] = {0.0f, 0.0f, 0.0f}, cov[6] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 16; p++)
        for (int c = 0; c < 3; c++) mean[c] += colour[p][c];
    for (int c = 0; c < 3; c++) mean[c] *= 1.0f / 16.0f;
    for (int p = 0; p < 16; p++) {
        float r = colour[p][0] - mean[0], g = colour[p][1] - mean[1], b = colour[p][2] - mean[2];
        cov[0] = fmaf(r, r, cov[0]);
        cov[1] = fmaf(r, g, cov[1]);
        cov[2] = fmaf(r, b, cov[2]);
        cov[3] = fmaf(g, g, cov[3]);
        cov[4] = fmaf(g, b, cov[4]);
        cov[5] = fmaf(b, b, cov[5]);
    }
    // The start is the covariance with the channel that varies most, which no dominant
    // direction is at right angles to.
    float x = cov[0], y = cov[1], z = cov[2];
    if (cov[3] > cov[0] && cov[3] >= cov[5]) x = cov[1], y = cov[3], z = cov[4];
    else if (cov[5] > cov[0]) x = cov[2], y = cov[4], z = cov[5];
    for (int n = 0; n < 8; n++) {
        float u = fmaf(cov[0], x, fmaf(cov[1], y, cov[2] * z));
        float v = fmaf(cov[1], x, fmaf(cov[3], y, cov[4] * z));
        float w = fmaf(cov[2], x, fmaf(cov[4], y, cov[5] * z));
        float most = fmaxf(fabsf(u), fmaxf(fabsf(v), fabsf(w)));
        if (most == 0.0f) break;
        x = u / most, y = v / most, z = w / most;
    }
    axis[0] = x, axis[1] = y, axis[2] = z;
}

// write_block packs the end colours and the 2-bit codes of the pixels. Four-colour
// blocks have the greater end first.
static __device__ __forceinline__ void write_block(uint2 *out, fit f, unsigned packed, const int *order)
{
    unsigned i = packed & 255, j = packed >> 8 & 255, k = packed >> 16, codes = 0x1320; // group 0, 1, 2, 3: code 0, 2, 3, 1
    if (f.start < f.end) {
        unsigned t = f.start;
        f.start = f.end;
        f.end = t;
        codes = 0x0231;
    }
    if (f.start == f.end) codes = 0;
    unsigned bits = 0;
    for (unsigned s = 0; s < 16; s++) {
        unsigned group = (s >= i) + (s >= j) + (s >= k);
        bits |= (codes >> 4 * group & 3) << 2 * order[s];
    }
    out->x = f.start | f.end << 16;
    out->y = bits;
}

extern "C" __global__ void dxtc(const unsigned *image, const unsigned *cuts, uint2 *out, int width)
{
    __shared__ float colour[16][3], sorted[16][3], sum[17][3], along[16], error[THREADS];
    __shared__ int order[16];
    __shared__ unsigned winner[THREADS];
    int t = threadIdx.x;
    if (t < 16) {
        unsigned pixel = image[(blockIdx.y * 4 + t / 4) * width + blockIdx.x * 4 + t % 4];
        for (int c = 0; c < 3; c++) colour[t][c] = (float)(pixel >> 8 * c & 255) * (1.0f / 255.0f);
    }
    __syncthreads();
    float axis[3];
    principal_axis(colour, axis);
    if (t < 16) along[t] = fmaf(colour[t][0], axis[0], fmaf(colour[t][1], axis[1], colour[t][2] * axis[2]));
    __syncthreads();
    if (t < 16) {
        int rank = 0;
        for (int p = 0; p < 16; p++) rank += along[p] < along[t] || (along[p] == along[t] && p < t);
        order[rank] = t;
        for (int c = 0; c < 3; c++) sorted[rank][c] = colour[t][c];
    }
    __syncthreads();
    if (t < 3) {
        float s = 0.0f;
        sum[0][t] = s;
        for (int p = 0; p < 16; p++) sum[p + 1][t] = s += sorted[p][t];
    }
    __syncthreads();
    fit best = {__uint_as_float(0x7f800000), CUTS, 0, 0};
    for (unsigned cut = t; cut < CUTS; cut += THREADS) {
        fit f = try_cut(cuts[cut], cut, sum);
        if (f.error < best.error) best = f;
    }
    error[t] = best.error;
    winner[t] = best.cut;
    for (int d = THREADS / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d && (error[t + d] < error[t] || (error[t + d] == error[t] && winner[t + d] < winner[t]))) {
            error[t] = error[t + d];
            winner[t] = winner[t + d];
        }
    }
    __syncthreads();
    if (best.cut == winner[0]) write_block(out + blockIdx.y * gridDim.x + blockIdx.x, best, cuts[best.cut], order);
}

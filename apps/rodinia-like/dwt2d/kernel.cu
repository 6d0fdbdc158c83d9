// dwt2d: one level of the forward two-dimensional wavelet transform of JPEG 2000, the
// reversible 5/3 filter by lifting (Le Gall and Tabatabai 1988, Sweldens 1996; ISO
// 15444-1 annex F). A warp slides down a strip of rows; a lane holds a pair of samples of
// a row, exchanges them with its neighbours by shuffles, and keeps what the next rows
// need in registers. Lanes 0 and 31 only serve their neighbours, so a warp gives 30 pairs
// of columns. Beyond the image samples are mirrored about the border sample: the
// difference left of the first is the first, the even sample right of the last the last.
// The low band goes to a buffer of its own, the next level's input, the three others to
// their quadrants of out.
#include "heddle.cuh"

#define PAIRS 30 // of columns, per warp

// Row y after the horizontal transform: low in x, high in y, of this lane's pair. The
// first and the last pair of the row are at the image's borders.
HEDDLE_FN int2 row(const int *in, int pitch, int y, int pair, bool first, bool last)
{
    int2 v = *(const int2 *)(in + (long long)y * pitch + 2 * pair); // both even: aligned
    int right = __shfl_down_sync(0xffffffffu, v.x, 1);
    int high = v.y - ((v.x + (last ? v.x : right)) >> 1);
    int left = __shfl_up_sync(0xffffffffu, high, 1);
    int low = v.x + (((first ? high : left) + high + 2) >> 2);
    return {low, high};
}

HEDDLE_FN int2 predict(int2 above, int2 odd, int2 below) { return {odd.x - ((above.x + below.x) >> 1), odd.y - ((above.y + below.y) >> 1)}; }

HEDDLE_FN int2 update(int2 even, int2 above, int2 below) { return {even.x + ((above.x + below.x + 2) >> 2), even.y + ((above.y + below.y + 2) >> 2)}; }

// size is even; block row b does the pairs of rows [b * strip, (b + 1) * strip).
extern "C" __global__ void dwt_level(const int *in, int in_pitch, int size, int *low, int low_pitch, int *out, int out_pitch, int strip)
{
    int half = size / 2, lane = threadIdx.x & 31, base = (int)((blockIdx.x * blockDim.x + threadIdx.x) >> 5) * PAIRS;
    if (base >= half) return; // the whole warp
    int column = base + lane - 1, pair = min(max(column, 0), half - 1);
    bool first = column == 0, last = column == half - 1, writes = lane > 0 && lane < 31 && column < half;
    int p = blockIdx.y * strip, end = min(p + strip, half);
    int2 even = row(in, in_pitch, 2 * p, pair, first, last), above = {0, 0};
    if (p > 0) {
        int2 before = row(in, in_pitch, 2 * p - 2, pair, first, last);
        above = predict(before, row(in, in_pitch, 2 * p - 1, pair, first, last), even);
    }
    for (; p < end; p++) {
        int2 odd = row(in, in_pitch, 2 * p + 1, pair, first, last), next = even;
        if (p < half - 1) next = row(in, in_pitch, 2 * p + 2, pair, first, last);
        int2 high = predict(even, odd, next);
        if (p == 0) above = high;
        int2 smooth = update(even, above, high);
        if (writes) {
            low[(long long)p * low_pitch + column] = smooth.x;
            int *to = out + (long long)p * out_pitch + column;
            to[half] = smooth.y;
            to += (long long)half * out_pitch;
            to[0] = high.x;
            to[half] = high.y;
        }
        even = next;
        above = high;
    }
}

// Layers of networks on images, in the two mappings of the launches: a CTA has a filter and its threads the
// pixels of a tile (ByFilter), or a CTA has a column of the result, a thread a row of it, and walks along the
// filters (ByColumn). In both threadIdx.x is the *row*, so that a warp's loads and stores meet a row each.
#pragma once
#include "../../dnn/kernels/dnn.cuh"

// The result of a launch: `out` rows and columns of every filter. A tile begins at (row0, col0).
struct ByFilter {
    int out, row0, col0;
    DNN_FN int row(const ByFilter &p) { return p.row0 + threadIdx.x; }
    DNN_FN int col(const ByFilter &p) { return p.col0 + threadIdx.y; }
    DNN_FN int first() { return blockIdx.x; }
    DNN_FN int behind(int) { return blockIdx.x + 1; }
};

struct ByColumn {
    int out;
    DNN_FN int row(const ByColumn &) { return threadIdx.x; }
    DNN_FN int col(const ByColumn &) { return blockIdx.x; }
    DNN_FN int first() { return 0; }
    DNN_FN int behind(int filters) { return filters; }
};

// The sum of one filter at one pixel of the result; taps outside the image are left out.
DNN_FN float taps(const float *x, const float *w, int c, int side, int k, int stride, int pad, int row, int col)
{
    int top = row * stride - pad, left = col * stride - pad;
    int ky0 = max(0, -top), ky1 = min(k, side - top), kx0 = max(0, -left), kx1 = min(k, side - left);
    x += top * side + left;
    float sum = 0.0f;
    for (int i = 0; i < c; i++, x += side * side, w += k * k)
        for (int ky = ky0; ky < ky1; ky++)
            for (int kx = kx0; kx < kx1; kx++) sum = fmaf(w[ky * k + kx], x[ky * side + kx], sum);
    return sum;
}

// Convolution of `filters` filters in groups of `group`, each over its own c channels; with a bias unless it is null.
template <Activation ACT, class P>
DNN_FN void convolve(const float *x, const float *w, const float *bias, float *y, int c, int side, int filters, int group,
                     int k, int stride, int pad, P p)
{
    int row = P::row(p), col = P::col(p);
    if (row >= p.out || col >= p.out) return;
    for (int m = P::first(); m < P::behind(filters); m++) {
        float sum = taps(x + m / group * c * side * side, w + m * c * k * k, c, side, k, stride, pad, row, col);
        if (bias) sum += bias[m];
        y[(m * p.out + row) * p.out + col] = activate<ACT>(sum);
    }
}

template <class P> DNN_FN void greatest(const float *x, float *y, int channels, int side, int k, int stride, int pad, P p)
{
    int row = P::row(p), col = P::col(p);
    if (row >= p.out || col >= p.out) return;
    int top = row * stride - pad, left = col * stride - pad;
    for (int c = P::first(); c < P::behind(channels); c++) {
        float best = -3.4e38f;
        for (int i = max(top, 0); i < min(top + k, side); i++)
            for (int j = max(left, 0); j < min(left + k, side); j++) best = fmaxf(best, x[(c * side + i) * side + j]);
        y[(c * p.out + row) * p.out + col] = best;
    }
}

// y = x / (bias + alpha * sum of squares over `reach` channels to either side)^(3/4).
template <class P> DNN_FN void respond(const float *x, float *y, int channels, int reach, float bias, float alpha, P p)
{
    int row = P::row(p), col = P::col(p), pixels = p.out * p.out, at = row * p.out + col;
    if (row >= p.out || col >= p.out) return;
    for (int c = P::first(); c < P::behind(channels); c++) {
        float squares = 0.0f;
        for (int i = max(c - reach, 0); i <= min(c + reach, channels - 1); i++) {
            float v = x[i * pixels + at];
            squares = fmaf(v, v, squares);
        }
        float root = sqrtf(fmaf(alpha, squares, bias));
        y[c * pixels + at] = x[c * pixels + at] / (root * sqrtf(root));
    }
}

// Batch normalisation, its statistics folded into a scale and a shift per channel, plus the shortcut unless it is null.
template <Activation ACT, class P>
DNN_FN void rescale(const float *x, const float *scale, const float *shift, const float *shortcut, float *y, int channels, P p)
{
    int row = P::row(p), col = P::col(p);
    if (row >= p.out || col >= p.out) return;
    for (int c = P::first(); c < P::behind(channels); c++) {
        int at = (c * p.out + row) * p.out + col;
        float v = fmaf(x[at], scale[c], shift[c]);
        if (shortcut) v += shortcut[at];
        y[at] = activate<ACT>(v);
    }
}

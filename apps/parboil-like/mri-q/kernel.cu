// mri-q: the Q matrix of iterative reconstruction of magnetic resonance images from
// arbitrary trajectories (Stone et al. 2008): for every voxel x the sum over samples k
// of |phi_k|^2 exp(2 pi i k . x). The first kernel computes |phi|^2; the second, a
// voxel per thread, adds a chunk of samples that stands in constant memory.
#include "heddle.cuh"

#define CHUNK 1024

__constant__ float kx[CHUNK], ky[CHUNK], kz[CHUNK], magnitude[CHUNK];

extern "C" __global__ void mriq_magnitude(const float *re, const float *im, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fmaf(re[i], re[i], im[i] * im[i]);
}

extern "C" __global__ void mriq_q(const float *x, const float *y, const float *z, float *qr, float *qi, int n, int samples)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float vx = x[i], vy = y[i], vz = z[i], sr = qr[i], si = qi[i];
    for (int k = 0; k < samples; k++) {
        // Whole turns go first: the approximate functions are good near zero only.
        float turns = fmaf(kx[k], vx, fmaf(ky[k], vy, kz[k] * vz));
        float angle = 6.2831853f * (turns - __builtin_rintf(turns));
        sr = fmaf(magnitude[k], heddle_cos(angle), sr);
        si = fmaf(magnitude[k], heddle_sin(angle), si);
    }
    qr[i] = sr;
    qi[i] = si;
}

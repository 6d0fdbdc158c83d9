// fdtd2d: finite differences in time for the transverse electric field in two
// dimensions (Yee 1966): ex, ey and hz on nx x ny points, row-major. Three kernels per
// time step; the source is the value of ey on row 0.
#include "heddle.cuh"

static __device__ __forceinline__ int column() { return blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ __forceinline__ int row() { return blockIdx.y * blockDim.y + threadIdx.y; }

extern "C" __global__ void fdtd_ey(float *ey, const float *hz, const float *source, int t, int nx, int ny)
{
    int j = column(), i = row();
    if (i >= nx || j >= ny) return;
    int at = i * ny + j;
    ey[at] = i == 0 ? source[t] : fmaf(-0.5f, hz[at] - hz[at - ny], ey[at]);
}

extern "C" __global__ void fdtd_ex(float *ex, const float *hz, int nx, int ny)
{
    int j = column(), i = row();
    if (i >= nx || j >= ny || j == 0) return;
    int at = i * ny + j;
    ex[at] = fmaf(-0.5f, hz[at] - hz[at - 1], ex[at]);
}

extern "C" __global__ void fdtd_hz(const float *ex, const float *ey, float *hz, int nx, int ny)
{
    int j = column(), i = row();
    if (i >= nx - 1 || j >= ny - 1) return;
    int at = i * ny + j;
    hz[at] = fmaf(-0.7f, ex[at + 1] - ex[at] + ey[at + ny] - ey[at], hz[at]);
}

// Staggered as the fields are: ex has a column more and ey a row, so that hz is computed everywhere.
extern "C" __global__ void fdtd_ex_staggered(float *ex, const float *hz, int nx, int ny)
{
    int j = column(), i = row();
    if (i >= nx || j >= ny || j == 0) return;
    int at = i * ny + j;
    ex[at + i] = fmaf(-0.5f, hz[at] - hz[at - 1], ex[at + i]);
}

extern "C" __global__ void fdtd_hz_staggered(const float *ex, const float *ey, float *hz, int nx, int ny)
{
    int j = column(), i = row();
    if (i >= nx || j >= ny) return;
    int at = i * ny + j;
    hz[at] = fmaf(-0.7f, ex[at + i + 1] - ex[at + i] + ey[at + ny] - ey[at], hz[at]);
}

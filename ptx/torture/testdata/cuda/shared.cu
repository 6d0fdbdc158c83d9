// Shared memory: tiles, padding, several arrays, narrow elements, dynamic size, barriers.
#include "torture.cuh"

#define T 16

KERNEL sh_transpose(const u32 *in, u32 *out, u32 w, u32 h)
{
    __shared__ u32 tile[T][T + 1];
    u32 x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = in[y * w + x];
    __syncthreads();
    x = blockIdx.y * T + threadIdx.x;
    y = blockIdx.x * T + threadIdx.y;
    if (x < h && y < w) out[y * h + x] = tile[threadIdx.x][threadIdx.y];
}

// Narrow and wide elements in four arrays that must not overlap.
KERNEL sh_types(const u32 *in, u64 *out)
{
    __shared__ u8 b[256];
    __shared__ i16 h[256];
    __shared__ double d[256];
    __shared__ i8 c[256];
    u32 t = threadIdx.x, v = in[blockIdx.x * 256 + t], r = 255 - t;
    b[t] = (u8)v;
    h[t] = (i16)(v >> 8);
    d[t] = (double)v;
    c[t] = (i8)(v >> 24);
    __syncthreads();
    i64 s = (i64)b[r] * 3 + (i64)h[(t + 1) & 255] * 5 + (i64)c[t ^ 85] * 7 + (i64)d[(t * 7) & 255];
    out[blockIdx.x * 256 + t] = (u64)s;
}

// Three arrays carved out of dynamic shared memory; the sizes come with the launch.
KERNEL sh_dynamic(const float *in, float *out, u32 n)
{
    extern __shared__ u8 raw[];
    float *f = (float *)raw;
    u32 *idx = (u32 *)(raw + 4 * n);
    u8 *flag = raw + 8 * n;
    u32 t = threadIdx.x;
    for (u32 i = t; i < n; i += blockDim.x) {
        f[i] = in[i];
        idx[i] = (i * 5 + 3) % n;
        flag[i] = (u8)(i % 3);
    }
    __syncthreads();
    for (u32 i = t; i < n; i += blockDim.x) out[i] = flag[n - 1 - i] == 1 ? f[idx[i]] : -f[i];
}

// Static and dynamic shared memory in one kernel.
KERNEL sh_mixed(const u32 *in, u32 *out)
{
    __shared__ u32 fixed[64];
    extern __shared__ u32 free_size[];
    u32 t = threadIdx.x;
    fixed[t & 63] = 0;
    __syncthreads();
    free_size[t] = in[t];
    atomicAdd(&fixed[in[t] & 63], 1u);
    __syncthreads();
    out[t] = free_size[(t + 13) % blockDim.x] * 1000 + fixed[t & 63];
}

KERNEL sh_matmul(const double *a, const double *b, double *c, u32 n)
{
    __shared__ double sa[8][8], sb[8][8];
    u32 tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
    double acc = 0;
    for (u32 k0 = 0; k0 < n; k0 += 8) {
        sa[ty][tx] = a[row * n + k0 + tx];
        sb[ty][tx] = b[(k0 + ty) * n + col];
        __syncthreads();
        for (u32 k = 0; k < 8; k++) acc = fma(sa[ty][k], sb[k][tx], acc);
        __syncthreads();
    }
    c[row * n + col] = acc;
}

// Inclusive scan of a block, doubling distances, two barriers per round.
KERNEL sh_scan(const u32 *in, u32 *out)
{
    __shared__ u32 s[512];
    u32 t = threadIdx.x, base = blockIdx.x * blockDim.x;
    s[t] = in[base + t];
    __syncthreads();
    for (u32 d = 1; d < blockDim.x; d *= 2) {
        u32 v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    out[base + t] = s[t];
}

// Bitonic sort of 2 * blockDim.x keys with their values.
KERNEL sh_bitonic(i32 *key, u32 *val)
{
    __shared__ i32 k[512];
    __shared__ u32 v[512];
    u32 t = threadIdx.x, n = 2 * blockDim.x, base = blockIdx.x * n;
    for (u32 i = t; i < n; i += blockDim.x) {
        k[i] = key[base + i];
        v[i] = val[base + i];
    }
    for (u32 size = 2; size <= n; size *= 2)
        for (u32 stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            u32 lo = 2 * t - (t & (stride - 1)), hi = lo + stride;
            bool up = (lo & size) == 0;
            if ((k[lo] > k[hi]) == up) {
                i32 a = k[lo]; k[lo] = k[hi]; k[hi] = a;
                u32 b = v[lo]; v[lo] = v[hi]; v[hi] = b;
            }
        }
    __syncthreads();
    for (u32 i = t; i < n; i += blockDim.x) {
        key[base + i] = k[i];
        val[base + i] = v[i];
    }
}

// A stencil with a halo, float4 loads from shared memory.
KERNEL sh_vector(const float4 *in, float4 *out)
{
    __shared__ float4 s[66];
    u32 t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t + 1] = in[i];
    if (t == 0) s[0] = i ? in[i - 1] : in[i];
    if (t == 63) s[65] = i + 1 < gridDim.x * 64 ? in[i + 1] : in[i];
    __syncthreads();
    float4 l = s[t], c = s[t + 1], r = s[t + 2], o;
    o.x = l.x + c.y * r.z;
    o.y = c.x - l.w;
    o.z = fmaf(r.x, l.y, c.z);
    o.w = c.w * 0.5f;
    out[i] = o;
}

// The reduction whose active half shrinks; the barrier stands in the loop outside the condition.
KERNEL sh_reduce(const i64 *in, i64 *out)
{
    __shared__ i64 s[256];
    u32 t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (u32 d = 128; d > 0; d >>= 1) {
        if (t < d) s[t] = s[t] > s[t + d] ? s[t] - s[t + d] : s[t + d] * 3 - s[t];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// Mechanisms of a board of 132 SMs, one small table each: where blocks go, what fences and atomics take, what the L2
// delivers, how fast instructions issue in long loops. Times are cycles of the SMs' clock, which the program first
// brings up. Build it with nvcc:
//
//     nvcc -O3 -std=c++17 -arch=sm_90 -o mechanisms mechanisms.cu && ./mechanisms fences
//
// measured/mechanisms has what an H100 printed; sheets/h100.yaml names the numbers that it takes from there.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
typedef unsigned u32;
typedef unsigned long long u64;
#define CK(x)                                                                                                          \
    do {                                                                                                               \
        cudaError_t e_ = (x);                                                                                          \
        if (e_ != cudaSuccess) {                                                                                       \
            printf("FAIL %s line %d: %s\n", #x, __LINE__, cudaGetErrorString(e_));                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
__device__ __forceinline__ u32 clk() {
    u32 v;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(v)::"memory");
    return v;
}
__device__ __forceinline__ u64 gt() {
    u64 v;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(v)::"memory");
    return v;
}
__device__ __forceinline__ u32 smid() {
    u32 v;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(v));
    return v;
}
__global__ void place(u32 *sm, u64 *at, u32 spin) {
    u32 t0 = clk();
    if (threadIdx.x == 0) {
        sm[blockIdx.x] = smid();
        at[blockIdx.x] = gt();
    }
    while (clk() - t0 < spin) {
    }
}
static void dumpPlace(const char *name, std::vector<u32> sm, bool order) {
    u32 c[132] = {};
    for (u32 s : sm)
        c[s]++;
    u32 hist[64] = {};
    for (u32 x : c)
        hist[x]++;
    printf("place %s: SMs by blocks:", name);
    for (int i = 0; i < 64; i++)
        if (hist[i])
            printf(" %dx%d", hist[i], i);
    printf("\n");
    if (order) {
        printf("  order:");
        for (size_t i = 0; i < sm.size() && i < 400; i++)
            printf(" %u", sm[i]);
        printf("\n");
    }
}
static void doPlace() {
    u32 *sm;
    u64 *at;
    CK(cudaMalloc(&sm, 1 << 20));
    CK(cudaMalloc(&at, 1 << 20));
    CK(cudaFuncSetAttribute(place, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
    struct {
        int g, b, s;
        bool o;
    } cs[] = {{132, 1024, 0, true},     {132, 128, 0, true},     {66, 256, 0, true},    {264, 128, 0, true},
              {300, 128, 0, false},     {396, 128, 0, false},    {600, 128, 0, true},   {600, 256, 0, false},
              {600, 512, 0, false},     {600, 64, 0, false},     {600, 32, 0, false},   {1000, 32, 0, false},
              {1000, 64, 0, false},     {1000, 128, 0, true},    {200, 1024, 0, false}, {200, 512, 0, false},
              {300, 256, 65536, false}, {200, 256, 65536, true}, {2000, 128, 0, false}, {140, 256, 0, true}};
    for (auto &c : cs) {
        place<<<c.g, c.b, c.s>>>(sm, at, 200000);
        CK(cudaDeviceSynchronize());
        std::vector<u32> h(c.g);
        CK(cudaMemcpy(h.data(), sm, 4 * c.g, cudaMemcpyDeviceToHost));
        char n[80];
        snprintf(n, 80, "%d blocks of %d smem %d", c.g, c.b, c.s);
        dumpPlace(n, h, c.o);
    }
    cudaStream_t s1, s2;
    cudaStreamCreateWithFlags(&s1, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking);
    struct {
        int g1, b1, g2, b2;
    } ps[] = {{66, 256, 66, 256},     {66, 1024, 66, 1024},   {132, 256, 132, 256},
              {132, 1024, 132, 1024}, {132, 512, 66, 512},    {100, 128, 100, 128},
              {264, 1024, 132, 1024}, {198, 1024, 132, 1024}, {132, 128, 264, 64}};
    for (auto &p : ps) {
        place<<<p.g1, p.b1, 0, s1>>>(sm, at, 1000000);
        place<<<p.g2, p.b2, 0, s2>>>(sm + 4096, at + 4096, 1000000);
        CK(cudaDeviceSynchronize());
        std::vector<u32> a(p.g1), b(p.g2);
        CK(cudaMemcpy(a.data(), sm, 4 * p.g1, cudaMemcpyDeviceToHost));
        CK(cudaMemcpy(b.data(), sm + 4096, 4 * p.g2, cudaMemcpyDeviceToHost));
        std::vector<u64> ta(p.g1), tb(p.g2);
        CK(cudaMemcpy(ta.data(), at, 8 * p.g1, cudaMemcpyDeviceToHost));
        CK(cudaMemcpy(tb.data(), at + 4096, 8 * p.g2, cudaMemcpyDeviceToHost));
        u32 ca[132] = {}, cb[132] = {};
        for (u32 s : a)
            ca[s]++;
        for (u32 s : b)
            cb[s]++;
        printf("pair %dx%d + %dx%d: second begins %lld ns after first, last of second %lld; (a,b) x SMs:", p.g1, p.b1,
               p.g2, p.b2,
               (long long)(*std::min_element(tb.begin(), tb.end()) - *std::min_element(ta.begin(), ta.end())),
               (long long)(*std::max_element(tb.begin(), tb.end()) - *std::min_element(ta.begin(), ta.end())));
        for (int i = 0; i < 16; i++)
            for (int j = 0; j < 16; j++) {
                int n = 0;
                for (int k = 0; k < 132; k++)
                    n += ca[k] == i && cb[k] == j;
                if (n)
                    printf(" (%d,%d)x%d", i, j, n);
            }
        printf("\n");
    }
    cudaFree(sm);
    cudaFree(at);
}
// ---- fences and atomics' latency
#define LAT(NAME, BODY)                                                                                                \
    __global__ void NAME(u32 *d, u32 *t, int n, u32 *e) {                                                              \
        u32 x = 0;                                                                                                     \
        (void)x;                                                                                                       \
        u32 *own = d + threadIdx.x + blockIdx.x * blockDim.x;                                                          \
        (void)own;                                                                                                     \
        for (int p = 0; p < 2; p++) {                                                                                  \
            __syncthreads();                                                                                           \
            u32 t0 = clk();                                                                                            \
            for (int i = 0; i < n; i++) {                                                                              \
                BODY                                                                                                   \
            }                                                                                                          \
            u32 t1 = clk() + (x == 77777u);                                                                            \
            if (threadIdx.x == 0)                                                                                      \
                t[blockIdx.x] = t1 - t0;                                                                               \
        }                                                                                                              \
        if (x == 1234567u)                                                                                             \
            d[0] = x;                                                                                                  \
    }
#define ST(k) asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(own + (k) * 65536), "r"(i) : "memory");
#define STW(k) asm volatile("st.global.u32 [%0], %1;" ::"l"(own + (k) * 65536), "r"(i) : "memory");
LAT(f_membar_gl, asm volatile("membar.gl;" :: : "memory");)
LAT(f_membar_cta, asm volatile("membar.cta;" :: : "memory");)
LAT(f_membar_sys, asm volatile("membar.sys;" :: : "memory");)
LAT(f_fence_acqrel, asm volatile("fence.acq_rel.gpu;" :: : "memory");)
LAT(f_fence_sc, asm volatile("fence.sc.gpu;" :: : "memory");)
LAT(f_st_membar, ST(0) asm volatile("membar.gl;" :: : "memory");)
LAT(f_stw_membar, STW(0) asm volatile("membar.gl;" :: : "memory");)
LAT(f_st_acqrel, ST(0) asm volatile("fence.acq_rel.gpu;" :: : "memory");)
LAT(f_st4_membar, ST(0) ST(1) ST(2) ST(3) asm volatile("membar.gl;" :: : "memory");)
LAT(f_st4_acqrel, ST(0) ST(1) ST(2) ST(3) asm volatile("fence.acq_rel.gpu;" :: : "memory");)
LAT(f_red_membar, asm volatile("red.global.add.u32 [%0], 1;" ::"l"(own) : "memory");
    asm volatile("membar.gl;" :: : "memory");)
LAT(f_st_cta, ST(0) asm volatile("membar.cta;" :: : "memory");)
LAT(f_ldcg, asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(own + (x & 1)) : "memory");)
LAT(f_ldvol, asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(x) : "l"(own + (x & 1)) : "memory");)
LAT(f_ldacq, asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(own + (x & 1)) : "memory");)
LAT(f_ldrelaxed, asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(own + (x & 1)) : "memory");)
LAT(f_strel, asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(own), "r"(i) : "memory");)
LAT(f_st, ST(0))
LAT(f_ldvol_st, asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(x) : "l"(own + (x & 1)) : "memory");
    asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(own), "r"(x & 1) : "memory");)
LAT(f_atomadd, asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(x) : "l"(own + (x & 1024 ? 1 : 0)) : "memory");)
LAT(f_atomadd0,
    asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(x) : "l"(d + (x == 99999999 ? 1 : 0)) : "memory");)
LAT(f_atomcas, asm volatile("atom.global.cas.b32 %0, [%1], 5, 6;" : "=r"(x) : "l"(own + (x & 1)) : "memory");)
LAT(f_atomexch, asm volatile("atom.global.exch.b32 %0, [%1], 0;" : "=r"(x) : "l"(own + (x & 1)) : "memory");)
LAT(f_atomaddf, {
    float f;
    asm volatile("atom.global.add.f32 %0, [%1], 0f00000000;" : "=f"(f) : "l"(own + (x & 1)) : "memory");
    x = __float_as_uint(f) & 1;
})
LAT(f_syncthreads, __syncthreads();)
LAT(f_nanosleep100, asm volatile("nanosleep.u32 100;");)
LAT(f_nanosleep1000, asm volatile("nanosleep.u32 1000;");)
LAT(f_nanosleep20, asm volatile("nanosleep.u32 20;");)
LAT(f_nanosleep0, asm volatile("nanosleep.u32 0;");)
LAT(f_clock, x += clk() & 1;)
static void lat(const char *n, void (*k)(u32 *, u32 *, int, u32 *), int blocks, int threads) {
    static u32 *d, *t;
    if (!d) {
        CK(cudaMalloc(&d, 64 << 20));
        CK(cudaMemset(d, 0, 64 << 20));
        CK(cudaMalloc(&t, 4096));
    }
    CK(cudaMemset(d, 0, 1 << 20));
    k<<<blocks, threads>>>(d, t, 64, d);
    CK(cudaDeviceSynchronize());
    std::vector<u32> h(blocks);
    CK(cudaMemcpy(h.data(), t, 4 * blocks, cudaMemcpyDeviceToHost));
    std::sort(h.begin(), h.end());
    printf("lat %-16s %4d x %4d: %8.1f (min %.1f max %.1f)\n", n, blocks, threads, h[blocks / 2] / 64.0, h[0] / 64.0,
           h[blocks - 1] / 64.0);
}
static void doLat() {
#define L(k)                                                                                                           \
    lat(#k, k, 1, 1);                                                                                                  \
    lat(#k, k, 1, 32);                                                                                                 \
    lat(#k, k, 132, 32);
    L(f_clock)
    L(f_membar_gl) L(f_membar_cta) L(f_membar_sys) L(f_fence_acqrel) L(f_fence_sc) L(f_st_membar) L(f_stw_membar)
        L(f_st_acqrel) L(f_st4_membar) L(f_st4_acqrel) L(f_red_membar) L(f_st_cta) L(f_ldcg) L(f_ldvol) L(f_ldacq)
            L(f_ldrelaxed) L(f_strel) L(f_st) L(f_ldvol_st) L(f_atomadd) L(f_atomadd0) L(f_atomcas) L(f_atomexch)
                L(f_atomaddf) L(f_syncthreads) L(f_nanosleep0) L(f_nanosleep20) L(f_nanosleep100) L(f_nanosleep1000)
                    lat("f_st_membar", f_st_membar, 1, 256);
    lat("f_st_membar", f_st_membar, 1, 1024);
    lat("f_st_membar", f_st_membar, 132, 256);
    lat("f_st_membar", f_st_membar, 132, 1024);
    lat("f_membar_gl", f_membar_gl, 1, 1024);
    lat("f_membar_gl", f_membar_gl, 132, 1024);
}
// ---- atomics' throughput: every thread `n` times; address = base + thread*stride + rotate
#define THR(NAME, BODY)                                                                                                \
    __global__ void NAME(u32 *d, u32 *t, int n, int stride, int mask) {                                                \
        u32 id = (threadIdx.x + blockIdx.x * blockDim.x);                                                              \
        u32 *own = d + ((size_t)(id & mask) * stride);                                                                 \
        u32 x = 0;                                                                                                     \
        (void)x;                                                                                                       \
        __syncthreads();                                                                                               \
        u32 t0 = clk();                                                                                                \
        for (int i = 0; i < n; i++) {                                                                                  \
            BODY BODY BODY BODY                                                                                        \
        }                                                                                                              \
        asm volatile("membar.gl;" ::: "memory");                                                                       \
        u32 t1 = clk() + (x == 77777u);                                                                                \
        if (threadIdx.x % 32 == 0)                                                                                     \
            atomicMax(&t[blockIdx.x], t1 - t0);                                                                        \
    }
THR(r_addu, asm volatile("red.global.add.u32 [%0], 1;" ::"l"(own) : "memory");)
THR(r_addf, asm volatile("red.global.add.f32 [%0], 0f3F800000;" ::"l"(own) : "memory");)
THR(r_addd, asm volatile("red.global.add.f64 [%0], 0d3FF0000000000000;" ::"l"((u64)own & ~7ull) : "memory");)
THR(r_addul, asm volatile("red.global.add.u64 [%0], 1;" ::"l"((u64)own & ~7ull) : "memory");)
THR(r_addh2, asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(own), "r"(0) : "memory");)
THR(r_max, asm volatile("red.global.max.u32 [%0], %1;" ::"l"(own), "r"(i) : "memory");)
THR(a_addu, asm volatile(
                "{ .reg .u32 y; atom.global.add.u32 y, [%1], 1; xor.b32 %0, %0, y; }" : "+r"(x) : "l"(own) : "memory");)
THR(a_cas, asm volatile("{ .reg .u32 y; atom.global.cas.b32 y, [%1], 0, 0; xor.b32 %0, %0, y; }" : "+r"(x) : "l"(
               own) : "memory");)
THR(a_exch, asm volatile("{ .reg .u32 y; atom.global.exch.b32 y, [%1], 0; xor.b32 %0, %0, y; }" : "+r"(x) : "l"(
                own) : "memory");)
THR(s_st, asm volatile("st.global.u32 [%0], %1;" ::"l"(own), "r"(i) : "memory");)
static u32 *D, *T;
static void thr(const char *n, void (*k)(u32 *, u32 *, int, int, int), int blocks, int threads, int stride, int mask,
                int reps) {
    if (!D) {
        CK(cudaMalloc(&D, 512 << 20));
        CK(cudaMalloc(&T, 4096));
        CK(cudaMemset(D, 0, 512 << 20));
    }
    double c[2];
    for (int w = 0; w < 2; w++) {
        int m = reps * (w + 1);
        CK(cudaMemset(T, 0, 4096));
        k<<<blocks, threads>>>(D, T, m, stride, mask);
        CK(cudaDeviceSynchronize());
        std::vector<u32> h(blocks);
        CK(cudaMemcpy(h.data(), T, 4 * blocks, cudaMemcpyDeviceToHost));
        c[w] = *std::max_element(h.begin(), h.end());
    }
    double cyc = c[1] - c[0], ops = 4.0 * reps * blocks * threads;
    printf("thr %-7s %3d x %4d stride %4d mask %8x: %9.3f lanes/clk, %9.2f clk per warp-op of an SM\n", n, blocks,
           threads, stride, mask, ops / cyc, cyc / (4.0 * reps * ((threads + 31) / 32)));
}
static void doThr() {
    struct {
        const char *n;
        void (*k)(u32 *, u32 *, int, int, int);
    } ks[] = {{"addu", r_addu}, {"addf", r_addf},  {"addd", r_addd}, {"addul", r_addul}, {"addh2", r_addh2},
              {"max", r_max},   {"aaddu", a_addu}, {"cas", a_cas},   {"exch", a_exch},   {"st", s_st}};
    int all = 0x7fffffff;
    for (auto &k : ks) {
        thr(k.n, k.k, 1, 32, 1, all, 50);
        thr(k.n, k.k, 1, 256, 1, all, 50);
        thr(k.n, k.k, 1, 1024, 1, all, 25);
        thr(k.n, k.k, 1, 256, 2, all, 25);
        thr(k.n, k.k, 1, 256, 8, all, 25);
        thr(k.n, k.k, 1, 256, 32, all, 25);
        thr(k.n, k.k, 132, 32, 1, all, 50);
        thr(k.n, k.k, 132, 256, 1, all, 25);
        thr(k.n, k.k, 132, 1024, 1, all, 25);
        thr(k.n, k.k, 132, 1024, 2, all, 12);
        thr(k.n, k.k, 132, 1024, 8, all, 12);
        thr(k.n, k.k, 132, 1024, 32, all, 12);
        thr(k.n, k.k, 1, 32, 1, 0, 50);
        thr(k.n, k.k, 132, 32, 1, 0, 12);
        thr(k.n, k.k, 132, 32, 1, 31, 12);
        thr(k.n, k.k, 132, 32, 8, 31, 12);
        thr(k.n, k.k, 1, 1, 1, 0, 50);
        thr(k.n, k.k, 132, 1, 1, 0, 50);
        thr(k.n, k.k, 132, 1024, 1, 0x3ff, 12);
        thr(k.n, k.k, 132, 1024, 1, 0xfff, 12);
        thr(k.n, k.k, 132, 1024, 1, 0x7fff, 12);
    }
}
// ---- bandwidths
__global__ void rd(const float4 *a, u32 n, int passes, u32 *t, float *o, int spread,
                   int nsm) { // n float4 in all; every block reads all
    if (smid() >= nsm) {
        return;
    }
    float s = 0;
    u32 start = spread ? (u32)((u64)blockIdx.x * n / gridDim.x) / blockDim.x * blockDim.x : 0;
    u32 t0 = clk(), tm = 0;
    for (int p = 0; p < passes; p++) {
        if (p == 1) {
            __syncthreads();
            tm = clk();
        }
        for (u32 i = 0; i < n; i += blockDim.x * 4) {
            float4 v[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                u32 j = start + i + k * blockDim.x + threadIdx.x;
                if (j >= n)
                    j -= n;
                v[k] = __ldcg(a + j);
            }
#pragma unroll
            for (int k = 0; k < 4; k++)
                s += v[k].x + v[k].y + v[k].z + v[k].w;
        }
    }
    __syncthreads();
    u32 t1 = clk();
    if (threadIdx.x == 0)
        t[blockIdx.x] = t1 - tm;
    if (s == 123)
        *o = s + t0;
}
__global__ void part(const float4 *a, u32 n, int passes, u32 *t, float *o, int mode,
                     float4 *b) { // blocks share the array; mode 0 read, 1 write, 2 copy
    float s = 0;
    u32 tm = 0;
    for (int p = 0; p < passes; p++) {
        if (p == 1) {
            __syncthreads();
            tm = clk();
        }
        for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x * 4) {
            float4 v[4] = {};
#pragma unroll
            for (int k = 0; k < 4; k++) {
                u32 j = i + k * gridDim.x * blockDim.x;
                if (mode != 1 && j < n)
                    v[k] = __ldcg(a + j);
            }
#pragma unroll
            for (int k = 0; k < 4; k++) {
                u32 j = i + k * gridDim.x * blockDim.x;
                if (j < n) {
                    if (mode == 0)
                        s += v[k].x + v[k].y + v[k].z + v[k].w;
                    else {
                        if (mode == 1)
                            v[k].x = p;
                        __stcg(b + j, v[k]);
                    }
                }
            }
        }
    }
    __syncthreads();
    u32 t1 = clk();
    if (threadIdx.x == 0)
        t[blockIdx.x] = t1 - tm;
    if (s == 123)
        *o = s;
}
__global__ void hot(const float *a, int n, u32 *t, float *o, int lines) {
    float s = 0;
    __syncthreads();
    u32 t0 = clk();
    for (int i = 0; i < n; i++) {
        float v;
        asm volatile("ld.global.cg.f32 %0, [%1];"
                     : "=f"(v)
                     : "l"(a + ((i + threadIdx.x / 32) % lines) * 32 + threadIdx.x % 32)
                     : "memory");
        s += v;
    }
    __syncthreads();
    u32 t1 = clk();
    if (threadIdx.x == 0)
        t[blockIdx.x] = t1 - t0;
    if (s == 123)
        *o = s;
}
static double maxT(u32 *t, int n) {
    CK(cudaDeviceSynchronize());
    std::vector<u32> h(n);
    CK(cudaMemcpy(h.data(), t, 4 * n, cudaMemcpyDeviceToHost));
    return *std::max_element(h.begin(), h.end());
}
static double medT(u32 *t, int n) {
    CK(cudaDeviceSynchronize());
    std::vector<u32> h(n);
    CK(cudaMemcpy(h.data(), t, 4 * n, cudaMemcpyDeviceToHost));
    std::sort(h.begin(), h.end());
    return h[n / 2];
}
static void doBw() {
    float4 *a, *b;
    u32 *t;
    float *o;
    CK(cudaMalloc(&a, 1 << 30));
    CK(cudaMalloc(&b, 1 << 30));
    CK(cudaMalloc(&t, 8192));
    CK(cudaMalloc(&o, 64));
    CK(cudaMemset(a, 0, 1 << 30));
    CK(cudaMemset(b, 0, 1 << 30));
    for (int spread = 0; spread < 2; spread++)
        for (int kb : {32, 64, 256, 1024, 4096, 16384}) {
            u32 n = kb * 64;
            int passes = kb < 1024 ? 20 : 4;
            rd<<<132, 1024>>>(a, n, passes, t, o, spread, 132);
            double c = medT(t, 132), m = maxT(t, 132);
            printf("rd same %d KB by all SMs spread %d: %.1f B/clk/SM (median), %.1f slowest\n", kb, spread,
                   kb * 1024.0 * (passes - 1) / c, kb * 1024.0 * (passes - 1) / m);
        }
    for (int th : {32, 128, 256, 512, 1024}) {
        CK(cudaMemset(t, 0, 8192));
        rd<<<132, th>>>(a, 4096 * 64, 2, t, o, 1, 1);
        double c = maxT(t, 132);
        printf("rd 4 MB by one SM, %d threads: %.1f B/clk\n", th, 4096 * 1024.0 / c);
    }
    for (int nsm : {1, 2, 4, 8, 16, 32, 64, 66, 96, 132}) {
        CK(cudaMemset(t, 0, 8192));
        rd<<<132, 1024>>>(a, 4096 * 64, 3, t, o, 1, nsm);
        double c = maxT(t, 132);
        printf("rd 4 MB each by SMs 0..%d: %.1f B/clk/SM\n", nsm - 1, 2 * 4096 * 1024.0 / c);
    }
    for (int mode = 0; mode < 3; mode++)
        for (double mb : {0.5, 1., 2., 4., 8., 12., 16., 20., 24., 28., 32., 36., 40., 44., 48., 64., 128., 512.}) {
            u32 n = (u32)(mb * 65536);
            int passes = mb < 8 ? 40 : mb < 64 ? 10 : 3;
            part<<<132, 1024>>>(a, n, passes, t, o, mode, b);
            double c = maxT(t, 132), m = medT(t, 132);
            printf("part %s %g MB: %.0f B/clk all SMs (slowest), %.0f median\n",
                   mode == 0   ? "read"
                   : mode == 1 ? "write"
                               : "copy",
                   mb, (mode == 2 ? 2 : 1) * n * 16.0 * (passes - 1) / c,
                   (mode == 2 ? 2 : 1) * n * 16.0 * (passes - 1) / m);
        }
    for (int mode = 0; mode < 3; mode++)
        for (int g : {1, 2, 4, 16, 33, 66})
            for (double mb : {1., 4., 16.}) {
                u32 n = (u32)(mb * 65536);
                int passes = 6;
                part<<<g, 1024>>>(a, n, passes, t, o, mode, b);
                double c = maxT(t, g);
                printf("part %s %g MB by %d blocks: %.1f B/clk a block\n",
                       mode == 0   ? "read"
                       : mode == 1 ? "write"
                                   : "copy",
                       mb, g, (mode == 2 ? 2 : 1) * n * 16.0 * (passes - 1) / c / g);
            }
    for (int lines : {1, 2, 4, 8, 16, 64, 256, 1024}) {
        hot<<<132, 1024>>>((float *)a, 200, t, o, lines);
        double c = maxT(t, 132);
        printf("hot %d lines: %.2f requests of 128 B a clk by all SMs\n", lines, 132.0 * 32 * 200 / c);
    }
    cudaFree(a);
    cudaFree(b);
}
// ---- rates in long loops
#define RT(NAME, T, C, INIT, OPS)                                                                                      \
    __global__ void NAME(T *o, u32 *t, T b, T c) {                                                                     \
        T x0 = INIT, x1 = x0 + b, x2 = x0 + c, x3 = x1 + c;                                                            \
        u32 t0 = 0;                                                                                                    \
        for (int i = 0; i < 40; i++) {                                                                                 \
            if (i == 4) {                                                                                              \
                __syncthreads();                                                                                       \
                t0 = clk();                                                                                            \
            }                                                                                                          \
            _Pragma("unroll") for (int k = 0; k < 32; k++) {                                                           \
                asm volatile(OPS : "+" C(x0) : C(b), C(c));                                                            \
                asm volatile(OPS : "+" C(x1) : C(b), C(c));                                                            \
                asm volatile(OPS : "+" C(x2) : C(b), C(c));                                                            \
                asm volatile(OPS : "+" C(x3) : C(b), C(c));                                                            \
            }                                                                                                          \
        }                                                                                                              \
        __syncthreads();                                                                                               \
        u32 t1 = clk();                                                                                                \
        o[threadIdx.x + blockIdx.x * blockDim.x] = x0 + x1 + x2 + x3;                                                  \
        if (threadIdx.x == 0)                                                                                          \
            t[blockIdx.x] = t1 - t0;                                                                                   \
    }
RT(q_fadd, float, "f", 1.0f + threadIdx.x, "add.rn.f32 %0, %0, %1;")
RT(q_ffma, float, "f", 1.0f + threadIdx.x, "fma.rn.f32 %0, %0, %1, %2;")
RT(q_imad, int, "r", threadIdx.x, "mad.lo.s32 %0, %0, %1, %2;")
RT(q_imul, int, "r", threadIdx.x, "mul.lo.s32 %0, %0, %1;")
RT(q_addxor, int, "r", threadIdx.x, "add.s32 %0, %0, %1; xor.b32 %0, %0, %2;")
RT(q_shl, int, "r", threadIdx.x, "shl.b32 %0, %0, %1;")
RT(q_shfadd, int, "r", threadIdx.x, "shr.s32 %0, %0, %1; add.s32 %0, %0, %2;")
RT(q_minadd, int, "r", threadIdx.x, "min.s32 %0, %0, %1; add.s32 %0, %0, %2;")
RT(q_minxor, int, "r", threadIdx.x, "min.s32 %0, %0, %1; xor.b32 %0, %0, %2;")
RT(q_sel, int, "r", threadIdx.x, "{ .reg .pred p; setp.gt.s32 p, %0, %1; selp.s32 %0, %0, %2, p; }")
RT(q_popc, int, "r", threadIdx.x, "popc.b32 %0, %0;")
RT(q_brev, int, "r", threadIdx.x, "brev.b32 %0, %0;")
RT(q_dfma, double, "d", 1.0 + threadIdx.x, "fma.rn.f64 %0, %0, %1, %2;")
RT(q_dadd, double, "d", 1.0 + threadIdx.x, "add.rn.f64 %0, %0, %1;")
RT(q_hfma2, int, "r", threadIdx.x, "fma.rn.f16x2 %0, %0, %1, %2;")
RT(q_hadd2, int, "r", threadIdx.x, "add.rn.f16x2 %0, %0, %1;")
RT(q_ex2, float, "f", 0.1f * threadIdx.x, "ex2.approx.ftz.f32 %0, %0;")
RT(q_sin, float, "f", 1.0f + threadIdx.x, "sin.approx.ftz.f32 %0, %0;")
RT(q_sqrt, float, "f", 1.0f + threadIdx.x, "sqrt.approx.ftz.f32 %0, %0;")
RT(q_i2f, int, "r", threadIdx.x, "{ .reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f; }")
RT(q_f2i, int, "r", threadIdx.x, "{ .reg .f32 f; mov.b32 f, %0; cvt.rzi.s32.f32 %0, f; }")
RT(q_f2d, int, "r", threadIdx.x,
   "{ .reg .f32 f; .reg .f64 d; mov.b32 f, %0; cvt.f64.f32 d, f; cvt.rn.f32.f64 f, d; mov.b32 %0, f; }")
RT(q_prmt, int, "r", threadIdx.x, "prmt.b32 %0, %0, %1, %2;")
RT(q_bfe, int, "r", threadIdx.x, "bfe.u32 %0, %0, %1, %2;")
RT(q_dp4a, int, "r", threadIdx.x, "dp4a.s32.s32 %0, %0, %1, %2;")
RT(q_madhi, int, "r", threadIdx.x, "mad.hi.s32 %0, %0, %1, %2;")
RT(q_add64, long long, "l", threadIdx.x, "add.s64 %0, %0, %1; xor.b64 %0, %0, %2;")
RT(q_mul64, long long, "l", threadIdx.x, "mul.lo.s64 %0, %0, %1;")
RT(q_idiv, int, "r", 1 + threadIdx.x, "div.s32 %0, %0, %1;")
RT(q_fdiv, float, "f", 1 + threadIdx.x, "div.rn.f32 %0, %0, %1;")
RT(q_fdivfast, float, "f", 1 + threadIdx.x, "div.full.f32 %0, %0, %1;")
RT(q_vote, int, "r", threadIdx.x, "{ .reg .pred p; setp.ne.s32 p, %0, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }")
RT(q_match, int, "r", threadIdx.x, "match.any.sync.b32 %0, %0, 0xffffffff;")
RT(q_redux, int, "r", threadIdx.x, "redux.sync.add.s32 %0, %0, 0xffffffff;")
RT(q_fmul_iadd, int, "r", threadIdx.x,
   "{ .reg .f32 f; mov.b32 f, %0; fma.rn.f32 f, f, f, f; mov.b32 %0, f; } add.s32 %0, %0, %1; xor.b32 %0, %0, %2;")
template <class T> static void rate(const char *n, void (*k)(T *, u32 *, T, T), T b, T c, int per) {
    static void *o;
    static u32 *t;
    if (!o) {
        CK(cudaMalloc(&o, 1 << 22));
        CK(cudaMalloc(&t, 4096));
    }
    double v[3];
    int th[3] = {32, 512, 1024};
    for (int i = 0; i < 3; i++) {
        k<<<132, th[i]>>>((T *)o, t, b, c);
        double m = medT(t, 132);
        v[i] = 36.0 * 128 * th[i] * per / m;
    }
    printf("rate %-10s %8.2f %8.2f %8.2f lanes/clk/SM with 1, 16, 32 warps; chain %.2f clk\n", n, v[0], v[1], v[2],
           4 * 32.0 * per / v[0] / per);
}
template <int ILP> static void mma1();
static void doRate() {
#define RF(k, p) rate<float>(#k, k, 1.5f, 0.5f, p);
#define RI(k, p) rate<int>(#k, k, 3, 7, p);
#define RD(k, p) rate<double>(#k, k, 1.5, 0.5, p);
    RF(q_fadd, 1)
    RF(q_ffma, 1) RI(q_imad, 1) RI(q_imul, 1) RI(q_addxor, 2) RI(q_shl, 1) RI(q_shfadd, 2) RI(q_minadd, 2)
        RI(q_minxor, 2) RI(q_sel, 2) RI(q_popc, 1) RI(q_brev, 1) RD(q_dfma, 1) RD(q_dadd, 1) RI(q_hfma2, 1)
            RI(q_hadd2, 1) RF(q_ex2, 1) RF(q_sin, 1) RF(q_sqrt, 1) RI(q_i2f, 1) RI(q_f2i, 1) RI(q_f2d, 2) RI(q_prmt, 1)
                RI(q_bfe, 1) RI(q_dp4a, 1) RI(q_madhi, 1) rate<long long>("q_add64", q_add64, 3, 7, 2);
    rate<long long>("q_mul64", q_mul64, 3, 7, 1);
    RI(q_idiv, 1)
    RF(q_fdiv, 1) RF(q_fdivfast, 1) RI(q_vote, 2) RI(q_match, 1) RI(q_redux, 1) RI(q_fmul_iadd, 3) mma1<1>();
    mma1<2>();
    mma1<4>();
    mma1<8>();
}
// mma.sync m16n8k16 f16 -> f32 and f16: ILP accumulators
template <int ILP> __global__ void mmaK(float *o, u32 *t, u32 z) {
    float d[ILP][4];
    for (int i = 0; i < ILP; i++)
        for (int j = 0; j < 4; j++)
            d[i][j] = z;
    u32 a[4] = {z, z, z, z}, b[2] = {z, z};
    u32 t0 = 0;
    for (int i = 0; i < 72; i++) {
        if (i == 8) {
            __syncthreads();
            t0 = clk();
        }
#pragma unroll
        for (int r = 0; r < 4; r++)
#pragma unroll
            for (int k = 0; k < ILP; k++)
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                             "{%0,%1,%2,%3};"
                             : "+f"(d[k][0]), "+f"(d[k][1]), "+f"(d[k][2]), "+f"(d[k][3])
                             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    __syncthreads();
    u32 t1 = clk();
    float s = 0;
    for (int i = 0; i < ILP; i++)
        for (int j = 0; j < 4; j++)
            s += d[i][j];
    o[threadIdx.x] = s;
    if (threadIdx.x == 0)
        t[blockIdx.x] = t1 - t0;
}
template <int ILP> static void mma1() {
    static float *o;
    static u32 *t;
    if (!o) {
        CK(cudaMalloc(&o, 65536));
        CK(cudaMalloc(&t, 4096));
    }
    for (int th : {32, 128, 256, 512, 1024})
        for (int g : {1, 132}) {
            mmaK<ILP><<<g, th>>>(o, t, 0);
            double c = medT(t, g);
            printf("mma ILP %d, %d warps, %d blocks: %.0f FMA/clk/SM, %.2f clk each in a warp\n", ILP, th / 32, g,
                   64.0 * 4 * ILP * 2048 * (th / 32) / c, c / (64.0 * 4 * ILP));
        }
}
int main(int c, char **v) {
    std::string w = c > 1 ? v[1] : "";
    void (*tables[])() = {doPlace, doLat, doThr, doBw, doRate};
    const char *names[] = {"placement", "fences", "atomics", "bandwidth", "rates"};
    for (int i = 0; i < 5; i++)
        if (w == names[i]) {
            u32 *q;
            CK(cudaMalloc(&q, 1 << 20));
            for (int k = 0; k < 20; k++)
                place<<<132, 1024>>>(q, (u64 *)(q + 65536), 20000000); // up to the highest clock
            CK(cudaDeviceSynchronize());
            tables[i]();
            CK(cudaDeviceSynchronize());
            return 0;
        }
    fprintf(stderr, "usage: mechanisms placement|fences|atomics|bandwidth|rates\n");
    return 2;
}

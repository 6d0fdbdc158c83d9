// cuda_runtime.h -- so much of CUDA's as lets ordinary sources compile to PTX with clang-19 and
// without the CUDA toolkit: heddle.cuh, further vector types and functions, clocks, printf, and
// declarations of the host's calls, so that a file with a main() can be read. Host code is
// not run: what a program's host does is written in app.star.
//
// exp, log, sin, cos, pow and tanh in single precision are those of nvcc --use_fast_math: the special
// function unit's approximations. There are none in double precision.
#pragma once

#include <stddef.h>

#include "heddle.cuh"

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// ---- vector types

#define HEDDLE_VECTOR1(T, NAME) struct NAME##1 { T x; };
#define HEDDLE_VECTOR3(T, NAME) struct NAME##3 { T x, y, z; };
HEDDLE_VECTOR3(float, float)
HEDDLE_VECTOR3(int, int)
HEDDLE_VECTOR3(unsigned, uint)
HEDDLE_VECTOR3(double, double)
HEDDLE_VECTOR1(float, float)
HEDDLE_VECTOR1(int, int)
HEDDLE_VECTOR1(unsigned, uint)
#undef HEDDLE_VECTOR1
#undef HEDDLE_VECTOR3
struct alignas(16) double4 { double x, y, z, w; };
struct alignas(4) uchar4 { unsigned char x, y, z, w; };
struct alignas(4) char4 { signed char x, y, z, w; };
struct alignas(4) ushort2 { unsigned short x, y; };
struct alignas(8) ushort4 { unsigned short x, y, z, w; };
struct alignas(4) short2 { short x, y; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned short ushort;

#define HEDDLE_MAKE static __inline__ __attribute__((host, device, always_inline, nodebug))
HEDDLE_MAKE float2 make_float2(float x, float y) { return {x, y}; }
HEDDLE_MAKE float3 make_float3(float x, float y, float z) { return {x, y, z}; }
HEDDLE_MAKE float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
HEDDLE_MAKE double2 make_double2(double x, double y) { return {x, y}; }
HEDDLE_MAKE int2 make_int2(int x, int y) { return {x, y}; }
HEDDLE_MAKE int3 make_int3(int x, int y, int z) { return {x, y, z}; }
HEDDLE_MAKE int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
HEDDLE_MAKE uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
HEDDLE_MAKE uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
HEDDLE_MAKE uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
HEDDLE_MAKE uchar4 make_uchar4(uchar x, uchar y, uchar z, uchar w) { return {x, y, z, w}; }
#undef HEDDLE_MAKE

// ---- printf, which clang turns into vprintf

extern "C" __device__ int printf(const char *, ...);

// ---- clocks, fences, loads past the L1's coherence

HEDDLE_FN long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
HEDDLE_FN int clock() { return __nvvm_read_ptx_sreg_clock(); }
template <typename T> HEDDLE_FN T __ldg(const T *p) { return *p; }

// ---- math

HEDDLE_FN float rsqrtf(float a) { return heddle_rsqrt(a); }
HEDDLE_FN float exp2f(float a) { return heddle_ex2(a); }
HEDDLE_FN float expf(float a) { return __expf(a); }
HEDDLE_FN float log2f(float a) { return heddle_lg2(a); }
HEDDLE_FN float logf(float a) { return __logf(a); }
HEDDLE_FN float log10f(float a) { return heddle_lg2(a) * 0.30103000f; }
HEDDLE_FN float sinf(float a) { return heddle_sin(a); }
HEDDLE_FN float cosf(float a) { return heddle_cos(a); }
HEDDLE_FN float __sinf(float a) { return heddle_sin(a); }
HEDDLE_FN float __cosf(float a) { return heddle_cos(a); }
HEDDLE_FN float __powf(float a, float b) { return heddle_ex2(b * heddle_lg2(a)); }
HEDDLE_FN float powf(float a, float b) { return __powf(a, b); }
HEDDLE_FN float tanhf(float a) { float e = __expf(2.0f * a); return 1.0f - 2.0f * heddle_rcp(e + 1.0f); }
HEDDLE_FN float ceilf(float a) { return __builtin_ceilf(a); }
HEDDLE_FN float truncf(float a) { return __builtin_truncf(a); }
HEDDLE_FN float __fdividef(float a, float b) { return a * heddle_rcp(b); }
HEDDLE_FN float __frcp_rn(float a) { return 1.0f / a; }
HEDDLE_FN float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
HEDDLE_FN float __fadd_rn(float a, float b) { return a + b; }
HEDDLE_FN float __fmul_rn(float a, float b) { return a * b; }
HEDDLE_FN int abs(int a) { return a < 0 ? -a : a; }
HEDDLE_FN unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
HEDDLE_FN unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
HEDDLE_FN float min(float a, float b) { return fminf(a, b); }
HEDDLE_FN float max(float a, float b) { return fmaxf(a, b); }

// ---- what the host calls: declared, so that a file with a main() compiles

typedef enum cudaError { cudaSuccess = 0 } cudaError_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
struct cudaDeviceProp { char name[256]; size_t totalGlobalMem; int multiProcessorCount, major, minor, warpSize; };

extern "C" {
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, struct CUstream_st *stream = 0);
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream);
cudaError_t cudaFree(void *p);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemset(void *p, int value, size_t bytes);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t e);
cudaError_t cudaStreamCreate(cudaStream_t *s);
cudaError_t cudaStreamDestroy(cudaStream_t s);
cudaError_t cudaStreamSynchronize(cudaStream_t s);
cudaError_t cudaEventCreate(cudaEvent_t *e);
cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t e);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end);
}
template <typename T> cudaError_t cudaMalloc(T **p, size_t bytes);
template <typename T> cudaError_t cudaMallocHost(T **p, size_t bytes);
template <typename T> cudaError_t cudaMallocManaged(T **p, size_t bytes, unsigned flags = 1);
template <typename T> cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0, enum cudaMemcpyKind kind = cudaMemcpyHostToDevice);

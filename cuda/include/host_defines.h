// host_defines.h -- the qualifiers of CUDA C++, for clang.
#pragma once
#define __HOST_DEFINES_H__

#ifdef __CUDA__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
// A managed variable has pages of its own, which are the same ones for host code and kernels (register.c).
#ifdef __CUDA_ARCH__
#define __managed__ __attribute__((device, aligned(4096)))
#else
#define __managed__ __attribute__((device, aligned(4096), section("heddle_managed")))
#endif
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(n)
#define __block_size__(...)
#if __has_attribute(grid_constant)
#define __grid_constant__ __attribute__((grid_constant))
#else
#define __grid_constant__
#endif
#if __has_attribute(cluster_dims)
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
#endif
#define __nv_pure__ __attribute__((pure))
#define __no_return__ __attribute__((noreturn))
#else // code of the host alone
#define __global__
#define __device__
#define __host__
#define __shared__
#define __constant__
#define __managed__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __no_return__ __attribute__((noreturn))
#endif

#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __thread__ __thread
#define __import__
#define __export__
#define __annotate__(a) __attribute__((a))
#define __location__(a) __annotate__(a)
#define __cudart_builtin__
#define __device_builtin__
#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB

// Functions of these headers carry no line numbers: the PTX of an inlined one has the .loc of its call.
#ifdef __CUDA__
#define HEDDLE_DEVICE static __inline__ __attribute__((device, always_inline, nodebug))
#define HEDDLE_MEMBER __inline__ __attribute__((device, always_inline, nodebug))
#define HEDDLE_BOTH static __inline__ __attribute__((host, device, always_inline, nodebug))
#define HEDDLE_HOST static __inline__ __attribute__((host, nodebug))
// Longer device functions: inlined where the compiler thinks so, else called.
#define HEDDLE_SUBROUTINE static __inline__ __attribute__((device, nodebug))
#define HEDDLE_SLOW static __attribute__((device, noinline, nodebug, unused))
#else
#define HEDDLE_BOTH static __inline__ __attribute__((unused))
#define HEDDLE_HOST static __inline__ __attribute__((unused))
#endif

// Device code: what nvcc includes before every .cu file, for clang without the CUDA toolkit.
//
// The names are those of the CUDA documentation; the text is Heddle's. Device functions that clang brings along (its
// __clang_cuda_*.h) are taken from there; what those take from NVIDIA's libdevice is written here (heddle/). Functions
// of the host are declared, so that host code beside kernels can be read.
#pragma once
#ifndef __CUDA__
#error "heddle/device.h is for CUDA sources: include cuda_runtime.h, and compile this file by `heddle cc`."
#endif
#ifndef __CUDACC__ // the C++ library keeps __float128 away from CUDA by this name
#define __CUDACC__ 1
#endif
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 3
#define __CUDACC_VER_BUILD__ 107

#include "heddle/version.h"
#include "host_defines.h"

#include <__clang_cuda_math_forward_declares.h>
#include <assert.h>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <math.h>
#include <stddef.h>
extern "C" { // before <new>, whose operators call them
__attribute__((device)) void free(void *ptr) __attribute__((nothrow));
__attribute__((device)) void *malloc(size_t size) __attribute__((nothrow)) __attribute__((malloc));
}
#include <new>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vector_types.h"
#include "vector_functions.h"
#include "driver_types.h"
#include "texture_types.h"
#include "surface_types.h"
#include "channel_descriptor.h"

#include <__clang_cuda_builtin_vars.h>

__device__ inline __cuda_builtin_threadIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_threadIdx_t::operator uint3() const { return uint3{x, y, z}; }
__device__ inline __cuda_builtin_blockIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockIdx_t::operator uint3() const { return uint3{x, y, z}; }
__device__ inline __cuda_builtin_blockDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockDim_t::operator uint3() const { return uint3{x, y, z}; }
__device__ inline __cuda_builtin_gridDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_gridDim_t::operator uint3() const { return uint3{x, y, z}; }

#include <__clang_cuda_libdevice_declares.h>
#include "heddle/libdevice.h"
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>
#include "heddle/system.h"
#include "heddle/overloads.h"
#include <__clang_cuda_cmath.h>
typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;
#include <__clang_cuda_intrinsics.h>
#include <__clang_cuda_complex_builtins.h>
#include "heddle/intrinsics.h"
#include "heddle/atomics.h"
#include "heddle/textures.h"
#include "heddle/surfaces.h"

#include "cuda_runtime_api.h"
#include "heddle/runtime_templates.h"

// helper_cuda.h -- the checks that samples wrap around calls.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include "helper_string.h"

template <typename T> static inline void check(T result, const char *call, const char *file, int line)
{
    if (!result) return;
    fprintf(stderr, "%s:%d: error %u in %s\n", file, line, (unsigned)result, call);
    exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)
static inline void heddle_last_error(const char *message, const char *file, int line)
{
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess) return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, message, cudaGetErrorString(e));
    exit(EXIT_FAILURE);
}
#define getLastCudaError(message) heddle_last_error(message, __FILE__, __LINE__)
#define printLastCudaError(message) heddle_last_error(message, __FILE__, __LINE__)

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
static inline int ftoi(float v) { return (int)(v >= 0 ? v + 0.5f : v - 0.5f); }
static inline int gpuGetMaxGflopsDeviceId() { return 0; }
static inline int gpuDeviceInit(int device)
{
    checkCudaErrors(cudaSetDevice(device));
    return device;
}
static inline int findCudaDevice(int argc, const char **argv)
{
    return gpuDeviceInit(checkCmdLineFlag(argc, argv, "device") ? getCmdLineArgumentInt(argc, argv, "device") : 0);
}
static inline int findIntegratedGPU() { return -1; }
static inline bool checkCudaCapabilities(int major, int minor)
{
    int a = 0, b = 0;
    checkCudaErrors(cudaDeviceGetAttribute(&a, cudaDevAttrComputeCapabilityMajor, 0));
    checkCudaErrors(cudaDeviceGetAttribute(&b, cudaDevAttrComputeCapabilityMinor, 0));
    return a > major || (a == major && b >= minor);
}
// FP32 units of a multiprocessor.
static inline int _ConvertSMVer2Cores(int major, int minor)
{
    if (major == 3) return 192;
    if (major == 6 && minor == 0) return 64;
    if (major == 7 || (major == 8 && minor == 0)) return 64;
    return 128;
}
static inline const char *_cudaGetErrorEnum(cudaError_t e) { return cudaGetErrorName(e); }

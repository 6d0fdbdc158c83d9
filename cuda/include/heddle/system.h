// What device code calls that the machine brings along: printf, assert, and in device.h malloc and free.
#pragma once

extern "C" {
__device__ int vprintf(const char *format, const char *args);
__device__ int printf(const char *format, ...); // clang makes a vprintf of it
__device__ void __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t charSize);
// <assert.h> calls this one.
__device__ static inline void __assert_fail(const char *message, const char *file, unsigned line, const char *function)
{
    __assertfail(message, file, line, function, sizeof(char));
}
}
namespace std {
__device__ static inline void free(void *ptr) { ::free(ptr); }
__device__ static inline void *malloc(size_t size) { return ::malloc(size); }
} // namespace std

// Used by clang's __clang_cuda_intrinsics.h for sm_90 and for the host; defined in intrinsics.h.
HEDDLE_DEVICE size_t __cvta_generic_to_shared(const void *p);
HEDDLE_DEVICE unsigned __isShared(const void *p);

HEDDLE_DEVICE void __nanosleep(unsigned ns)
{
#if __CUDA_ARCH__ >= 700
    asm volatile("nanosleep.u32 %0;" ::"r"(ns));
#endif
}

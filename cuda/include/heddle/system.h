// What device code calls that the machine brings along: printf, malloc, free, assert.
#pragma once

extern "C" {
__device__ int vprintf(const char *format, const char *args);
__device__ int printf(const char *format, ...); // clang makes a vprintf of it
__device__ void free(void *ptr) __attribute__((nothrow));
__device__ void *malloc(size_t size) __attribute__((nothrow)) __attribute__((malloc));
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

HEDDLE_DEVICE void __nanosleep(unsigned ns)
{
#if __CUDA_ARCH__ >= 700
    asm volatile("nanosleep.u32 %0;" ::"r"(ns));
#endif
}
HEDDLE_DEVICE unsigned long long __globaltimer()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

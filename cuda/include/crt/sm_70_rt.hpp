// Included by clang's __clang_cuda_intrinsics.h: matches for every type of 4 or 8 bytes.
#pragma once

#define HEDDLE_MATCH(T, BITS, AS)                                                                                  \
    static __inline__ __device__ unsigned __match_any_sync(unsigned mask, T value)                                 \
    {                                                                                                              \
        return __match##BITS##_any_sync(mask, __builtin_bit_cast(AS, value));                                      \
    }                                                                                                              \
    static __inline__ __device__ unsigned __match_all_sync(unsigned mask, T value, int *pred)                      \
    {                                                                                                              \
        return __match##BITS##_all_sync(mask, __builtin_bit_cast(AS, value), pred);                                \
    }
HEDDLE_MATCH(int, 32, unsigned)
HEDDLE_MATCH(unsigned, 32, unsigned)
HEDDLE_MATCH(float, 32, unsigned)
HEDDLE_MATCH(long, 64, unsigned long long)
HEDDLE_MATCH(unsigned long, 64, unsigned long long)
HEDDLE_MATCH(long long, 64, unsigned long long)
HEDDLE_MATCH(unsigned long long, 64, unsigned long long)
HEDDLE_MATCH(double, 64, unsigned long long)
#undef HEDDLE_MATCH

// vector_types.h -- char1 to double4 with CUDA's sizes and alignments, and dim3.
#pragma once
#define __VECTOR_TYPES_H__

#include "host_defines.h"

// Of four and two elements they are aligned to their size, but to no more than 16 bytes; of
// one and three to an element.
#define HEDDLE_VECTORS(NAME, T, ALIGN2, ALIGN4)                                  \
    struct NAME##1 { T x; };                                                     \
    struct __align__(ALIGN2) NAME##2 { T x, y; };                                \
    struct NAME##3 { T x, y, z; };                                               \
    struct __align__(ALIGN4) NAME##4 { T x, y, z, w; };                          \
    typedef struct NAME##1 NAME##1;                                              \
    typedef struct NAME##2 NAME##2;                                              \
    typedef struct NAME##3 NAME##3;                                              \
    typedef struct NAME##4 NAME##4;

HEDDLE_VECTORS(char, signed char, 2, 4)
HEDDLE_VECTORS(uchar, unsigned char, 2, 4)
HEDDLE_VECTORS(short, short, 4, 8)
HEDDLE_VECTORS(ushort, unsigned short, 4, 8)
HEDDLE_VECTORS(int, int, 8, 16)
HEDDLE_VECTORS(uint, unsigned int, 8, 16)
HEDDLE_VECTORS(long, long int, 16, 16)
HEDDLE_VECTORS(ulong, unsigned long int, 16, 16)
HEDDLE_VECTORS(longlong, long long int, 16, 16)
HEDDLE_VECTORS(ulonglong, unsigned long long int, 16, 16)
HEDDLE_VECTORS(float, float, 8, 16)
HEDDLE_VECTORS(double, double, 16, 16)
#undef HEDDLE_VECTORS

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
typedef struct dim3 dim3;

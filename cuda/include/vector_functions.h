// vector_functions.h -- make_char1 to make_double4.
#pragma once
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#ifdef __cplusplus
#define HEDDLE_GIVES(NAME, ...) { return NAME{__VA_ARGS__}; }
#else
#define HEDDLE_GIVES(NAME, ...) { struct NAME v = {__VA_ARGS__}; return v; }
#endif
#define HEDDLE_MAKE(NAME, T)                                                                    \
    HEDDLE_BOTH NAME##1 make_##NAME##1(T x) HEDDLE_GIVES(NAME##1, x)                            \
    HEDDLE_BOTH NAME##2 make_##NAME##2(T x, T y) HEDDLE_GIVES(NAME##2, x, y)                    \
    HEDDLE_BOTH NAME##3 make_##NAME##3(T x, T y, T z) HEDDLE_GIVES(NAME##3, x, y, z)            \
    HEDDLE_BOTH NAME##4 make_##NAME##4(T x, T y, T z, T w) HEDDLE_GIVES(NAME##4, x, y, z, w)

HEDDLE_MAKE(char, signed char)
HEDDLE_MAKE(uchar, unsigned char)
HEDDLE_MAKE(short, short)
HEDDLE_MAKE(ushort, unsigned short)
HEDDLE_MAKE(int, int)
HEDDLE_MAKE(uint, unsigned int)
HEDDLE_MAKE(long, long int)
HEDDLE_MAKE(ulong, unsigned long int)
HEDDLE_MAKE(longlong, long long int)
HEDDLE_MAKE(ulonglong, unsigned long long int)
HEDDLE_MAKE(float, float)
HEDDLE_MAKE(double, double)
#undef HEDDLE_MAKE
#undef HEDDLE_GIVES

// helper_math.h -- arithmetic on the vector types of CUDA, element by element, as samples use it.
#pragma once

#include <math.h>
#include <stdlib.h>

typedef unsigned int uint;
typedef unsigned short ushort;

#define HEDDLE_INLINE static inline __host__ __device__

#define HEDDLE_OPERATOR(V, T, op)                                                                                      \
    HEDDLE_INLINE V operator op(V a, V b) { return heddle_each(a, b, [](T x, T y) { return (T)(x op y); }); }          \
    HEDDLE_INLINE V operator op(V a, T b) { return a op heddle_all(b, (V *)0); }                                       \
    HEDDLE_INLINE V operator op(T a, V b) { return heddle_all(a, (V *)0) op b; }                                       \
    HEDDLE_INLINE void operator op##=(V &a, V b) { a = a op b; }                                                       \
    HEDDLE_INLINE void operator op##=(V &a, T b) { a = a op b; }

// What every vector of elements T has.
#define HEDDLE_VECTOR(V, T)                                                                                            \
    HEDDLE_OPERATOR(V, T, +)                                                                                           \
    HEDDLE_OPERATOR(V, T, -)                                                                                           \
    HEDDLE_OPERATOR(V, T, *)                                                                                           \
    HEDDLE_INLINE V min(V a, V b) { return heddle_each(a, b, [](T x, T y) { return y < x ? y : x; }); }                \
    HEDDLE_INLINE V max(V a, V b) { return heddle_each(a, b, [](T x, T y) { return x < y ? y : x; }); }                \
    HEDDLE_INLINE V clamp(V v, V low, V high) { return max(low, min(v, high)); }                                       \
    HEDDLE_INLINE V clamp(V v, T low, T high)                                                                          \
    {                                                                                                                  \
        return max(heddle_all(low, (V *)0), min(v, heddle_all(high, (V *)0)));                                         \
    }                                                                                                                  \
    HEDDLE_INLINE T dot(V a, V b) { return heddle_sum(a * b); }

// What vectors with a sign have, too.
#define HEDDLE_SIGNED(V, T)                                                                                            \
    HEDDLE_VECTOR(V, T)                                                                                                \
    HEDDLE_INLINE V operator-(const V &a) { return heddle_each(a, a, [](T x, T) { return (T)-x; }); }                  \
    HEDDLE_INLINE V abs(V a) { return heddle_each(a, a, [](T x, T) { return (T)(x < 0 ? -x : x); }); }

#define HEDDLE_LAYOUT(B, T)                                                                                            \
    template <class F> HEDDLE_INLINE B##2 heddle_each(B##2 a, B##2 b, F f)                                             \
    {                                                                                                                  \
        return make_##B##2(f(a.x, b.x), f(a.y, b.y));                                                                  \
    }                                                                                                                  \
    template <class F> HEDDLE_INLINE B##3 heddle_each(B##3 a, B##3 b, F f)                                             \
    {                                                                                                                  \
        return make_##B##3(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z));                                                     \
    }                                                                                                                  \
    template <class F> HEDDLE_INLINE B##4 heddle_each(B##4 a, B##4 b, F f)                                             \
    {                                                                                                                  \
        return make_##B##4(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w));                                        \
    }                                                                                                                  \
    HEDDLE_INLINE B##2 heddle_all(T s, B##2 *) { return make_##B##2(s, s); }                                           \
    HEDDLE_INLINE B##3 heddle_all(T s, B##3 *) { return make_##B##3(s, s, s); }                                        \
    HEDDLE_INLINE B##4 heddle_all(T s, B##4 *) { return make_##B##4(s, s, s, s); }                                     \
    HEDDLE_INLINE T heddle_sum(B##2 a) { return a.x + a.y; }                                                           \
    HEDDLE_INLINE T heddle_sum(B##3 a) { return a.x + a.y + a.z; }                                                     \
    HEDDLE_INLINE T heddle_sum(B##4 a) { return a.x + a.y + a.z + a.w; }                                               \
    HEDDLE_INLINE B##2 make_##B##2(T s) { return make_##B##2(s, s); }                                                  \
    HEDDLE_INLINE B##2 make_##B##2(B##3 a) { return make_##B##2(a.x, a.y); }                                           \
    HEDDLE_INLINE B##3 make_##B##3(T s) { return make_##B##3(s, s, s); }                                               \
    HEDDLE_INLINE B##3 make_##B##3(B##2 a) { return make_##B##3(a.x, a.y, 0); }                                        \
    HEDDLE_INLINE B##3 make_##B##3(B##2 a, T z) { return make_##B##3(a.x, a.y, z); }                                   \
    HEDDLE_INLINE B##3 make_##B##3(B##4 a) { return make_##B##3(a.x, a.y, a.z); }                                      \
    HEDDLE_INLINE B##4 make_##B##4(T s) { return make_##B##4(s, s, s, s); }                                            \
    HEDDLE_INLINE B##4 make_##B##4(B##3 a) { return make_##B##4(a.x, a.y, a.z, 0); }                                   \
    HEDDLE_INLINE B##4 make_##B##4(B##3 a, T w) { return make_##B##4(a.x, a.y, a.z, w); }

HEDDLE_LAYOUT(float, float)
HEDDLE_LAYOUT(int, int)
HEDDLE_LAYOUT(uint, uint)
HEDDLE_SIGNED(float2, float)
HEDDLE_SIGNED(float3, float)
HEDDLE_SIGNED(float4, float)
HEDDLE_SIGNED(int2, int)
HEDDLE_SIGNED(int3, int)
HEDDLE_SIGNED(int4, int)
HEDDLE_VECTOR(uint2, uint)
HEDDLE_VECTOR(uint3, uint)
HEDDLE_VECTOR(uint4, uint)

// Conversions between element types.
#define HEDDLE_CONVERT(A, B, T)                                                                                        \
    HEDDLE_INLINE A##2 make_##A##2(B##2 v) { return make_##A##2((T)v.x, (T)v.y); }                                     \
    HEDDLE_INLINE A##3 make_##A##3(B##3 v) { return make_##A##3((T)v.x, (T)v.y, (T)v.z); }                             \
    HEDDLE_INLINE A##4 make_##A##4(B##4 v) { return make_##A##4((T)v.x, (T)v.y, (T)v.z, (T)v.w); }
HEDDLE_CONVERT(float, int, float)
HEDDLE_CONVERT(float, uint, float)
HEDDLE_CONVERT(int, float, int)
HEDDLE_CONVERT(int, uint, int)
HEDDLE_CONVERT(uint, int, uint)

HEDDLE_INLINE float lerp(float a, float b, float t) { return a + t * (b - a); }
HEDDLE_INLINE float clamp(float v, float low, float high) { return fmaxf(low, fminf(v, high)); }
HEDDLE_INLINE int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
HEDDLE_INLINE uint clamp(uint v, uint low, uint high) { return v < low ? low : v > high ? high : v; }
HEDDLE_INLINE float smoothstep(float a, float b, float x)
{
    float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
    return y * y * (3.0f - 2.0f * y);
}
HEDDLE_INLINE float fracf(float v) { return v - floorf(v); }
HEDDLE_INLINE float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

#define HEDDLE_FLOATS(V)                                                                                               \
    HEDDLE_OPERATOR(V, float, /)                                                                                       \
    HEDDLE_INLINE V fminf(V a, V b) { return min(a, b); }                                                              \
    HEDDLE_INLINE V fmaxf(V a, V b) { return max(a, b); }                                                              \
    HEDDLE_INLINE V fabs(V v) { return abs(v); }                                                                       \
    HEDDLE_INLINE V floorf(V v) { return heddle_each(v, v, [](float x, float) { return ::floorf(x); }); }              \
    HEDDLE_INLINE V fracf(V v) { return v - floorf(v); }                                                               \
    HEDDLE_INLINE V fmodf(V a, V b) { return heddle_each(a, b, [](float x, float y) { return ::fmodf(x, y); }); }      \
    HEDDLE_INLINE V lerp(V a, V b, float t) { return a + t * (b - a); }                                                \
    HEDDLE_INLINE float length(V v) { return sqrtf(dot(v, v)); }                                                       \
    HEDDLE_INLINE V normalize(V v) { return v * (1.0f / sqrtf(dot(v, v))); }                                           \
    HEDDLE_INLINE V reflect(V i, V n) { return i - 2.0f * n * dot(n, i); }                                             \
    HEDDLE_INLINE V smoothstep(V a, V b, V x)                                                                          \
    {                                                                                                                  \
        V y = clamp((x - a) / (b - a), 0.0f, 1.0f);                                                                    \
        return y * y * (3.0f - 2.0f * y);                                                                              \
    }
HEDDLE_FLOATS(float2)
HEDDLE_FLOATS(float3)
HEDDLE_FLOATS(float4)

#ifndef __CUDACC__
HEDDLE_INLINE float rsqrtf(float x) { return 1.0f / sqrtf(x); }
#endif

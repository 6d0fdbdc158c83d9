// Fetches from textures, by object or by reference, and accesses to surfaces.
#pragma once

namespace heddle {

// What an instruction of a type fetches: four channels of 32 bits.
#define HEDDLE_FETCH(V, C, SUFFIX)                                                                                \
    HEDDLE_DEVICE void tex1Di(cudaTextureObject_t t, V &r, int x)                                                 \
    {                                                                                                             \
        asm("tex.1d.v4." SUFFIX ".s32 {%0, %1, %2, %3}, [%4, {%5}];"                                              \
            : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "r"(x));                                   \
    }                                                                                                             \
    HEDDLE_DEVICE void tex1D(cudaTextureObject_t t, V &r, float x)                                                \
    {                                                                                                             \
        asm("tex.1d.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5}];"                                              \
            : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "f"(x));                                   \
    }                                                                                                             \
    HEDDLE_DEVICE void tex2D(cudaTextureObject_t t, V &r, float x, float y)                                       \
    {                                                                                                             \
        asm("tex.2d.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                          \
            : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "f"(x), "f"(y));                           \
    }                                                                                                             \
    HEDDLE_DEVICE void tex3D(cudaTextureObject_t t, V &r, float x, float y, float z)                              \
    {                                                                                                             \
        asm("tex.3d.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"                                  \
            : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "f"(x), "f"(y), "f"(z));                   \
    }                                                                                                             \
    HEDDLE_DEVICE void tex1DLayered(cudaTextureObject_t t, V &r, float x, int layer)                              \
    {                                                                                                             \
        asm("tex.a1d.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                         \
            : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "r"(layer), "f"(x));                       \
    }                                                                                                             \
    HEDDLE_DEVICE void tex2DLayered(cudaTextureObject_t t, V &r, float x, float y, int layer)                     \
    {                                                                                                             \
        asm("tex.a2d.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"                                 \
            : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "r"(layer), "f"(x), "f"(y));               \
    }                                                                                                             \
    HEDDLE_DEVICE void texCubemap(cudaTextureObject_t t, V &r, float x, float y, float z)                         \
    {                                                                                                             \
        asm("tex.cube.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"                                \
            : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "f"(x), "f"(y), "f"(z));                   \
    }                                                                                                             \
    HEDDLE_DEVICE void texCubemapLayered(cudaTextureObject_t t, V &r, float x, float y, float z, int layer)       \
    {                                                                                                             \
        asm("tex.acube.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %8}];"                               \
            : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "r"(layer), "f"(x), "f"(y), "f"(z));       \
    }                                                                                                             \
    HEDDLE_DEVICE void tex1DLod(cudaTextureObject_t t, V &r, float x, float level)                                \
    {                                                                                                             \
        asm("tex.level.1d.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5}], %6;"                                    \
            : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "f"(x), "f"(level));                       \
    }                                                                                                             \
    HEDDLE_DEVICE void tex2DLod(cudaTextureObject_t t, V &r, float x, float y, float level)                       \
    {                                                                                                             \
        asm("tex.level.2d.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}], %7;"                                \
            : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "f"(x), "f"(y), "f"(level));               \
    }                                                                                                             \
    HEDDLE_DEVICE void tex3DLod(cudaTextureObject_t t, V &r, float x, float y, float z, float level)              \
    {                                                                                                             \
        asm("tex.level.3d.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}], %8;"                        \
            : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "f"(x), "f"(y), "f"(z), "f"(level));       \
    }                                                                                                             \
    HEDDLE_DEVICE void tex2Dgather(cudaTextureObject_t t, V &r, float x, float y, int channel)                    \
    {                                                                                                             \
        if (channel == 0)                                                                                         \
            asm("tld4.r.2d.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                   \
                : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "f"(x), "f"(y));                       \
        else if (channel == 1)                                                                                    \
            asm("tld4.g.2d.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                   \
                : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "f"(x), "f"(y));                       \
        else if (channel == 2)                                                                                    \
            asm("tld4.b.2d.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                   \
                : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "f"(x), "f"(y));                       \
        else                                                                                                      \
            asm("tld4.a.2d.v4." SUFFIX ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"                                   \
                : "=" C(r.x), "=" C(r.y), "=" C(r.z), "=" C(r.w) : "l"(t), "f"(x), "f"(y));                       \
    }
HEDDLE_FETCH(float4, "f", "f32")
HEDDLE_FETCH(int4, "r", "s32")
HEDDLE_FETCH(uint4, "r", "u32")
#undef HEDDLE_FETCH

// texel<T>: what is fetched for elements of type T, how they are made of it, and the floats
// that stand for them where integers are read as floats.
template <class T> struct texel {
    typedef int none;
};
#define HEDDLE_TEXEL1(T, V)                                                                                       \
    template <> struct texel<T> {                                                                                 \
        typedef V fetched;                                                                                        \
        typedef float unit;                                                                                       \
        typedef T self;                                                                                           \
        static __device__ T of(V v) { return (T)v.x; }                                                            \
    };
#define HEDDLE_TEXEL(NAME, E, V)                                                                                  \
    template <> struct texel<NAME##1> {                                                                           \
        typedef V fetched;                                                                                        \
        typedef float1 unit;                                                                                      \
        typedef NAME##1 self;                                                                                     \
        static __device__ NAME##1 of(V v) { return NAME##1{(E)v.x}; }                                             \
    };                                                                                                            \
    template <> struct texel<NAME##2> {                                                                           \
        typedef V fetched;                                                                                        \
        typedef float2 unit;                                                                                      \
        typedef NAME##2 self;                                                                                     \
        static __device__ NAME##2 of(V v) { return NAME##2{(E)v.x, (E)v.y}; }                                     \
    };                                                                                                            \
    template <> struct texel<NAME##4> {                                                                           \
        typedef V fetched;                                                                                        \
        typedef float4 unit;                                                                                      \
        typedef NAME##4 self;                                                                                     \
        static __device__ NAME##4 of(V v) { return NAME##4{(E)v.x, (E)v.y, (E)v.z, (E)v.w}; }                     \
    };
HEDDLE_TEXEL1(char, int4)
HEDDLE_TEXEL1(signed char, int4)
HEDDLE_TEXEL1(unsigned char, uint4)
HEDDLE_TEXEL1(short, int4)
HEDDLE_TEXEL1(unsigned short, uint4)
HEDDLE_TEXEL1(int, int4)
HEDDLE_TEXEL1(unsigned int, uint4)
HEDDLE_TEXEL1(float, float4)
HEDDLE_TEXEL(char, signed char, int4)
HEDDLE_TEXEL(uchar, unsigned char, uint4)
HEDDLE_TEXEL(short, short, int4)
HEDDLE_TEXEL(ushort, unsigned short, uint4)
HEDDLE_TEXEL(int, int, int4)
HEDDLE_TEXEL(uint, unsigned int, uint4)
HEDDLE_TEXEL(float, float, float4)
#undef HEDDLE_TEXEL1
#undef HEDDLE_TEXEL

// read<T, mode>: the type that a fetch from texture<T, kind, mode> gives.
template <class T, int mode> struct read { typedef T type; };
template <class T> struct read<T, cudaReadModeNormalizedFloat> { typedef typename texel<T>::unit type; };

// A reference, as a kernel passes it on, is the handle of its .texref.
template <class R> HEDDLE_DEVICE unsigned long long handle(R ref)
{
    unsigned long long h;
    asm("mov.b64 %0, %1;" : "=l"(h) : "l"(ref));
    return h;
}
} // namespace heddle

// Each by object, with the type given or by pointer, and by reference.
#define HEDDLE_TEXTURE(NAME, FETCH, ALL, PARAMS, ARGS)                                                            \
    template <class T> HEDDLE_DEVICE typename heddle::texel<T>::self NAME(cudaTextureObject_t t, ALL PARAMS)      \
    {                                                                                                             \
        typename heddle::texel<T>::fetched r;                                                                     \
        heddle::FETCH(t, r, ALL ARGS);                                                                            \
        return heddle::texel<T>::of(r);                                                                           \
    }                                                                                                             \
    template <class T> HEDDLE_DEVICE void NAME(T *to, cudaTextureObject_t t, ALL PARAMS) { *to = NAME<T>(t, ALL ARGS); } \
    template <class T, int kind, cudaTextureReadMode mode>                                                        \
    HEDDLE_DEVICE typename heddle::read<T, mode>::type NAME(texture<T, kind, mode> t, ALL PARAMS)                 \
    {                                                                                                             \
        return NAME<typename heddle::read<T, mode>::type>(heddle::handle(t), ALL ARGS);                           \
    }
#define HEDDLE_ALL(...) __VA_ARGS__
HEDDLE_TEXTURE(tex1Dfetch, tex1Di, HEDDLE_ALL, (int x), (x))
HEDDLE_TEXTURE(tex1D, tex1D, HEDDLE_ALL, (float x), (x))
HEDDLE_TEXTURE(tex2D, tex2D, HEDDLE_ALL, (float x, float y), (x, y))
HEDDLE_TEXTURE(tex3D, tex3D, HEDDLE_ALL, (float x, float y, float z), (x, y, z))
HEDDLE_TEXTURE(tex1DLayered, tex1DLayered, HEDDLE_ALL, (float x, int layer), (x, layer))
HEDDLE_TEXTURE(tex2DLayered, tex2DLayered, HEDDLE_ALL, (float x, float y, int layer), (x, y, layer))
HEDDLE_TEXTURE(texCubemap, texCubemap, HEDDLE_ALL, (float x, float y, float z), (x, y, z))
HEDDLE_TEXTURE(texCubemapLayered, texCubemapLayered, HEDDLE_ALL, (float x, float y, float z, int layer), (x, y, z, layer))
HEDDLE_TEXTURE(tex1DLod, tex1DLod, HEDDLE_ALL, (float x, float level), (x, level))
HEDDLE_TEXTURE(tex2DLod, tex2DLod, HEDDLE_ALL, (float x, float y, float level), (x, y, level))
HEDDLE_TEXTURE(tex3DLod, tex3DLod, HEDDLE_ALL, (float x, float y, float z, float level), (x, y, z, level))
HEDDLE_TEXTURE(tex2Dgather, tex2Dgather, HEDDLE_ALL, (float x, float y, int channel), (x, y, channel))
#undef HEDDLE_TEXTURE


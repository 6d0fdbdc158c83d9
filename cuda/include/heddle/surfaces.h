// Accesses to surfaces, by object or by reference. x counts bytes; a mode says what happens
// beyond the edges: the launch ends (trap, the default), the nearest element or zeros.
#pragma once

#define HEDDLE_PARENS(...) __VA_ARGS__

// A load and a store of one mode. FORM is the register or vector, R its operands.
#define HEDDLE_SULD(OP, MODE, FORM, COORDS, R, ...)                                                               \
    asm volatile("suld.b." OP "." MODE " " FORM ", [%[s], {" COORDS "}];" : R : [s] "l"(s), __VA_ARGS__ : "memory")
#define HEDDLE_SUST(OP, MODE, FORM, COORDS, R, ...)                                                               \
    asm volatile("sust.b." OP "." MODE " [%[s], {" COORDS "}], " FORM ";" ::[s] "l"(s), __VA_ARGS__, R : "memory")

// Both for words of one type, with the mode as the last argument.
#define HEDDLE_SURFACE_WORD(NAME, W, OP, FORM, COORDS, PARAMS, OUT, IN, ...)                                      \
    HEDDLE_DEVICE void NAME##_load(W &v, cudaSurfaceObject_t s, HEDDLE_PARENS PARAMS, int mode)                   \
    {                                                                                                             \
        if (mode == cudaBoundaryModeTrap)                                                                         \
            HEDDLE_SULD(OP, "trap", FORM, COORDS, HEDDLE_PARENS OUT, __VA_ARGS__);                                \
        else if (mode == cudaBoundaryModeClamp)                                                                   \
            HEDDLE_SULD(OP, "clamp", FORM, COORDS, HEDDLE_PARENS OUT, __VA_ARGS__);                               \
        else                                                                                                      \
            HEDDLE_SULD(OP, "zero", FORM, COORDS, HEDDLE_PARENS OUT, __VA_ARGS__);                                \
    }                                                                                                             \
    HEDDLE_DEVICE void NAME##_store(W v, cudaSurfaceObject_t s, HEDDLE_PARENS PARAMS, int mode)                   \
    {                                                                                                             \
        if (mode == cudaBoundaryModeTrap)                                                                         \
            HEDDLE_SUST(OP, "trap", FORM, COORDS, HEDDLE_PARENS IN, __VA_ARGS__);                                 \
        else if (mode == cudaBoundaryModeClamp)                                                                   \
            HEDDLE_SUST(OP, "clamp", FORM, COORDS, HEDDLE_PARENS IN, __VA_ARGS__);                                \
        else                                                                                                      \
            HEDDLE_SUST(OP, "zero", FORM, COORDS, HEDDLE_PARENS IN, __VA_ARGS__);                                 \
    }

#define HEDDLE_SURFACE(NAME, DIM, COORDS, PARAMS, CALL, ...)                                                      \
    namespace heddle {                                                                                            \
    HEDDLE_SURFACE_WORD(NAME, unsigned short, DIM ".b16", "%[r]", COORDS, PARAMS, ([r] "=h"(v)), ([r] "h"(v)),    \
                        __VA_ARGS__)                                                                              \
    HEDDLE_SURFACE_WORD(NAME##_byte, unsigned short, DIM ".b8", "%[r]", COORDS, PARAMS, ([r] "=h"(v)),            \
                        ([r] "h"(v)), __VA_ARGS__)                                                                \
    HEDDLE_SURFACE_WORD(NAME, unsigned, DIM ".b32", "%[r]", COORDS, PARAMS, ([r] "=r"(v)), ([r] "r"(v)),          \
                        __VA_ARGS__)                                                                              \
    HEDDLE_SURFACE_WORD(NAME, unsigned long long, DIM ".b64", "%[r]", COORDS, PARAMS, ([r] "=l"(v)),              \
                        ([r] "l"(v)), __VA_ARGS__)                                                                \
    HEDDLE_SURFACE_WORD(NAME, uint4, DIM ".v4.b32" , "{%[a], %[b], %[c], %[d]}", COORDS, PARAMS,                  \
                        ([a] "=r"(v.x), [b] "=r"(v.y), [c] "=r"(v.z), [d] "=r"(v.w)),                             \
                        ([a] "r"(v.x), [b] "r"(v.y), [c] "r"(v.z), [d] "r"(v.w)), __VA_ARGS__)                    \
    HEDDLE_DEVICE void NAME##_load(unsigned char &v, cudaSurfaceObject_t s, HEDDLE_PARENS PARAMS, int mode)       \
    {                                                                                                             \
        unsigned short w;                                                                                         \
        NAME##_byte_load(w, s, HEDDLE_PARENS CALL, mode);                                                         \
        v = (unsigned char)w;                                                                                     \
    }                                                                                                             \
    HEDDLE_DEVICE void NAME##_store(unsigned char v, cudaSurfaceObject_t s, HEDDLE_PARENS PARAMS, int mode)       \
    {                                                                                                             \
        NAME##_byte_store((unsigned short)v, s, HEDDLE_PARENS CALL, mode);                                        \
    }                                                                                                             \
    }                                                                                                             \
    template <class T>                                                                                            \
    HEDDLE_DEVICE T NAME##read(cudaSurfaceObject_t s, HEDDLE_PARENS PARAMS,                                       \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                               \
    {                                                                                                             \
        typename heddle::word<sizeof(T)>::type w;                                                                 \
        heddle::NAME##_load(w, s, HEDDLE_PARENS CALL, mode);                                                      \
        return __builtin_bit_cast(T, w);                                                                          \
    }                                                                                                             \
    template <class T>                                                                                            \
    HEDDLE_DEVICE void NAME##read(T *to, cudaSurfaceObject_t s, HEDDLE_PARENS PARAMS,                             \
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                            \
    {                                                                                                             \
        *to = NAME##read<T>(s, HEDDLE_PARENS CALL, mode);                                                         \
    }                                                                                                             \
    template <class T>                                                                                            \
    HEDDLE_DEVICE void NAME##write(T v, cudaSurfaceObject_t s, HEDDLE_PARENS PARAMS,                              \
                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                           \
    {                                                                                                             \
        heddle::NAME##_store(__builtin_bit_cast(typename heddle::word<sizeof(T)>::type, v), s,                    \
                             HEDDLE_PARENS CALL, mode);                                                           \
    }                                                                                                             \
    template <class T, int kind>                                                                                  \
    HEDDLE_DEVICE T NAME##read(surface<void, kind> s, HEDDLE_PARENS PARAMS,                                       \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                               \
    {                                                                                                             \
        return NAME##read<T>(heddle::handle(s), HEDDLE_PARENS CALL, mode);                                        \
    }                                                                                                             \
    template <class T, int kind>                                                                                  \
    HEDDLE_DEVICE void NAME##read(T *to, surface<void, kind> s, HEDDLE_PARENS PARAMS,                             \
                                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                            \
    {                                                                                                             \
        *to = NAME##read<T>(heddle::handle(s), HEDDLE_PARENS CALL, mode);                                         \
    }                                                                                                             \
    template <class T, int kind>                                                                                  \
    HEDDLE_DEVICE void NAME##write(T v, surface<void, kind> s, HEDDLE_PARENS PARAMS,                              \
                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                           \
    {                                                                                                             \
        NAME##write<T>(v, heddle::handle(s), HEDDLE_PARENS CALL, mode);                                           \
    }

HEDDLE_SURFACE(surf1D, "1d", "%[x]", (int x), (x), [x] "r"(x))
HEDDLE_SURFACE(surf2D, "2d", "%[x], %[y]", (int x, int y), (x, y), [x] "r"(x), [y] "r"(y))
HEDDLE_SURFACE(surf3D, "3d", "%[x], %[y], %[z], %[z]", (int x, int y, int z), (x, y, z), [x] "r"(x), [y] "r"(y),
               [z] "r"(z))
HEDDLE_SURFACE(surf1DLayered, "a1d", "%[l], %[x]", (int x, int layer), (x, layer), [x] "r"(x), [l] "r"(layer))
HEDDLE_SURFACE(surf2DLayered, "a2d", "%[l], %[x], %[y], %[y]", (int x, int y, int layer), (x, y, layer), [x] "r"(x),
               [y] "r"(y), [l] "r"(layer))
#undef HEDDLE_SURFACE
#undef HEDDLE_SURFACE_WORD
#undef HEDDLE_SULD
#undef HEDDLE_SUST
#undef HEDDLE_PARENS

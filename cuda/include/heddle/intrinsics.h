// Device intrinsics that clang's headers lack, or have in some versions only: those have
// names of Heddle's own behind the documented ones.
#pragma once

HEDDLE_DEVICE unsigned __laneid() { return __nvvm_read_ptx_sreg_laneid(); }
HEDDLE_DEVICE void __barrier_arrive(unsigned id, unsigned count)
{
    asm volatile("barrier.cta.arrive %0, %1;" ::"r"(id), "r"(count) : "memory");
}
#if __clang_major__ < 22
HEDDLE_DEVICE unsigned __nvvm_smid() { return __nvvm_read_ptx_sreg_smid(); }
#endif

// ---- address spaces

HEDDLE_DEVICE size_t __cvta_generic_to_global(const void *p) { return __nv_cvta_generic_to_global_impl(p); }
HEDDLE_DEVICE size_t __cvta_generic_to_shared(const void *p) { return __nv_cvta_generic_to_shared_impl(p); }
HEDDLE_DEVICE size_t __cvta_generic_to_constant(const void *p) { return __nv_cvta_generic_to_constant_impl(p); }
HEDDLE_DEVICE size_t __cvta_generic_to_local(const void *p) { return __nv_cvta_generic_to_local_impl(p); }
HEDDLE_DEVICE void *__cvta_global_to_generic(size_t p) { return __nv_cvta_global_to_generic_impl(p); }
HEDDLE_DEVICE void *__cvta_shared_to_generic(size_t p) { return __nv_cvta_shared_to_generic_impl(p); }
HEDDLE_DEVICE void *__cvta_constant_to_generic(size_t p) { return __nv_cvta_constant_to_generic_impl(p); }
HEDDLE_DEVICE void *__cvta_local_to_generic(size_t p) { return __nv_cvta_local_to_generic_impl(p); }
HEDDLE_DEVICE unsigned __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
HEDDLE_DEVICE unsigned __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
HEDDLE_DEVICE unsigned __isConstant(const void *p) { return __nvvm_isspacep_const(p); }
HEDDLE_DEVICE unsigned __isLocal(const void *p) { return __nvvm_isspacep_local(p); }

// ---- loads and stores with a cache operator

namespace heddle {
template <int bytes> struct word;
template <> struct word<1> { typedef unsigned char type; };
template <> struct word<2> { typedef unsigned short type; };
template <> struct word<4> { typedef unsigned int type; };
template <> struct word<8> { typedef unsigned long long type; };
template <> struct word<16> { typedef uint4 type; };
} // namespace heddle

#define HEDDLE_LOAD(NAME, OP)                                                                                     \
    namespace heddle {                                                                                            \
    HEDDLE_DEVICE unsigned char load_##NAME(const unsigned char *p)                                               \
    {                                                                                                             \
        unsigned v;                                                                                               \
        asm volatile("ld." OP ".u8 %0, [%1];" : "=r"(v) : "l"(p) : "memory");                                     \
        return (unsigned char)v;                                                                                  \
    }                                                                                                             \
    HEDDLE_DEVICE unsigned short load_##NAME(const unsigned short *p)                                             \
    {                                                                                                             \
        unsigned short v;                                                                                         \
        asm volatile("ld." OP ".u16 %0, [%1];" : "=h"(v) : "l"(p) : "memory");                                    \
        return v;                                                                                                 \
    }                                                                                                             \
    HEDDLE_DEVICE unsigned load_##NAME(const unsigned *p)                                                         \
    {                                                                                                             \
        unsigned v;                                                                                               \
        asm volatile("ld." OP ".u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");                                    \
        return v;                                                                                                 \
    }                                                                                                             \
    HEDDLE_DEVICE unsigned long long load_##NAME(const unsigned long long *p)                                     \
    {                                                                                                             \
        unsigned long long v;                                                                                     \
        asm volatile("ld." OP ".u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");                                    \
        return v;                                                                                                 \
    }                                                                                                             \
    HEDDLE_DEVICE uint4 load_##NAME(const uint4 *p)                                                               \
    {                                                                                                             \
        uint4 v;                                                                                                  \
        asm volatile("ld." OP ".v4.u32 {%0, %1, %2, %3}, [%4];"                                                   \
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                                 \
                     : "l"(p)                                                                                     \
                     : "memory");                                                                                 \
        return v;                                                                                                 \
    }                                                                                                             \
    }                                                                                                             \
    template <class T> HEDDLE_DEVICE T heddle_ld##NAME(const T *p)                                                \
    {                                                                                                             \
        typedef typename heddle::word<sizeof(T)>::type W;                                                         \
        return __builtin_bit_cast(T, heddle::load_##NAME(reinterpret_cast<const W *>(p)));                        \
    }
HEDDLE_LOAD(cg, "global.cg")
HEDDLE_LOAD(ca, "global.ca")
HEDDLE_LOAD(cs, "global.cs")
HEDDLE_LOAD(lu, "global.lu")
HEDDLE_LOAD(cv, "global.cv")
#undef HEDDLE_LOAD
#define __ldcg heddle_ldcg
#define __ldca heddle_ldca
#define __ldcs heddle_ldcs
#define __ldlu heddle_ldlu
#define __ldcv heddle_ldcv

#define HEDDLE_STORE(NAME, OP)                                                                                    \
    namespace heddle {                                                                                            \
    HEDDLE_DEVICE void store_##NAME(unsigned char *p, unsigned char v)                                            \
    {                                                                                                             \
        asm volatile("st." OP ".u8 [%0], %1;" ::"l"(p), "r"((unsigned)v) : "memory");                             \
    }                                                                                                             \
    HEDDLE_DEVICE void store_##NAME(unsigned short *p, unsigned short v)                                          \
    {                                                                                                             \
        asm volatile("st." OP ".u16 [%0], %1;" ::"l"(p), "h"(v) : "memory");                                      \
    }                                                                                                             \
    HEDDLE_DEVICE void store_##NAME(unsigned *p, unsigned v)                                                      \
    {                                                                                                             \
        asm volatile("st." OP ".u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");                                      \
    }                                                                                                             \
    HEDDLE_DEVICE void store_##NAME(unsigned long long *p, unsigned long long v)                                  \
    {                                                                                                             \
        asm volatile("st." OP ".u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");                                      \
    }                                                                                                             \
    HEDDLE_DEVICE void store_##NAME(uint4 *p, uint4 v)                                                            \
    {                                                                                                             \
        asm volatile("st." OP ".v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)  \
                     : "memory");                                                                                 \
    }                                                                                                             \
    }                                                                                                             \
    template <class T> HEDDLE_DEVICE void heddle_st##NAME(T *p, T v)                                              \
    {                                                                                                             \
        typedef typename heddle::word<sizeof(T)>::type W;                                                         \
        heddle::store_##NAME(reinterpret_cast<W *>(p), __builtin_bit_cast(W, v));                                 \
    }
HEDDLE_STORE(wb, "global.wb")
HEDDLE_STORE(cg, "global.cg")
HEDDLE_STORE(cs, "global.cs")
HEDDLE_STORE(wt, "global.wt")
#undef HEDDLE_STORE
#define __stwb heddle_stwb
#define __stcg heddle_stcg
#define __stcs heddle_stcs
#define __stwt heddle_stwt

// ---- dot products of bytes and halves

#define HEDDLE_DOT(NAME, T, A, B, OP)                                                                             \
    HEDDLE_DEVICE T NAME(A a, B b, T c)                                                                           \
    {                                                                                                             \
        T d;                                                                                                      \
        asm(OP " %0, %1, %2, %3;" : "=r"(d)                                                                       \
            : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b)), "r"(c));                \
        return d;                                                                                                 \
    }
HEDDLE_DOT(__dp4a, int, int, int, "dp4a.s32.s32")
HEDDLE_DOT(__dp4a, unsigned, unsigned, unsigned, "dp4a.u32.u32")
HEDDLE_DOT(__dp4a, int, char4, char4, "dp4a.s32.s32")
HEDDLE_DOT(__dp4a, unsigned, uchar4, uchar4, "dp4a.u32.u32")
HEDDLE_DOT(__dp2a_lo, int, int, int, "dp2a.lo.s32.s32")
HEDDLE_DOT(__dp2a_lo, unsigned, unsigned, unsigned, "dp2a.lo.u32.u32")
HEDDLE_DOT(__dp2a_lo, int, short2, char4, "dp2a.lo.s32.s32")
HEDDLE_DOT(__dp2a_lo, unsigned, ushort2, uchar4, "dp2a.lo.u32.u32")
HEDDLE_DOT(__dp2a_hi, int, int, int, "dp2a.hi.s32.s32")
HEDDLE_DOT(__dp2a_hi, unsigned, unsigned, unsigned, "dp2a.hi.u32.u32")
HEDDLE_DOT(__dp2a_hi, int, short2, char4, "dp2a.hi.s32.s32")
HEDDLE_DOT(__dp2a_hi, unsigned, ushort2, uchar4, "dp2a.hi.u32.u32")
#undef HEDDLE_DOT

// ---- reductions over the lanes of a mask; one instruction from sm_80 on

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800 // for the host clang declares them
namespace heddle {
template <class T, class Op> HEDDLE_DEVICE T reduce_lanes(unsigned mask, T v, Op op)
{
    T r = __shfl_sync(mask, v, __builtin_ctz(mask));
    for (unsigned rest = mask & (mask - 1); rest; rest &= rest - 1) r = op(r, __shfl_sync(mask, v, __builtin_ctz(rest)));
    return r;
}
} // namespace heddle
#define HEDDLE_REDUCE(NAME, T, E)                                                                                 \
    HEDDLE_DEVICE T NAME(unsigned mask, T v)                                                                      \
    {                                                                                                             \
        return heddle::reduce_lanes(mask, v, [](T a, T b) -> T { return E; });                                    \
    }
HEDDLE_REDUCE(__reduce_add_sync, unsigned, a + b)
HEDDLE_REDUCE(__reduce_min_sync, unsigned, b < a ? b : a)
HEDDLE_REDUCE(__reduce_max_sync, unsigned, a < b ? b : a)
HEDDLE_REDUCE(__reduce_min_sync, int, b < a ? b : a)
HEDDLE_REDUCE(__reduce_max_sync, int, a < b ? b : a)
HEDDLE_REDUCE(__reduce_and_sync, unsigned, a &b)
HEDDLE_REDUCE(__reduce_or_sync, unsigned, a | b)
HEDDLE_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef HEDDLE_REDUCE
#endif
HEDDLE_DEVICE int __reduce_add_sync(unsigned mask, int v) { return (int)__reduce_add_sync(mask, (unsigned)v); }

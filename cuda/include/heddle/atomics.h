// Atomic functions, for the device and with the scopes _block and _system. Each returns the
// old value.
#pragma once

#define HEDDLE_ATOMIC2(NAME, T, IMPL)                                                                  \
    HEDDLE_DEVICE T NAME(T *p, T v) { return IMPL(p, v); }                                             \
    HEDDLE_DEVICE T NAME##_block(T *p, T v) { return IMPL##_block(p, v); }                             \
    HEDDLE_DEVICE T NAME##_system(T *p, T v) { return IMPL##_system(p, v); }

HEDDLE_ATOMIC2(atomicAdd, int, __iAtomicAdd)
HEDDLE_ATOMIC2(atomicAdd, unsigned, __uAtomicAdd)
HEDDLE_ATOMIC2(atomicAdd, unsigned long long, __ullAtomicAdd)
HEDDLE_ATOMIC2(atomicAdd, float, __fAtomicAdd)
HEDDLE_ATOMIC2(atomicAdd, double, __dAtomicAdd)
HEDDLE_ATOMIC2(atomicExch, int, __iAtomicExch)
HEDDLE_ATOMIC2(atomicExch, unsigned, __uAtomicExch)
HEDDLE_ATOMIC2(atomicExch, unsigned long long, __ullAtomicExch)
HEDDLE_ATOMIC2(atomicExch, float, __fAtomicExch)
HEDDLE_ATOMIC2(atomicMin, int, __iAtomicMin)
HEDDLE_ATOMIC2(atomicMin, unsigned, __uAtomicMin)
HEDDLE_ATOMIC2(atomicMin, unsigned long long, __ullAtomicMin)
HEDDLE_ATOMIC2(atomicMin, long long, __illAtomicMin)
HEDDLE_ATOMIC2(atomicMax, int, __iAtomicMax)
HEDDLE_ATOMIC2(atomicMax, unsigned, __uAtomicMax)
HEDDLE_ATOMIC2(atomicMax, unsigned long long, __ullAtomicMax)
HEDDLE_ATOMIC2(atomicMax, long long, __illAtomicMax)
HEDDLE_ATOMIC2(atomicInc, unsigned, __uAtomicInc)
HEDDLE_ATOMIC2(atomicDec, unsigned, __uAtomicDec)
HEDDLE_ATOMIC2(atomicAnd, int, __iAtomicAnd)
HEDDLE_ATOMIC2(atomicAnd, unsigned, __uAtomicAnd)
HEDDLE_ATOMIC2(atomicAnd, unsigned long long, __ullAtomicAnd)
HEDDLE_ATOMIC2(atomicOr, int, __iAtomicOr)
HEDDLE_ATOMIC2(atomicOr, unsigned, __uAtomicOr)
HEDDLE_ATOMIC2(atomicOr, unsigned long long, __ullAtomicOr)
HEDDLE_ATOMIC2(atomicXor, int, __iAtomicXor)
HEDDLE_ATOMIC2(atomicXor, unsigned, __uAtomicXor)
HEDDLE_ATOMIC2(atomicXor, unsigned long long, __ullAtomicXor)
#undef HEDDLE_ATOMIC2

HEDDLE_DEVICE int atomicSub(int *p, int v) { return atomicAdd(p, (int)(0u - (unsigned)v)); }
HEDDLE_DEVICE int atomicSub_block(int *p, int v) { return atomicAdd_block(p, (int)(0u - (unsigned)v)); }
HEDDLE_DEVICE int atomicSub_system(int *p, int v) { return atomicAdd_system(p, (int)(0u - (unsigned)v)); }
HEDDLE_DEVICE unsigned atomicSub(unsigned *p, unsigned v) { return atomicAdd(p, 0u - v); }
HEDDLE_DEVICE unsigned atomicSub_block(unsigned *p, unsigned v) { return atomicAdd_block(p, 0u - v); }
HEDDLE_DEVICE unsigned atomicSub_system(unsigned *p, unsigned v) { return atomicAdd_system(p, 0u - v); }

HEDDLE_DEVICE int atomicCAS(int *p, int cmp, int v) { return __nvvm_atom_cas_gen_i(p, cmp, v); }
HEDDLE_DEVICE int atomicCAS_block(int *p, int cmp, int v) { return __nvvm_atom_cta_cas_gen_i(p, cmp, v); }
HEDDLE_DEVICE int atomicCAS_system(int *p, int cmp, int v) { return __nvvm_atom_sys_cas_gen_i(p, cmp, v); }
#define HEDDLE_CAS(SCOPE, IN)                                                                                     \
    HEDDLE_DEVICE unsigned atomicCAS##SCOPE(unsigned *p, unsigned cmp, unsigned v)                                \
    {                                                                                                             \
        return (unsigned)__nvvm_atom_##IN##cas_gen_i((int *)p, (int)cmp, (int)v);                                 \
    }                                                                                                             \
    HEDDLE_DEVICE unsigned long long atomicCAS##SCOPE(unsigned long long *p, unsigned long long cmp,              \
                                                      unsigned long long v)                                       \
    {                                                                                                             \
        return (unsigned long long)__nvvm_atom_##IN##cas_gen_ll((long long *)p, (long long)cmp, (long long)v);    \
    }
HEDDLE_CAS(, )
HEDDLE_CAS(_block, cta_)
HEDDLE_CAS(_system, sys_)
#undef HEDDLE_CAS
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
HEDDLE_DEVICE unsigned short atomicCAS(unsigned short *p, unsigned short cmp, unsigned short v)
{
    unsigned short old;
    asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(cmp), "h"(v) : "memory");
    return old;
}
#endif

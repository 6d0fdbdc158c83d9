// heddle.cuh -- the part of CUDA C++ that Heddle's own kernels use, for clang-19
// without the CUDA toolkit (-nocudainc -nocudalib).
//
// What is here: function and variable qualifiers, the built-in index variables,
// vector types, atomics, warp functions and the approximate math of the special
// function unit. __syncthreads() is a builtin of clang and must not be defined.
// IEEE math is reached through clang's builtins: fmaf, sqrtf and so on below map to
// one PTX instruction each. Kernels are compiled with -ffp-contract=off, so a
// product and a sum fuse only where the source says fmaf.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __restrict__ __restrict

// nodebug: the PTX lines of an inlined function carry the .loc of the call in the kernel.
#define HEDDLE_FN static __inline__ __attribute__((device, always_inline, nodebug))

// ---- index variables: members are properties that read the special registers

#define HEDDLE_INDEX(NAME, REG)                                                              \
    struct heddle_##NAME {                                                                   \
        __declspec(property(get = get_x)) unsigned x;                                        \
        __declspec(property(get = get_y)) unsigned y;                                        \
        __declspec(property(get = get_z)) unsigned z;                                        \
        HEDDLE_FN unsigned get_x() { return __nvvm_read_ptx_sreg_##REG##_x(); }              \
        HEDDLE_FN unsigned get_y() { return __nvvm_read_ptx_sreg_##REG##_y(); }              \
        HEDDLE_FN unsigned get_z() { return __nvvm_read_ptx_sreg_##REG##_z(); }              \
    };                                                                                       \
    extern const __attribute__((device, weak)) heddle_##NAME NAME

HEDDLE_INDEX(threadIdx, tid);
HEDDLE_INDEX(blockIdx, ctaid);
HEDDLE_INDEX(blockDim, ntid);
HEDDLE_INDEX(gridDim, nctaid);
#undef HEDDLE_INDEX

static constexpr int warpSize = 32;

HEDDLE_FN unsigned heddle_laneid() { return __nvvm_read_ptx_sreg_laneid(); }

// ---- vector types, aligned as CUDA's

struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) double2 { double x, y; };

// ---- math: IEEE, one instruction each

HEDDLE_FN float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HEDDLE_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
HEDDLE_FN float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
HEDDLE_FN double sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
HEDDLE_FN float fabsf(float a) { return __builtin_fabsf(a); }
HEDDLE_FN double fabs(double a) { return __builtin_fabs(a); }
HEDDLE_FN float fminf(float a, float b) { return __builtin_fminf(a, b); }
HEDDLE_FN float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
HEDDLE_FN float floorf(float a) { return __builtin_floorf(a); }
HEDDLE_FN int min(int a, int b) { return a < b ? a : b; }
HEDDLE_FN int max(int a, int b) { return a > b ? a : b; }

// ---- math: approximations of the special function unit (not IEEE)

HEDDLE_FN float heddle_ex2(float a) { return __nvvm_ex2_approx_f(a); }     // 2^a
HEDDLE_FN float heddle_lg2(float a) { return __nvvm_lg2_approx_f(a); }     // log2(a)
HEDDLE_FN float heddle_rsqrt(float a) { return __nvvm_rsqrt_approx_f(a); } // a^-1/2
HEDDLE_FN float heddle_rcp(float a) { float r; asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
HEDDLE_FN float heddle_sin(float a) { return __nvvm_sin_approx_f(a); }
HEDDLE_FN float heddle_cos(float a) { return __nvvm_cos_approx_f(a); }
HEDDLE_FN float __expf(float a) { return heddle_ex2(a * 1.44269504f); }
HEDDLE_FN float __logf(float a) { return heddle_lg2(a) * 0.69314718f; }

// ---- bit reinterpretation

HEDDLE_FN unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
HEDDLE_FN int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
HEDDLE_FN float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
HEDDLE_FN float __int_as_float(int a) { return __builtin_bit_cast(float, a); }

// ---- integer intrinsics

HEDDLE_FN int __popc(unsigned a) { return __builtin_popcount(a); }
HEDDLE_FN int __ffs(unsigned a) { return __builtin_ffs((int)a); }
HEDDLE_FN int __clz(unsigned a) { return a ? __builtin_clz(a) : 32; }
HEDDLE_FN unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }

// ---- atomics; each returns the old value

#define HEDDLE_ATOMIC(NAME, TYPE, OP)                                                                 \
    HEDDLE_FN TYPE NAME(TYPE *p, TYPE v) { return __atomic_fetch_##OP(p, v, __ATOMIC_RELAXED); }
HEDDLE_ATOMIC(atomicAdd, int, add)
HEDDLE_ATOMIC(atomicAdd, unsigned, add)
HEDDLE_ATOMIC(atomicAdd, unsigned long long, add)
HEDDLE_ATOMIC(atomicSub, int, sub)
HEDDLE_ATOMIC(atomicSub, unsigned, sub)
HEDDLE_ATOMIC(atomicMin, int, min)
HEDDLE_ATOMIC(atomicMin, unsigned, min)
HEDDLE_ATOMIC(atomicMin, unsigned long long, min)
HEDDLE_ATOMIC(atomicMax, int, max)
HEDDLE_ATOMIC(atomicMax, unsigned, max)
HEDDLE_ATOMIC(atomicMax, unsigned long long, max)
HEDDLE_ATOMIC(atomicAnd, unsigned, and)
HEDDLE_ATOMIC(atomicOr, unsigned, or)
HEDDLE_ATOMIC(atomicXor, unsigned, xor)
HEDDLE_ATOMIC(atomicXor, unsigned long long, xor)
#undef HEDDLE_ATOMIC

HEDDLE_FN float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
HEDDLE_FN double atomicAdd(double *p, double v) { return __nvvm_atom_add_gen_d(p, v); }
HEDDLE_FN int atomicExch(int *p, int v) { return __nvvm_atom_xchg_gen_i(p, v); }
HEDDLE_FN unsigned atomicExch(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_xchg_gen_i((int *)p, (int)v); }
HEDDLE_FN int atomicCAS(int *p, int cmp, int v) { return __nvvm_atom_cas_gen_i(p, cmp, v); }
HEDDLE_FN unsigned atomicCAS(unsigned *p, unsigned cmp, unsigned v) { return (unsigned)__nvvm_atom_cas_gen_i((int *)p, (int)cmp, (int)v); }
HEDDLE_FN unsigned atomicInc(unsigned *p, unsigned v) { return __nvvm_atom_inc_gen_ui(p, v); }
HEDDLE_FN unsigned atomicDec(unsigned *p, unsigned v) { return __nvvm_atom_dec_gen_ui(p, v); }

HEDDLE_FN void __threadfence() { __nvvm_membar_gl(); }
HEDDLE_FN void __threadfence_block() { __nvvm_membar_cta(); }

// ---- warp functions: the whole warp, width 32

HEDDLE_FN void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
HEDDLE_FN int __shfl_sync(unsigned m, int v, int lane) { return __nvvm_shfl_sync_idx_i32(m, v, lane, 31); }
HEDDLE_FN float __shfl_sync(unsigned m, float v, int lane) { return __nvvm_shfl_sync_idx_f32(m, v, lane, 31); }
HEDDLE_FN int __shfl_down_sync(unsigned m, int v, unsigned d) { return __nvvm_shfl_sync_down_i32(m, v, d, 31); }
HEDDLE_FN float __shfl_down_sync(unsigned m, float v, unsigned d) { return __nvvm_shfl_sync_down_f32(m, v, d, 31); }
HEDDLE_FN int __shfl_up_sync(unsigned m, int v, unsigned d) { return __nvvm_shfl_sync_up_i32(m, v, d, 0); }
HEDDLE_FN int __shfl_xor_sync(unsigned m, int v, int d) { return __nvvm_shfl_sync_bfly_i32(m, v, d, 31); }
HEDDLE_FN float __shfl_xor_sync(unsigned m, float v, int d) { return __nvvm_shfl_sync_bfly_f32(m, v, d, 31); }
HEDDLE_FN unsigned __ballot_sync(unsigned m, int p) { return __nvvm_vote_ballot_sync(m, p); }
HEDDLE_FN int __any_sync(unsigned m, int p) { return __nvvm_vote_any_sync(m, p); }
HEDDLE_FN int __all_sync(unsigned m, int p) { return __nvvm_vote_all_sync(m, p); }

// Fragments and their loads, stores and products, one instruction of PTX each (PTX ISA, "wmma").
#pragma once

namespace nvcuda {
namespace wmma {

enum layout_t { mem_row_major, mem_col_major };
struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;

namespace precision {
struct tf32;
} // namespace precision

// What a thread has of a matrix: N elements, in registers of 32 bits.
template <class T, int N> struct elements {
    enum { num_elements = N };
    typedef T element_type;
    T x[N];
};
template <class Use, int M, int N, int K, class T, class Layout = void> class fragment;

// A float as the tensor cores see it: 10 bits behind the point.
HEDDLE_DEVICE float __float_to_tf32(float f)
{
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(f));
    return __builtin_bit_cast(float, r);
}
template <class T, int N, class V> HEDDLE_DEVICE void fill_fragment(elements<T, N> &f, const V &v)
{
    for (int i = 0; i < N; i++) f.x[i] = (T)v;
}

// ---- loads and stores of n registers: f is the fragment, p the matrix, ld its leading dimension

#define HEDDLE_WMMA_LOAD_1(OP)                                                                                   \
    asm volatile("wmma.load." OP " {%0}, [%1], %2;"                                                              \
                 : "=r"(w[0])                                                                                    \
                 : "l"(p), "r"(ld)                                                                               \
                 : "memory")
#define HEDDLE_WMMA_LOAD_2(OP)                                                                                   \
    asm volatile("wmma.load." OP " {%0, %1}, [%2], %3;"                                                          \
                 : "=r"(w[0]), "=r"(w[1])                                                                        \
                 : "l"(p), "r"(ld)                                                                               \
                 : "memory")
#define HEDDLE_WMMA_LOAD_4(OP)                                                                                   \
    asm volatile("wmma.load." OP " {%0, %1, %2, %3}, [%4], %5;"                                                  \
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])                                                \
                 : "l"(p), "r"(ld)                                                                               \
                 : "memory")
#define HEDDLE_WMMA_LOAD_8(OP)                                                                                   \
    asm volatile("wmma.load." OP " {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"                                  \
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]),                                               \
                   "=r"(w[4]), "=r"(w[5]), "=r"(w[6]), "=r"(w[7])                                                \
                 : "l"(p), "r"(ld)                                                                               \
                 : "memory")
#define HEDDLE_WMMA_STORE_4(OP)                                                                                  \
    asm volatile("wmma.store." OP " [%0], {%2, %3, %4, %5}, %1;" ::"l"(p), "r"(ld),                              \
                 "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])                                                      \
                 : "memory")
#define HEDDLE_WMMA_STORE_8(OP)                                                                                  \
    asm volatile("wmma.store." OP " [%0], {%2, %3, %4, %5, %6, %7, %8, %9}, %1;" ::"l"(p), "r"(ld),              \
                 "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]),                                                     \
                 "r"(w[4]), "r"(w[5]), "r"(w[6]), "r"(w[7])                                                      \
                 : "memory")

// ---- products: d = a * b + c, of NA, NB and ND registers

#define HEDDLE_WMMA_8_8_8(OP)                                                                                    \
    asm volatile("wmma.mma.sync.aligned." OP " {%0, %1, %2, %3, %4, %5, %6, %7}, "                               \
                 "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, "            \
                 "{%24, %25, %26, %27, %28, %29, %30, %31};"                                                     \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]),                                               \
                   "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])                                                \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),                                                   \
                   "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]),                                                   \
                   "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),                                                   \
                   "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]),                                                   \
                   "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]),                                                   \
                   "r"(c[4]), "r"(c[5]), "r"(c[6]), "r"(c[7]))
#define HEDDLE_WMMA_8_8_4(OP)                                                                                    \
    asm volatile("wmma.mma.sync.aligned." OP " {%0, %1, %2, %3}, "                                               \
                 "{%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}, "                \
                 "{%20, %21, %22, %23};"                                                                         \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                                \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),                                                   \
                   "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]),                                                   \
                   "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),                                                   \
                   "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]),                                                   \
                   "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]))
#define HEDDLE_WMMA_4_4_8(OP)                                                                                    \
    asm volatile("wmma.mma.sync.aligned." OP " {%0, %1, %2, %3, %4, %5, %6, %7}, "                               \
                 "{%8, %9, %10, %11}, {%12, %13, %14, %15}, "                                                    \
                 "{%16, %17, %18, %19, %20, %21, %22, %23};"                                                     \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]),                                               \
                   "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])                                                \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),                                                   \
                   "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),                                                   \
                   "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]),                                                   \
                   "r"(c[4]), "r"(c[5]), "r"(c[6]), "r"(c[7]))
#define HEDDLE_WMMA_8_2_8(OP)                                                                                    \
    asm volatile("wmma.mma.sync.aligned." OP " {%0, %1, %2, %3, %4, %5, %6, %7}, "                               \
                 "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17}, "                                          \
                 "{%18, %19, %20, %21, %22, %23, %24, %25};"                                                     \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]),                                               \
                   "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])                                                \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),                                                   \
                   "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]),                                                   \
                   "r"(b[0]), "r"(b[1]),                                                                         \
                   "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]),                                                   \
                   "r"(c[4]), "r"(c[5]), "r"(c[6]), "r"(c[7]))
#define HEDDLE_WMMA_2_8_8(OP)                                                                                    \
    asm volatile("wmma.mma.sync.aligned." OP " {%0, %1, %2, %3, %4, %5, %6, %7}, "                               \
                 "{%8, %9}, {%10, %11, %12, %13, %14, %15, %16, %17}, "                                          \
                 "{%18, %19, %20, %21, %22, %23, %24, %25};"                                                     \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]),                                               \
                   "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])                                                \
                 : "r"(a[0]), "r"(a[1]),                                                                         \
                   "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),                                                   \
                   "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]),                                                   \
                   "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]),                                                   \
                   "r"(c[4]), "r"(c[5]), "r"(c[6]), "r"(c[7]))
#define HEDDLE_WMMA_2_2_8(OP)                                                                                    \
    asm volatile("wmma.mma.sync.aligned." OP " {%0, %1, %2, %3, %4, %5, %6, %7}, "                               \
                 "{%8, %9}, {%10, %11}, "                                                                        \
                 "{%12, %13, %14, %15, %16, %17, %18, %19};"                                                     \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]),                                               \
                   "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])                                                \
                 : "r"(a[0]), "r"(a[1]),                                                                         \
                   "r"(b[0]), "r"(b[1]),                                                                         \
                   "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]),                                                   \
                   "r"(c[4]), "r"(c[5]), "r"(c[6]), "r"(c[7]))
#define HEDDLE_WMMA_4_1_8(OP)                                                                                    \
    asm volatile("wmma.mma.sync.aligned." OP " {%0, %1, %2, %3, %4, %5, %6, %7}, "                               \
                 "{%8, %9, %10, %11}, {%12}, "                                                                   \
                 "{%13, %14, %15, %16, %17, %18, %19, %20};"                                                     \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]),                                               \
                   "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])                                                \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),                                                   \
                   "r"(b[0]),                                                                                    \
                   "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]),                                                   \
                   "r"(c[4]), "r"(c[5]), "r"(c[6]), "r"(c[7]))
#define HEDDLE_WMMA_1_4_8(OP)                                                                                    \
    asm volatile("wmma.mma.sync.aligned." OP " {%0, %1, %2, %3, %4, %5, %6, %7}, "                               \
                 "{%8}, {%9, %10, %11, %12}, "                                                                   \
                 "{%13, %14, %15, %16, %17, %18, %19, %20};"                                                     \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]),                                               \
                   "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])                                                \
                 : "r"(a[0]),                                                                                    \
                   "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),                                                   \
                   "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]),                                                   \
                   "r"(c[4]), "r"(c[5]), "r"(c[6]), "r"(c[7]))

// The registers of a fragment: its elements as words, which the compiler is told.
typedef unsigned __attribute__((may_alias)) word;
#define HEDDLE_WORDS(F) reinterpret_cast<word *>(F.x)
#define HEDDLE_CONST_WORDS(F) reinterpret_cast<const word *>(F.x)

// A factor: fragment, and load. LET is a or b; SHAPE and TYPE are PTX's words, N its elements and R its registers.
#define HEDDLE_WMMA_FACTOR(LET, M, N, K, T, LAYOUT, TYPE, ELEMENT, COUNT, R)                                      \
    template <> class fragment<matrix_##LET, M, N, K, T, LAYOUT##_major> : public elements<ELEMENT, COUNT> {};    \
    HEDDLE_DEVICE void load_matrix_sync(fragment<matrix_##LET, M, N, K, T, LAYOUT##_major> &f, const ELEMENT *p,  \
                                        unsigned ld)                                                              \
    {                                                                                                             \
        word *w = HEDDLE_WORDS(f);                                                                                \
        HEDDLE_WMMA_LOAD_##R(#LET ".sync.aligned." #LAYOUT ".m" #M "n" #N "k" #K "." TYPE);                       \
    }
#define HEDDLE_WMMA_FACTORS(LET, M, N, K, T, TYPE, ELEMENT, COUNT, R)                                             \
    HEDDLE_WMMA_FACTOR(LET, M, N, K, T, row, TYPE, ELEMENT, COUNT, R)                                             \
    HEDDLE_WMMA_FACTOR(LET, M, N, K, T, col, TYPE, ELEMENT, COUNT, R)

// A sum: fragment, load and store.
#define HEDDLE_WMMA_SUM(M, N, K, T, TYPE, COUNT, R)                                                               \
    template <> class fragment<accumulator, M, N, K, T> : public elements<T, COUNT> {};                           \
    HEDDLE_DEVICE void load_matrix_sync(fragment<accumulator, M, N, K, T> &f, const T *p, unsigned ld, layout_t l) \
    {                                                                                                             \
        word *w = HEDDLE_WORDS(f);                                                                                \
        if (l == mem_row_major)                                                                                   \
            HEDDLE_WMMA_LOAD_##R("c.sync.aligned.row.m" #M "n" #N "k" #K "." TYPE);                               \
        else                                                                                                      \
            HEDDLE_WMMA_LOAD_##R("c.sync.aligned.col.m" #M "n" #N "k" #K "." TYPE);                               \
    }                                                                                                             \
    HEDDLE_DEVICE void store_matrix_sync(T *p, const fragment<accumulator, M, N, K, T> &f, unsigned ld, layout_t l) \
    {                                                                                                             \
        const word *w = HEDDLE_CONST_WORDS(f);                                                                    \
        if (l == mem_row_major)                                                                                   \
            HEDDLE_WMMA_STORE_##R("d.sync.aligned.row.m" #M "n" #N "k" #K "." TYPE);                              \
        else                                                                                                      \
            HEDDLE_WMMA_STORE_##R("d.sync.aligned.col.m" #M "n" #N "k" #K "." TYPE);                              \
    }

// The product of factors in two layouts; SAT is empty, or what an integer instruction adds for sums that stay at
// their limit.
#define HEDDLE_WMMA_PRODUCT(M, N, K, T, S, LA, LB, TYPES, REGS, SAT)                                              \
    HEDDLE_DEVICE void mma_sync(fragment<accumulator, M, N, K, S> &sum,                                           \
                                const fragment<matrix_a, M, N, K, T, LA##_major> &left,                           \
                                const fragment<matrix_b, M, N, K, T, LB##_major> &right,                          \
                                const fragment<accumulator, M, N, K, S> &to, bool satf = false)                   \
    {                                                                                                             \
        word *d = HEDDLE_WORDS(sum);                                                                              \
        const word *a = HEDDLE_CONST_WORDS(left), *b = HEDDLE_CONST_WORDS(right), *c = HEDDLE_CONST_WORDS(to); \
        if (satf)                                                                                                 \
            HEDDLE_WMMA_##REGS(#LA "." #LB ".m" #M "n" #N "k" #K "." TYPES SAT);                                  \
        else                                                                                                      \
            HEDDLE_WMMA_##REGS(#LA "." #LB ".m" #M "n" #N "k" #K "." TYPES);                                      \
    }
#define HEDDLE_WMMA_PRODUCTS(M, N, K, T, S, TYPES, REGS, SAT)                                                     \
    HEDDLE_WMMA_PRODUCT(M, N, K, T, S, row, row, TYPES, REGS, SAT)                                                \
    HEDDLE_WMMA_PRODUCT(M, N, K, T, S, row, col, TYPES, REGS, SAT)                                                \
    HEDDLE_WMMA_PRODUCT(M, N, K, T, S, col, row, TYPES, REGS, SAT)                                                \
    HEDDLE_WMMA_PRODUCT(M, N, K, T, S, col, col, TYPES, REGS, SAT)

// All that a shape has. RA, RB: registers of bfloat16 factors, CA and CB their elements; IA and IB of bytes.
#define HEDDLE_WMMA_SHAPE(M, N, CA, CB, RA, RB, IA, IB)                                                           \
    HEDDLE_WMMA_SUM(M, N, 16, __half, "f16", 8, 4)                                                                \
    HEDDLE_WMMA_SUM(M, N, 16, float, "f32", 8, 8)                                                                 \
    HEDDLE_WMMA_SUM(M, N, 16, int, "s32", 8, 8)                                                                   \
    HEDDLE_WMMA_FACTORS(a, M, N, 16, __half, "f16", __half, 16, 8)                                                \
    HEDDLE_WMMA_FACTORS(b, M, N, 16, __half, "f16", __half, 16, 8)                                                \
    HEDDLE_WMMA_FACTORS(a, M, N, 16, __nv_bfloat16, "bf16", __nv_bfloat16, CA, RA)                                \
    HEDDLE_WMMA_FACTORS(b, M, N, 16, __nv_bfloat16, "bf16", __nv_bfloat16, CB, RB)                                \
    HEDDLE_WMMA_FACTORS(a, M, N, 16, signed char, "s8", signed char, CA, IA)                                      \
    HEDDLE_WMMA_FACTORS(b, M, N, 16, signed char, "s8", signed char, CB, IB)                                      \
    HEDDLE_WMMA_FACTORS(a, M, N, 16, unsigned char, "u8", unsigned char, CA, IA)                                  \
    HEDDLE_WMMA_FACTORS(b, M, N, 16, unsigned char, "u8", unsigned char, CB, IB)                                  \
    HEDDLE_WMMA_PRODUCTS(M, N, 16, __half, float, "f32.f32", 8_8_8, "")                                           \
    HEDDLE_WMMA_PRODUCTS(M, N, 16, __half, __half, "f16.f16", 8_8_4, "")                                          \
    HEDDLE_WMMA_PRODUCTS(M, N, 16, __nv_bfloat16, float, "f32.bf16.bf16.f32", RA##_##RB##_8, "")                  \
    HEDDLE_WMMA_PRODUCTS(M, N, 16, signed char, int, "s32.s8.s8.s32", IA##_##IB##_8, ".satfinite")                \
    HEDDLE_WMMA_PRODUCTS(M, N, 16, unsigned char, int, "s32.u8.u8.s32", IA##_##IB##_8, ".satfinite")
HEDDLE_WMMA_SHAPE(16, 16, 8, 8, 4, 4, 2, 2)
HEDDLE_WMMA_SHAPE(32, 8, 16, 4, 8, 2, 4, 1)
HEDDLE_WMMA_SHAPE(8, 32, 4, 16, 2, 8, 1, 4)

HEDDLE_WMMA_SUM(16, 16, 8, float, "f32", 8, 8)
HEDDLE_WMMA_FACTORS(a, 16, 16, 8, precision::tf32, "tf32", float, 4, 4)
HEDDLE_WMMA_FACTORS(b, 16, 16, 8, precision::tf32, "tf32", float, 4, 4)
HEDDLE_WMMA_PRODUCTS(16, 16, 8, precision::tf32, float, "f32.tf32.tf32.f32", 4_4_8, "")

} // namespace wmma
} // namespace nvcuda

// ptx: sm_80 ptx70
// hgemm: C = A B^T on tensor cores, A m x k and B n x k of halves, C m x n of floats, all row-major:
// a block of four warps computes 128 x 128 elements from 32 columns of A and B at a time, a warp
// 64 x 64 of them by mma.sync m16n8k16. While a stage is used, the next one is on its way in
// registers; two buffers in shared memory need one barrier a stage. Rows in shared memory are
// 40 halves apart: the eight rows and four words of a fragment lie in 32 banks. m and n are
// multiples of 128, k of 32.
#include "heddle.cuh"

#define TILE 128
#define STAGE 32
#define PITCH 20 // words

typedef unsigned quad __attribute__((ext_vector_type(4))); // one load of 16 bytes, where the members of a uint4 are four
typedef float pair __attribute__((ext_vector_type(2)));

HEDDLE_FN void mma(float *d, const unsigned *a, const unsigned *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(128) hgemm(const quad *A, const quad *B, float *C, int m, int n, int k)
{
    alignas(16) __shared__ unsigned as[2][TILE * PITCH], bs[2][TILE * PITCH];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int from = t / 4, at = t % 4; // what this thread copies: 16 bytes of four rows
    int pitch = k / 8;
    const quad *a = A + (row + from) * pitch + at, *b = B + (col + from) * pitch + at;
    int put = from * PITCH + at * 4;
    int geta = (warp / 2 * 64 + lane / 4) * PITCH + lane % 4, getb = (warp % 2 * 64 + lane / 4) * PITCH + lane % 4;
    float acc[4][8][4];
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) acc[i][j][0] = acc[i][j][1] = acc[i][j][2] = acc[i][j][3] = 0.0f;

#pragma unroll
    for (int i = 0; i < 4; i++) {
        *(quad *)&as[0][put + i * 32 * PITCH] = a[i * 32 * pitch];
        *(quad *)&bs[0][put + i * 32 * PITCH] = b[i * 32 * pitch];
    }
    __syncthreads();
    int use = 0;
#pragma unroll 1
    for (int k0 = STAGE; k0 <= k; k0 += STAGE) {
        quad na0, na1, na2, na3, nb0, nb1, nb2, nb3;
        bool more = k0 < k;
        a += STAGE / 8;
        b += STAGE / 8;
        if (more) {
            na0 = a[0], na1 = a[32 * pitch], na2 = a[64 * pitch], na3 = a[96 * pitch];
            nb0 = b[0], nb1 = b[32 * pitch], nb2 = b[64 * pitch], nb3 = b[96 * pitch];
        }
#pragma unroll
        for (int p = 0; p < STAGE / 2; p += 8) {
            unsigned fa[4][4], fb[8][2];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const unsigned *f = &as[use][geta + i * 16 * PITCH + p];
                fa[i][0] = f[0];
                fa[i][1] = f[8 * PITCH];
                fa[i][2] = f[4];
                fa[i][3] = f[8 * PITCH + 4];
            }
#pragma unroll
            for (int j = 0; j < 8; j++) {
                const unsigned *f = &bs[use][getb + j * 8 * PITCH + p];
                fb[j][0] = f[0];
                fb[j][1] = f[4];
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) mma(acc[i][j], fa[i], fb[j]);
        }
        use ^= 1;
        if (more) {
            unsigned *pa = &as[use][put], *pb = &bs[use][put];
            *(quad *)pa = na0, *(quad *)(pa + 32 * PITCH) = na1;
            *(quad *)(pa + 64 * PITCH) = na2, *(quad *)(pa + 96 * PITCH) = na3;
            *(quad *)pb = nb0, *(quad *)(pb + 32 * PITCH) = nb1;
            *(quad *)(pb + 64 * PITCH) = nb2, *(quad *)(pb + 96 * PITCH) = nb3;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float *c = C + (row + warp / 2 * 64 + i * 16 + lane / 4) * n + col + warp % 2 * 64 + j * 8 + lane % 4 * 2;
            *(pair *)c = pair{acc[i][j][0], acc[i][j][1]};
            *(pair *)(c + 8 * n) = pair{acc[i][j][2], acc[i][j][3]};
        }
}

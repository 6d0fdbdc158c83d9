// sgemm: C = A^T B of floats, A k x m, B k x n, C m x n, all row-major, blocked twice: a block of
// 256 threads computes 128 x 128 elements from 8 rows of A and B at a time, a thread 8 x 8 of
// them, in four groups of 4 x 4. While a stage is used, the next one is on its way in registers;
// two buffers in shared memory need one barrier a stage. m and n are multiples of 128, k of 8.
#include "heddle.cuh"

#define TILE 128
#define STAGE 8

typedef float quad __attribute__((ext_vector_type(4)));

HEDDLE_FN unsigned shared_address(const float *p)
{
    unsigned s;
    asm("{ .reg .u64 q; cvta.to.shared.u64 q, %1; cvt.u32.u64 %0, q; }" : "=r"(s) : "l"(p));
    return s;
}

// one load of 16 bytes: clang makes four of a vector whose elements are all that is used
HEDDLE_FN void load4(float *to, unsigned shared)
{
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3]) : "r"(shared) : "memory");
}

extern "C" __global__ void __launch_bounds__(256, 2) sgemm(const float *A, const float *B, float *C, int m, int n, int k)
{
    alignas(16) __shared__ float as[2][STAGE][TILE], bs[2][STAGE][TILE];
    int t = threadIdx.x, tx = t % 16 * 4, ty = t / 16 * 4;
    int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int from = t / 32, at = t % 32 * 4; // what this thread copies: four words of a row
    const float *a = A + from * m + row + at, *b = B + from * n + col + at;
    unsigned pa = shared_address(&as[0][0][ty]), pb = shared_address(&bs[0][0][tx]);
    float acc[8][8];
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) acc[i][j] = 0.0f;

    *(quad *)&as[0][from][at] = *(const quad *)a;
    *(quad *)&bs[0][from][at] = *(const quad *)b;
    __syncthreads();
    int use = 0;
#pragma unroll 1
    for (int k0 = STAGE; k0 <= k; k0 += STAGE) {
        quad na, nb;
        bool more = k0 < k;
        a += STAGE * m;
        b += STAGE * n;
        if (more) {
            na = *(const quad *)a;
            nb = *(const quad *)b;
        }
#pragma unroll
        for (int p = 0; p < STAGE; p++) {
            float fa[8], fb[8];
            load4(fa, pa + p * TILE * 4);
            load4(fa + 4, pa + p * TILE * 4 + 256);
            load4(fb, pb + p * TILE * 4);
            load4(fb + 4, pb + p * TILE * 4 + 256);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) acc[i][j] = fmaf(fa[i], fb[j], acc[i][j]);
        }
        use ^= 1;
        pa += use ? STAGE * TILE * 4 : -STAGE * TILE * 4;
        pb += use ? STAGE * TILE * 4 : -STAGE * TILE * 4;
        if (more) {
            *(quad *)&as[use][from][at] = na;
            *(quad *)&bs[use][from][at] = nb;
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        float *c = C + (row + ty + i % 4 + i / 4 * 64) * n + col + tx;
        *(quad *)c = quad{acc[i][0], acc[i][1], acc[i][2], acc[i][3]};
        *(quad *)(c + 64) = quad{acc[i][4], acc[i][5], acc[i][6], acc[i][7]};
    }
}

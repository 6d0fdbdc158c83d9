// ptx: sm_80 ptx70
// hgemm: C = A B^T on tensor cores, A m x k and B n x k of halves, C m x n of floats, all row-major:
// a block of eight warps computes 128 x 256 elements from 32 columns of A and B at a time, a warp
// 64 x 64 of them by mma.sync m16n8k16. cp.async brings the columns into shared memory two stages
// ahead of their use; three buffers need one barrier a stage. A row of a buffer is four pieces of
// 16 bytes, whose order depends on the row, so that the eight rows which one matrix of ldmatrix
// reads lie in 32 banks. m is a multiple of 128, n of 256, k of 32.
#include "heddle.cuh"

#define M 128
#define N 256
#define STAGE 32 // columns
#define BUFFERS 3
#define ROW 64                 // bytes of a row of a buffer
#define BUFFER ((M + N) * ROW) // A, and B behind it

typedef unsigned quad __attribute__((ext_vector_type(4))); // 16 bytes, where the members of a uint4 are four
typedef float pair __attribute__((ext_vector_type(2)));

HEDDLE_FN void mma(float *d, const unsigned *a, const unsigned *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

HEDDLE_FN void ldmatrix(unsigned *r, unsigned at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
}

HEDDLE_FN void copy(unsigned to, const quad *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
}

HEDDLE_FN void commit() { asm volatile("cp.async.commit_group;" : : : "memory"); }

// place is where the piece of a row starts.
HEDDLE_FN int place(int row, int piece) { return row * ROW + (piece ^ (row / 2 & 3)) * 16; }

extern __shared__ quad buffers[]; // BUFFERS of BUFFER bytes

// part begins the copy of one half of 32 columns' rows: this thread copies one piece of a row of A and of two of B.
HEDDLE_FN void part(int half, unsigned to, const quad *a, const quad *b, int pitch)
{
    copy(to + half * 64 * ROW, a + half * 64 * pitch);
#pragma unroll
    for (int i = 2 * half; i < 2 * half + 2; i++) copy(to + (M + i * 64) * ROW, b + i * 64 * pitch);
}

extern "C" __global__ void __launch_bounds__(256) hgemm(const quad *A, const quad *B, float *C, int m, int n, int k)
{
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int row = blockIdx.y * M, col = blockIdx.x * N;
    int from = t / 4, pitch = k / 8;
    const quad *a = A + (row + from) * pitch + t % 4, *b = B + (col + from) * pitch + t % 4;
    unsigned here = (unsigned)(unsigned long long)(__attribute__((address_space(3))) quad *)buffers;
    unsigned put = here + place(from, t % 4);
    // Lanes 0 to 7 name the rows of the first matrix, 8 to 15 those of the second, and so on: of A two
    // matrices beside two below, of B two below two beside.
    int arow = warp / 4 * 64 + lane % 16, apiece = lane / 16;
    int brow = warp % 4 * 64 + lane / 16 * 8 + lane % 8, bpiece = lane / 8 % 2;
    unsigned geta0 = here + place(arow, apiece), geta1 = here + place(arow, apiece + 2);
    unsigned getb0 = here + M * ROW + place(brow, bpiece), getb1 = here + M * ROW + place(brow, bpiece + 2);
    float acc[4][8][4];
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) acc[i][j][0] = acc[i][j][1] = acc[i][j][2] = acc[i][j][3] = 0.0f;

    int stages = k / STAGE;
#pragma unroll
    for (int s = 0; s < BUFFERS - 1; s++) {
        if (s < stages) {
            part(0, put + s * BUFFER, a, b, pitch);
            part(1, put + s * BUFFER, a, b, pitch);
        }
        commit();
        a += STAGE / 8;
        b += STAGE / 8;
    }
    unsigned use = 0, next = (BUFFERS - 1) * BUFFER;
#pragma unroll 1
    for (int s = 0; s < stages; s++) {
        asm volatile("cp.async.wait_group %0;" : : "n"(BUFFERS - 2) : "memory");
        __syncthreads();
#pragma unroll
        for (int p = 0; p < 2; p++) { // 16 columns each
            unsigned fa[4][4], fb[4][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                ldmatrix(fa[i], (p ? geta1 : geta0) + use + i * 16 * ROW);
                ldmatrix(fb[i], (p ? getb1 : getb0) + use + i * 16 * ROW);
            }
            if (s + BUFFERS - 1 < stages) part(p, put + next, a, b, pitch); // behind what the products wait for
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) mma(acc[i][j], fa[i], &fb[j / 2][j % 2 * 2]);
        }
        commit(); // an empty group, too: groups count stages
        a += STAGE / 8;
        b += STAGE / 8;
        use = use == (BUFFERS - 1) * BUFFER ? 0 : use + BUFFER;
        next = next == (BUFFERS - 1) * BUFFER ? 0 : next + BUFFER;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float *c = C + (row + warp / 4 * 64 + i * 16 + lane / 4) * n + col + warp % 4 * 64 + j * 8 + lane % 4 * 2;
            *(pair *)c = pair{acc[i][j][0], acc[i][j][1]};
            *(pair *)(c + 8 * n) = pair{acc[i][j][2], acc[i][j][3]};
        }
}

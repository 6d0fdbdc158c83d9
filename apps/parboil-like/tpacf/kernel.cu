// tpacf: the two-point angular correlation function of galaxies (Landy and Szalay
// 1993): histograms of the angles between all pairs of points, of the observed set with
// itself (block 0), of each random set with itself (blocks 1 to sets) and of the
// observed set with each random set (the blocks after that). Points are unit vectors,
// so a pair's bin follows from its dot product, searched among the cosines of the bins'
// edges. Each thread counts in a column of shared memory of its own.
#include "heddle.cuh"

#define BLOCK 256
#define EDGES 21
#define BINS (EDGES + 1)

__constant__ float edges[EDGES]; // cosines, falling

static __device__ __forceinline__ int bin_of(float dot)
{
    int low = 0, high = EDGES; // the number of edges above dot is in low..high
    while (low < high) {
        int mid = (low + high) / 2;
        if (dot < edges[mid]) low = mid + 1; else high = mid;
    }
    return low;
}

extern "C" __global__ void tpacf(const float *x, const float *y, const float *z, unsigned *histogram, int n, int sets)
{
    __shared__ unsigned count[BINS][BLOCK];
    __shared__ float tx[BLOCK], ty[BLOCK], tz[BLOCK];
    int t = threadIdx.x, block = blockIdx.x;
    bool cross = block > sets;
    int left = (cross ? 0 : block) * n, right = (cross ? block - sets : block) * n;
    for (int b = 0; b < BINS; b++) count[b][t] = 0;
    for (int i0 = 0; i0 < n; i0 += BLOCK) {
        int i = i0 + t;
        float px = 0.0f, py = 0.0f, pz = 0.0f;
        if (i < n) px = x[left + i], py = y[left + i], pz = z[left + i];
        for (int j0 = cross ? 0 : i0; j0 < n; j0 += BLOCK) { // a set with itself: each pair once
            __syncthreads();
            if (j0 + t < n) tx[t] = x[right + j0 + t], ty[t] = y[right + j0 + t], tz[t] = z[right + j0 + t];
            __syncthreads();
            int end = i < n ? min(BLOCK, n - j0) : 0;
            for (int j = cross || j0 > i0 ? 0 : t + 1; j < end; j++)
                count[bin_of(fmaf(px, tx[j], fmaf(py, ty[j], pz * tz[j])))][t]++;
        }
    }
    __syncthreads();
    for (int b = t / 32; b < BINS; b += BLOCK / 32) { // a warp adds up a bin
        int sum = 0;
        for (int c = t % 32; c < BLOCK; c += 32) sum += count[b][c];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (t % 32 == 0) histogram[block * BINS + b] = sum;
    }
}

// kmeans: Lloyd's algorithm. The points come row by row; a first kernel transposes them
// so that a thread per point reads coalesced; the second finds the nearest centre; the
// third adds up the points of each cluster. Sums are integers in units of 2^-20, because
// they must not depend on the order of the atomics.
#include "heddle.cuh"

#define UNIT 1048576.0f

extern "C" __global__ void kmeans_transpose(const float *points, float *column, int n, int features)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int f = 0; f < features; f++) column[(long long)f * n + i] = points[(long long)i * features + f];
}

extern "C" __global__ void kmeans_nearest(const float *column, const float *centre, int *member, int n, int features, int clusters)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 0;
    float least = 3.4e38f;
    for (int c = 0; c < clusters; c++) {
        float sum = 0.0f;
        for (int f = 0; f < features; f++) {
            float d = column[(long long)f * n + i] - centre[c * features + f];
            sum = fmaf(d, d, sum);
        }
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    member[i] = best;
}

// Points lie in [0, 1): 32 bits hold the sums of a block of up to 1024 of them.
extern "C" __global__ void kmeans_sum(const float *column, const int *member, unsigned long long *sum, unsigned *count, int n, int features, int clusters)
{
    extern __shared__ unsigned part[]; // clusters x features, then a count per cluster
    int cells = clusters * (features + 1), i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = threadIdx.x; s < cells; s += blockDim.x) part[s] = 0;
    __syncthreads();
    if (i < n) {
        int c = member[i];
        for (int f = 0; f < features; f++) atomicAdd(&part[c * features + f], (unsigned)(column[(long long)f * n + i] * UNIT));
        atomicAdd(&part[clusters * features + c], 1u);
    }
    __syncthreads();
    for (int s = threadIdx.x; s < clusters * features; s += blockDim.x) atomicAdd(&sum[s], (unsigned long long)part[s]);
    for (int c = threadIdx.x; c < clusters; c += blockDim.x) atomicAdd(&count[c], part[clusters * features + c]);
}

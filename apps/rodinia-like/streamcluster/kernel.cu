// streamcluster: local search for the facility location problem (Guha et al. 2003): is it
// worth opening a centre at point x? The first kernel says for each point what it gains
// by going to x, or what its centre would lose if it had to; the second adds these up per
// centre; the host decides; the third moves the points. Coordinates are stored dimension
// by dimension; x's coordinates are staged in shared memory.
#include "heddle.cuh"

#define SUM_BLOCK 256

extern __shared__ float centre[];

// cost of serving point i from x, whose coordinates are staged: weight * distance^2.
// Four coordinates are loaded before the first is used, so that a warp has four lines on their way.
HEDDLE_FN float serve(const float *coord, const float *weight, unsigned n, unsigned dim, unsigned i)
{
    float sum = 0.0f;
    unsigned d = 0;
    for (; d + 4 <= dim; d += 4) {
        float here[4];
        for (unsigned k = 0; k < 4; k++) here[k] = coord[(d + k) * n + i];
        for (unsigned k = 0; k < 4; k++) {
            float diff = here[k] - centre[d + k];
            sum += diff * diff;
        }
    }
    for (; d < dim; d++) {
        float diff = coord[d * n + i] - centre[d];
        sum += diff * diff;
    }
    return sum * weight[i];
}

HEDDLE_FN void stage(const float *coord, int n, int dim, int x)
{
    for (int d = threadIdx.x; d < dim; d += blockDim.x) centre[d] = coord[(long long)d * n + x];
    __syncthreads();
}

// change[slot * n + i]: what centre slot's closing would cost because of i (negative);
// in slot `centres`, what i gains by moving (negative too).
extern "C" __global__ void sc_gain(const float *coord, const float *weight, const float *cost, const int *owner, float *change,
                                   unsigned char *moves, int n, int dim, int centres, int x)
{
    stage(coord, n, dim, x);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float there = serve(coord, weight, n, dim, i), here = cost[i];
    bool better = there < here;
    moves[i] = better;
    int slot = better ? centres : owner[i];
    float gain = better ? there - here : here - there;
    for (int s = 0; s <= centres; s++) change[(long long)s * n + i] = s == slot ? gain : 0.0f;
}

// Block s adds up slot s.
extern "C" __global__ void sc_sum(const float *change, float *sum, int n)
{
    __shared__ float part[SUM_BLOCK];
    int t = threadIdx.x;
    float v = 0.0f;
    for (int i = t; i < n; i += SUM_BLOCK) v += change[(long long)blockIdx.x * n + i];
    part[t] = v;
    __syncthreads();
    for (int half = SUM_BLOCK / 2; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) sum[blockIdx.x] = part[0];
}

// now[slot] is a centre's new slot, or -1 where it closes: its points go to x, in slot to.
extern "C" __global__ void sc_move(const float *coord, const float *weight, float *cost, int *owner, const unsigned char *moves, const int *now,
                                   int n, int dim, int to, int x)
{
    stage(coord, n, dim, x);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int slot = now[owner[i]];
    if (moves[i] || slot < 0) {
        cost[i] = serve(coord, weight, n, dim, i);
        slot = to;
    }
    owner[i] = slot;
}

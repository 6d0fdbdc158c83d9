// pointer-chase: walks along a linked list in random order (Saavedra and Smith 1995;
// Wong et al. 2010 on GPUs): each load's address is the previous load's value, so the
// time per hop is the latency of the level that holds the list.
#include "heddle.cuh"

// Node i of the list stands at word i * stride.
extern "C" __global__ void chase_layout(unsigned *node, const unsigned *next, unsigned n, unsigned stride)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) node[(unsigned long long)i * stride] = next[i];
}

// One warp per block; its first `lanes` lanes walk, each from a place of its own.
extern "C" __global__ void chase_walk(const unsigned *node, unsigned *last, unsigned n, unsigned stride, unsigned hops, unsigned lanes)
{
    if (threadIdx.x >= lanes) return;
    unsigned walker = blockIdx.x * lanes + threadIdx.x;
    unsigned at = (unsigned)((unsigned long long)walker * n / (gridDim.x * lanes));
    for (unsigned h = 0; h < hops; h++) at = node[(unsigned long long)at * stride];
    last[walker] = at;
}

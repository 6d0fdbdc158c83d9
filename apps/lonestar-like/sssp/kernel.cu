// sssp: shortest paths from one node with integer lengths, by rounds of relaxation
// (Bellman 1958, Ford 1956) in the form of Harish and Narayanan (2007): the first kernel
// relaxes the edges of the nodes that changed, by atomic minima on next; the second takes
// the improved costs over and marks their nodes. After each pair the host reads a flag.
#include "heddle.cuh"

#define FAR 0x7fffffff

extern "C" __global__ void sssp_init(int *cost, int *next, unsigned char *changed, int nodes, int source)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes) return;
    cost[v] = next[v] = v == source ? 0 : FAR;
    changed[v] = v == source;
}

extern "C" __global__ void sssp_relax(const int *first, const int *edge, const int *length, const int *cost, int *next, unsigned char *changed, int nodes)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || !changed[v]) return;
    changed[v] = 0;
    int here = cost[v];
    for (int e = first[v], end = first[v + 1]; e < end; e++) atomicMin(&next[edge[e]], here + length[e]);
}

extern "C" __global__ void sssp_commit(int *cost, const int *next, unsigned char *changed, int *more, int nodes)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || next[v] >= cost[v]) return;
    cost[v] = next[v];
    changed[v] = 1;
    *more = 1;
}

// The same without an end of the last node's edges, and with every cost stored in every round.
extern "C" __global__ void sssp_relax_last(const int *first, const int *edge, const int *length, const int *cost, int *next, unsigned char *changed, int nodes, int edges)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || !changed[v]) return;
    changed[v] = 0;
    int here = cost[v];
    for (int e = first[v], end = v + 1 < nodes ? first[v + 1] : edges; e < end; e++) atomicMin(&next[edge[e]], here + length[e]);
}

extern "C" __global__ void sssp_commit_all(int *cost, int *next, unsigned char *changed, int nodes)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes) return;
    int new_cost = next[v];
    if (cost[v] > new_cost) {
        cost[v] = new_cost;
        changed[v] = 1;
    }
    next[v] = cost[v];
}

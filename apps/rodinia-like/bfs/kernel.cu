// bfs: breadth-first search, one level per pair of launches (Harish and Narayanan
// 2007). The first kernel visits the edges of the frontier, one node per thread; the
// second makes the discovered nodes the next frontier and tells the host whether there
// are any. Nodes that discover the same neighbour store the same values, so the result
// does not depend on the order.
#include "heddle.cuh"

extern "C" __global__ void bfs_visit(const int *first, const int *edge, unsigned char *frontier, unsigned char *discovered,
                                     const unsigned char *visited, int *level, int nodes)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || !frontier[v]) return;
    frontier[v] = 0;
    int next = level[v] + 1;
    for (int e = first[v], end = first[v + 1]; e < end; e++) {
        int to = edge[e];
        if (visited[to]) continue;
        level[to] = next;
        discovered[to] = 1;
    }
}

extern "C" __global__ void bfs_promote(unsigned char *frontier, unsigned char *discovered, unsigned char *visited, int *more, int nodes)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || !discovered[v]) return;
    frontier[v] = 1;
    visited[v] = 1;
    discovered[v] = 0;
    *more = 1;
}

// bfs_visit where a node is a pair: its first edge, and how many it has. As the published algorithm is written, the pair
// and the level of the node are looked at anew for every edge: what has been stored since may be theirs.
extern "C" __global__ void bfs_visit_pairs(const int *node, const int *edge, unsigned char *frontier, unsigned char *discovered,
                                           const unsigned char *visited, int *level, int nodes)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || !frontier[v]) return;
    frontier[v] = 0;
    for (int e = node[2 * v]; e < node[2 * v] + node[2 * v + 1]; e++) {
        int to = edge[e];
        if (visited[to]) continue;
        level[to] = level[v] + 1;
        discovered[to] = 1;
    }
}

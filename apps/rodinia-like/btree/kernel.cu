// btree: queries of a B+ tree (Comer 1979), a block per query and a thread per key of a
// node, so that a node is searched in one step (Fix, Wilkes and Skadron 2011). All nodes
// stand in one pool, the leaves first and in order. Slot s of node i has keys[i * ORDER + s]
// and link[...]: in an inner node the least key below a child, and the child; in a leaf a
// key and its value. Unused slots have the key NONE, which no query asks for.
#include "heddle.cuh"

#define ORDER 256
#define NONE 0x7fffffff

// The child of `node` whose keys include q. The whole block calls it; room is shared.
HEDDLE_FN int descend(const int *keys, const int *link, int node, int q, int *room)
{
    int t = threadIdx.x, at = node * ORDER + t;
    int least = keys[at], above = t == ORDER - 1 ? NONE : keys[at + 1];
    if ((t == 0 || least <= q) && q < above) *room = link[at];
    __syncthreads();
    int child = *room;
    __syncthreads();
    return child;
}

// The number of keys below q in the tree; node is the leaf that includes q.
HEDDLE_FN int rank_in(const int *keys, int node, int q, int *room)
{
    int t = threadIdx.x, at = node * ORDER + t;
    if (keys[at] < q && (t == ORDER - 1 || keys[at + 1] >= q)) *room = at + 1;
    if (t == 0 && keys[at] >= q) *room = at;
    __syncthreads();
    int rank = *room;
    __syncthreads();
    return rank;
}

extern "C" __global__ void btree_find(const int *keys, const int *link, int root, int inner, const int *query, int *value)
{
    __shared__ int room;
    int q = query[blockIdx.x], node = root;
    for (int level = 0; level < inner; level++) node = descend(keys, link, node, q, &room);
    int at = node * ORDER + threadIdx.x;
    if (threadIdx.x == 0) value[blockIdx.x] = -1;
    __syncthreads();
    if (keys[at] == q) value[blockIdx.x] = link[at];
}

// Keys in [low, low + width): the number of those below, and how many there are.
extern "C" __global__ void btree_range(const int *keys, const int *link, int root, int inner, const int *low, int width, int *first, int *count)
{
    __shared__ int room;
    int a = low[blockIdx.x], b = a + width, na = root, nb = root;
    for (int level = 0; level < inner; level++) {
        na = descend(keys, link, na, a, &room);
        nb = descend(keys, link, nb, b, &room);
    }
    a = rank_in(keys, na, a, &room);
    b = rank_in(keys, nb, b, &room);
    if (threadIdx.x == 0) {
        first[blockIdx.x] = a;
        count[blockIdx.x] = b - a;
    }
}

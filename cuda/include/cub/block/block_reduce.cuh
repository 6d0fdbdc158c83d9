// cub/block/block_reduce.cuh -- cub::BlockReduce: warps first, then the first thread over their results.
#pragma once
#include "../warp/warp_reduce.cuh"

namespace cub {

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS
}; // all of them are the last one here

// A block of X * Y * Z threads. The result is that of its first thread.
template <class T, int X, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int Arch = 0>
class BlockReduce {
    static constexpr int threads = X * Y * Z, warps = (threads + 31) / 32;
    struct Room { alignas(T) char partial[warps][sizeof(T)]; };
    Room &room;

    HEDDLE_MEMBER static Room &own()
    {
        __shared__ Room r;
        return r;
    }

public:
    struct TempStorage : Room {};
    HEDDLE_MEMBER BlockReduce() : room(own()) {}
    HEDDLE_MEMBER explicit BlockReduce(TempStorage &r) : room(r) {}
    // Of the first valid threads.
    template <class Op> HEDDLE_MEMBER T Reduce(T v, Op op, int valid)
    {
        int t = (int)cooperative_groups::thread_block::thread_rank(), first = t / 32 * 32;
        // The last warp may have fewer threads.
        int lanes = threads - first < 32 ? threads - first : 32, here = valid - first < lanes ? valid - first : lanes;
        unsigned mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
        for (int by = 1; by < 32; by *= 2) {
            T other = cooperative_groups::words(v, [=](auto w) { return __shfl_down_sync(mask, w, (unsigned)by); });
            if (t % 32 + by < here) v = op(v, other);
        }
        if (t == first) memcpy(room.partial[t / 32], &v, sizeof v);
        __syncthreads();
        if (t == 0)
            for (int w = 1; w < warps && 32 * w < valid; w++) {
                T other;
                memcpy(&other, room.partial[w], sizeof other);
                v = op(v, other);
            }
        return v;
    }
    template <class Op> HEDDLE_MEMBER T Reduce(T v, Op op) { return Reduce(v, op, threads); }
    template <int N, class Op> HEDDLE_MEMBER T Reduce(T (&v)[N], Op op)
    {
        T r = v[0];
        for (int i = 1; i < N; i++) r = op(r, v[i]);
        return Reduce(r, op);
    }
    HEDDLE_MEMBER T Sum(T v) { return Reduce(v, cub::Sum()); }
    HEDDLE_MEMBER T Sum(T v, int valid) { return Reduce(v, cub::Sum(), valid); }
    template <int N> HEDDLE_MEMBER T Sum(T (&v)[N]) { return Reduce(v, cub::Sum()); }
};

} // namespace cub

// cub/block/block_scan.cuh -- cub::BlockScan: each thread gets the sum (or another fold) of those before it.
#pragma once
#include "../warp/warp_reduce.cuh"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS }; // all are the last here

template <class T, int X, BlockScanAlgorithm A = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int Arch = 0> class BlockScan {
    static constexpr int threads = X * Y * Z, warps = (threads + 31) / 32;
    struct Room { alignas(T) char total[warps][sizeof(T)]; };
    Room &room;

    HEDDLE_MEMBER static Room &own()
    {
        __shared__ Room r;
        return r;
    }
    HEDDLE_MEMBER T total(int w) const
    {
        T v;
        memcpy(&v, room.total[w], sizeof v);
        return v;
    }
    // scan folds v with those of the threads before; before is their fold alone, which the first thread does not have.
    template <class Op> HEDDLE_MEMBER T scan(T v, Op op, T &before, T &all)
    {
        int t = (int)cooperative_groups::thread_block::thread_rank(), lane = t % 32, w = t / 32;
        int lanes = threads - 32 * w < 32 ? threads - 32 * w : 32;
        unsigned mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
        for (int by = 1; by < 32; by *= 2) {
            T other = cooperative_groups::words(v, [=](auto x) { return __shfl_up_sync(mask, x, (unsigned)by); });
            if (lane >= by) v = op(other, v);
        }
        if (lane == lanes - 1) memcpy(room.total[w], &v, sizeof v);
        __syncthreads();
        T prefix = total(0);
        for (int i = 1; i < w; i++) prefix = op(prefix, total(i));
        all = prefix;
        for (int i = w > 1 ? w : 1; i < warps; i++) all = op(all, total(i));
        before = cooperative_groups::words(v, [=](auto x) { return __shfl_up_sync(mask, x, 1u); });
        if (w == 0) return v;
        before = lane == 0 ? prefix : op(prefix, before);
        return op(prefix, v);
    }

public:
    struct TempStorage : Room {};
    HEDDLE_MEMBER BlockScan() : room(own()) {}
    HEDDLE_MEMBER explicit BlockScan(TempStorage &r) : room(r) {}

    template <class Op> HEDDLE_MEMBER void InclusiveScan(T v, T &to, Op op, T &all)
    {
        T before;
        to = scan(v, op, before, all);
    }
    template <class Op> HEDDLE_MEMBER void InclusiveScan(T v, T &to, Op op)
    {
        T all;
        InclusiveScan(v, to, op, all);
    }
    template <class Op> HEDDLE_MEMBER void ExclusiveScan(T v, T &to, T first, Op op, T &all)
    {
        T before;
        scan(v, op, before, all);
        to = cooperative_groups::thread_block::thread_rank() == 0 ? first : op(first, before);
    }
    template <class Op> HEDDLE_MEMBER void ExclusiveScan(T v, T &to, T first, Op op)
    {
        T all;
        ExclusiveScan(v, to, first, op, all);
    }
    HEDDLE_MEMBER void InclusiveSum(T v, T &to) { InclusiveScan(v, to, cub::Sum()); }
    HEDDLE_MEMBER void InclusiveSum(T v, T &to, T &all) { InclusiveScan(v, to, cub::Sum(), all); }
    HEDDLE_MEMBER void ExclusiveSum(T v, T &to) { ExclusiveScan(v, to, T(), cub::Sum()); }
    HEDDLE_MEMBER void ExclusiveSum(T v, T &to, T &all) { ExclusiveScan(v, to, T(), cub::Sum(), all); }

    // N values of each thread, one after the other.
    template <int N> HEDDLE_MEMBER void InclusiveSum(T (&v)[N], T (&to)[N], T &all)
    {
        T sum = v[0];
        for (int i = 1; i < N; i++) sum += v[i];
        ExclusiveSum(sum, sum, all);
        for (int i = 0; i < N; i++) to[i] = sum += v[i];
    }
    template <int N> HEDDLE_MEMBER void InclusiveSum(T (&v)[N], T (&to)[N])
    {
        T all;
        InclusiveSum(v, to, all);
    }
    template <int N> HEDDLE_MEMBER void ExclusiveSum(T (&v)[N], T (&to)[N], T &all)
    {
        T sum = v[0];
        for (int i = 1; i < N; i++) sum += v[i];
        ExclusiveSum(sum, sum, all);
        for (int i = 0; i < N; i++) {
            T one = v[i];
            to[i] = sum;
            sum += one;
        }
    }
    template <int N> HEDDLE_MEMBER void ExclusiveSum(T (&v)[N], T (&to)[N])
    {
        T all;
        ExclusiveSum(v, to, all);
    }
};

} // namespace cub

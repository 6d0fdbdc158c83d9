// cub/warp/warp_reduce.cuh -- cub::WarpReduce, and the operators of CUB.
#pragma once
#include "../../cooperative_groups.h"

namespace cub {

struct Sum { template <class T> HEDDLE_MEMBER T operator()(const T &a, const T &b) const { return a + b; } };
struct Max { template <class T> HEDDLE_MEMBER T operator()(const T &a, const T &b) const { return a < b ? b : a; } };
struct Min { template <class T> HEDDLE_MEMBER T operator()(const T &a, const T &b) const { return b < a ? b : a; } };
struct NullType {};

// The threads of a warp, or Threads neighbours of it, a power of two. The result is that of the first of them.
template <class T, int Threads = 32, int Arch = 0> class WarpReduce {
    static_assert(Threads >= 1 && Threads <= 32 && (Threads & (Threads - 1)) == 0, "1, 2, 4, 8, 16 or 32 threads here");

public:
    typedef NullType TempStorage;
    HEDDLE_MEMBER explicit WarpReduce(TempStorage &) {}
    // Of the first valid threads.
    template <class Op> HEDDLE_MEMBER T Reduce(T v, Op op, int valid)
    {
        int at = (int)__laneid() & (Threads - 1);
        unsigned all = (Threads == 32 ? ~0u : (1u << (Threads % 32)) - 1) << (__laneid() & ~(unsigned)(Threads - 1));
        for (int by = 1; by < Threads; by *= 2) {
            T other = cooperative_groups::words(v, [=](auto w) { return __shfl_down_sync(all, w, (unsigned)by, Threads); });
            if (at + by < valid) v = op(v, other);
        }
        return v;
    }
    template <class Op> HEDDLE_MEMBER T Reduce(T v, Op op) { return Reduce(v, op, Threads); }
    HEDDLE_MEMBER T Sum(T v) { return Reduce(v, cub::Sum()); }
    HEDDLE_MEMBER T Sum(T v, int valid) { return Reduce(v, cub::Sum(), valid); }
};

} // namespace cub

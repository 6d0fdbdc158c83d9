// cooperative_groups.h -- groups of threads that wait, vote and exchange values together: blocks, tiles of
// a warp, coalesced threads, and a grid that was launched by cudaLaunchCooperativeKernel.
#pragma once
#define _COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"

namespace cooperative_groups {

// words applies f, which moves 32 bits between threads, to a value of any type.
template <class T, class F> HEDDLE_DEVICE T words(const T &v, F f)
{
    if constexpr (__is_arithmetic(T)) return f(v);
    else {
        int w[(sizeof(T) + 3) / 4] = {};
        T r;
        memcpy(w, &v, sizeof(T));
        for (unsigned i = 0; i < sizeof w / sizeof *w; i++) w[i] = f(w[i]);
        memcpy(&r, w, sizeof(T));
        return r;
    }
}

class grid_group {
public:
    // A cooperative launch has zeroed memory through which its blocks meet; others have none, and trap in sync().
    HEDDLE_MEMBER static unsigned long long *arrivals()
    {
        unsigned high, low;
        asm("mov.u32 %0, %%envreg1;" : "=r"(high));
        asm("mov.u32 %0, %%envreg2;" : "=r"(low));
        return reinterpret_cast<unsigned long long *>((unsigned long long)high << 32 | low);
    }
    HEDDLE_MEMBER static bool is_valid() { return arrivals() != nullptr; }
    // Blocks count themselves; each waits until its round is full.
    HEDDLE_MEMBER static void sync()
    {
        unsigned long long *n = arrivals();
        if (!n) __trap(); // launch this kernel by cudaLaunchCooperativeKernel: its grid waits as a whole
        __syncthreads();
        if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) {
            __threadfence();
            unsigned long long blocks = num_blocks(), full = (atomicAdd(n, 1ull) / blocks + 1) * blocks;
            while (*(volatile unsigned long long *)n < full) {
            }
            __threadfence();
        }
        __syncthreads();
    }
    HEDDLE_MEMBER static dim3 group_dim() { return gridDim; }
    HEDDLE_MEMBER static dim3 dim_blocks() { return gridDim; }
    HEDDLE_MEMBER static dim3 block_index() { return blockIdx; }
    HEDDLE_MEMBER static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
    HEDDLE_MEMBER static unsigned long long block_rank()
    {
        return blockIdx.x + 1ull * gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
    }
    HEDDLE_MEMBER static unsigned long long num_threads()
    {
        return num_blocks() * blockDim.x * blockDim.y * blockDim.z;
    }
    HEDDLE_MEMBER static unsigned long long size() { return num_threads(); }
    HEDDLE_MEMBER static unsigned long long thread_rank()
    {
        return block_rank() * (blockDim.x * blockDim.y * blockDim.z) +
               (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
    }
};
HEDDLE_DEVICE grid_group this_grid() { return grid_group(); }

class thread_block {
public:
    typedef unsigned arrival_token;
    HEDDLE_MEMBER static void sync() { __syncthreads(); }
    HEDDLE_MEMBER static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    HEDDLE_MEMBER static unsigned size() { return num_threads(); }
    HEDDLE_MEMBER static unsigned thread_rank()
    {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    HEDDLE_MEMBER static dim3 group_index() { return blockIdx; }
    HEDDLE_MEMBER static dim3 thread_index() { return threadIdx; }
    HEDDLE_MEMBER static dim3 group_dim() { return blockDim; }
    HEDDLE_MEMBER static dim3 dim_threads() { return blockDim; }
};
HEDDLE_DEVICE thread_block this_thread_block() { return thread_block(); }

// Room in shared memory for tiles of several warps: 8 bytes a thread.
template <unsigned Threads = 1024> struct block_tile_memory { unsigned long long words[Threads]; };

// A block with room for such tiles. The tile of one has its own.
struct roomy_block : thread_block {
    unsigned long long *room;
    HEDDLE_MEMBER explicit roomy_block(unsigned long long *r) : room(r) {}
};
template <unsigned Threads> HEDDLE_DEVICE roomy_block this_thread_block(block_tile_memory<Threads> &m)
{
    return roomy_block(m.words);
}

// Lanes of one warp. `lanes` is their mask.
class coalesced_group {
    unsigned lanes, meta_rank, meta_size;

    // The lane of the rank-th member.
    HEDDLE_MEMBER unsigned lane(unsigned rank) const
    {
        return num_threads() == 32 ? rank : __fns(lanes, 0, (int)rank + 1);
    }
    // Of a mask of lanes the mask of ranks.
    HEDDLE_MEMBER unsigned ranks(unsigned set) const
    {
        unsigned r = 0, n = 0;
        for (unsigned rest = lanes; rest; rest &= rest - 1, n++)
            if (set & rest & -rest) r |= 1u << n;
        return r;
    }

public:
    HEDDLE_MEMBER explicit coalesced_group(unsigned mask, unsigned rank = 0, unsigned groups = 1)
        : lanes(mask), meta_rank(rank), meta_size(groups)
    {
    }
    // The part of n members that the thread belongs to; parts go by rank.
    HEDDLE_MEMBER coalesced_group part(unsigned n) const
    {
        unsigned mine = thread_rank() / n, set = 0, rank = 0;
        for (unsigned rest = lanes; rest; rest &= rest - 1, rank++)
            if (rank / n == mine) set |= rest & -rest;
        return coalesced_group(set, mine, (num_threads() + n - 1) / n);
    }
    // The members with the thread's label. Groups go by their first member.
    template <class L> HEDDLE_MEMBER coalesced_group labelled(L label) const
    {
        unsigned same = __match_any_sync(lanes, label) & lanes, first = same & -same;
        unsigned firsts = __ballot_sync(lanes, first == 1u << __laneid()) & lanes;
        return coalesced_group(same, (unsigned)__popc(firsts & (first - 1)), (unsigned)__popc(firsts));
    }
    HEDDLE_MEMBER void sync() const { __syncwarp(lanes); }
    HEDDLE_MEMBER unsigned num_threads() const { return (unsigned)__popc(lanes); }
    HEDDLE_MEMBER unsigned size() const { return num_threads(); }
    HEDDLE_MEMBER unsigned thread_rank() const { return (unsigned)__popc(lanes & ((1u << __laneid()) - 1)); }
    HEDDLE_MEMBER unsigned meta_group_rank() const { return meta_rank; }
    HEDDLE_MEMBER unsigned meta_group_size() const { return meta_size; }
    HEDDLE_MEMBER int any(int p) const { return (__ballot_sync(lanes, p) & lanes) != 0; }
    HEDDLE_MEMBER int all(int p) const { return (__ballot_sync(lanes, p) & lanes) == lanes; }
    HEDDLE_MEMBER unsigned ballot(int p) const { return ranks(__ballot_sync(lanes, p)); }
    template <class T> HEDDLE_MEMBER T from(const T &v, unsigned lane) const
    {
        unsigned mask = lanes;
        return words(v, [=](auto w) { return __shfl_sync(mask, w, (int)lane); });
    }
    template <class T> HEDDLE_MEMBER T shfl(const T &v, unsigned rank) const
    {
        return from(v, lane(rank % num_threads()));
    }
    template <class T> HEDDLE_MEMBER T shfl_down(const T &v, unsigned by) const
    {
        unsigned to = thread_rank() + by;
        return from(v, to < num_threads() ? lane(to) : __laneid());
    }
    template <class T> HEDDLE_MEMBER T shfl_up(const T &v, unsigned by) const
    {
        unsigned at = thread_rank();
        return from(v, at >= by ? lane(at - by) : __laneid());
    }
};
HEDDLE_DEVICE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// N neighbours of a block, N a power of two up to a warp.
template <unsigned N, class Parent = void> class thread_block_tile {
    static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads here");

    HEDDLE_MEMBER static unsigned first() { return __laneid() & ~(N - 1); }
    HEDDLE_MEMBER static unsigned lanes() { return (N == 32 ? ~0u : (1u << (N % 32)) - 1) << first(); }

public:
    HEDDLE_MEMBER thread_block_tile() {}
    // A tile that does not say what it is a part of takes any.
    template <class P> HEDDLE_MEMBER thread_block_tile(const thread_block_tile<N, P> &) {}
    HEDDLE_MEMBER static void sync() { __syncwarp(lanes()); }
    HEDDLE_MEMBER static constexpr unsigned num_threads() { return N; }
    HEDDLE_MEMBER static constexpr unsigned size() { return N; }
    HEDDLE_MEMBER static unsigned thread_rank() { return __laneid() & (N - 1); }
    HEDDLE_MEMBER static unsigned meta_group_rank() { return thread_block::thread_rank() / N; }
    HEDDLE_MEMBER static unsigned meta_group_size() { return (thread_block::num_threads() + N - 1) / N; }
    HEDDLE_MEMBER static unsigned ballot(int p) { return (__ballot_sync(lanes(), p) & lanes()) >> first(); }
    HEDDLE_MEMBER static int any(int p) { return ballot(p) != 0; }
    HEDDLE_MEMBER static int all(int p) { return ballot(!p) == 0; }
    template <class T> HEDDLE_MEMBER static T shfl(const T &v, int rank)
    {
        return words(v, [=](auto w) { return __shfl_sync(lanes(), w, rank, N); });
    }
    template <class T> HEDDLE_MEMBER static T shfl_down(const T &v, unsigned by)
    {
        return words(v, [=](auto w) { return __shfl_down_sync(lanes(), w, by, N); });
    }
    template <class T> HEDDLE_MEMBER static T shfl_up(const T &v, unsigned by)
    {
        return words(v, [=](auto w) { return __shfl_up_sync(lanes(), w, by, N); });
    }
    template <class T> HEDDLE_MEMBER static T shfl_xor(const T &v, unsigned by)
    {
        return words(v, [=](auto w) { return __shfl_xor_sync(lanes(), w, (int)by, N); });
    }
    template <class T> HEDDLE_MEMBER static unsigned match_any(T v)
    {
        return (__match_any_sync(lanes(), v) & lanes()) >> first();
    }
    template <class T> HEDDLE_MEMBER static unsigned match_all(T v, int &same)
    {
        return (__match_all_sync(lanes(), v, &same) & lanes()) >> first();
    }
};

// Several warps of a block, N a power of two. They wait at a named barrier, 1 and up, and exchange values in memory.
template <unsigned N> class warps_tile {
    static_assert(N > 32 && N <= 512 && (N & (N - 1)) == 0, "a tile of several warps has 64, 128, 256 or 512 threads here");
    unsigned long long *room; // of the tile

public:
    HEDDLE_MEMBER explicit warps_tile(unsigned long long *block) : room(block + meta_group_rank() * N) {}
    HEDDLE_MEMBER static constexpr unsigned num_threads() { return N; }
    HEDDLE_MEMBER static constexpr unsigned size() { return N; }
    HEDDLE_MEMBER static unsigned thread_rank() { return thread_block::thread_rank() & (N - 1); }
    HEDDLE_MEMBER static unsigned meta_group_rank() { return thread_block::thread_rank() / N; }
    HEDDLE_MEMBER static unsigned meta_group_size() { return (thread_block::num_threads() + N - 1) / N; }
    HEDDLE_MEMBER static void sync()
    {
        asm volatile("bar.sync %0, %1;" ::"r"(1 + meta_group_rank()), "n"(N) : "memory");
    }
    template <class T> HEDDLE_MEMBER T shfl(const T &v, int rank) const
    {
        static_assert(sizeof(T) <= 8, "a tile of several warps exchanges values of up to 8 bytes here");
        T r;
        sync();
        memcpy(room + thread_rank(), &v, sizeof v);
        sync();
        memcpy(&r, room + ((unsigned)rank & (N - 1)), sizeof r);
        return r;
    }
    HEDDLE_MEMBER int any(int p) const
    {
        int r = 0;
        sync();
        room[thread_rank()] = p != 0;
        sync();
        for (unsigned i = 0; i < N; i++) r |= (int)room[i];
        return r;
    }
    HEDDLE_MEMBER int all(int p) const { return !any(!p); }
};
template <unsigned N> HEDDLE_DEVICE auto tiled_partition(const roomy_block &b)
{
    if constexpr (N > 32) return warps_tile<N>(b.room);
    else return thread_block_tile<N, thread_block>();
}

template <unsigned N, class Parent> HEDDLE_DEVICE thread_block_tile<N, Parent> tiled_partition(const Parent &)
{
    return thread_block_tile<N, Parent>();
}
// Groups of n threads, n known at run time.
HEDDLE_DEVICE coalesced_group tiled_partition(const coalesced_group &g, unsigned n) { return g.part(n); }
HEDDLE_DEVICE coalesced_group tiled_partition(const thread_block &, unsigned n)
{
    unsigned threads = thread_block::num_threads(), warp = thread_block::thread_rank() / 32 * 32;
    unsigned here = threads - warp >= 32 ? ~0u : (1u << (threads - warp)) - 1;
    unsigned lanes = (n >= 32 ? ~0u : (1u << n) - 1) << (__laneid() & ~(n - 1));
    return coalesced_group(lanes & here, thread_block::thread_rank() / n, (threads + n - 1) / n);
}

// Groups of the threads with one label. Of a tile the members are the lanes that come here together.
template <class L> HEDDLE_DEVICE coalesced_group labeled_partition(const coalesced_group &g, L label)
{
    return g.labelled(label);
}
template <unsigned N, class P, class L>
HEDDLE_DEVICE coalesced_group labeled_partition(const thread_block_tile<N, P> &, L label)
{
    return coalesced_group((N == 32 ? ~0u : (1u << (N % 32)) - 1) << (__laneid() & ~(N - 1))).labelled(label);
}
template <class G> HEDDLE_DEVICE coalesced_group binary_partition(const G &g, bool label)
{
    return labeled_partition(g, (int)label);
}

// A group of any kind, as functions take one; made of a block, of lanes, or of one thread.
class thread_group {
protected:
    bool block;
    coalesced_group members;

public:
    HEDDLE_MEMBER thread_group(const thread_block &) : block(true), members(~0u) {}
    HEDDLE_MEMBER thread_group(const coalesced_group &g) : block(false), members(g) {}
    template <unsigned N, class P> HEDDLE_MEMBER thread_group(const thread_block_tile<N, P> &)
        : block(false), members((N == 32 ? ~0u : (1u << (N % 32)) - 1) << (__laneid() & ~(N - 1)),
                                thread_block_tile<N, P>::meta_group_rank(), thread_block_tile<N, P>::meta_group_size())
    {
    }
    HEDDLE_MEMBER void sync() const
    {
        if (block) thread_block::sync();
        else members.sync();
    }
    HEDDLE_MEMBER unsigned num_threads() const { return block ? thread_block::num_threads() : members.num_threads(); }
    HEDDLE_MEMBER unsigned size() const { return num_threads(); }
    HEDDLE_MEMBER unsigned thread_rank() const { return block ? thread_block::thread_rank() : members.thread_rank(); }
    HEDDLE_MEMBER bool is_valid() const { return true; }
    HEDDLE_MEMBER thread_group part(unsigned n) const
    {
        return block ? tiled_partition(thread_block(), n) : members.part(n);
    }
};
HEDDLE_DEVICE thread_group tiled_partition(const thread_group &g, unsigned n) { return g.part(n); }
HEDDLE_DEVICE thread_group this_thread() { return coalesced_group(1u << __laneid()); }

template <class G> HEDDLE_DEVICE void sync(const G &g) { g.sync(); }
template <class G> HEDDLE_DEVICE auto group_size(const G &g) { return g.size(); }
template <class G> HEDDLE_DEVICE auto thread_rank(const G &g) { return g.thread_rank(); }

// Operators of reductions (cooperative_groups/reduce.h).
template <class T> struct plus { HEDDLE_MEMBER T operator()(T a, T b) const { return a + b; } };
template <class T> struct less { HEDDLE_MEMBER T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T> struct greater { HEDDLE_MEMBER T operator()(T a, T b) const { return a < b ? b : a; } };
template <class T> struct bit_and { HEDDLE_MEMBER T operator()(T a, T b) const { return a & b; } };
template <class T> struct bit_or { HEDDLE_MEMBER T operator()(T a, T b) const { return a | b; } };
template <class T> struct bit_xor { HEDDLE_MEMBER T operator()(T a, T b) const { return a ^ b; } };

// The sum (or other fold) over a tile, for every thread of it.
template <unsigned N, class P, class T, class Op>
HEDDLE_DEVICE T reduce(const thread_block_tile<N, P> &g, T v, Op op)
{
    for (unsigned by = N / 2; by; by /= 2) v = op(v, g.shfl_xor(v, by));
    return v;
}
template <unsigned N, class T, class Op> HEDDLE_DEVICE T reduce(const warps_tile<N> &g, T v, Op op)
{
    for (unsigned by = N / 2; by; by /= 2) v = op(v, g.shfl(v, (int)(g.thread_rank() ^ by)));
    return v;
}
template <class T, class Op> HEDDLE_DEVICE T reduce(const coalesced_group &g, T v, Op op)
{
    T r = g.shfl(v, 0);
    for (unsigned i = 1; i < g.size(); i++) r = op(r, g.shfl(v, i));
    return r;
}

} // namespace cooperative_groups

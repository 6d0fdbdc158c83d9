// Groups of threads: each test writes words to a row of out, one a thread; the test works out the same on the host.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

extern "C" __global__ void groups(unsigned *out)
{
    cg::thread_block block = cg::this_thread_block();
    unsigned t = block.thread_rank(), n = block.size();
    unsigned *row = out + cg::this_grid().block_rank() * 9 * n;
    unsigned v = t * t + 7 * t + 1;
    __shared__ unsigned turned[64];

    turned[n - 1 - t] = v;
    block.sync();
    row[t] = turned[t];

    auto tile = cg::tiled_partition<8>(block);
    row[n + t] = cg::reduce(tile, v, cg::plus<unsigned>());
    row[2 * n + t] = tile.shfl_down(v, 3);
    row[3 * n + t] = tile.ballot(v % 3 == 0) << 8 | tile.meta_group_rank();
    if (t % 3 == 1) {
        cg::coalesced_group some = cg::coalesced_threads();
        row[4 * n + t] = some.thread_rank() << 16 | some.size();
        row[5 * n + t] = some.shfl(v, some.size() - 1);
        row[6 * n + t] = some.shfl_up(v, 2);
        row[7 * n + t] = cg::reduce(some, v, cg::greater<unsigned>());
        cg::coalesced_group four = cg::tiled_partition(some, 4);
        row[8 * n + t] = cg::reduce(four, v, cg::plus<unsigned>()) << 8 | four.meta_group_rank();
    }
}

// sum takes a group of any kind.
__device__ unsigned sum(cg::thread_group g, unsigned *room, unsigned v)
{
    room[g.thread_rank()] = v;
    g.sync();
    unsigned r = 0;
    for (unsigned i = 0; i < g.size(); i++) r += room[i];
    g.sync();
    return r;
}

extern "C" __global__ void parts(unsigned *out)
{
    cg::thread_block block = cg::this_thread_block();
    unsigned t = block.thread_rank(), n = block.size(), *row = out;
    unsigned v = t * t + 7 * t + 1;
    __shared__ unsigned room[64];
    __shared__ __align__(16) unsigned staged[64];
    row[t] = sum(block, room, v);
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    row[n + t] = sum(tile, room + t / 16 * 16, v);
    cg::coalesced_group same = cg::labeled_partition(cg::coalesced_threads(), (int)(v % 5));
    row[2 * n + t] = same.size() << 16 | same.thread_rank() << 8 | same.shfl(t, 0);
    row[3 * n + t] = cg::binary_partition(tile, t % 3 == 0).size();
    uint4 four = tile.shfl_xor(make_uint4(v, v + 1, v + 2, v + 3), 5);
    row[4 * n + t] = four.x == four.y - 1 && four.w == four.x + 3 ? four.x : 0;
    cg::memcpy_async(block, staged, row, sizeof staged);
    cg::wait(block);
    row[5 * n + t] = staged[n - 1 - t];
}

// Tiles of two warps.
extern "C" __global__ void wide(unsigned *out)
{
    __shared__ cg::block_tile_memory<256> room;
    auto block = cg::this_thread_block(room);
    auto tile = cg::tiled_partition<64>(block);
    unsigned t = block.thread_rank(), v = t * t + 7 * t + 1;
    out[t] = cg::reduce(tile, v, cg::plus<unsigned>());
    out[256 + t] = tile.shfl(v, 40) ^ tile.meta_group_rank() << 28 ^ (unsigned)tile.any(t == 70) << 27;
}

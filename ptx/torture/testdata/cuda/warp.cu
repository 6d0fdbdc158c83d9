// Warp functions.
#include "torture.cuh"

#define ALL 0xffffffffu
// The c operand of shfl: clamp in the low bits, segment mask in the next byte.
#define SEG(width) ((32 - (width)) << 8)

KERNEL wp_shfl(const i32 *in, i32 *out)
{
    u32 i = TID, lane = threadIdx.x & 31, n = gridDim.x * blockDim.x;
    i32 v = in[i];
    out[i] = __nvvm_shfl_sync_idx_i32(ALL, v, (i32)(lane * 7 + 3), 31 | SEG(32));
    out[n + i] = __nvvm_shfl_sync_up_i32(ALL, v, 3, 0 | SEG(32));
    out[2 * n + i] = __nvvm_shfl_sync_down_i32(ALL, v, 5, 31 | SEG(32));
    out[3 * n + i] = __nvvm_shfl_sync_bfly_i32(ALL, v, 21, 31 | SEG(32));
    out[4 * n + i] = __nvvm_shfl_sync_idx_i32(ALL, v, (i32)(lane >> 1), 31 | SEG(8));
    out[5 * n + i] = __nvvm_shfl_sync_up_i32(ALL, v, 2, 0 | SEG(8));
    out[6 * n + i] = __nvvm_shfl_sync_down_i32(ALL, v, 9, 31 | SEG(16));
    out[7 * n + i] = __nvvm_shfl_sync_bfly_i32(ALL, v, 4, 31 | SEG(4));
    out[8 * n + i] = __nvvm_shfl_sync_down_i32(ALL, v, (i32)lane, 31 | SEG(32));
}

// The predicate output says whether the source lane is inside the segment.
KERNEL wp_shfl_pred(const u32 *in, u32 *out)
{
    u32 i = TID, v = in[i], r, p, acc = 0;
#define ONE(MODE, B, C)                                                                                         \
    asm volatile("{ .reg .pred q; shfl.sync." MODE ".b32 %0|q, %2, %3, %4, -1; selp.u32 %1, 1, 0, q; }"         \
                 : "=r"(r), "=r"(p) : "r"(v), "r"(B), "r"(C));                                                  \
    acc = acc * 3 + (p ? r : 1u)
    ONE("up", 4, 0);
    ONE("down", 4, 31);
    ONE("bfly", 16, 31);
    ONE("idx", 40, 31);
    ONE("up", 1, SEG(8));
    ONE("down", 3, 31 | SEG(16));
    ONE("bfly", 8, 31 | SEG(8));
    out[i] = acc;
}

// Only part of the warp takes part, inside divergent code.
KERNEL wp_shfl_part(const float *in, float *out)
{
    u32 i = TID, lane = threadIdx.x & 31;
    float v = in[i];
    if (lane < 12) {
        for (u32 d = 1; d < 12; d <<= 1) {
            float o = __nvvm_shfl_sync_down_f32(0xfffu, v, (i32)d, 31);
            if (lane + d < 12) v += o;
        }
    } else if (lane & 1) {
        u32 m = 0xaaaaa000u;
        v = __nvvm_shfl_sync_idx_f32(m, v, 31, 31) - v;
    }
    out[i] = v;
}

KERNEL wp_vote(const u32 *in, u32 *out)
{
    u32 i = TID, v = in[i], n = gridDim.x * blockDim.x;
    out[i] = __nvvm_vote_ballot_sync(ALL, v & 1);
    out[n + i] = (u32)__nvvm_vote_all_sync(ALL, v < 0xf0000000u) | (u32)__nvvm_vote_any_sync(ALL, v > 0xf8000000u) << 1 |
                 (u32)__nvvm_vote_uni_sync(ALL, v >> 31) << 2;
    u32 m = 0;
    if (v & 2) m = __nvvm_vote_ballot_sync(__nvvm_activemask(), v & 4);
    out[2 * n + i] = m;
}

// The threads on a path and their number, with lane masks.
KERNEL wp_active(const u32 *in, u32 *out)
{
    u32 i = TID, v = in[i], r;
    if (v & 1) {
        u32 m = __nvvm_activemask();
        r = m ^ 0x1111;
        if (v & 2) r += __nvvm_activemask() * 3;
    } else r = __nvvm_activemask();
    r += __nvvm_read_ptx_sreg_lanemask_lt() * 5 + __nvvm_read_ptx_sreg_lanemask_le() * 7 + __nvvm_read_ptx_sreg_lanemask_eq() * 11 +
         __nvvm_read_ptx_sreg_lanemask_gt() * 13 + __nvvm_read_ptx_sreg_lanemask_ge() * 17;
    out[i] = r + __nvvm_read_ptx_sreg_laneid();
}

KERNEL wp_match(const u32 *in, u32 *out)
{
    u32 i = TID, v = in[i] & 3, n = gridDim.x * blockDim.x, mask, all;
    out[i] = __nvvm_match_any_sync_i32(ALL, v);
    out[n + i] = (u32)__nvvm_match_any_sync_i64(ALL, (u64)v << 40);
    asm volatile("{ .reg .pred q; match.all.sync.b32 %0|q, %2, -1; selp.u32 %1, 1, 0, q; }" : "=r"(mask), "=r"(all) : "r"(i >> 6 & 1 ? 5u : v));
    out[2 * n + i] = mask * 3 + all;
}

// Stream compaction by ballot and popcount.
KERNEL wp_compact(const u32 *in, u32 *out, u32 *count)
{
    __shared__ u32 base;
    u32 i = TID, v = in[i];
    bool keep = v % 3 == 0;
    u32 m = __nvvm_vote_ballot_sync(ALL, keep), lane = threadIdx.x & 31;
    if (threadIdx.x == 0) base = blockIdx.x * blockDim.x;
    __syncthreads();
    u32 warp_base = base + (threadIdx.x & ~31u);
    if (keep) out[warp_base + __popc(m & ((1u << lane) - 1))] = v;
    if (lane == 0) count[i >> 5] = __popc(m);
}

// A double moved in halves, and a warp scan of 64-bit sums.
KERNEL wp_wide(const double *in, double *out)
{
    u32 i = TID, lane = threadIdx.x & 31;
    double v = in[i];
    for (u32 d = 1; d < 32; d <<= 1) {
        u64 bits = __builtin_bit_cast(u64, v);
        u32 lo = (u32)__nvvm_shfl_sync_up_i32(ALL, (i32)(u32)bits, (i32)d, 0), hi = (u32)__nvvm_shfl_sync_up_i32(ALL, (i32)(u32)(bits >> 32), (i32)d, 0);
        double o = __builtin_bit_cast(double, (u64)hi << 32 | lo);
        if (lane >= d) v += o;
    }
    out[i] = v;
}

// After each construct the threads of a warp have met again: the mask of active
// threads, taken at its immediate post-dominator, is whole (or lacks those that left).
static __device__ __noinline__ u32 wander(u32 v)
{
    while (v & 7) v = v & 1 ? v * 3 + 1 : v >> 1;
    return v;
}

KERNEL wp_reconverge(const u32 *in, u32 *out)
{
    u32 i = TID, v = in[i], n = gridDim.x * blockDim.x, acc = 0;
    if (v & 1) acc += atomicAdd(&out[8 * n], 1u) & 0;
    else if (v & 2) acc += atomicAdd(&out[8 * n + 1], 1u) & 0;
    out[i] = __nvvm_activemask();
    for (u32 k = 0; k < (v >> 4 & 15); k++) {
        if ((mix(k + i) & 15) == 3) break;
        atomicAdd(&out[8 * n + 2], 1u);
    }
    out[n + i] = __nvvm_activemask();
    switch (v >> 8 & 7) {
    case 0: atomicAdd(&out[8 * n], 2u); break;
    case 1: atomicAdd(&out[8 * n + 1], 3u); // falls through
    case 2: atomicAdd(&out[8 * n + 2], 4u); break;
    }
    out[2 * n + i] = __nvvm_activemask();
    for (u32 k = 0; k < 6; k++) {
        if (v >> (12 + k) & 1) continue;
        atomicAdd(&out[8 * n], 5u);
        if (k == 4) out[3 * n + i] = __nvvm_activemask(); // lanes whose bit 16 is clear
    }
    out[4 * n + i] = __nvvm_activemask();
    acc += wander(v) & 7;
    out[5 * n + i] = __nvvm_activemask() + acc;
    if (((v & 32) && atomicAdd(&out[8 * n], 7u) + 1) || (v & 64)) atomicAdd(&out[8 * n + 1], 11u);
    out[6 * n + i] = __nvvm_activemask();
    if ((v >> 20 & 7) == 0) return;
    out[7 * n + i] = __nvvm_activemask();
}

// A switch over all values of two bits: the compiler makes its default unreachable,
// which it writes as a branch to an exit. The warp must meet again all the same.
KERNEL wp_switch(const u32 *in, u32 *out)
{
    u32 i = TID, v = in[i], n = gridDim.x * blockDim.x;
    switch (v >> 8 & 3) {
    case 0: atomicAdd(&out[n], 2u); break;
    case 1: atomicAdd(&out[n + 1], 3u); // falls through
    case 2: atomicAdd(&out[n + 2], 4u); break;
    case 3: break;
    }
    out[i] = __nvvm_activemask();
}

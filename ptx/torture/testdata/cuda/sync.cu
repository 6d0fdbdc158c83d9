// Barriers, locks and communication between warps and blocks.
#include "torture.cuh"

// A lock between all threads of the grid, one per block at a time.
KERNEL sy_block_lock(u32 *lock, u32 *plain, u32 rounds)
{
    for (u32 r = 0; r < rounds; r++) {
        if (threadIdx.x == 0) {
            while (atomicCAS(lock, 0u, 1u) != 0u) {}
            __threadfence();
            volatile u32 *p = plain;
            u32 v = p[0];
            p[1] = v * 3;
            p[0] = v + 1;
            __threadfence();
            atomicExch(lock, 0u);
        }
        __syncthreads();
    }
}

// The classic lock inside one warp: the critical section stands in the loop.
KERNEL sy_warp_lock(u32 *lock, u32 *plain)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0u, 1u) == 0u) {
            volatile u32 *p = plain;
            *p = *p + threadIdx.x + 1;
            __threadfence();
            atomicExch(lock, 0u);
            done = true;
        }
    }
}

// The hard form: spin until the lock is won, then work. Lanes of one warp compete, so
// the winner must be scheduled although its siblings spin.
KERNEL sy_hard_lock(u32 *lock, u32 *plain)
{
    while (atomicCAS(lock, 0u, 1u) != 0u) {}
    volatile u32 *p = plain;
    *p = *p + threadIdx.x + 1;
    __threadfence();
    atomicExch(lock, 0u);
}

// Warps hand a token around through shared memory, spinning.
KERNEL sy_token(u32 *out)
{
    __shared__ volatile u32 turn;
    __shared__ u32 log[32];
    __shared__ u32 at;
    u32 warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    if (threadIdx.x == 0) turn = 0, at = 0;
    __syncthreads();
    if ((threadIdx.x & 31) == 0)
        for (u32 r = 0; r < 3; r++) {
            while (turn % warps != warp) {}
            log[at] = warp * 10 + r;
            at = at + 1;
            __threadfence_block();
            turn = turn + 1;
        }
    __syncthreads();
    if (threadIdx.x < 3 * warps) out[threadIdx.x] = log[threadIdx.x];
}

// Block b waits for block b-1: a chain through global memory, in any order of dispatch
// as long as waiting blocks do not starve the one they wait for.
KERNEL sy_chain(const u32 *in, volatile u32 *sum, volatile u32 *ready)
{
    if (threadIdx.x != 0) return;
    u32 b = gridDim.x - 1 - blockIdx.x; // the last block goes first
    u32 before = 0;
    if (b > 0) {
        while (ready[b - 1] == 0) {}
        __threadfence();
        before = sum[b - 1];
    }
    sum[b] = before * 3 + in[b];
    __threadfence();
    ready[b] = 1;
}

// Barriers of the whole grid, counted in global memory; all blocks are resident.
KERNEL sy_grid_barrier(u32 *data, u32 *arrived, u32 rounds)
{
    u32 i = TID, n = gridDim.x * blockDim.x;
    for (u32 r = 0; r < rounds; r++) {
        u32 v = ((volatile u32 *)data)[(i + 37) % n + (r & 1) * n];
        data[i + (~r & 1) * n] = v * 5 + r;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(arrived, 1u);
            while (*(volatile u32 *)arrived < (r + 1) * gridDim.x) {}
            __threadfence();
        }
        __syncthreads();
    }
}

// The last block to finish adds up what the others left.
KERNEL sy_last_block(const u32 *in, u32 *partial, u32 *ticket, u32 *out)
{
    __shared__ u32 s[64];
    __shared__ bool last;
    u32 t = threadIdx.x;
    s[t] = in[TID];
    __syncthreads();
    for (u32 d = 32; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        u32 sum = 0;
        for (u32 b = 0; b < gridDim.x; b++) sum = sum * 7 + ((volatile u32 *)partial)[b];
        *out = sum;
    }
}

// Barriers that reduce a predicate.
KERNEL sy_reduce(const u32 *in, u32 *out)
{
    u32 t = threadIdx.x, v = in[TID], acc = 0;
    for (u32 k = 0; k < 6; k++) {
        u32 bit = v >> k & 1;
        acc = acc * 1000 + (u32)__nvvm_bar0_popc((int)bit) * 4 + (u32)(__nvvm_bar0_and((int)(bit | (k == 3))) != 0) * 2 +
              (u32)(__nvvm_bar0_or((int)(bit & (k != 4))) != 0);
    }
    out[TID] = acc + t;
}

// Two pairs of warps use barriers of their own; a producer arrives without waiting.
KERNEL sy_named(u32 *out)
{
    __shared__ u32 box[2][32];
    u32 t = threadIdx.x, warp = t >> 5, lane = t & 31, pair = warp >> 1;
    for (u32 r = 0; r < 5; r++) {
        if ((warp & 1) == 0) {
            box[pair][lane] = mix(r * 64 + pair * 32 + lane);
            __threadfence_block();
            asm volatile("bar.arrive %0, 64;" ::"r"(1 + pair) : "memory");
            asm volatile("bar.sync %0, 64;" ::"r"(3 + pair) : "memory");
        } else {
            asm volatile("bar.sync %0, 64;" ::"r"(1 + pair) : "memory");
            out[(r * 2 + pair) * 32 + lane] = box[pair][31 - lane];
            asm volatile("bar.sync %0, 64;" ::"r"(3 + pair) : "memory");
        }
    }
}

// Warps leave the block at different times; the others' barriers do not wait for them.
KERNEL sy_leavers(u32 *out)
{
    __shared__ u32 s[256];
    u32 t = threadIdx.x, warp = t >> 5;
    s[t] = t;
    __syncthreads();
    for (u32 r = 0; r < 8; r++) {
        if (warp == r) {
            out[t] = s[t];
            return;
        }
        u32 v = s[255 - ((255 - t) ^ 1)] + (r + 1);
        asm volatile("bar.sync 0;" ::: "memory");
        s[t] = v;
        asm volatile("bar.sync 0;" ::: "memory");
    }
}

// A warp meets again after divergence, and lanes exchange through shared memory.
KERNEL sy_warp(u32 *out)
{
    __shared__ volatile u32 s[128];
    u32 t = threadIdx.x;
    u32 v = mix(t);
    for (u32 r = 0; r < 5; r++) {
        if (v & 1) v = v * 3 + 1;
        else v >>= 1;
        s[t] = v;
        __syncwarp();
        v += s[t ^ (1u << r)];
        __syncwarp();
    }
    out[t] = v;
}

// Atomics in global, shared and generic space. Results that depend on the order of the
// threads are reduced to something that does not.
#include "torture.cuh"

KERNEL at_global32(u32 *w, i32 *s, const u32 *in, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 v = in[i];
    atomicAdd(&w[0], v);
    __nvvm_atom_add_gen_i((int *)&w[1], -(int)(v & 255));
    atomicMin(&w[2], v);
    atomicMax(&w[3], v);
    atomicAnd(&w[4], v | 0xff);
    atomicOr(&w[5], v & 0x10101010);
    atomicXor(&w[6], v);
    atomicInc(&w[7], 10);
    atomicDec(&w[8], 10);
    atomicMin(&s[0], (i32)v);
    atomicMax(&s[1], (i32)v);
    atomicSub(&s[2], 3);
}

KERNEL at_shared32(u32 *out, const u32 *in)
{
    __shared__ u32 w[9];
    __shared__ i32 s[3];
    u32 t = threadIdx.x, v = in[TID];
    if (t < 9) w[t] = t == 2 || t == 4 ? 0xffffffffu : 0;
    if (t < 3) s[t] = 0;
    __syncthreads();
    atomicAdd(&w[0], v);
    atomicSub(&w[1], v & 255);
    atomicMin(&w[2], v);
    atomicMax(&w[3], v);
    atomicAnd(&w[4], v | 0xff);
    atomicOr(&w[5], v & 0x10101010);
    atomicXor(&w[6], v);
    atomicInc(&w[7], 6);
    atomicDec(&w[8], 6);
    atomicMin(&s[0], (i32)v);
    atomicMax(&s[1], (i32)v);
    atomicSub(&s[2], 3);
    __syncthreads();
    if (t < 9) out[blockIdx.x * 12 + t] = w[t];
    if (t < 3) out[blockIdx.x * 12 + 9 + t] = (u32)s[t];
}

// The pointer is shared or global, known only at run time.
static __device__ __noinline__ u32 bump(u32 *p, u32 v) { return atomicAdd(p, v); }

KERNEL at_generic(u32 *out, u32 *cells, const u32 *in)
{
    __shared__ u32 mine[4];
    u32 t = threadIdx.x;
    if (t < 4) mine[t] = 0;
    __syncthreads();
    u32 v = in[TID];
    u32 *p = v & 1 ? &mine[v >> 1 & 3] : &cells[v >> 1 & 3];
    atomicAdd(p, v >> 8);
    bump(v & 1 ? &cells[4] : &mine[0], 1);
    __syncthreads();
    if (t < 4) out[blockIdx.x * 4 + t] = mine[t];
}

KERNEL at_64(u64 *w, i64 *s, const u64 *in, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u64 v = in[i];
    atomicAdd(&w[0], v);
    atomicMin(&w[1], v);
    atomicMax(&w[2], v);
    __atomic_fetch_and(&w[3], v | 0xffff, __ATOMIC_RELAXED);
    __atomic_fetch_or(&w[4], v & 0x1111111111111111ull, __ATOMIC_RELAXED);
    __atomic_fetch_xor(&w[5], v, __ATOMIC_RELAXED);
    __atomic_fetch_min(&s[0], (i64)v, __ATOMIC_RELAXED);
    __atomic_fetch_max(&s[1], (i64)v, __ATOMIC_RELAXED);
    u64 old = w[6], seen; // add by compare and swap
    do {
        seen = old;
        old = (u64)__nvvm_atom_cas_gen_ll((long long *)&w[6], (long long)seen, (long long)(seen + (v & 0xffff)));
    } while (old != seen);
}

// Sums of small integers are exact in any order.
KERNEL at_float(float *f, double *d, const u32 *in, u32 n)
{
    __shared__ float sf;
    __shared__ double sd;
    if (threadIdx.x == 0) sf = 0, sd = 0;
    __syncthreads();
    u32 i = TID;
    if (i < n) {
        float v = (float)(in[i] & 63) - 31.0f;
        atomicAdd(&sf, v);
        atomicAdd(&sd, (double)v * 0.5);
        atomicAdd(&f[1 + (i & 3)], v);
        atomicAdd(&d[1 + (i & 3)], (double)v * 0.25);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&f[0], sf);
        atomicAdd(&d[0], sd);
    }
}

// Old values of an add by one are a permutation: every ticket is drawn once.
KERNEL at_ticket(u32 *next, u32 *owner, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 ticket = atomicAdd(next, 1u);
    atomicAdd(&owner[ticket], 1u);
    u32 slot = atomicInc(&next[1], 6); // 0..6 in turn
    atomicAdd(&next[2 + slot], 1u);
}

// A float maximum by compare and swap on its bits.
KERNEL at_cas_float(u32 *best, const float *in, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    float v = in[i];
    u32 old = *(volatile u32 *)best, seen;
    do {
        if (__uint_as_float(old) >= v) break;
        seen = old;
        old = atomicCAS(best, seen, __float_as_uint(v));
    } while (old != seen);
}

// Pushes every thread onto a list with exchange, then one thread walks it.
KERNEL at_list(i32 *head, i32 *next, u32 *out)
{
    __shared__ i32 top;
    u32 t = threadIdx.x;
    if (t == 0) top = -1;
    __syncthreads();
    next[t] = atomicExch(&top, (i32)t);
    atomicExch(&head[t & 7], (i32)(t & 7));
    __syncthreads();
    if (t != 0) return;
    u32 count = 0, sum = 0;
    for (i32 p = top; p >= 0; p = next[p]) count++, sum += (u32)p;
    out[0] = count;
    out[1] = sum;
}

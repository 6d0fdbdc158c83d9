// Module variables with initialisers, constants, and pointers into every space.
#include "torture.cuh"

struct Entry { u8 kind; u16 code; i32 value; double weight; };

__constant__ Entry entries[5] = {{1, 1000, -5, 0.5}, {2, 2000, 77, -1.25}, {255, 65535, -2147483647, 1e300}, {0, 0, 0, 0}, {9, 3, 12345678, 3.0}};
__constant__ float taps[8] = {1.0f, -0.5f, 0.25f, 3.0f, 1e-40f, -7.0f, 0.0f, 2.5f};
__constant__ char message[] = "heddle: a loom's comb";
__device__ u32 counters[4] = {1, 0x80000000u, 3};
__device__ u32 zeros[16];
__device__ i64 big = -1234567890123456789ll;
__device__ u32 pool[12] = {11, 22, 33, 44, 55, 66, 77, 88, 99, 110, 121, 132};
__device__ u32 *into[3] = {&pool[9], pool, &counters[2]};
struct Node { u32 value; const Node *next; };
__device__ const Node third = {7, nullptr}; // clang refuses a variable that points into itself
__device__ const Node second = {6, &third};
__device__ const Node chain = {5, &second};
__constant__ const u32 *const_to_global = &pool[4];

KERNEL gl_entries(double *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    const Entry &e = entries[mix(i) % 5]; // lanes read different constants
    out[i] = e.kind + e.code * 2.0 + e.value * 0.5 + e.weight + taps[i & 7] + message[i % (sizeof message)] + big % 1000;
}

KERNEL gl_pointers(u32 *out)
{
    u32 t = threadIdx.x;
    u32 h = *into[t % 3] + *const_to_global;
    const Node *n = &chain;
    for (u32 k = 0; k < t % 4 && n; k++) {
        h = h * 10 + n->value;
        n = n->next;
    }
    out[t] = h;
}

// Two launches: the second sees what the first wrote to module variables.
KERNEL gl_write(u32 k)
{
    u32 t = threadIdx.x;
    atomicAdd(&zeros[t & 15], k);
    if (t == 0) {
        big += k;
        counters[3] = counters[0] + counters[1] + counters[2];
        into[1] = &pool[5];
    }
}

KERNEL gl_read(u32 *out)
{
    u32 t = threadIdx.x;
    out[t] = zeros[t & 15] * 2 + counters[3] + (u32)big + *into[1];
}

// One pointer per lane, to shared, local, global or constant memory.
static __device__ __noinline__ u32 sum4(const u32 *p)
{
    u32 s = 0;
    for (u32 i = 0; i < 4; i++) s = s * 17 + p[i];
    return s;
}
__constant__ u32 fixed[4] = {9, 8, 7, 6};

KERNEL gl_generic(const u32 *in, u32 *out)
{
    __shared__ u32 s[4];
    u32 t = threadIdx.x, local[4];
    for (u32 k = 0; k < 4; k++) local[k] = mix(t * 4 + k);
    if (t < 4) s[t] = t + 100;
    __syncthreads();
    const u32 *p;
    switch (t & 3) {
    case 0: p = s; break;
    case 1: p = local; break;
    case 2: p = in + (t & 60); break;
    default: p = fixed;
    }
    u32 space = (u32)__nvvm_isspacep_shared(p) | (u32)__nvvm_isspacep_local(p) << 1 | (u32)__nvvm_isspacep_global(p) << 2;
    if ((t & 3) == 3) space &= 3; // whether constants lie in the global window is the machine's business
    u32 *w = (t & 3) == 1 ? local : out + 64 + t;
    *w = t + 1;
    out[t] = sum4(p) * 8 + space;
    out[128 + t] = local[0];
}

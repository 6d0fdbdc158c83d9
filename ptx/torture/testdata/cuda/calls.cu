// Device functions that are really called.
#include "torture.cuh"

struct Pair { i32 a; double b; };
struct Big { u32 v[7]; u8 tag; u16 half; };

static __device__ __noinline__ Pair combine(Pair p, Pair q)
{
    Pair r = {p.a * q.a + 1, p.b - q.b};
    return r;
}

static __device__ __noinline__ Big shuffle_big(Big b, u32 k)
{
    Big r;
    for (u32 i = 0; i < 7; i++) r.v[i] = b.v[(i + k) % 7] ^ b.tag;
    r.tag = (u8)(b.half >> 3);
    r.half = (u16)(b.half * 3 + k);
    return r;
}

KERNEL ca_struct(const i32 *in, i32 *out, double *dout, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    Pair p = {in[i], i * 0.5}, q = {(i32)i, 2.25};
    for (u32 k = 0; k < (i & 3) + 1; k++) p = combine(p, q);
    Big b;
    for (u32 k = 0; k < 7; k++) b.v[k] = mix(i + k);
    b.tag = (u8)i;
    b.half = (u16)(i * 77);
    b = shuffle_big(shuffle_big(b, i), i >> 3);
    u32 h = b.tag * 65536u + b.half;
    for (u32 k = 0; k < 7; k++) h = h * 31 + b.v[k];
    out[2 * i] = p.a;
    out[2 * i + 1] = (i32)h;
    dout[i] = p.b;
}

// Recursion whose depth differs between the lanes.
static __device__ __noinline__ u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static __device__ __noinline__ u32 ackermann(u32 m, u32 n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

KERNEL ca_recursion(u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    out[i] = fib(i % 9) * 1000 + ackermann(i % 3, i % 4);
}

// Two functions that call each other.
static __device__ __noinline__ bool is_odd(u32 n);
static __device__ __noinline__ bool is_even(u32 n) { return n == 0 ? true : is_odd(n - 1); }
static __device__ __noinline__ bool is_odd(u32 n) { return n == 0 ? false : is_even(n - 1); }

KERNEL ca_mutual(u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    out[i] = (u32)is_even(i % 13) | (u32)is_odd(i % 7) << 1;
}

// A pointer to a local array goes down; so do pointers to shared and global memory.
static __device__ __noinline__ void reverse(u32 *v, u32 n)
{
    for (u32 i = 0; i < n / 2; i++) {
        u32 t = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = t;
    }
}

KERNEL ca_pointer(u32 *data, u32 *out)
{
    __shared__ u32 s[64];
    u32 t = threadIdx.x, local[9];
    s[t] = mix(t);
    for (u32 k = 0; k < 9; k++) local[k] = t * 10 + k;
    __syncthreads();
    if (t % 3 == 0) reverse(local, (t & 7) + 2);
    if (t < 8) reverse(s + 8 * t, 8);
    if (t >= 48) reverse(data + 4 * (t - 48), 4);
    __syncthreads();
    u32 h = s[t];
    for (u32 k = 0; k < 9; k++) h = h * 3 + local[k];
    out[t] = h;
}

// Function pointers from a table in memory, chosen per lane.
static __device__ u32 op_add(u32 a, u32 b) { return a + b; }
static __device__ u32 op_mul(u32 a, u32 b) { return a * b; }
static __device__ u32 op_xor(u32 a, u32 b) { return a ^ b; }
static __device__ u32 op_fib(u32 a, u32 b) { return fib(a & 7) - b; }
typedef u32 (*binary)(u32, u32);
__device__ binary table[4] = {op_add, op_mul, op_xor, op_fib};

KERNEL ca_indirect(const u32 *in, u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 r = in[i];
    for (u32 k = 0; k < 3; k++) r = table[(r >> k) & 3](r, i + k);
    out[i] = r;
}

// Virtual functions: the object's table of functions is a global with an initialiser.
struct Shape {
    float w, h;
    __device__ Shape(float w, float h) : w(w), h(h) {}
    virtual __device__ float area() const { return w * h; }
    virtual __device__ float scaled(float f) const { return area() * f; }
};
struct Triangle : Shape {
    __device__ Triangle(float w, float h) : Shape(w, h) {}
    __device__ float area() const override { return 0.5f * w * h; }
};
struct Square : Shape {
    __device__ Square(float w) : Shape(w, w) {}
    __device__ float scaled(float f) const override { return w * f * w * f; }
};

static __device__ __noinline__ float measure(const Shape *s, float f) { return s->area() + s->scaled(f); }

KERNEL ca_virtual(const float *in, float *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    float x = in[i];
    Shape plain(x, 2.0f);
    Triangle tri(x, 3.0f);
    Square sq(x);
    const Shape *s = i % 3 == 0 ? &plain : i % 3 == 1 ? (const Shape *)&tri : (const Shape *)&sq;
    out[i] = measure(s, 1.5f);
}

// Narrow and wide scalars as parameters and results.
static __device__ __noinline__ u8 narrow(i8 a, u16 b, bool c) { return (u8)(c ? a + b : a - b); }
static __device__ __noinline__ i16 half_sum(i16 a, i16 b) { return (i16)(a + b); }
static __device__ __noinline__ i64 wide_mul(i64 a, i32 b) { return a * b; }
static __device__ __noinline__ double mean(float a, double b) { return (a + b) * 0.5; }

KERNEL ca_scalars(const i32 *in, i64 *out, double *dout, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    i32 x = in[i];
    out[i] = (i64)narrow((i8)x, (u16)(x >> 4), x & 1) * 1000000 + half_sum((i16)x, (i16)(x >> 16)) + wide_mul((i64)x << 20, x);
    dout[i] = mean((float)(x & 0xffff), 0.125);
}

// A call inside divergent code inside a loop, with a side effect in memory.
static __device__ __noinline__ void count_into(u32 *bins, u32 v)
{
    while (v) {
        atomicAdd(&bins[v & 7], 1u);
        v >>= 3;
    }
}

KERNEL ca_diverged(const u32 *in, u32 *bins, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    for (u32 v = in[i]; v > 100; v /= 7)
        if (v & 1) count_into(bins, v);
        else count_into(bins + 8, ~v);
}

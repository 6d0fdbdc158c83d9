// Small kernels for the tests of host programs. Compiled without any header:
// clang-19 -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 --cuda-feature=+ptx64
//   -nocudainc -nocudalib -std=c++14 -O2 -fno-builtin -S kernels.cu -o kernels.ptx
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define THREAD (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())

__constant__ float coeffs[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ short table[6];

struct Line { float slope; const float *base; };

extern "C" __global__ void vecadd(const float *a, const float *b, float *c, int n) {
    int i = THREAD;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void scale(float *x, int n, float by) {
    int i = THREAD;
    if (i < n) x[i] *= by * coeffs[i & 3];
}

// writes past the end of x when n is too large
extern "C" __global__ void store(int *x, int value, unsigned n) {
    unsigned i = THREAD;
    if (i < n) x[i] = value;
}

extern "C" __global__ void count(void) {
    if (THREAD == 0) counter += 1;
    table[THREAD % 6] = THREAD;
}

extern "C" __global__ void types(double *out, char c, unsigned char b, short s, long long l, double d, bool flag, Line line) {
    out[0] = c; out[1] = b; out[2] = s; out[3] = l; out[4] = d; out[5] = flag; out[6] = line.slope; out[7] = line.base[1];
}

// one level of a countdown on a device flag
extern "C" __global__ void countdown(int *left, int *more) {
    if (THREAD == 0 && *left > 0) { *left -= 1; *more = 1; }
}

extern "C" __global__ void spin(volatile int *flag) {
    while (*flag == 0) { }
}

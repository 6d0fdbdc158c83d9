// Two kernels, one a template, a constant, events, and printf in a kernel.
#include <stdio.h>

__constant__ float factor[4];
__device__ int counter = 7;

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i] * factor[1];
    if (i == 0) counter += n;
}

template <class T> __global__ void scale(T *a, T s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= s;
    if (i == 3) printf("thread %d has %g\n", i, a[i]);
}

int main()
{
    const int n = 1000;
    float host[n], back[n], f[4] = {1, 3, 5, 7}, *a, *b, *c, ms;
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMalloc(&a, sizeof host), cudaMalloc(&b, sizeof host), cudaMalloc(&c, sizeof host);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(b, a, sizeof host, cudaMemcpyDeviceToDevice);
    cudaMemcpyToSymbol(factor, f, sizeof f);
    cudaEvent_t from, to;
    cudaEventCreate(&from), cudaEventCreate(&to);
    cudaEventRecord(from);
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
    scale<<<4, 256>>>(c, 2.0f, n);
    cudaEventRecord(to);
    cudaDeviceSynchronize();
    cudaEventElapsedTime(&ms, from, to);
    cudaMemcpy(back, c, sizeof back, cudaMemcpyDeviceToHost);
    int bad = 0, count = 0;
    for (int i = 0; i < n; i++) bad += back[i] != 8 * host[i];
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    printf("bad %d counter %d time %s: %s\n", bad, count, ms > 0 ? "passed" : "stood still",
           cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}

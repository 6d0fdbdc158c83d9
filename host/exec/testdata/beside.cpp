// A C++ file without kernels.
#include <cstdio>
#include <cuda_runtime.h>

void twice(float *d, int n);
extern "C" int devices(void);

int main()
{
    float *d, h[100];
    cudaMalloc(&d, sizeof h);
    twice(d, 100);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    float4 v = make_float4(1, 2, 3, 4);
    dim3 g(2);
    printf("%g %g %u %s, %d device\n", h[7], v.y, g.x, cudaGetErrorString(cudaGetLastError()), devices());
    return 0;
}

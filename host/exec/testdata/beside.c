/* A C file without kernels. */
#include <cuda_runtime.h>

int devices(void)
{
    int n = 0;
    struct cudaDeviceProp p;
    dim3 one = {1, 1, 1};
    float2 v = make_float2(0, 1);
    return cudaGetDeviceCount(&n) || cudaGetDeviceProperties(&p, 0) || p.warpSize != 32 || v.y != one.x ? -1 : n;
}

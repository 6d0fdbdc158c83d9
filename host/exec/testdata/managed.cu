// Managed variables: host code and kernels see the same bytes.
#include <cstdio>

__managed__ int total = 40;
__device__ __managed__ float table[2000];
__managed__ struct { int a, b; } pair;
int plain = 3;

__global__ void work(int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) table[i] = table[i] * 2 + pair.a;
    if (i == 0) atomicAdd(&total, 2);
}

int main()
{
    cudaFree(0);
    for (int i = 0; i < 2000; i++) table[i] = i;
    pair.a = 5;
    int before = total;
    work<<<8, 256>>>(2000);
    if (cudaError_t e = cudaDeviceSynchronize()) return printf("%s\n", cudaGetErrorString(e)), 1;
    int bad = 0;
    for (int i = 0; i < 2000; i++) bad += table[i] != 2 * i + 5;
    printf("before %d, after %d, bad %d, plain %d\n", before, total, bad, plain);
    return 0;
}

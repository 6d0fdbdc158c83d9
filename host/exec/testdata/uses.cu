// A kernel that uses a function and a variable of another source.
#include <cstdio>

__device__ int helper(int x);
extern __device__ int table[4];
static __device__ int own = 100;
void set(int v);

__global__ void k(int *o) { o[threadIdx.x] = helper(threadIdx.x) + table[threadIdx.x & 3] + own; }

int main()
{
    int *o;
    if (cudaMallocManaged(&o, 128)) return 1;
    set(7);
    k<<<1, 32>>>(o);
    cudaError_t e = cudaDeviceSynchronize();
    printf("%d %d, %s\n", o[0], o[31], cudaGetErrorString(e));
    return 0;
}

#include <cuda.h>
#include <helper_functions.h>
__global__ void add(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] += sinf(a[i]) + (float)pow((double)a[i], 1.5);
}
int main(int argc, char **argv)
{
    findCudaDevice(argc, (const char **)argv);
    float *a;
    checkCudaErrors(cudaMallocManaged(&a, 512));
    StopWatchInterface *t;
    sdkCreateTimer(&t);
    add<<<1, 128>>>(a, a, 128);
    getLastCudaError("add");
    return sdkGetTimerValue(&t) > 0;
}

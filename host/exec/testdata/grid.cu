// Blocks of a cooperative launch wait for each other, three times; another launch of the kernel traps.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <stdio.h>

namespace cg = cooperative_groups;

__global__ void rounds(int *sum)
{
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < 3; r++) {
        if (threadIdx.x == 0) atomicAdd(&sum[r], 1);
        grid.sync();
        if (threadIdx.x == 0 && sum[r] != (int)gridDim.x) sum[3] = 1;
    }
}

int main()
{
    int *sum, back[4] = {};
    cudaMalloc(&sum, sizeof back);
    cudaMemset(sum, 0, sizeof back);
    void *args[] = {&sum};
    cudaLaunchCooperativeKernel((void *)rounds, dim3(6), dim3(64), args, 0, 0);
    cudaMemcpy(back, sum, sizeof back, cudaMemcpyDeviceToHost);
    // Halves on the host: rounded to the nearest, and below 2^-14.
    half h = __float2half(0.1f), tiny = __float2half(3e-8f), odd = half(2049) + half(0.5);
    printf("%d %d %d %d; %x %x %g\n", back[0], back[1], back[2], back[3], __half_as_ushort(h), __half_as_ushort(tiny),
           __half2float(odd));
    // As many blocks as the machine holds, and one more.
    int sms, each;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, rounds, 1024, 0);
    cudaMemset(sum, 0, sizeof back);
    cudaError_t fits = cudaLaunchCooperativeKernel((void *)rounds, dim3(sms * each), dim3(1024), args, 0, 0);
    cudaMemcpy(back, sum, sizeof back, cudaMemcpyDeviceToHost);
    cudaError_t large = cudaLaunchCooperativeKernel((void *)rounds, dim3(sms * each + 1), dim3(1024), args, 0, 0);
    printf("%d of %d, %d; %d\n", back[2], sms * each, fits, large);
    rounds<<<2, 32>>>(sum);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}

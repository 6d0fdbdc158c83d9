// Texture and surface references, which CUDA 12 has no more.
#include <stdio.h>
#include <cuda_runtime.h>

#define N 40

texture<int, cudaTextureType1D, cudaReadModeElementType> flat;
texture<unsigned char, cudaTextureType2D, cudaReadModeNormalizedFloat> grey;
surface<void, cudaSurfaceType2D> canvas;

__global__ void sum(int *out) { out[threadIdx.x] = tex1Dfetch(flat, threadIdx.x) + 1; }
__global__ void paint() { surf2Dwrite((unsigned char)(threadIdx.x * 5), canvas, threadIdx.x, 0); }
__global__ void see(float *out) { out[threadIdx.x] = tex2D(grey, threadIdx.x + 0.5f, 0.5f); }

int main()
{
    int host[N], *in, *out, bad = 0;
    float seen[N], *shades;
    cudaArray_t a;
    cudaChannelFormatDesc d = cudaCreateChannelDesc<unsigned char>();
    for (int i = 0; i < N; i++) host[i] = 7 * i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&shades, sizeof seen);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaBindTexture(NULL, flat, in, sizeof host);
    sum<<<1, N>>>(out);
    cudaUnbindTexture(flat);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) bad += host[i] != 7 * i + 1;
    cudaMallocArray(&a, &d, N, 1, cudaArraySurfaceLoadStore);
    cudaBindSurfaceToArray(canvas, a);
    cudaBindTextureToArray(grey, a);
    paint<<<1, N>>>();
    see<<<1, N>>>(shades);
    cudaMemcpy(seen, shades, sizeof seen, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) bad += seen[i] != i * 5 / 255.0f;
    cudaError_t good = cudaDeviceSynchronize();
    sum<<<1, N>>>(out); // of a texture that shows nothing
    printf("bad %d, error %d, unbound %d\n", bad, good, cudaDeviceSynchronize());
    return 0;
}

#include <stdio.h>
#include <iostream>
__constant__ float k[4];
texture<float,1,cudaReadModeElementType> tref;
surface<void, cudaSurfaceType2D> sref;
__global__ void f(float *a, int n, cudaTextureObject_t t) {
  int i = blockIdx.x*blockDim.x+threadIdx.x;
  if (i<n) a[i] = fmaxf(a[i]*k[i&3], 2.0f) + tex1Dfetch(tref, i) + tex2D<float>(t, i, 2);
  surf2Dwrite<float>(a[i], sref, i*4, 1);
  atomicAdd(a, 1.0f);
  dim3 q = blockDim;
  a[q.x] = max(1, 2u);
  if (!i) printf("hi %d\n", i);
  __syncthreads();
}
int main(){ float*d; cudaMalloc(&d, 400); f<<<1,128>>>(d, 100, 0); cudaDeviceProp p; cudaGetDeviceProperties(&p,0); static_assert(sizeof(p)==1032,""); std::cout<<p.name; cudaMemcpyToSymbol(k,d,16); return max(1,2); }

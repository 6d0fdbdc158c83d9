// Arrays, textures and surfaces of the runtime API: what kernels read is compared with what the host computes.
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define N 24 // texels in x
#define M 10 // and in y

__global__ void linear(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1Dfetch<float>(t, (int)threadIdx.x - 1); }
__global__ void points(cudaTextureObject_t t, float *out)
{
    out[threadIdx.y * N + threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
}
__global__ void between(cudaTextureObject_t t, float *out)
{
    out[threadIdx.y * N + threadIdx.x] = tex2D<float>(t, (threadIdx.x + 1.0f) / N, (threadIdx.y + 0.5f) / M);
}
__global__ void layers(cudaTextureObject_t t, uchar4 *out)
{
    out[(threadIdx.z * M + threadIdx.y) * N + threadIdx.x] = tex2DLayered<uchar4>(t, threadIdx.x, threadIdx.y, threadIdx.z);
}
__global__ void volume(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex3D<float>(t, 1.5f, 2.5f, threadIdx.x + 0.5f);
}
__global__ void flip(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    float v = surf2Dread<float>(from, threadIdx.x * 4, threadIdx.y);
    surf2Dwrite(-v, to, threadIdx.x * 4, M - 1 - threadIdx.y);
}
__global__ void ends(cudaTextureObject_t t, float *out)
{
    out[0] = tex2D<float>(t, -3.0f, 0.5f);
    out[1] = tex2D<float>(t, N + 5.0f, M + 1.0f);
}

static int bad;
static void check(int line, double got, double want)
{
    if (got < want - 1e-3 || got > want + 1e-3) {
        if (bad++ < 5) printf("line %d: %g, want %g\n", line, got, want);
    }
}
#define CHECK(got, want) check(__LINE__, got, want)
static void ok(int line, cudaError_t e)
{
    if (e) printf("line %d: %s\n", line, cudaGetErrorString(e)), bad++;
}
#define OK(call) ok(__LINE__, call)

static float at(int x, int y) { return (float)(x * x + 3 * y); }

int main()
{
    static float host[M * N], got[M * N];
    float *out, *flat;
    for (int y = 0; y < M; y++)
        for (int x = 0; x < N; x++) host[y * N + x] = at(x, y);
    OK(cudaMalloc(&out, sizeof host));
    OK(cudaMalloc(&flat, sizeof host));
    OK(cudaMemcpy(flat, host, sizeof host, cudaMemcpyHostToDevice));

    // linear memory: zeros beyond its ends
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t;
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = flat, r.res.linear.desc = cudaCreateChannelDesc<float>(), r.res.linear.sizeInBytes = 20 * 4;
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    linear<<<1, N>>>(t, out);
    OK(cudaMemcpy(got, out, N * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) CHECK(got[i], i < 1 || i > 20 ? 0 : host[i - 1]);
    OK(cudaDestroyTextureObject(t));

    // an array, by whole texels and between them
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaArray_t a, b;
    OK(cudaMallocArray(&a, &f, N, M, cudaArraySurfaceLoadStore));
    OK(cudaMallocArray(&b, &f, N, M, cudaArraySurfaceLoadStore));
    OK(cudaMemcpy2DToArray(a, 0, 0, host, N * 4, N * 4, M, cudaMemcpyHostToDevice));
    r = cudaResourceDesc();
    r.resType = cudaResourceTypeArray, r.res.array.array = a;
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    points<<<1, dim3(N, M)>>>(t, out);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M * N; i++) CHECK(got[i], host[i]);
    ends<<<1, 1>>>(t, out);
    OK(cudaMemcpy(got, out, 8, cudaMemcpyDeviceToHost));
    CHECK(got[0], at(0, 0));
    CHECK(got[1], at(N - 1, M - 1));
    d.filterMode = cudaFilterModeLinear, d.normalizedCoords = 1;
    cudaTextureObject_t smooth;
    OK(cudaCreateTextureObject(&smooth, &r, &d, NULL));
    between<<<1, dim3(N, M)>>>(smooth, out);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int y = 0; y < M; y++)
        for (int x = 0; x < N; x++) CHECK(got[y * N + x], (at(x, y) + at(x == N - 1 ? x : x + 1, y)) / 2);

    // surfaces of two arrays
    cudaSurfaceObject_t from, to;
    OK(cudaCreateSurfaceObject(&from, &r));
    r.res.array.array = b;
    OK(cudaCreateSurfaceObject(&to, &r));
    flip<<<1, dim3(N, M)>>>(from, to);
    OK(cudaMemcpyFromArray(got, b, 0, 0, sizeof got, cudaMemcpyDeviceToHost));
    for (int y = 0; y < M; y++)
        for (int x = 0; x < N; x++) CHECK(got[y * N + x], -at(x, M - 1 - y));
    // a copy that begins within a row and ends within another
    OK(cudaMemcpyToArray(b, 8, 1, host, (N + 7) * 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromArray(got, b, 8, 1, (N + 7) * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N + 7; i++) CHECK(got[i], host[i]);
    OK(cudaMemcpy2DFromArray(got, 4, b, 0, 1, 4, 2, cudaMemcpyDeviceToHost));
    CHECK(got[0], -at(0, M - 2));
    CHECK(got[1], host[N - 2]);

    // pitched memory
    float *pitched;
    size_t pitch;
    OK(cudaMallocPitch(&pitched, &pitch, N * 4, M));
    OK(cudaMemcpy2D(pitched, pitch, host, N * 4, N * 4, M, cudaMemcpyHostToDevice));
    r = cudaResourceDesc();
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = pitched, r.res.pitch2D.desc = f;
    r.res.pitch2D.width = N, r.res.pitch2D.height = M, r.res.pitch2D.pitchInBytes = pitch;
    d = cudaTextureDesc();
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    points<<<1, dim3(N, M)>>>(t, out);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M * N; i++) CHECK(got[i], host[i]);

    // layers of uchar4, and a volume, both filled by cudaMemcpy3D
    static uchar4 pixels[2 * M * N], back[2 * M * N];
    for (int i = 0; i < 2 * M * N; i++) pixels[i] = make_uchar4(i, i >> 8, 7, 255);
    cudaChannelFormatDesc c4 = cudaCreateChannelDesc<uchar4>();
    cudaArray_t stack;
    OK(cudaMalloc3DArray(&stack, &c4, make_cudaExtent(N, M, 2), cudaArrayLayered));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(pixels, N * sizeof(uchar4), N, M);
    p.dstArray = stack, p.extent = make_cudaExtent(N, M, 2), p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
    r = cudaResourceDesc();
    r.resType = cudaResourceTypeArray, r.res.array.array = stack;
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    uchar4 *four;
    OK(cudaMalloc(&four, sizeof back));
    layers<<<1, dim3(N, M, 2)>>>(t, four);
    OK(cudaMemcpy(back, four, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 2 * M * N; i++) {
        CHECK(back[i].x, i & 255);
        CHECK(back[i].y + back[i].z + back[i].w, (i >> 8) + 7 + 255);
    }
    cudaArray_t cube;
    OK(cudaMalloc3DArray(&cube, &f, make_cudaExtent(4, 5, 6), 0));
    p = cudaMemcpy3DParms();
    p.srcPtr = make_cudaPitchedPtr(host, 4 * 4, 4, 5);
    p.dstArray = cube, p.extent = make_cudaExtent(4, 5, 6), p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
    r.res.array.array = cube;
    OK(cudaCreateTextureObject(&t, &r, &d, NULL));
    volume<<<1, 6>>>(t, out);
    OK(cudaMemcpy(got, out, 6 * 4, cudaMemcpyDeviceToHost));
    for (int z = 0; z < 6; z++) CHECK(got[z], host[(z * 5 + 2) * 4 + 1]);

    cudaExtent e;
    OK(cudaArrayGetInfo(&c4, &e, NULL, cube));
    printf("bad %d, %zu x %zu x %zu of %d bits\n", bad, e.width, e.height, e.depth, c4.x);
    // what is refused: a copy beyond the array, a texture beyond memory, a handle twice
    cudaError_t beyond = cudaMemcpy2DToArray(a, 4, 0, host, N * 4, N * 4, M, cudaMemcpyHostToDevice);
    r = cudaResourceDesc();
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = out, r.res.linear.desc = f, r.res.linear.sizeInBytes = sizeof host + 4;
    cudaError_t large = cudaCreateTextureObject(&smooth, &r, &d, NULL);
    OK(cudaDestroyTextureObject(t));
    printf("beyond %d, large %d, twice %d, freed %d\n", beyond, large, cudaDestroyTextureObject(t), cudaFreeArray(cube));
    return 0;
}

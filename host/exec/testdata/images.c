/* Arrays, textures and surfaces of the driver API: a kernel reads a texture and writes a surface. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

static const char *ptx =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry twice(.param .u64 t, .param .u64 s) {\n"
    ".reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %d<4>;\n"
    "ld.param.u64 %d1, [t]; ld.param.u64 %d2, [s]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;\n"
    "tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d1, {%r1, %r2}];\n"
    "add.f32 %f0, %f0, %f0; shl.b32 %r3, %r1, 2; sust.b.2d.b32.trap [%d2, {%r3, %r2}], {%f0}; ret; }\n";

#define CHECK(x) do { CUresult e = (x); const char *s; if (e) { cuGetErrorName(e, &s); printf("%s: %s\n", #x, s); exit(1); } } while (0)

int main(void)
{
    enum { W = 6, H = 4 };
    CUdevice dev; CUcontext ctx; CUmodule mod; CUfunction f; CUarray from, to; CUtexObject t; CUsurfObject s;
    float in[W * H], out[W * H];
    unsigned bad = 0;
    CHECK(cuInit(0)); CHECK(cuDeviceGet(&dev, 0)); CHECK(cuCtxCreate(&ctx, 0, dev));
    CHECK(cuModuleLoadData(&mod, ptx)); CHECK(cuModuleGetFunction(&f, mod, "twice"));
    CUDA_ARRAY_DESCRIPTOR d = {W, H, CU_AD_FORMAT_FLOAT, 1}, is;
    CUDA_ARRAY3D_DESCRIPTOR d3 = {W, H, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CHECK(cuArrayCreate(&from, &d)); CHECK(cuArray3DCreate(&to, &d3)); CHECK(cuArrayGetDescriptor(&is, to));
    bad += is.Width != W || is.Height != H || is.Format != CU_AD_FORMAT_FLOAT || is.NumChannels != 1;
    for (int i = 0; i < W * H; i++) in[i] = i + 0.25f;
    CUDA_MEMCPY2D m = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = in, .srcPitch = W * 4,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = from, .WidthInBytes = W * 4, .Height = H};
    CHECK(cuMemcpy2D(&m));
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = from};
    CUDA_TEXTURE_DESC how = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}};
    CHECK(cuTexObjectCreate(&t, &r, &how, NULL));
    r.res.array.hArray = to;
    CHECK(cuSurfObjectCreate(&s, &r));
    void *args[] = {&t, &s};
    CHECK(cuLaunchKernel(f, 1, 1, 1, W, H, 1, 0, 0, args, 0));
    CHECK(cuMemcpyAtoH(out, to, 0, sizeof out));
    for (int i = 0; i < W * H; i++) bad += out[i] != 2 * in[i];
    m.dstXInBytes = 4; /* a byte too far */
    how.addressMode[1] = CU_TR_ADDRESS_MODE_BORDER, how.borderColor[2] = 1;
    r.res.array.hArray = from;
    printf("bad %u, beyond %d, border %d, no format %d\n", bad, cuMemcpy2D(&m), cuTexObjectCreate(&t, &r, &how, NULL),
           cuArrayCreate(&from, &(CUDA_ARRAY_DESCRIPTOR){W, H, (CUarray_format)77, 1}));
    CHECK(cuTexObjectDestroy(t)); CHECK(cuSurfObjectDestroy(s)); CHECK(cuArrayDestroy(to));
    return bad != 0;
}

/* The linker of the driver API: a kernel in one PTX text calls a function of another. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 6.4\n.target sm_70\n.address_size 64\n"
static char *kernel = HEAD
    ".extern .func (.param .b32 r) square(.param .b32 x);\n.extern .global .u32 more;\n"
    ".visible .entry k(.param .u64 out) {\n"
    ".reg .b32 %r<4>; .reg .b64 %d<2>;\n"
    "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x;\n"
    "{ .param .b32 x; .param .b32 r; st.param.b32 [x], %r0; call (r), square, (x); ld.param.b32 %r1, [r]; }\n"
    "ld.global.u32 %r2, [more]; add.u32 %r1, %r1, %r2; mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1;\n"
    "st.global.u32 [%d0], %r1; ret; }\n";
static char *function = HEAD
    ".visible .global .u32 more = 1000;\n"
    ".visible .func (.param .b32 r) square(.param .b32 x) {\n"
    ".reg .b32 %r<2>; ld.param.b32 %r0, [x]; mul.lo.u32 %r1, %r0, %r0; st.param.b32 [r], %r1; ret; }\n";

#define CHECK(x) do { CUresult e = (x); const char *s; if (e) { cuGetErrorName(e, &s); printf("%s: %s\n", #x, s); exit(1); } } while (0)

int main(void)
{
    CUdevice dev; CUcontext ctx; CUlinkState state; CUmodule mod, alone; CUfunction f; CUdeviceptr out;
    unsigned got[32], bad = 0;
    void *image; size_t size;
    CHECK(cuInit(0)); CHECK(cuDeviceGet(&dev, 0)); CHECK(cuCtxCreate(&ctx, 0, dev));
    CHECK(cuLinkCreate(0, NULL, NULL, &state));
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, kernel, strlen(kernel) + 1, "kernel", 0, NULL, NULL));
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, function, strlen(function), "function", 0, NULL, NULL));
    CHECK(cuLinkComplete(state, &image, &size));
    void *copy = malloc(size); /* programs keep what has been linked */
    memcpy(copy, image, size);
    CHECK(cuLinkDestroy(state));
    CHECK(cuModuleLoadData(&mod, copy)); CHECK(cuModuleGetFunction(&f, mod, "k"));
    CHECK(cuMemAlloc(&out, sizeof got));
    void *args[] = {&out};
    CHECK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, args, 0));
    CHECK(cuMemcpyDtoH(got, out, sizeof got));
    for (unsigned i = 0; i < 32; i++) bad += got[i] != i * i + 1000;
    printf("bad %u, alone %d\n", bad, cuModuleLoadData(&alone, kernel));
    return bad != 0;
}

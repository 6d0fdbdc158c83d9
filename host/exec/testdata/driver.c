/* The driver API in C: a module from PTX text, a launch by parameters and one by a buffer. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

static const char *ptx =
    ".version 6.4\n.target sm_70\n.address_size 64\n.global .u32 calls = 5;\n"
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u32 n) {\n"
    ".reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "setp.ge.u32 %p, %r5, %r1; @%p ret;\n"
    "mul.wide.u32 %d3, %r5, 4; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;\n"
    "ld.global.u32 %r6, [%d4]; ld.global.u32 %r7, [%d5]; add.u32 %r6, %r6, %r7; st.global.u32 [%d4], %r6; ret; }\n";

#define CHECK(x) do { CUresult e = (x); const char *s; if (e) { cuGetErrorName(e, &s); printf("%s: %s\n", #x, s); exit(1); } } while (0)

int main(void)
{
    enum { N = 1000 };
    CUdevice dev; CUcontext ctx; CUmodule mod; CUfunction f; CUdeviceptr a, b, g; size_t bytes;
    unsigned x[N], n = N, bad = 0, calls, major, minor;
    CHECK(cuInit(0)); CHECK(cuDeviceGet(&dev, 0)); CHECK(cuCtxCreate(&ctx, 0, dev));
    CHECK(cuDeviceComputeCapability((int *)&major, (int *)&minor, dev));
    CHECK(cuModuleLoadData(&mod, ptx)); CHECK(cuModuleGetFunction(&f, mod, "add"));
    CHECK(cuModuleGetGlobal(&g, &bytes, mod, "calls")); CHECK(cuMemcpyDtoH(&calls, g, bytes));
    CHECK(cuMemAlloc(&a, sizeof x)); CHECK(cuMemAlloc(&b, sizeof x));
    for (unsigned i = 0; i < N; i++) x[i] = i;
    CHECK(cuMemcpyHtoD(a, x, sizeof x)); CHECK(cuMemsetD32(b, 7, N));
    void *args[] = {&a, &b, &n};
    CHECK(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, 0, args, 0));
    struct { CUdeviceptr a, b; unsigned n; } p = {a, b, n};
    size_t size = sizeof p;
    void *extra[] = {(void *)1, &p, (void *)2, &size, 0};
    CHECK(cuLaunchKernel(f, 4, 1, 1, 256, 1, 1, 0, 0, 0, extra));
    int blocks, grid, block;
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 256, 30000));
    CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, 0, 0, 0));
    CHECK(cuCtxSynchronize()); CHECK(cuMemcpyDtoH(x, a, sizeof x));
    for (unsigned i = 0; i < N; i++) bad += x[i] != i + 14;
    /* A graph: x = 100 everywhere, then b is added, and in the second launch nothing but another array. */
    CUgraph graph; CUgraphExec exec; CUgraphNode fill, kernel; size_t nodes;
    CUDA_MEMSET_NODE_PARAMS set = {.dst = a, .value = 100, .elementSize = 4, .width = N, .height = 1};
    CUDA_KERNEL_NODE_PARAMS run = {.func = f, 4, 1, 1, 256, 1, 1, 0, .kernelParams = args};
    CHECK(cuGraphCreate(&graph, 0)); CHECK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &set, ctx));
    CHECK(cuGraphAddKernelNode(&kernel, graph, &fill, 1, &run)); CHECK(cuGraphGetNodes(graph, NULL, &nodes));
    CHECK(cuGraphInstantiate(&exec, graph, 0)); CHECK(cuGraphLaunch(exec, 0));
    CHECK(cuMemcpyDtoH(x, a, sizeof x));
    for (unsigned i = 0; i < N; i++) bad += x[i] != 107;
    void *other[] = {&b, &a, &n};
    run.kernelParams = other;
    CHECK(cuGraphExecKernelNodeSetParams(exec, kernel, &run)); CHECK(cuGraphLaunch(exec, 0));
    CHECK(cuMemcpyDtoH(x, b, sizeof x));
    for (unsigned i = 0; i < N; i++) bad += x[i] != 107;
    bad += nodes != 2;
    CHECK(cuGraphExecDestroy(exec)); CHECK(cuGraphDestroy(graph));
    printf("bad %u calls %u capability %u.%u missing %d, %d blocks, %d of %d\n", bad, calls, major, minor,
           cuModuleGetFunction(&f, mod, "none"), blocks, grid, block);
    CHECK(cuCtxDestroy(ctx));
    return bad != 0;
}

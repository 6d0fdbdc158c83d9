// Graphs by capture, by nodes and of graphs, and memory of the program's own that kernels reach.
#include <cstdio>
#include <cstdlib>

#define CHECK(x) do { cudaError_t e = (x); if (e) { printf("%s: %s\n", #x, cudaGetErrorName(e)); exit(1); } } while (0)

__global__ void scale(int *a, int by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] *= by;
}
__global__ void sum(const int *a, const int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
static int ran;
static void count(void *by) { ran += *(int *)by; }

enum { N = 1000, BYTES = N * sizeof(int), B = 4, T = 256 };

static int bad(const int *c, int a, int b)
{
    int n = 0;
    for (int i = 0; i < N; i++) n += c[i] != a * i + b;
    return n;
}

int main()
{
    int *a, *b, *c, host[N], out[N], two = 2;
    for (int i = 0; i < N; i++) host[i] = i;
    CHECK(cudaMalloc(&a, BYTES)); CHECK(cudaMalloc(&b, BYTES)); CHECK(cudaMalloc(&c, BYTES));
    cudaStream_t s, t;
    cudaEvent_t fork, join;
    CHECK(cudaStreamCreate(&s)); CHECK(cudaStreamCreate(&t));
    CHECK(cudaEventCreate(&fork)); CHECK(cudaEventCreate(&join));

    // Two branches, captured: a = 3 i, b = 5 i, c = a + b.
    cudaGraph_t g;
    cudaGraphExec_t x;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, s)); CHECK(cudaStreamWaitEvent(t, fork));
    CHECK(cudaMemcpyAsync(a, host, BYTES, cudaMemcpyHostToDevice, s));
    CHECK(cudaMemcpyAsync(b, host, BYTES, cudaMemcpyHostToDevice, t));
    scale<<<B, T, 0, s>>>(a, 3, N);
    scale<<<B, T, 0, t>>>(b, 5, N);
    CHECK(cudaEventRecord(join, t)); CHECK(cudaStreamWaitEvent(s, join));
    sum<<<B, T, 0, s>>>(a, b, c, N);
    CHECK(cudaMemcpyAsync(out, c, BYTES, cudaMemcpyDeviceToHost, s));
    CHECK(cudaLaunchHostFunc(s, count, &two));
    printf("while capturing: wait %d, ", cudaStreamSynchronize(s));
    CHECK(cudaStreamEndCapture(s, &g));
    size_t nodes, edges, roots;
    CHECK(cudaGraphGetNodes(g, nullptr, &nodes)); CHECK(cudaGraphGetEdges(g, nullptr, nullptr, &edges));
    CHECK(cudaGraphGetRootNodes(g, nullptr, &roots));
    CHECK(cudaGraphInstantiate(&x, g, nullptr, nullptr, 0));
    out[0] = -1;
    CHECK(cudaGraphLaunch(x, s)); CHECK(cudaGraphLaunch(x, s)); CHECK(cudaStreamSynchronize(s));
    printf("%zu nodes, %zu edges, %zu roots, bad %d, host function %d\n", nodes, edges, roots, bad(out, 8, 0), ran);

    // An unjoined stream makes no graph.
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, s)); CHECK(cudaStreamWaitEvent(t, fork));
    scale<<<B, T, 0, t>>>(b, 5, N);
    cudaGraph_t none;
    printf("unjoined %d, ", cudaStreamEndCapture(s, &none));

    // By nodes: b = 7, twice a child graph that adds b to a, then a factor that is changed later.
    cudaGraph_t h, child;
    cudaGraphNode_t fill, copy, first, second, last, in;
    CHECK(cudaGraphCreate(&h, 0)); CHECK(cudaGraphCreate(&child, 0));
    int n = N, by = 2;
    void *of_sum[] = {&a, &b, &a, &n}, *of_scale[] = {&a, &by, &n};
    cudaKernelNodeParams k = {};
    k.func = (void *)sum, k.gridDim = B, k.blockDim = T, k.kernelParams = of_sum;
    CHECK(cudaGraphAddKernelNode(&in, child, nullptr, 0, &k));
    cudaMemsetParams m = {};
    m.dst = b, m.value = 7, m.elementSize = 4, m.width = N, m.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, h, nullptr, 0, &m));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, h, nullptr, 0, a, host, BYTES, cudaMemcpyHostToDevice));
    cudaGraphNode_t both[] = {fill, copy};
    CHECK(cudaGraphAddChildGraphNode(&first, h, both, 2, child));
    CHECK(cudaGraphAddChildGraphNode(&second, h, &first, 1, child));
    k.func = (void *)scale, k.kernelParams = of_scale;
    CHECK(cudaGraphAddKernelNode(&last, h, &second, 1, &k));
    cudaGraphExec_t y;
    CHECK(cudaGraphInstantiate(&y, h, 0));
    CHECK(cudaGraphLaunch(y, s)); CHECK(cudaMemcpy(out, a, BYTES, cudaMemcpyDeviceToHost));
    printf("nodes bad %d, ", bad(out, 2, 28));
    by = 10;
    CHECK(cudaGraphExecKernelNodeSetParams(y, last, &k));
    CHECK(cudaGraphLaunch(y, 0)); CHECK(cudaMemcpy(out, a, BYTES, cudaMemcpyDeviceToHost));
    printf("changed bad %d, ", bad(out, 10, 140));
    CHECK(cudaGraphAddDependencies(h, &last, &fill, 1));
    cudaGraphExec_t z;
    printf("circle %d\n", cudaGraphInstantiate(&z, h, 0));
    CHECK(cudaGraphExecDestroy(x)); CHECK(cudaGraphExecDestroy(y)); CHECK(cudaGraphDestroy(g));
    CHECK(cudaGraphDestroy(h)); CHECK(cudaGraphDestroy(child));

    // Memory that malloc gave, used by a kernel.
    int *own = (int *)malloc(3 * 4096 + BYTES) + 100, *there;
    for (int i = 0; i < N; i++) own[i] = i;
    CHECK(cudaHostRegister(own, BYTES, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&there, own, 0));
    scale<<<B, T>>>(there, 4, N);
    CHECK(cudaDeviceSynchronize());
    printf("registered bad %d, again %d, ", bad(own, 4, 0), cudaHostRegister(own, BYTES, 0));
    CHECK(cudaHostUnregister(own));
    printf("kept %d, twice %d\n", bad(own, 4, 0), cudaHostUnregister(own));
    return 0;
}

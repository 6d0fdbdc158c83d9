// Graphs and capture in the runtime API.
#include "runtime.h"

#define GRAPH(g) ((struct graph *)(g))
#define NODE(n) ((struct node *)(n))

static int begin(void *out, const void *graph)
{
    int e = heddle_ready();
    return e ? e : out && graph ? 0 : 1;
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    int e = heddle_ready();
    if (!e && (flags || !graph)) e = 1;
    if (!e && !(*graph = (cudaGraph_t)heddle_graph())) e = 2;
    RETURN(e);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (!graph) RETURN(1);
    heddle_graph_free(GRAPH(graph));
    RETURN(0);
}
cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    int e = begin(clone, graph);
    if (!e && !(*clone = (cudaGraph_t)heddle_graph_clone(GRAPH(graph), 0))) e = 1;
    RETURN(e);
}

static int kernel_params(struct node *n, const struct cudaKernelNodeParams *p)
{
    struct kernel *k;
    char params[PAYLOAD];
    int e = p ? heddle_kernel(p->func, &k) : 1;
    if (!e && k->bytes > sizeof params) e = 1;
    if (!e) e = heddle_parameters(k, p->kernelParams, p->extra, params);
    if (e) return e;
    uint32_t g[3] = {p->gridDim.x, p->gridDim.y, p->gridDim.z}, b[3] = {p->blockDim.x, p->blockDim.y, p->blockDim.z};
    n->func = p->func;
    return heddle_node_kernel(n, k, g, b, p->sharedMemBytes, 0, params);
}

// add makes a node; fail takes it away again if e says so.
static struct node *add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count, int kind,
                        int *e)
{
    struct node *n = NULL;
    *e = begin(node, graph);
    if (!*e && !(n = heddle_node(GRAPH(graph), kind, (struct node *const *)deps, count))) *e = 1;
    if (n) *node = (cudaGraphNode_t)n;
    return n;
}
static int kept(struct node *n, int e)
{
    if (e) heddle_node_remove(n);
    return e;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                   const struct cudaKernelNodeParams *params)
{
    int e;
    struct node *n = add(node, graph, deps, count, NODE_KERNEL, &e);
    RETURN(e ? e : kept(n, kernel_params(n, params)));
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *p)
{
    struct node *n = NODE(node);
    if (!n || !p || n->kind != NODE_KERNEL) RETURN(1);
    *p = (struct cudaKernelNodeParams){.func = (void *)n->func,
                                       .gridDim = {n->grid[0], n->grid[1], n->grid[2]},
                                       .blockDim = {n->block[0], n->block[1], n->block[2]},
                                       .sharedMemBytes = (unsigned)n->shared,
                                       .kernelParams = n->args};
    RETURN(0);
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *p)
{
    RETURN(node && NODE(node)->kind == NODE_KERNEL ? kernel_params(NODE(node), p) : 1);
}
cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                   const struct cudaMemcpy3DParms *params)
{
    int e;
    struct node *n = add(node, graph, deps, count, NODE_COPY, &e);
    RETURN(e ? e : kept(n, heddle_area(params, &n->area)));
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t n,
                                     void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    int e;
    struct node *m = add(node, graph, deps, n, NODE_COPY, &e);
    if (m) m->area = (struct area){(uint64_t)dst, count, 0, (uint64_t)src, count, 0, count, 1, 1, (int)kind};
    RETURN(e);
}
static int fill_params(struct node *n, const struct cudaMemsetParams *p)
{
    return p ? heddle_node_fill(n, (uint64_t)p->dst, p->pitch, p->value, p->elementSize, p->width, p->height) : 1;
}
cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                   const struct cudaMemsetParams *params)
{
    int e;
    struct node *n = add(node, graph, deps, count, NODE_FILL, &e);
    RETURN(e ? e : kept(n, fill_params(n, params)));
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                 const struct cudaHostNodeParams *params)
{
    int e;
    struct node *n = add(node, graph, deps, count, NODE_HOST, &e);
    if (n && (!params || !params->fn)) RETURN(kept(n, 1));
    if (n) n->fn = (void *)params->fn, n->data = params->userData;
    RETURN(e);
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                       size_t count, cudaGraph_t child)
{
    int e;
    struct node *n = child && child != graph ? add(node, graph, deps, count, NODE_GRAPH, &e) : NULL;
    if (!n) RETURN(child && child != graph ? e : 1);
    n->child = heddle_graph_clone(GRAPH(child), 0);
    RETURN(kept(n, n->child ? 0 : 1));
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    if (!node || !graph || NODE(node)->kind != NODE_GRAPH) RETURN(1);
    *graph = (cudaGraph_t)NODE(node)->child;
    RETURN(0);
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count)
{
    int e;
    add(node, graph, deps, count, NODE_EMPTY, &e);
    RETURN(e);
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                        size_t count, cudaEvent_t event)
{
    int e;
    struct node *n = add(node, graph, deps, count, NODE_RECORD, &e);
    if (n) n->event = (uint64_t)event;
    RETURN(e);
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                      size_t count, cudaEvent_t event)
{
    int e;
    struct node *n = add(node, graph, deps, count, NODE_WAIT, &e);
    if (n) n->event = (uint64_t)event;
    RETURN(e);
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     size_t count)
{
    RETURN(heddle_graph_depend(GRAPH(graph), (struct node *const *)from, (struct node *const *)to, count));
}

// ---- what a graph has

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    RETURN(heddle_graph_nodes(GRAPH(graph), (struct node **)nodes, count, 0));
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    RETURN(heddle_graph_nodes(GRAPH(graph), (struct node **)nodes, count, 1));
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    size_t n = 0;
    if (!graph || !count || !from != !to) RETURN(1);
    for (struct node *m = GRAPH(graph)->first; m; m = m->next)
        for (size_t i = 0; i < m->count; i++, n++)
            if (from && n < *count) from[n] = (cudaGraphNode_t)m->deps[i], to[n] = (cudaGraphNode_t)m;
    if (!from || n < *count) *count = n;
    RETURN(0);
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    if (!node || !type) RETURN(1);
    *type = (enum cudaGraphNodeType)NODE(node)->kind;
    RETURN(0);
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    if (!node) RETURN(1);
    heddle_node_remove(NODE(node));
    RETURN(0);
}

// ---- executable graphs

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    (void)flags;
    int e = begin(exec, graph);
    if (!e && !(*exec = (cudaGraphExec_t)heddle_graph_clone(GRAPH(graph), 1))) e = 1; // its nodes depend in a circle
    RETURN(e);
}
#if HEDDLE_RUNTIME_VERSION >= 12000
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(exec, graph, flags);
}
#else
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *bad, char *log, size_t size)
{
    if (bad) *bad = NULL;
    if (log && size) *log = 0;
    return cudaGraphInstantiateWithFlags(exec, graph, 0);
}
#endif
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *params)
{
    struct node *n = exec && node ? heddle_graph_find(GRAPH(exec), NODE(node)) : NULL;
    RETURN(n && n->kind == NODE_KERNEL ? kernel_params(n, params) : 1);
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *dst, const void *src,
                                               size_t count, enum cudaMemcpyKind kind)
{
    struct node *n = exec && node ? heddle_graph_find(GRAPH(exec), NODE(node)) : NULL;
    if (!n || n->kind != NODE_COPY) RETURN(1);
    n->area = (struct area){(uint64_t)dst, count, 0, (uint64_t)src, count, 0, count, 1, 1, (int)kind};
    RETURN(0);
}
#if HEDDLE_RUNTIME_VERSION >= 12000
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *result)
{
    struct node *bad = NULL;
    int e = begin(exec, graph);
    if (!e) e = heddle_graph_update(GRAPH(exec), GRAPH(graph), &bad);
    if (result) {
        result->result = e ? cudaGraphExecUpdateErrorTopologyChanged : cudaGraphExecUpdateSuccess;
        result->errorNode = (cudaGraphNode_t)bad;
        result->errorFromNode = NULL;
    }
    RETURN(e);
}
#else
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *at,
                                enum cudaGraphExecUpdateResult *result)
{
    struct node *bad = NULL;
    int e = begin(exec, graph);
    if (!e) e = heddle_graph_update(GRAPH(exec), GRAPH(graph), &bad);
    if (at) *at = (cudaGraphNode_t)bad;
    if (result) *result = e ? cudaGraphExecUpdateErrorTopologyChanged : cudaGraphExecUpdateSuccess;
    RETURN(e);
}
#endif
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return cudaGraphDestroy((cudaGraph_t)exec); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    int e = heddle_ready();
    if (!e) e = exec ? heddle_graph_launch(GRAPH(exec), (uint64_t)stream) : 1;
    RETURN(e);
}
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    (void)stream; // a graph is where it is launched from
    RETURN(exec ? 0 : 1);
}

// ---- capture

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    int e = heddle_ready();
    RETURN(e ? e : heddle_capture_begin((uint64_t)stream, (int)mode));
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    RETURN(graph ? heddle_capture_end((uint64_t)stream, (struct graph **)graph) : 1);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    if (!status) RETURN(1);
    *status = (enum cudaStreamCaptureStatus)heddle_capture_status((uint64_t)stream, NULL, NULL);
    RETURN(0);
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id)
{
    uint64_t number = 0;
    if (!status) RETURN(1);
    *status = (enum cudaStreamCaptureStatus)heddle_capture_status((uint64_t)stream, &number, NULL);
    if (id) *id = number;
    RETURN(0);
}
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    static __thread enum cudaStreamCaptureMode kept = cudaStreamCaptureModeGlobal;
    if (!mode) RETURN(1);
    enum cudaStreamCaptureMode old = kept;
    kept = *mode, *mode = old;
    RETURN(0);
}

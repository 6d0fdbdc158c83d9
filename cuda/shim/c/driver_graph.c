// Graphs of the driver API.
#include "driver.h"

#define GRAPH(g) ((struct graph *)(g))
#define NODE(n) ((struct node *)(n))

CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
    int e = heddle_connect();
    if (!e && (flags || !graph)) e = 1;
    if (!e && !(*graph = (CUgraph)heddle_graph())) e = 2;
    return e;
}
CUresult cuGraphDestroy(CUgraph graph)
{
    if (!graph) return 1;
    heddle_graph_free(GRAPH(graph));
    return 0;
}
CUresult cuGraphClone(CUgraph *clone, CUgraph graph)
{
    if (!clone || !graph) return 1;
    *clone = (CUgraph)heddle_graph_clone(GRAPH(graph), 0);
    return *clone ? 0 : 1;
}

static int kernel_params(struct node *n, const CUDA_KERNEL_NODE_PARAMS_v1 *p, CUkernel kern)
{
    const struct function *f = (struct function *)(p ? p->func ? (void *)p->func : (void *)kern : NULL);
    char params[PAYLOAD];
    if (!p || !f) return p ? 400 : 1;
    if (f->kernel.bytes > sizeof params || p->kernelParams && p->extra) return 1;
    int e = heddle_parameters(&f->kernel, p->kernelParams, p->extra, params);
    if (e) return e;
    uint32_t g[3] = {p->gridDimX, p->gridDimY, p->gridDimZ}, b[3] = {p->blockDimX, p->blockDimY, p->blockDimZ};
    n->func = f;
    return heddle_node_kernel(n, &f->kernel, g, b, p->sharedMemBytes, 0, params);
}
static int fill_params(struct node *n, const CUDA_MEMSET_NODE_PARAMS *p)
{
    return p ? heddle_node_fill(n, p->dst, p->pitch, p->value, p->elementSize, p->width, p->height) : 1;
}
static struct node *add(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count, int kind)
{
    struct node *n = node && graph ? heddle_node(GRAPH(graph), kind, (struct node *const *)deps, count) : NULL;
    if (n) *node = (CUgraphNode)n;
    return n;
}
// kept takes a node away again whose parameters are wrong.
static int kept(struct node *n, int e)
{
    if (e) heddle_node_remove(n);
    return e;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    struct node *n = add(node, graph, deps, count, NODE_KERNEL);
    return n ? kept(n, kernel_params(n, params, NULL)) : 1;
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct node *n = add(node, graph, deps, count, NODE_KERNEL); // the structure begins like that of version 1
    return n ? kept(n, kernel_params(n, (const CUDA_KERNEL_NODE_PARAMS_v1 *)params, params ? params->kern : NULL)) : 1;
}
CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                              const CUDA_MEMCPY3D *params, CUcontext c)
{
    (void)c;
    struct node *n = add(node, graph, deps, count, NODE_COPY);
    return n ? kept(n, heddle_driver_area(params, &n->area)) : 1;
}
CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *params, CUcontext c)
{
    (void)c;
    struct node *n = add(node, graph, deps, count, NODE_FILL);
    return n ? kept(n, fill_params(n, params)) : 1;
}
CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                            const CUDA_HOST_NODE_PARAMS *params)
{
    struct node *n = params && params->fn ? add(node, graph, deps, count, NODE_HOST) : NULL;
    if (n) n->fn = (void *)params->fn, n->data = params->userData;
    return n ? 0 : 1;
}
CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count, CUgraph child)
{
    struct node *n = child && child != graph ? add(node, graph, deps, count, NODE_GRAPH) : NULL;
    if (!n) return 1;
    n->child = heddle_graph_clone(GRAPH(child), 0);
    return kept(n, n->child ? 0 : 1);
}
CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count)
{
    return add(node, graph, deps, count, NODE_EMPTY) ? 0 : 1;
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return heddle_graph_depend(GRAPH(graph), (struct node *const *)from, (struct node *const *)to, count);
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return heddle_graph_nodes(GRAPH(graph), (struct node **)nodes, count, 0);
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    return heddle_graph_nodes(GRAPH(graph), (struct node **)nodes, count, 1);
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    if (!node || !type) return 1;
    *type = (CUgraphNodeType)NODE(node)->kind;
    return 0;
}
CUresult cuGraphDestroyNode(CUgraphNode node)
{
    if (!node) return 1;
    heddle_node_remove(NODE(node));
    return 0;
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    return node && NODE(node)->kind == NODE_KERNEL ? kernel_params(NODE(node), params, NULL) : 1;
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    if (!node || !params || NODE(node)->kind != NODE_KERNEL) return 1;
    return kernel_params(NODE(node), (const CUDA_KERNEL_NODE_PARAMS_v1 *)params, params->kern);
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
    struct node *n = NODE(node);
    if (!n || !p || n->kind != NODE_KERNEL) return 1;
    *p = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)n->func, n->grid[0], n->grid[1], n->grid[2], n->block[0],
                                   n->block[1], n->block[2], (unsigned)n->shared, .kernelParams = n->args};
    return 0;
}

// ---- executable graphs

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    (void)flags;
    if (!exec || !graph) return 1;
    *exec = (CUgraphExec)heddle_graph_clone(GRAPH(graph), 1);
    return *exec ? 0 : 1; // its nodes depend in a circle
}
CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *bad, char *log, size_t size)
{
    if (bad) *bad = NULL;
    if (log && size) *log = 0;
    return cuGraphInstantiateWithFlags(exec, graph, 0);
}
static struct node *made_of(CUgraphExec exec, CUgraphNode node, int kind)
{
    struct node *n = exec && node ? heddle_graph_find(GRAPH(exec), NODE(node)) : NULL;
    return n && n->kind == kind ? n : NULL;
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    struct node *n = made_of(exec, node, NODE_KERNEL);
    return n ? kernel_params(n, params, NULL) : 1;
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct node *n = made_of(exec, node, NODE_KERNEL);
    return n && params ? kernel_params(n, (const CUDA_KERNEL_NODE_PARAMS_v1 *)params, params->kern) : 1;
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *params, CUcontext c)
{
    (void)c;
    struct node *n = made_of(exec, node, NODE_COPY);
    return n ? heddle_driver_area(params, &n->area) : 1;
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params,
                                        CUcontext c)
{
    (void)c;
    struct node *n = made_of(exec, node, NODE_FILL);
    return n ? fill_params(n, params) : 1;
}
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *result)
{
    struct node *bad = NULL;
    if (!exec || !graph) return 1;
    int e = heddle_graph_update(GRAPH(exec), GRAPH(graph), &bad);
    if (result) {
        result->result = e ? CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED : CU_GRAPH_EXEC_UPDATE_SUCCESS;
        result->errorNode = (CUgraphNode)bad;
        result->errorFromNode = NULL;
    }
    return e;
}
CUresult cuGraphExecDestroy(CUgraphExec exec) { return cuGraphDestroy((CUgraph)exec); }
CUresult cuGraphLaunch(CUgraphExec exec, CUstream s) { return exec ? heddle_graph_launch(GRAPH(exec), (uint64_t)s) : 1; }
CUresult cuGraphUpload(CUgraphExec exec, CUstream s) { return (void)s, exec ? 0 : 1; }

// Graphs: their nodes, copies of them, and launches.
#include "graph.h"

struct graph *heddle_graph(void)
{
    struct graph *g = calloc(1, sizeof *g);
    if (g) g->last = &g->first;
    return g;
}

static void free_node(struct node *n)
{
    free(n->deps), free(n->params), free(n->args);
    if (n->child) heddle_graph_free(n->child);
    free(n);
}

static int end(int call, uint64_t handle)
{
    uint64_t v[VALUES] = {handle};
    return heddle_call(call, v, NULL, 0, NULL, 0);
}

void heddle_graph_free(struct graph *g)
{
    for (size_t i = 0; i < g->n_streams; i++) end(CALL_STREAM_END, g->streams[i]);
    for (size_t i = 0; i < g->n_events; i++) end(CALL_EVENT_END, g->events[i]);
    free(g->streams), free(g->events);
    for (struct node *n = g->first, *next; n; n = next) next = n->next, free_node(n);
    free(g);
}

struct node *heddle_node(struct graph *g, int kind, struct node *const *deps, size_t count)
{
    struct node *n = calloc(1, sizeof *n);
    if (!n) return NULL;
    n->kind = kind, n->of = g;
    for (size_t i = 0; i < count; i++)
        if (!deps[i] || deps[i]->of != g || heddle_node_depends(n, deps[i])) return free_node(n), NULL;
    *g->last = n;
    g->last = &n->next;
    g->count++;
    return n;
}

int heddle_node_depends(struct node *n, struct node *on)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->deps[i] == on) return 0;
    if ((n->count & (n->count - 1)) == 0) {
        struct node **more = realloc(n->deps, 2 * (n->count + 1) * sizeof *more);
        if (!more) return 2;
        n->deps = more;
    }
    n->deps[n->count++] = on;
    return 0;
}

void heddle_node_remove(struct node *n)
{
    struct graph *g = n->of;
    struct node **p = &g->first;
    while (*p != n) p = &(*p)->next;
    *p = n->next;
    if (g->last == &n->next) g->last = p;
    g->count--;
    for (struct node *m = g->first; m; m = m->next)
        for (size_t i = 0; i < m->count; i++)
            if (m->deps[i] == n) m->deps[i--] = m->deps[--m->count];
    free_node(n);
}

int heddle_node_kernel(struct node *n, const struct kernel *k, const uint32_t grid[3], const uint32_t block[3],
                       uint64_t shared, int cooperative, const char *params)
{
    char *own = malloc(k->bytes + 1);
    void **args = malloc((k->params + 1) * sizeof *args);
    if (!own || !args) return free(own), free(args), 2;
    memcpy(own, params, k->bytes);
    for (uint32_t i = 0; i < k->params; i++) args[i] = own + k->layout[2 * i];
    free(n->params), free(n->args);
    n->params = own, n->args = args, n->kernel = k, n->shared = shared, n->cooperative = cooperative;
    memcpy(n->grid, grid, sizeof n->grid);
    memcpy(n->block, block, sizeof n->block);
    return 0;
}

int heddle_node_fill(struct node *n, uint64_t dst, uint64_t pitch, uint32_t value, uint32_t size, uint64_t width,
                     uint64_t height)
{
    if (size != 1 && size != 2 && size != 4 || !heddle_in_window((void *)dst)) return 1;
    uint64_t v[VALUES] = {dst, height > 1 ? pitch : width * size, value, size, width, height, 0, 1};
    memcpy(n->fill, v, sizeof v);
    return 0;
}

int heddle_graph_depend(struct graph *g, struct node *const *from, struct node *const *to, size_t count)
{
    int e = g ? 0 : 1;
    for (size_t i = 0; i < count && !e; i++)
        e = to[i]->of != g || from[i]->of != g ? 1 : heddle_node_depends(to[i], from[i]);
    return e;
}

int heddle_graph_nodes(struct graph *g, struct node **nodes, size_t *count, int roots)
{
    size_t n = 0;
    if (!g || !count) return 1;
    for (struct node *m = g->first; m; m = m->next) {
        if (roots && m->count) continue;
        if (nodes && n < *count) nodes[n] = m;
        n++;
    }
    for (size_t i = n; nodes && i < *count; i++) nodes[i] = NULL;
    if (!nodes || n < *count) *count = n;
    return 0;
}

void heddle_node_set(struct node *to, const struct node *from)
{
    if (from->kind == NODE_KERNEL && from->kernel) {
        heddle_node_kernel(to, from->kernel, from->grid, from->block, from->shared, from->cooperative, from->params);
        to->func = from->func;
    }
    to->area = from->area;
    memcpy(to->fill, from->fill, sizeof to->fill);
    to->fn = from->fn, to->data = from->data, to->event = from->event;
}

// ---- copies

// order gives the nodes so that each comes after those that it depends on; NULL: there is a circle, or no memory.
static struct node **order(const struct graph *g)
{
    struct node **list = malloc((g->count + 1) * sizeof *list), **stack = malloc((g->count + 1) * sizeof *stack);
    size_t n = 0;
    for (struct node *m = g->first; m; m = m->next) m->mark = 0;
    for (struct node *m = g->first; list && stack && m; m = m->next) {
        size_t depth = 0;
        if (!m->mark) stack[depth++] = m, m->mark = 1;
        while (depth) {
            struct node *top = stack[depth - 1], *before = NULL;
            for (size_t i = 0; i < top->count && !before; i++)
                if (top->deps[i]->mark != 2) before = top->deps[i];
            if (!before) list[n++] = top, top->mark = 2, depth--;
            else if (before->mark == 1) return free(list), free(stack), NULL;
            else stack[depth++] = before, before->mark = 1;
        }
    }
    free(stack);
    return list;
}

// into copies the nodes of g behind those of to; roots depend on begin. The copy of a node is kept in its stream.
static int into(struct graph *to, const struct graph *g, struct node *begin, int expand)
{
    struct node **list = order(g);
    if (!list) return 1;
    int e = 0;
    for (size_t i = 0; i < g->count && !e; i++) {
        struct node *n = list[i], *m = heddle_node(to, n->kind, NULL, 0);
        if (!m) { e = 2; break; }
        for (size_t d = 0; d < n->count && !e; d++) e = heddle_node_depends(m, (struct node *)n->deps[d]->stream);
        if (!n->count && begin) e = heddle_node_depends(m, begin);
        m->origin = n;
        heddle_node_set(m, n);
        n->stream = (uint64_t)m;
        if (n->kind != NODE_GRAPH) continue;
        if (!expand) {
            if (!(m->child = heddle_graph_clone(n->child, 0))) e = 2;
            continue;
        }
        m->kind = NODE_EMPTY;
        struct node *last = to->first;
        while (last->next) last = last->next;
        e = into(to, n->child, m, 1);
        struct node *out = e ? NULL : heddle_node(to, NODE_EMPTY, &m, 1); // after all of the child
        for (struct node *c = last->next; out && c != out; c = c->next) e |= heddle_node_depends(out, c);
        if (!out) e = 2;
        n->stream = (uint64_t)out;
    }
    free(list);
    return e;
}

struct graph *heddle_graph_clone(const struct graph *g, int expand)
{
    struct graph *to = heddle_graph();
    if (to && into(to, g, NULL, expand)) heddle_graph_free(to), to = NULL;
    return to;
}

struct node *heddle_graph_find(struct graph *g, const struct node *origin)
{
    for (struct node *n = g->first; n; n = n->next)
        if (n->origin == origin) return n;
    return NULL;
}

int heddle_graph_update(struct graph *exec, const struct graph *g, struct node **bad)
{
    struct graph *fresh = heddle_graph_clone(g, 1);
    if (!fresh) return 1;
    int e = fresh->count == exec->count ? 0 : 910;
    struct node *a = exec->first, *b = fresh->first;
    for (; !e && a; a = a->next, b = b->next)
        if (a->kind != b->kind || a->count != b->count) e = 910, *bad = (struct node *)b->origin;
    if (!e)
        for (a = exec->first, b = fresh->first; a; a = a->next, b = b->next) heddle_node_set(a, b), a->origin = b->origin;
    heddle_graph_free(fresh);
    return e;
}

// ---- launches

// most is how many streams a launch uses besides its own; more branches share them.
enum { most = 32 };

static int handle(uint64_t **list, size_t *n, int call, uint64_t flags, uint64_t *to)
{
    uint64_t v[VALUES] = {flags}, *more = realloc(*list, (*n + 1) * sizeof *more);
    if (!more) return 2;
    *list = more;
    int e = heddle_call(call, v, NULL, 0, NULL, 0);
    if (!e) *to = more[(*n)++] = v[0];
    return e;
}

static int run(const struct node *n)
{
    uint64_t v[VALUES];
    switch (n->kind) {
    case NODE_KERNEL:
        return heddle_start(n->kernel, n->grid, n->block, n->shared, n->stream, n->cooperative, n->params);
    case NODE_COPY: return heddle_copy_area(&n->area, n->stream, 1);
    case NODE_FILL:
        memcpy(v, n->fill, sizeof v);
        v[6] = n->stream;
        return heddle_call(CALL_FILL, v, NULL, 0, NULL, 0);
    case NODE_HOST: return heddle_host_call(n->stream, n->fn, n->data, 0);
    case NODE_WAIT: return heddle_stream_wait(n->stream, n->event);
    case NODE_RECORD: return heddle_event_record(n->event, n->stream);
    }
    return 0;
}

// assign gives each node a stream: that of the first node before it which no other goes on from, or one of its own.
static int assign(struct graph *g, struct node **list, uint64_t stream)
{
    size_t used = 0, begun = 0;
    for (size_t i = 0; i < g->count; i++) list[i]->taken = list[i]->awaited = 0;
    for (size_t i = 0; i < g->count; i++) {
        struct node *n = list[i];
        n->stream = 0;
        for (size_t d = 0; d < n->count && !n->stream; d++)
            if (!n->deps[d]->taken) n->stream = n->deps[d]->stream, n->deps[d]->taken = 1;
        if (!n->stream && !n->count && !begun++) n->stream = stream + 1; // 0 is a stream, too: the default one
        if (!n->stream) {
            if (used == g->n_streams && used < most) {
                uint64_t made;
                int e = handle(&g->streams, &g->n_streams, CALL_STREAM, 1, &made);
                if (e) return e;
            }
            n->stream = g->streams[used++ % g->n_streams] + 1;
        }
        for (size_t d = 0; d < n->count; d++) n->deps[d]->awaited |= n->deps[d]->stream != n->stream;
    }
    for (size_t i = 0; i < g->count; i++)
        if (!list[i]->taken && list[i]->stream != stream + 1) list[i]->awaited = 1; // the end waits for it
    for (size_t i = 0; i < g->count; i++) list[i]->stream--;
    return 0;
}

int heddle_graph_launch(struct graph *g, uint64_t stream)
{
    struct node *as;
    int e = heddle_captured(stream, NODE_GRAPH, &as);
    if (e) return e;
    if (as) return (as->child = heddle_graph_clone(g, 0)) ? 0 : 2;
    struct node **list = order(g);
    if (!list) return 1;
    uint64_t start = 0; // an event, if a second branch begins with the graph
    size_t events = 0;
    int branches = 0;
    e = assign(g, list, stream);
    for (size_t i = 0; i < g->count && !e; i++) branches |= !list[i]->count && list[i]->stream != stream;
    if (!e && branches) {
        if (!g->n_events) e = handle(&g->events, &g->n_events, CALL_EVENT, 2, &start);
        if (!e) start = g->events[events++], e = heddle_event_record(start, stream);
    }
    for (size_t i = 0; i < g->count && !e; i++) {
        struct node *n = list[i];
        if (!n->count && n->stream != stream) e = heddle_stream_wait(n->stream, start);
        for (size_t d = 0; d < n->count && !e; d++)
            if (n->deps[d]->stream != n->stream) e = heddle_stream_wait(n->stream, n->deps[d]->done);
        if (!e) e = run(n);
        if (e || !n->awaited) continue;
        if (events == g->n_events) e = handle(&g->events, &g->n_events, CALL_EVENT, 2, &n->done);
        if (!e) n->done = g->events[events++], e = heddle_event_record(n->done, n->stream);
    }
    for (size_t i = 0; i < g->count && !e; i++)
        if (!list[i]->taken && list[i]->stream != stream) e = heddle_stream_wait(stream, list[i]->done);
    free(list);
    return e;
}

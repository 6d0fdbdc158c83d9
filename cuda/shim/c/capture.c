// Capture: calls on a stream become nodes of a graph. Streams join by waiting for an event of the capture.
#include "graph.h"

struct tail { // what the next node depends on, after a stream or an event
    uint64_t of;
    struct node **nodes;
    size_t count;
    struct tail *next;
};
struct capture {
    struct graph *graph;
    uint64_t origin, id;
    int mode, error;
    struct tail *streams, *events;
    struct capture *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture *all;
static uint64_t ids;
int heddle_captures;

static struct tail *find(struct tail *t, uint64_t of)
{
    while (t && t->of != of) t = t->next;
    return t;
}

static struct capture *capture_of(uint64_t stream, int event, struct tail **t)
{
    for (struct capture *c = all; c; c = c->next)
        if ((*t = find(event ? c->events : c->streams, stream))) return c;
    return NULL;
}

// tail gives the entry of a stream or event, a new one if need be.
static struct tail *tail(struct tail **list, uint64_t of)
{
    struct tail *t = find(*list, of);
    if (t || !(t = calloc(1, sizeof *t))) return t;
    t->of = of, t->next = *list;
    return *list = t;
}

static int join(struct tail *t, struct node *const *nodes, size_t count)
{
    struct node **more = realloc(t->nodes, (t->count + count + 1) * sizeof *more);
    if (!more) return 2;
    t->nodes = more;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < t->count && more[k] != nodes[i]) k++;
        if (k == t->count) more[t->count++] = nodes[i];
    }
    return 0;
}

static void free_tails(struct tail *t)
{
    for (struct tail *next; t; t = next) next = t->next, free(t->nodes), free(t);
}

int heddle_captured(uint64_t stream, int kind, struct node **n)
{
    struct tail *t;
    int e = 0;
    *n = NULL;
    if (!heddle_captures) return 0;
    pthread_mutex_lock(&lock);
    struct capture *c = capture_of(stream, 0, &t);
    if (c && c->error) e = 901;
    else if (c && !(*n = heddle_node(c->graph, kind, t->nodes, t->count))) e = 2;
    if (*n) t->count = 0, e = join(t, n, 1);
    pthread_mutex_unlock(&lock);
    return e;
}

int heddle_capture_forbids(void)
{
    int e = 0;
    if (!heddle_captures) return 0;
    pthread_mutex_lock(&lock);
    for (struct capture *c = all; c; c = c->next)
        if (c->mode != 2) c->error = e = 906; // the default stream would wait for a stream that runs nothing
    pthread_mutex_unlock(&lock);
    return e;
}

int heddle_capture_record(uint64_t event, uint64_t stream, int *captured)
{
    struct tail *t, *to;
    int e = 0;
    *captured = 0;
    if (!heddle_captures) return 0;
    pthread_mutex_lock(&lock);
    struct capture *c = capture_of(stream, 0, &t);
    if (c && (to = tail(&c->events, event))) {
        *captured = 1;
        to->count = 0;
        e = join(to, t->nodes, t->count);
    }
    pthread_mutex_unlock(&lock);
    return e;
}

int heddle_capture_wait(uint64_t stream, uint64_t event, int *captured)
{
    struct tail *from, *to, *own;
    int e = 0;
    *captured = 0;
    if (!heddle_captures) return 0;
    pthread_mutex_lock(&lock);
    struct capture *c = capture_of(event, 1, &from), *other = capture_of(stream, 0, &own);
    if (c && other && c != other) c->error = e = 902; // two captures would become one
    else if (c && (to = tail(&c->streams, stream))) {
        *captured = 1;
        e = join(to, from->nodes, from->count);
    } else if (other) other->error = e = 905; // an event from outside of the capture
    pthread_mutex_unlock(&lock);
    return e;
}

int heddle_capture_begin(uint64_t stream, int mode)
{
    struct tail *t;
    int e = heddle_connect();
    if (e) return e;
    if (mode < 0 || mode > 2) return 1;
    if (stream <= 1) return 900; // the default stream cannot be captured
    pthread_mutex_lock(&lock);
    struct capture *c = NULL;
    if (capture_of(stream, 0, &t)) e = 401; // it is being captured
    else if (!(c = calloc(1, sizeof *c)) || !(c->graph = heddle_graph()) || !tail(&c->streams, stream)) e = 2;
    if (!e) c->origin = stream, c->mode = mode, c->id = ++ids, c->next = all, all = c, heddle_captures++;
    pthread_mutex_unlock(&lock);
    return e;
}

int heddle_capture_end(uint64_t stream, struct graph **g)
{
    struct capture **p = &all, *c;
    struct tail *own;
    *g = NULL;
    pthread_mutex_lock(&lock);
    while (*p && (*p)->origin != stream) p = &(*p)->next;
    if (!(c = *p)) {
        int e = capture_of(stream, 0, &own) ? 903 : 401; // unmatched: it joined a capture of another stream
        pthread_mutex_unlock(&lock);
        return e;
    }
    *p = c->next;
    heddle_captures--;
    pthread_mutex_unlock(&lock);
    int e = c->error ? 901 : 0;
    own = find(c->streams, stream);
    // Every last node of a stream that joined must be behind one of the origin's.
    for (struct tail *t = c->streams; t && !e; t = t->next)
        for (size_t i = 0; t != own && i < t->count && !e; i++) {
            int after = 0;
            for (size_t k = 0; k < own->count; k++) after |= own->nodes[k] == t->nodes[i];
            for (struct node *n = c->graph->first; n && !after; n = n->next)
                for (size_t k = 0; k < n->count; k++) after |= n->deps[k] == t->nodes[i];
            if (!after) e = 904;
        }
    if (e) heddle_graph_free(c->graph);
    else *g = c->graph;
    free_tails(c->streams), free_tails(c->events);
    free(c);
    return e;
}

int heddle_capture_status(uint64_t stream, uint64_t *id, struct graph **g)
{
    struct tail *t;
    pthread_mutex_lock(&lock);
    struct capture *c = heddle_captures ? capture_of(stream, 0, &t) : NULL;
    int status = !c ? 0 : c->error ? 2 : 1;
    if (c && id) *id = c->id;
    if (c && g) *g = c->graph;
    pthread_mutex_unlock(&lock);
    return status;
}

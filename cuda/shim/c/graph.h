// Graphs of both interfaces. They live in the program, as their nodes are its own calls, some with its own memory.
#pragma once
#include "wire.h"

// The kinds of nodes, by CUgraphNodeType and cudaGraphNodeType.
enum { NODE_KERNEL, NODE_COPY, NODE_FILL, NODE_HOST, NODE_GRAPH, NODE_EMPTY, NODE_WAIT, NODE_RECORD };

struct node {
    int kind;
    struct graph *of;
    struct node *next;
    struct node **deps; // what must be done before
    size_t count;
    const struct node *origin; // in an executable graph: the node that this one was made of

    const struct kernel *kernel;
    const void *func; // by which the program names the kernel
    uint32_t grid[3], block[3];
    uint64_t shared;
    int cooperative;
    char *params;
    void **args; // into params

    struct area area;
    uint64_t fill[VALUES]; // of CALL_FILL
    void *fn, *data;
    struct graph *child;
    uint64_t event;

    // of a launch
    int mark, taken, awaited;
    uint64_t stream, done; // a stream, and the event behind the node in it
};

struct graph {
    struct node *first, **last;
    size_t count;
    // of an executable graph: what its launches use
    uint64_t *streams, *events;
    size_t n_streams, n_events;
};

struct graph *heddle_graph(void);
void heddle_graph_free(struct graph *g);
struct node *heddle_node(struct graph *g, int kind, struct node *const *deps, size_t count);
int heddle_node_depends(struct node *n, struct node *on);
void heddle_node_remove(struct node *n);
int heddle_node_kernel(struct node *n, const struct kernel *k, const uint32_t grid[3], const uint32_t block[3],
                       uint64_t shared, int cooperative, const char *params);
// heddle_node_fill sets height rows, pitch apart, of width elements of size bytes.
int heddle_node_fill(struct node *n, uint64_t dst, uint64_t pitch, uint32_t value, uint32_t size, uint64_t width,
                     uint64_t height);
int heddle_graph_depend(struct graph *g, struct node *const *from, struct node *const *to, size_t count);
// heddle_graph_nodes gives up to *count nodes, or how many there are; roots are those that depend on none.
int heddle_graph_nodes(struct graph *g, struct node **nodes, size_t *count, int roots);
void heddle_node_set(struct node *to, const struct node *from); // takes what from does
struct graph *heddle_graph_clone(const struct graph *g, int expand);
struct node *heddle_graph_find(struct graph *g, const struct node *origin);
int heddle_graph_update(struct graph *exec, const struct graph *g, struct node **bad);
int heddle_graph_launch(struct graph *exec, uint64_t stream);

// Capture of streams. heddle_captured makes a node of a call if its stream is being captured.
extern int heddle_captures; // how many captures there are
int heddle_captured(uint64_t stream, int kind, struct node **n);
int heddle_capture_forbids(void); // the error of a call that waits, while there is a capture
int heddle_capture_record(uint64_t event, uint64_t stream, int *captured);
int heddle_capture_wait(uint64_t stream, uint64_t event, int *captured);
int heddle_capture_begin(uint64_t stream, int mode);
int heddle_capture_end(uint64_t stream, struct graph **g);
int heddle_capture_status(uint64_t stream, uint64_t *id, struct graph **g); // 0 none, 1 active, 2 invalid

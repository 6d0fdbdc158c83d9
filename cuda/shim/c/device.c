// What both interfaces do alike: modules, functions, launches, copies.
#include "graph.h"

#include <sys/mman.h>
#include <unistd.h>

// image_bytes is the length of a fat binary or of PTX text.
static size_t image_bytes(const void *image)
{
    const uint32_t *w = image;
    if (w[0] == 0xba55ed50) return *(const uint16_t *)((const char *)image + 6) + *(const uint64_t *)(w + 2);
    if (w[0] == 0x464c457f) return 64; // an ELF file: heddle says what is wrong with it
    return strlen(image);
}

static int load(const void *image, int how, int *number)
{
    const uint32_t *w = image;
    if (w[0] == 0x466243b1) image = *(const void *const *)(w + 2);
    size_t n = image_bytes(image);
    int e = heddle_connect();
    if (e) return e;
    char *to = heddle_stage(n);
    if (!to) return 2;
    memcpy(to, image, n);
    uint64_t v[VALUES] = {n, (uint64_t)how};
    e = heddle_call(CALL_MODULE, v, NULL, 0, NULL, 0);
    heddle_unstage(n);
    *number = (int)v[0];
    return e;
}
int heddle_load(const void *image, int *module) { return load(image, 0, module); }
int heddle_load_part(const void *image, int *part) { return load(image, 1, part); }
int heddle_link_part(int part, int *module)
{
    uint64_t v[VALUES] = {(uint64_t)part, 2};
    int e = heddle_call(CALL_MODULE, v, NULL, 0, NULL, 0);
    *module = (int)v[0];
    return e;
}

int heddle_function(int module, const char *name, struct kernel *k)
{
    static __thread uint32_t layout[PAYLOAD / 4];
    uint64_t v[VALUES] = {(uint64_t)module};
    int e = heddle_call(CALL_FUNCTION, v, name, strlen(name), layout, sizeof layout);
    if (e) return e;
    k->id = v[0];
    k->params = (uint32_t)v[1];
    k->bytes = (uint32_t)v[2];
    memcpy(k->attributes, layout, sizeof k->attributes);
    k->layout = malloc(8 * (size_t)k->params + 8);
    if (!k->layout) return 2;
    memcpy(k->layout, layout + 16, 8 * (size_t)k->params);
    return 0;
}

// heddle_parameters puts the parameters of a launch into a buffer of k->bytes.
int heddle_parameters(const struct kernel *k, void **args, void **extra, char *to)
{
    if (extra) { // 1, pointer, 2, pointer to size, 0
        const void *from = NULL;
        size_t n = 0;
        for (int i = 0; extra[i]; i += 2) {
            if (extra[i] == (void *)1) from = extra[i + 1];
            else if (extra[i] == (void *)2) n = *(size_t *)extra[i + 1];
            else return 1;
        }
        if (n > k->bytes) n = k->bytes;
        memset(to, 0, k->bytes);
        if (from) memcpy(to, from, n);
        return 0;
    }
    if (k->params && !args) return 1;
    for (uint32_t i = 0; i < k->params; i++) memcpy(to + k->layout[2 * i], args[i], k->layout[2 * i + 1]);
    return 0;
}

int heddle_start(const struct kernel *k, const uint32_t grid[3], const uint32_t block[3], uint64_t shared,
                 uint64_t stream, int cooperative, const char *params)
{
    uint64_t v[VALUES] = {k->id,  grid[0] | (uint64_t)grid[1] << 32,  grid[2] | (uint64_t)block[0] << 32,
                          block[1] | (uint64_t)block[2] << 32, shared, stream, (uint64_t)cooperative};
    return heddle_call(CALL_LAUNCH, v, params, k->bytes, NULL, 0);
}

int heddle_launch(const struct kernel *k, const uint32_t grid[3], const uint32_t block[3], uint64_t shared,
                  uint64_t stream, int cooperative, void **args, void **extra)
{
    char params[PAYLOAD];
    if (k->bytes > sizeof params) return 1;
    int e = heddle_parameters(k, args, extra, params);
    if (e) return e;
    struct node *n;
    if ((e = heddle_captured(stream, NODE_KERNEL, &n))) return e;
    if (n) return heddle_node_kernel(n, k, grid, block, shared, cooperative, params);
    return heddle_start(k, grid, block, shared, stream, cooperative, params);
}

// rows copies height rows of width bytes.
static void rows(char *dst, size_t dpitch, const char *src, size_t spitch, size_t width, size_t height)
{
    if (dpitch == width && spitch == width) width *= height, height = 1;
    for (; height > 0; height--, dst += dpitch, src += spitch) memmove(dst, src, width);
}

static int copy_rows(uint64_t dst, uint64_t dpitch, uint64_t src, uint64_t spitch, uint64_t width, uint64_t height,
                     int kind, uint64_t stream, int async)
{
    int e, to = heddle_in_window((void *)dst), from = heddle_in_window((void *)src);
    uint64_t v[VALUES] = {dst, dpitch, src, spitch, width, height, stream, (uint64_t)async};
    if (height > 1 && (dpitch < width || spitch < width)) return 12;
    if (height == 1) v[1] = v[3] = width;
    if (to && from) return heddle_call(CALL_COPY, v, NULL, 0, NULL, 0);
    if (!to && !from) {
        if (kind == 1 || kind == 2 || kind == 3) { // a side ought to be memory of the machine
            char why[160];
            snprintf(why, sizeof why, "neither 0x%llx nor 0x%llx is memory that this program has allocated on the machine",
                     (unsigned long long)dst, (unsigned long long)src);
            heddle_refuse("cudaMemcpy", why);
            return 1;
        }
        uint64_t s[VALUES] = {stream};
        if ((e = heddle_call(CALL_SYNC, s, NULL, 0, NULL, 0))) return e;
        rows((char *)dst, dpitch, (const char *)src, spitch, width, height);
        return 0;
    }
    uint64_t n = width * height;
    if (width > HEDDLE_STAGING_BYTES / height) return 1;
    char *staging = heddle_stage(n);
    if (!staging) return 2;
    if (to) {
        rows(staging, width, (const char *)src, v[3], width, height);
        v[2] = HEDDLE_STAGED, v[3] = width;
    } else {
        v[0] = HEDDLE_STAGED, v[1] = width, v[7] = 0; // memory of the program has its bytes when the call returns
    }
    e = heddle_call(CALL_COPY, v, NULL, 0, NULL, 0);
    if (!to && !e) rows((char *)dst, height == 1 ? width : dpitch, staging, width, width, height);
    heddle_unstage(n);
    return e;
}

int heddle_copy_area(const struct area *a, uint64_t stream, int async)
{
    int e = heddle_connect();
    if (e || !a->width || !a->height || !a->depth) return e;
    if (a->kind < 0 || a->kind > 4) return 21;
    struct node *n = NULL;
    if ((e = async ? heddle_captured(stream, NODE_COPY, &n) : heddle_capture_forbids())) return e;
    if (n) return n->area = *a, 0;
    for (uint64_t z = 0; z < a->depth && !e; z++)
        e = copy_rows(a->dst + z * a->dslice, a->dpitch, a->src + z * a->sslice, a->spitch, a->width, a->height, a->kind,
                      stream, async);
    return e;
}

int heddle_copy(uint64_t dst, uint64_t dpitch, uint64_t src, uint64_t spitch, uint64_t width, uint64_t height, int kind,
                uint64_t stream, int async)
{
    struct area a = {dst, dpitch, 0, src, spitch, 0, width, height, 1, kind};
    return heddle_copy_area(&a, stream, async);
}

int heddle_fill(uint64_t dst, uint64_t pitch, uint64_t value, int size, uint64_t width, uint64_t height, uint64_t stream,
                int async)
{
    int e = heddle_connect();
    if (e || !width || !height) return e;
    if (!heddle_in_window((void *)dst)) return 1;
    if (height == 1) pitch = width * (uint64_t)size;
    uint64_t v[VALUES] = {dst, pitch, value, (uint64_t)size, width, height, stream, (uint64_t)async};
    struct node *n = NULL;
    if ((e = async ? heddle_captured(stream, NODE_FILL, &n) : heddle_capture_forbids())) return e;
    if (n) return memcpy(n->fill, v, sizeof v), 0;
    return heddle_call(CALL_FILL, v, NULL, 0, NULL, 0);
}

int heddle_prefetch(uint64_t ptr, uint64_t bytes, int to_device, uint64_t stream)
{
    uint64_t v[VALUES] = {ptr, bytes, (uint64_t)to_device, stream};
    return heddle_call(CALL_PREFETCH, v, NULL, 0, NULL, 0);
}

int heddle_event_record(uint64_t event, uint64_t stream)
{
    uint64_t v[VALUES] = {event, stream};
    int captured, e = heddle_capture_record(event, stream, &captured);
    return e || captured ? e : heddle_call(CALL_EVENT_RECORD, v, NULL, 0, NULL, 0);
}

int heddle_stream_wait(uint64_t stream, uint64_t event)
{
    uint64_t v[VALUES] = {stream, event};
    int captured, e = heddle_capture_wait(stream, event, &captured);
    return e || captured ? e : heddle_call(CALL_STREAM_WAIT, v, NULL, 0, NULL, 0);
}

int heddle_allocate(uint64_t *to, size_t bytes, int kind)
{
    uint64_t v[VALUES] = {bytes, (uint64_t)kind};
    int e = heddle_call(CALL_ALLOCATE, v, NULL, 0, NULL, 0);
    if (!e) *to = v[0];
    return e;
}

int heddle_host_call(uint64_t stream, void *fn, void *data, int with_status)
{
    uint64_t v[VALUES] = {stream, (uint64_t)fn, (uint64_t)data, (uint64_t)with_status};
    struct node *n;
    if (!fn) return 1;
    int e = heddle_captured(stream, NODE_HOST, &n);
    if (e) return e;
    if (n) return n->fn = fn, n->data = data, 0;
    return heddle_call(CALL_HOST, v, NULL, 0, NULL, 0);
}

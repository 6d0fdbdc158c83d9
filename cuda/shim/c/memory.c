// Memory of the runtime API.
#include "array.h"
#include "runtime.h"

static int allocate(void **ptr, size_t bytes, int kind)
{
    int e = heddle_ready();
    if (e) return e;
    if (!ptr) return 1;
    if (bytes == 0) {
        *ptr = NULL;
        return 0;
    }
    return heddle_allocate((uint64_t *)ptr, bytes, kind);
}
static int release(void *ptr)
{
    int e = heddle_ready();
    if (e || !ptr) return e;
    uint64_t v[VALUES] = {(uint64_t)ptr};
    return heddle_call(CALL_FREE, v, NULL, 0, NULL, 0);
}

cudaError_t cudaMalloc(void **ptr, size_t size) { RETURN(allocate(ptr, size, 0)); }
cudaError_t cudaMallocManaged(void **ptr, size_t size, unsigned flags)
{
    (void)flags;
    if (size == 0) RETURN(1);
    RETURN(allocate(ptr, size, 1));
}
cudaError_t cudaMallocHost(void **ptr, size_t size) { RETURN(allocate(ptr, size, 2)); }
cudaError_t cudaHostAlloc(void **ptr, size_t size, unsigned flags)
{
    (void)flags; // all of it is portable and mapped
    RETURN(allocate(ptr, size, 2));
}
cudaError_t cudaMallocAsync(void **ptr, size_t size, cudaStream_t stream)
{
    (void)stream;
    RETURN(allocate(ptr, size, 0));
}
cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    (void)pool, (void)stream;
    RETURN(allocate(ptr, size, 0));
}
cudaError_t cudaFree(void *ptr) { RETURN(release(ptr)); }
cudaError_t cudaFreeHost(void *ptr) { RETURN(release(ptr)); }
cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream)
{
    if (heddle_capture_status((uint64_t)stream, NULL, NULL)) RETURN(0); // launches of the graph still use it
    RETURN(release(ptr));
}
static size_t pitched(size_t width) { return (width + 511) & ~(size_t)511; }
cudaError_t cudaMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
    if (!pitch || height && pitched(width) > SIZE_MAX / height) RETURN(1);
    *pitch = pitched(width);
    RETURN(allocate(ptr, *pitch * height, 0));
}
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent e)
{
    if (!p || e.height && e.depth && pitched(e.width) > SIZE_MAX / e.height / e.depth) RETURN(1);
    p->pitch = pitched(e.width), p->xsize = e.width, p->ysize = e.height;
    RETURN(allocate(&p->ptr, p->pitch * e.height * e.depth, 0));
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned flags)
{
    (void)flags;
    int e = heddle_ready();
    RETURN(e ? e : heddle_register(ptr, size));
}
cudaError_t cudaHostUnregister(void *ptr)
{
    int e = heddle_ready();
    RETURN(e ? e : heddle_unregister(ptr));
}

static int info(const void *ptr, uint64_t v[VALUES])
{
    int e = heddle_ready();
    if (e) return e;
    v[0] = (uint64_t)ptr;
    return heddle_call(CALL_POINTER, v, NULL, 0, NULL, 0);
}
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    (void)flags;
    int e = heddle_ready();
    if (!e && !(*device = heddle_device_pointer(host))) e = 1;
    RETURN(e);
}
cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    uint64_t v[VALUES];
    int e = info(host, v);
    if (!e && v[0] != 1) e = 1;
    if (!e) *flags = cudaHostAllocMapped | cudaHostAllocPortable;
    RETURN(e);
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *ptr)
{
    uint64_t v[VALUES];
    int e = info(ptr, v);
    if (e) RETURN(e);
    a->type = (enum cudaMemoryType)v[0];
    a->device = v[0] == 0 ? -2 : 0;
    a->devicePointer = v[0] == 0 ? NULL : (void *)ptr;
    a->hostPointer = v[0] == 2 ? NULL : (void *)ptr;
    RETURN(0);
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    uint64_t v[VALUES] = {0};
    int e = heddle_ready();
    if (!e) e = heddle_call(CALL_MEMORY, v, NULL, 0, NULL, 0);
    if (!e) *free_bytes = v[0], *total = v[1];
    RETURN(e);
}

// ---- copies

static int copy(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind,
                cudaStream_t stream, int async)
{
    int e = heddle_ready();
    return e ? e : heddle_copy((uint64_t)dst, dpitch, (uint64_t)src, spitch, width, height, kind, (uint64_t)stream, async);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    RETURN(copy(dst, count, src, count, count, 1, kind, 0, 0));
}
cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RETURN(copy(dst, count, src, count, count, 1, kind, stream, 1));
}
cudaError_t cudaMemcpyPeer(void *dst, int to, const void *src, int from, size_t count)
{
    if (to || from) RETURN(101);
    RETURN(copy(dst, count, src, count, count, 1, 4, 0, 0));
}
cudaError_t cudaMemcpyPeerAsync(void *dst, int to, const void *src, int from, size_t count, cudaStream_t stream)
{
    if (to || from) RETURN(101);
    RETURN(copy(dst, count, src, count, count, 1, 4, stream, 1));
}
cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    RETURN(copy(dst, dpitch, src, spitch, width, height, kind, 0, 0));
}
cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RETURN(copy(dst, dpitch, src, spitch, width, height, kind, stream, 1));
}
// end is where a copy begins at one of its ends, and how far its rows and slices are apart there. Positions count texels
// in an array, bytes elsewhere.
static int end(cudaArray_const_t array, const struct cudaPitchedPtr *p, const struct cudaPos *pos, const struct area *a,
               uint64_t *at, uint64_t *pitch, uint64_t *slice)
{
    const struct array *r = (const struct array *)array;
    if (!r) {
        *pitch = p->pitch, *slice = p->pitch * p->ysize;
        *at = (uint64_t)p->ptr + pos->x + p->pitch * (pos->y + p->ysize * pos->z);
        return 0;
    }
    *pitch = r->pitch, *slice = r->pitch * (r->height ? r->height : 1);
    return heddle_array_place(r, pos->x * (uint64_t)heddle_texel_bytes(&r->texel), pos->y, pos->z, a->width, a->height,
                              a->depth, at);
}
int heddle_area(const struct cudaMemcpy3DParms *p, struct area *a)
{
    if (!p) return 1;
    const struct array *array = (const struct array *)(p->dstArray ? p->dstArray : p->srcArray);
    *a = (struct area){.width = p->extent.width, .height = p->extent.height, .depth = p->extent.depth, .kind = (int)p->kind};
    if (array) a->width *= (uint64_t)heddle_texel_bytes(&array->texel);
    int e = end(p->dstArray, &p->dstPtr, &p->dstPos, a, &a->dst, &a->dpitch, &a->dslice);
    return e ? e : end(p->srcArray, &p->srcPtr, &p->srcPos, a, &a->src, &a->spitch, &a->sslice);
}
static int copy3(const struct cudaMemcpy3DParms *p, cudaStream_t stream, int async)
{
    struct area a;
    int e = heddle_ready();
    if (!e) e = heddle_area(p, &a);
    return e ? e : heddle_copy_area(&a, (uint64_t)stream, async);
}
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) { RETURN(copy3(p, 0, 0)); }
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream) { RETURN(copy3(p, stream, 1)); }

static int symbol_copy(const void *symbol, void *host, size_t count, size_t offset, int kind, int to, cudaStream_t stream,
                       int async)
{
    uint64_t addr, bytes;
    int e = heddle_symbol(symbol, &addr, &bytes);
    if (e) return e;
    if (offset > bytes || count > bytes - offset) return 1;
    void *there = (void *)(addr + offset);
    return to ? copy(there, count, host, count, count, 1, kind, stream, async)
              : copy(host, count, there, count, count, 1, kind, stream, async);
}
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    RETURN(symbol_copy(symbol, (void *)src, count, offset, kind, 1, 0, 0));
}
cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    RETURN(symbol_copy(symbol, dst, count, offset, kind, 0, 0, 0));
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RETURN(symbol_copy(symbol, (void *)src, count, offset, kind, 1, stream, 1));
}
cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RETURN(symbol_copy(symbol, dst, count, offset, kind, 0, stream, 1));
}
cudaError_t cudaGetSymbolAddress(void **ptr, const void *symbol)
{
    uint64_t addr, bytes;
    int e = heddle_symbol(symbol, &addr, &bytes);
    if (!e) *ptr = (void *)addr;
    RETURN(e);
}
cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    uint64_t addr, bytes;
    int e = heddle_symbol(symbol, &addr, &bytes);
    if (!e) *size = bytes;
    RETURN(e);
}

// ---- fills

static int fill(void *ptr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream, int async)
{
    int e = heddle_ready();
    return e ? e : heddle_fill((uint64_t)ptr, pitch, (uint64_t)(value & 255), 1, width, height, (uint64_t)stream, async);
}
cudaError_t cudaMemset(void *ptr, int value, size_t count) { RETURN(fill(ptr, count, value, count, 1, 0, 0)); }
cudaError_t cudaMemsetAsync(void *ptr, int value, size_t count, cudaStream_t stream)
{
    RETURN(fill(ptr, count, value, count, 1, stream, 1));
}
cudaError_t cudaMemset2D(void *ptr, size_t pitch, int value, size_t width, size_t height)
{
    RETURN(fill(ptr, pitch, value, width, height, 0, 0));
}
cudaError_t cudaMemset2DAsync(void *ptr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    RETURN(fill(ptr, pitch, value, width, height, stream, 1));
}
static int fill3(struct cudaPitchedPtr p, int value, struct cudaExtent e, cudaStream_t stream, int async)
{
    for (size_t z = 0; z < e.depth; z++) {
        int err = fill((char *)p.ptr + z * p.pitch * p.ysize, p.pitch, value, e.width, e.height, stream, async);
        if (err) return err;
    }
    return 0;
}
cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent e) { RETURN(fill3(p, value, e, 0, 0)); }
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent e, cudaStream_t stream)
{
    RETURN(fill3(p, value, e, stream, 1));
}

// ---- managed memory

cudaError_t cudaMemPrefetchAsync(const void *ptr, size_t count, int device, cudaStream_t stream)
{
    int e = heddle_ready();
    RETURN(e ? e : heddle_prefetch((uint64_t)ptr, count, device >= 0, (uint64_t)stream));
}
cudaError_t cudaMemAdvise(const void *ptr, size_t count, enum cudaMemoryAdvise advice, int device)
{
    uint64_t v[VALUES] = {(uint64_t)ptr, count, (uint64_t)advice, (uint64_t)(int64_t)device};
    int e = heddle_ready();
    RETURN(e ? e : heddle_call(CALL_ADVISE, v, NULL, 0, NULL, 0));
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *ptr, size_t length, unsigned flags)
{
    (void)stream, (void)ptr, (void)length, (void)flags; // every kernel may touch all managed memory
    RETURN(heddle_ready());
}

// Memory of the driver API.
#include "array.h"
#include "driver.h"

static int allocate(uint64_t *to, size_t bytes, int kind) { return to && bytes ? heddle_allocate(to, bytes, kind) : 1; }
CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes) { return allocate((uint64_t *)p, bytes, 0); }
CUresult cuMemAllocManaged(CUdeviceptr *p, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate((uint64_t *)p, bytes, 1);
}
CUresult cuMemAllocHost_v2(void **p, size_t bytes) { return allocate((uint64_t *)p, bytes, 2); }
CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate((uint64_t *)p, bytes, 2);
}
CUresult cuMemFree_v2(CUdeviceptr p) { return p ? heddle_simple(CALL_FREE, p, 0) : 0; }
CUresult cuMemFreeHost(void *p) { return heddle_simple(CALL_FREE, (uint64_t)p, 0); }
CUresult cuMemGetInfo_v2(size_t *left, size_t *total)
{
    uint64_t v[VALUES] = {0};
    int e = heddle_call(CALL_MEMORY, v, NULL, 0, NULL, 0);
    if (!e) *left = v[0], *total = v[1];
    return e;
}
static int copy(uint64_t dst, uint64_t src, size_t n, int kind, CUstream s, int async)
{
    return heddle_copy(dst, n, src, n, n, 1, kind, (uint64_t)s, async);
}
CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t n) { return copy(dst, src, n, 4, 0, 0); }
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s) { return copy(dst, src, n, 4, s, 1); }
CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t n) { return copy(dst, (uint64_t)src, n, 1, 0, 0); }
CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t n) { return copy((uint64_t)dst, src, n, 2, 0, 0); }
CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t n) { return copy(dst, src, n, 3, 0, 0); }
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t n, CUstream s)
{
    return copy(dst, (uint64_t)src, n, 1, s, 1);
}
CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t n, CUstream s)
{
    return copy((uint64_t)dst, src, n, 2, s, 1);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s) { return copy(dst, src, n, 3, s, 1); }

// ---- fills: an asynchronous one does not wait, as the others do not either

static int fill(CUdeviceptr p, size_t pitch, uint64_t value, int size, size_t width, size_t height, CUstream s, int async)
{
    return heddle_fill(p, pitch, value, size, width, height, (uint64_t)s, async);
}
#define FILLS(bits, bytes, type)                                                                                       \
    CUresult cuMemsetD##bits##_v2(CUdeviceptr p, type value, size_t n) { return fill(p, 0, value, bytes, n, 1, 0, 0); } \
    CUresult cuMemsetD##bits##Async(CUdeviceptr p, type value, size_t n, CUstream s)                                   \
    {                                                                                                                  \
        return fill(p, 0, value, bytes, n, 1, s, 1);                                                                   \
    }                                                                                                                  \
    CUresult cuMemsetD2D##bits##_v2(CUdeviceptr p, size_t pitch, type value, size_t width, size_t height)              \
    {                                                                                                                  \
        return fill(p, pitch, value, bytes, width, height, 0, 0);                                                      \
    }                                                                                                                  \
    CUresult cuMemsetD2D##bits##Async(CUdeviceptr p, size_t pitch, type value, size_t width, size_t height, CUstream s) \
    {                                                                                                                  \
        return fill(p, pitch, value, bytes, width, height, s, 1);                                                      \
    }
FILLS(8, 1, unsigned char)
FILLS(16, 2, unsigned short)
FILLS(32, 4, unsigned)

// ---- copies of rows and slices

// where is one end of a copy of CUDA_MEMCPY3D.
struct where {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, pitch, height;
};
// end is where the copy begins there, and how far its rows and slices are apart.
static int end(const struct where *w, const struct area *a, uint64_t *at, uint64_t *pitch, uint64_t *slice)
{
    const struct array *r = (const struct array *)w->array;
    *pitch = w->pitch ? w->pitch : a->width, *slice = *pitch * (w->height ? w->height : a->height);
    switch (w->type) {
    case CU_MEMORYTYPE_HOST: *at = (uint64_t)w->host; break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: *at = w->device; break;
    case CU_MEMORYTYPE_ARRAY:
        if (!r) return 1;
        *pitch = r->pitch, *slice = r->pitch * (r->height ? r->height : 1);
        return heddle_array_place(r, w->x, w->y, w->z, a->width, a->height, a->depth, at);
    default: return 1;
    }
    *at += w->x + *pitch * w->y + *slice * w->z;
    return 0;
}
int heddle_driver_area(const CUDA_MEMCPY3D *p, struct area *a)
{
    if (!p) return 1;
    *a = (struct area){.width = p->WidthInBytes, .height = p->Height, .depth = p->Depth, .kind = 4};
    const struct where to = {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes, p->dstY, p->dstZ,
                             p->dstPitch, p->dstHeight};
    const struct where from = {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes, p->srcY, p->srcZ,
                               p->srcPitch, p->srcHeight};
    int e = end(&to, a, &a->dst, &a->dpitch, &a->dslice);
    return e ? e : end(&from, a, &a->src, &a->spitch, &a->sslice);
}
static int copy3(const CUDA_MEMCPY3D *p, CUstream s, int async)
{
    struct area a;
    int e = heddle_driver_area(p, &a);
    return e ? e : heddle_copy_area(&a, (uint64_t)s, async);
}
static int copy2(const CUDA_MEMCPY2D *p, CUstream s, int async)
{
    if (!p) return 1;
    CUDA_MEMCPY3D q = {.srcXInBytes = p->srcXInBytes, .srcY = p->srcY, .srcMemoryType = p->srcMemoryType,
                       .srcHost = p->srcHost, .srcDevice = p->srcDevice, .srcArray = p->srcArray,
                       .srcPitch = p->srcPitch, .dstXInBytes = p->dstXInBytes, .dstY = p->dstY,
                       .dstMemoryType = p->dstMemoryType, .dstHost = p->dstHost, .dstDevice = p->dstDevice,
                       .dstArray = p->dstArray, .dstPitch = p->dstPitch, .WidthInBytes = p->WidthInBytes,
                       .Height = p->Height, .Depth = 1};
    return copy3(&q, s, async);
}
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *p) { return copy2(p, 0, 0); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *p) { return copy2(p, 0, 0); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream s) { return copy2(p, s, 1); }
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *p) { return copy3(p, 0, 0); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *p, CUstream s) { return copy3(p, s, 1); }
CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n)
{
    (void)to, (void)from; // all contexts are on one device
    return copy(dst, src, n, 3, 0, 0);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n, CUstream s)
{
    (void)to, (void)from;
    return copy(dst, src, n, 3, s, 1);
}

// ---- other allocations

CUresult cuMemAllocPitch_v2(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned element)
{
    if (!p || !pitch || !width || !height || element != 4 && element != 8 && element != 16) return 1;
    *pitch = (width + 511) & ~(size_t)511;
    return *pitch < width || *pitch > SIZE_MAX / height ? 2 : allocate((uint64_t *)p, *pitch * height, 0);
}
CUresult cuMemAllocAsync(CUdeviceptr *p, size_t bytes, CUstream s) { return (void)s, allocate((uint64_t *)p, bytes, 0); }
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t bytes, CUmemoryPool pool, CUstream s)
{
    (void)pool, (void)s;
    return allocate((uint64_t *)p, bytes, 0);
}
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s)
{
    if (heddle_capture_status((uint64_t)s, NULL, NULL)) return 0; // launches of the graph still use it
    return cuMemFree_v2(p);
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) { return (void)pool, (void)keep, heddle_connect(); }
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    (void)pool, (void)attribute, (void)value; // how soon freed memory goes back has no meaning here
    return heddle_connect();
}
CUresult cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags) { return (void)flags, heddle_register(p, bytes); }
CUresult cuMemHostUnregister(void *p) { return heddle_unregister(p); }
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *host, unsigned flags)
{
    void *at = heddle_device_pointer(host);
    if (!device || flags || !at) return 1;
    *device = (CUdeviceptr)at;
    return 0;
}
CUresult cuMemHostGetFlags(unsigned *flags, void *host)
{
    if (!flags || !heddle_device_pointer(host)) return 1;
    *flags = 3; // portable and mapped
    return 0;
}

// ---- what lies at an address

// at gives type (a CUmemorytype, 0: nothing of the machine's), start and bytes.
static int at(CUdeviceptr p, uint64_t v[VALUES])
{
    v[0] = p;
    return heddle_call(CALL_POINTER, v, NULL, 0, NULL, 0);
}
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
    uint64_t v[VALUES] = {0};
    int e = at(p, v);
    if (!e && !v[0]) e = 500;
    if (!e && base) *base = v[1];
    if (!e && bytes) *bytes = v[2];
    return e;
}
CUresult cuPointerGetAttribute(void *to, CUpointer_attribute attribute, CUdeviceptr p)
{
    uint64_t v[VALUES] = {0};
    int e = to ? at(p, v) : 1;
    if (e) return e;
    if (!v[0]) return 1; // the program's own memory
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return cuCtxGetCurrent(to);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *(unsigned *)to = v[0] == 1 ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE; return 0;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)to = p; return 0;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (v[0] == 2) return 1;
        *(CUdeviceptr *)to = p;
        return 0;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)to = v[0] == 3; return 0;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)to = 0; return 0;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)to = v[1]; return 0;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)to = v[2]; return 0;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned *)to = 1; return 0;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)to = v[1]; return 0;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *(unsigned *)to = 0; return 0;
    }
    return heddle_unsupported("this attribute of a pointer");
}
CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute *attributes, void **to, CUdeviceptr p)
{
    for (unsigned i = 0; i < n; i++) {
        int e = cuPointerGetAttribute(to[i], attributes[i], p);
        if (e == 1) memset(to[i], 0, attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? 4 : sizeof(int)); // not known
        else if (e) return e;
    }
    return 0;
}

// ---- managed memory

CUresult cuMemPrefetchAsync(CUdeviceptr p, size_t bytes, CUdevice device, CUstream s)
{
    return heddle_prefetch(p, bytes, device >= 0, (uint64_t)s);
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr p, size_t bytes, CUmemLocation to, unsigned flags, CUstream s)
{
    return flags ? 1 : heddle_prefetch(p, bytes, to.type == CU_MEM_LOCATION_TYPE_DEVICE, (uint64_t)s);
}
CUresult cuMemAdvise(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUdevice device)
{
    uint64_t v[VALUES] = {p, bytes, (uint64_t)advice, (uint64_t)(int64_t)device};
    return heddle_call(CALL_ADVISE, v, NULL, 0, NULL, 0);
}
CUresult cuMemAdvise_v2(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUmemLocation at)
{
    return cuMemAdvise(p, bytes, advice, at.type == CU_MEM_LOCATION_TYPE_DEVICE ? at.id : -1);
}

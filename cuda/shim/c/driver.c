// The driver API. A context is a mark, as there is one device; its stack is each thread's own.
#include "wire.h"

#define HEDDLE_LIBRARY
#include "cuda.h"

static int call(int number, uint64_t a, uint64_t b)
{
    uint64_t v[VALUES] = {a, b};
    return heddle_call(number, v, NULL, 0, NULL, 0);
}

// ---- devices and contexts

static __thread CUcontext stack[16];
static __thread int depth;
static int contexts; // their addresses are not used, only compared

CUresult cuInit(unsigned flags) { return flags ? 1 : heddle_connect(); }
CUresult cuDriverGetVersion(int *version)
{
    if (!version) return 1;
    *version = HEDDLE_DRIVER_VERSION;
    return 0;
}
CUresult cuDeviceGetCount(int *count)
{
    int e = heddle_connect();
    if (!e) *count = 1;
    return e;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    if (ordinal) return 101;
    *device = 0;
    return heddle_connect();
}
static int machine(const int32_t **list, const char **name, uint64_t *bytes, CUdevice device)
{
    int n;
    return device ? 101 : heddle_attributes(list, &n, name, bytes);
}
CUresult cuDeviceGetName(char *to, int n, CUdevice device)
{
    const int32_t *list;
    const char *name;
    uint64_t bytes;
    int e = machine(&list, &name, &bytes, device);
    if (!e && n > 0) snprintf(to, (size_t)n, "%s", name);
    return e;
}
CUresult cuDeviceTotalMem_v2(size_t *to, CUdevice device)
{
    const int32_t *list;
    const char *name;
    uint64_t bytes;
    int e = machine(&list, &name, &bytes, device);
    if (!e) *to = bytes;
    return e;
}
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    const int32_t *list;
    const char *name;
    uint64_t bytes;
    int e = machine(&list, &name, &bytes, device);
    if (!e && (!value || attribute <= 0 || attribute > 255)) e = 1;
    if (!e) *value = list[attribute];
    return e;
}
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    int e = cuDeviceGetAttribute(major, 75, device);
    return e ? e : cuDeviceGetAttribute(minor, 76, device);
}
CUresult cuCtxPushCurrent_v2(CUcontext c)
{
    if (depth == 16) return 2;
    stack[depth++] = c;
    return 0;
}
CUresult cuCtxPopCurrent_v2(CUcontext *c)
{
    if (!depth) return 201;
    depth--;
    if (c) *c = stack[depth];
    return 0;
}
CUresult cuCtxCreate_v2(CUcontext *c, unsigned flags, CUdevice device)
{
    (void)flags;
    int e = device ? 101 : heddle_connect();
    if (e) return e;
    *c = (CUcontext)(uintptr_t)(0x1000 + 16 * __sync_add_and_fetch(&contexts, 1));
    return cuCtxPushCurrent_v2(*c);
}
CUresult cuCtxDestroy_v2(CUcontext c)
{
    if (depth && stack[depth - 1] == c) depth--;
    return call(CALL_SYNC_ALL, 0, 0);
}
CUresult cuCtxSetCurrent(CUcontext c)
{
    if (depth) depth--;
    return c ? cuCtxPushCurrent_v2(c) : 0;
}
CUresult cuCtxGetCurrent(CUcontext *c)
{
    *c = depth ? stack[depth - 1] : NULL;
    return heddle_connect();
}
CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return depth ? 0 : 201;
}
CUresult cuCtxSynchronize(void) { return call(CALL_SYNC_ALL, 0, 0); }
CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice device)
{
    *c = (CUcontext)0x1000;
    return device ? 101 : heddle_connect();
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return device ? 101 : 0; }

// ---- modules

CUresult cuModuleLoadData(CUmodule *m, const void *image)
{
    int number, e = image ? heddle_load(image, &number) : 1;
    if (!e) *m = (CUmodule)(uintptr_t)(number + 1);
    return e;
}
CUresult cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned n, int *options, void **values)
{
    (void)n, (void)options, (void)values; // of a compiler that is not there; what is wrong with PTX is on stderr
    return cuModuleLoadData(m, image);
}
CUresult cuModuleLoadFatBinary(CUmodule *m, const void *image) { return cuModuleLoadData(m, image); }
CUresult cuModuleLoad(CUmodule *m, const char *file)
{
    FILE *f = fopen(file, "rb");
    if (!f) return 301;
    char *text = NULL;
    size_t n = 0, got;
    do {
        char *more = realloc(text, n + 65537);
        if (!more) break;
        text = more;
        got = fread(text + n, 1, 65536, f);
        n += got;
        text[n] = 0;
    } while (got);
    fclose(f);
    int e = text ? cuModuleLoadData(m, text) : 2;
    free(text);
    return e;
}
CUresult cuModuleUnload(CUmodule m) { return call(CALL_MODULE_END, (uint64_t)m - 1, 0); }
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name)
{
    struct kernel *k = calloc(1, sizeof *k);
    if (!k) return 2;
    int e = heddle_function((int)(uintptr_t)m - 1, name, k);
    if (e) free(k);
    else *f = (CUfunction)k;
    return e;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr *addr, size_t *bytes, CUmodule m, const char *name)
{
    uint64_t v[VALUES] = {(uint64_t)m - 1};
    int e = heddle_call(CALL_GLOBAL, v, name, strlen(name), NULL, 0);
    if (!e && addr) *addr = v[0];
    if (!e && bytes) *bytes = v[1];
    return e;
}
CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction f)
{
    if (!f) return 400;
    if (!value || attribute < 0 || attribute > 15) return 1;
    *value = ((struct kernel *)f)->attributes[attribute];
    return 0;
}
CUresult cuFuncSetAttribute(CUfunction f, int attribute, int value)
{
    if (!f) return 400;
    uint64_t v[VALUES] = {((struct kernel *)f)->id, (uint64_t)attribute, (uint64_t)(int64_t)value};
    int e = heddle_call(CALL_SET_ATTRIBUTE, v, NULL, 0, NULL, 0);
    if (!e && attribute >= 0 && attribute < 16) ((struct kernel *)f)->attributes[attribute] = value;
    return e;
}
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void **args, void **extra)
{
    uint32_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
    if (!f) return 400;
    if (args && extra) return 1;
    return heddle_launch((struct kernel *)f, grid, block, shared, (uint64_t)stream, 0, args, extra);
}

// ---- memory

static int allocate(uint64_t *to, size_t bytes, int kind)
{
    uint64_t v[VALUES] = {bytes, (uint64_t)kind};
    if (!to || !bytes) return 1;
    int e = heddle_call(CALL_ALLOCATE, v, NULL, 0, NULL, 0);
    if (!e) *to = v[0];
    return e;
}
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
CUresult cuMemFree_v2(CUdeviceptr p) { return p ? call(CALL_FREE, p, 0) : 0; }
CUresult cuMemFreeHost(void *p) { return call(CALL_FREE, (uint64_t)p, 0); }
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
static int fill(CUdeviceptr p, uint64_t value, int size, size_t n, CUstream s)
{
    uint64_t v[VALUES] = {p, n * (size_t)size, value, (uint64_t)size, n, 1, (uint64_t)s, 1};
    if (!n) return 0;
    return heddle_in_window((void *)p) ? heddle_call(CALL_FILL, v, NULL, 0, NULL, 0) : 1;
}
CUresult cuMemsetD8_v2(CUdeviceptr p, unsigned char value, size_t n) { return fill(p, value, 1, n, 0); }
CUresult cuMemsetD16_v2(CUdeviceptr p, unsigned short value, size_t n) { return fill(p, value, 2, n, 0); }
CUresult cuMemsetD32_v2(CUdeviceptr p, unsigned value, size_t n) { return fill(p, value, 4, n, 0); }
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, size_t n, CUstream s) { return fill(p, value, 1, n, s); }
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned value, size_t n, CUstream s) { return fill(p, value, 4, n, s); }

// ---- streams and events

static int make(int number, void **to, unsigned flags)
{
    uint64_t v[VALUES] = {flags};
    int e = heddle_call(number, v, NULL, 0, NULL, 0);
    if (!e) *to = (void *)v[0];
    return e;
}
CUresult cuStreamCreate(CUstream *s, unsigned flags) { return make(CALL_STREAM, (void **)s, flags); }
CUresult cuStreamDestroy_v2(CUstream s) { return call(CALL_STREAM_END, (uint64_t)s, 0); }
CUresult cuStreamSynchronize(CUstream s) { return call(CALL_SYNC, (uint64_t)s, 0); }
CUresult cuStreamQuery(CUstream s) { return call(CALL_STREAM_QUERY, (uint64_t)s, 0); }
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags)
{
    (void)flags;
    return call(CALL_STREAM_WAIT, (uint64_t)s, (uint64_t)e);
}
CUresult cuEventCreate(CUevent *e, unsigned flags) { return make(CALL_EVENT, (void **)e, flags); }
CUresult cuEventDestroy_v2(CUevent e) { return call(CALL_EVENT_END, (uint64_t)e, 0); }
CUresult cuEventRecord(CUevent e, CUstream s) { return call(CALL_EVENT_RECORD, (uint64_t)e, (uint64_t)s); }
CUresult cuEventQuery(CUevent e) { return call(CALL_EVENT_QUERY, (uint64_t)e, 0); }
CUresult cuEventSynchronize(CUevent e) { return call(CALL_EVENT_SYNC, (uint64_t)e, 0); }
CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
    uint64_t v[VALUES] = {(uint64_t)from, (uint64_t)to};
    int e = heddle_call(CALL_EVENT_TIME, v, NULL, 0, NULL, 0);
    double us;
    memcpy(&us, v, sizeof us);
    if (!e) *ms = (float)(us / 1000);
    return e;
}
CUresult cuLaunchHostFunc(CUstream s, void (*fn)(void *), void *data)
{
    return heddle_host_call((uint64_t)s, (void *)fn, data, 0);
}

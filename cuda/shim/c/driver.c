// The driver API. A context is a mark, as there is one device; its stack is each thread's own.
#include "driver.h"

int heddle_simple(int number, uint64_t a, uint64_t b)
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
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    const int32_t *list;
    const char *name;
    uint64_t bytes;
    int e = machine(&list, &name, &bytes, device);
    if (!e && (!value || (int)attribute <= 0 || (int)attribute > 255)) e = 1;
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
CUresult cuCtxCreate_v4(CUcontext *c, CUctxCreateParams *params, unsigned flags, CUdevice device)
{
    if (params && (params->numExecAffinityParams || params->cigParams)) {
        heddle_refuse("cuCtxCreate", "a context has all SMs; use heddle's sharing modes to divide them");
        return CUDA_NOT_SUPPORTED;
    }
    return cuCtxCreate_v2(c, flags, device);
}
CUresult cuCtxDestroy_v2(CUcontext c)
{
    if (depth && stack[depth - 1] == c) depth--;
    return heddle_simple(CALL_SYNC_ALL, 0, 0);
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
CUresult cuCtxSynchronize(void) { return heddle_simple(CALL_SYNC_ALL, 0, 0); }
CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice device)
{
    *c = (CUcontext)0x1000;
    return device ? 101 : heddle_connect();
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return device ? 101 : 0; }
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) { return device ? 101 : heddle_simple(CALL_RESET, 0, 0); }
static unsigned flags_of_context;
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    flags_of_context = flags;
    return device ? 101 : 0;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    if (flags) *flags = flags_of_context;
    if (active) *active = depth > 0;
    return device ? 101 : 0;
}
CUresult cuCtxGetFlags(unsigned *flags)
{
    if (!flags) return 1;
    *flags = flags_of_context;
    return depth ? 0 : 201;
}
CUresult cuCtxSetFlags(unsigned flags)
{
    flags_of_context = flags;
    return 0;
}
CUresult cuCtxGetId(CUcontext c, unsigned long long *id)
{
    if (!id) return 1;
    *id = c ? (uint64_t)c : depth ? (uint64_t)stack[depth - 1] : 0;
    return *id ? 0 : 201;
}
CUresult cuCtxGetApiVersion(CUcontext c, unsigned *version)
{
    (void)c;
    if (!version) return 1;
    *version = 3020; // of contexts, not of CUDA
    return 0;
}
CUresult cuCtxSetLimit(CUlimit limit, size_t value) { return heddle_simple(CALL_SET_LIMIT, limit, value); }
CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    uint64_t v[VALUES] = {limit};
    int e = value ? heddle_call(CALL_GET_LIMIT, v, NULL, 0, NULL, 0) : 1;
    if (!e) *value = v[0];
    return e;
}
// What has no effect: a machine sheet says how an SM's memory is divided, and streams have no priorities.
CUresult cuCtxGetCacheConfig(CUfunc_cache *config) { return *config = 0, heddle_connect(); }
CUresult cuCtxSetCacheConfig(CUfunc_cache config) { return (void)config, heddle_connect(); }
CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) { return *config = 1, heddle_connect(); }
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) { return (void)config, heddle_connect(); }
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return heddle_connect();
}
CUresult cuCtxResetPersistingL2Cache(void) { return heddle_connect(); }
CUresult cuDeviceGetUuid(CUuuid *to, CUdevice device)
{
    if (!to || device) return device ? 101 : 1;
    memcpy(to->bytes, "heddle-simulated", 16);
    return 0;
}
CUresult cuDeviceGetUuid_v2(CUuuid *to, CUdevice device) { return cuDeviceGetUuid(to, device); }
CUresult cuDeviceGetPCIBusId(char *to, int n, CUdevice device)
{
    if (device || !to || n < 13) return device ? 101 : 1;
    strcpy(to, "0000:01:00.0");
    return 0;
}
CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
    if (!device || !id || strcmp(id, "0000:01:00.0")) return 1;
    *device = 0;
    return 0;
}
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    if (!can) return 1;
    *can = 0;
    return device || peer ? 101 : 0;
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    *pool = (CUmemoryPool)&contexts; // one pool, whose memory is all there is
    return device ? 101 : heddle_connect();
}
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) { return cuDeviceGetDefaultMemPool(pool, device); }
CUresult cuProfilerStart(void) { return 0; }
CUresult cuProfilerStop(void) { return 0; }

// ---- modules

CUresult cuModuleLoadData(CUmodule *m, const void *image)
{
    int number, e = image ? heddle_load(image, &number) : 1;
    if (!e) *m = (CUmodule)(uintptr_t)(number + 1);
    return e;
}
CUresult cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned n, CUjit_option *options, void **values)
{
    (void)n, (void)options, (void)values; // of a compiler that is not there; what is wrong with PTX is on stderr
    return cuModuleLoadData(m, image);
}
CUresult cuModuleLoadFatBinary(CUmodule *m, const void *image) { return cuModuleLoadData(m, image); }
// read_file gives a file's bytes with a zero behind them; NULL: it cannot be read.
static char *read_file(const char *file, size_t *size)
{
    FILE *f = file ? fopen(file, "rb") : NULL;
    char *text = NULL;
    size_t n = 0, got = 0;
    if (!f) return NULL;
    do {
        char *more = realloc(text, n + 65537);
        if (!more) break;
        text = more;
        got = fread(text + n, 1, 65536, f);
        n += got;
        text[n] = 0;
    } while (got);
    fclose(f);
    *size = n;
    return text;
}
CUresult cuModuleLoad(CUmodule *m, const char *file)
{
    size_t n;
    char *text = read_file(file, &n);
    int e = text ? cuModuleLoadData(m, text) : 301;
    free(text);
    return e;
}
CUresult cuModuleUnload(CUmodule m) { return heddle_simple(CALL_MODULE_END, (uint64_t)m - 1, 0); }
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name)
{
    struct function *k = calloc(1, sizeof *k);
    if (!k || !name || !(k->name = strdup(name))) return free(k), name ? 2 : 1;
    k->module = m;
    int e = heddle_function((int)(uintptr_t)m - 1, name, &k->kernel);
    if (e) free(k->name), free(k);
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
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    *mode = CU_MODULE_EAGER_LOADING;
    return 0;
}

// ---- libraries: modules of no context

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *jit, void **jitValues, unsigned n,
                           CUlibraryOption *options, void **values, unsigned m)
{
    (void)jit, (void)jitValues, (void)n, (void)options, (void)values, (void)m;
    return cuModuleLoadData((CUmodule *)library, image);
}
CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *file, CUjit_option *jit, void **jitValues, unsigned n,
                               CUlibraryOption *options, void **values, unsigned m)
{
    (void)jit, (void)jitValues, (void)n, (void)options, (void)values, (void)m;
    return cuModuleLoad((CUmodule *)library, file);
}
CUresult cuLibraryUnload(CUlibrary library) { return cuModuleUnload((CUmodule)library); }
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    return cuModuleGetFunction((CUfunction *)kernel, (CUmodule)library, name);
}
CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    if (!module || !library) return library ? 1 : 400;
    *module = (CUmodule)library;
    return 0;
}
CUresult cuLibraryGetGlobal(CUdeviceptr *addr, size_t *bytes, CUlibrary library, const char *name)
{
    return cuModuleGetGlobal_v2(addr, bytes, (CUmodule)library, name);
}
CUresult cuLibraryGetManaged(CUdeviceptr *addr, size_t *bytes, CUlibrary library, const char *name)
{
    uint64_t v[VALUES] = {(uint64_t)library - 1, 1};
    int e = heddle_call(CALL_GLOBAL, v, name, strlen(name), NULL, 0);
    if (!e && addr) *addr = v[0];
    if (!e && bytes) *bytes = v[1];
    return e;
}

// ---- the linker: one PTX text goes through it as it is

struct link { char *text; size_t size; };

CUresult cuLinkCreate_v2(unsigned n, CUjit_option *options, void **values, CUlinkState *state)
{
    (void)n, (void)options, (void)values;
    int e = heddle_connect();
    if (!e && !(*state = calloc(1, sizeof(struct link)))) e = 2;
    return e;
}
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name, unsigned n,
                          CUjit_option *options, void **values)
{
    struct link *l = (struct link *)state;
    (void)name, (void)n, (void)options, (void)values;
    if (!l || !data || !size) return l ? 1 : 400;
    if (type != CU_JIT_INPUT_PTX) {
        heddle_refuse("cuLinkAddData", "only PTX is taken (CU_JIT_INPUT_PTX); machine code is not run");
        return 200;
    }
    size_t had = l->text ? l->size - 1 : 0, joint = had ? strlen(HEDDLE_JOINT) : 0, more = strnlen(data, size);
    char *text = realloc(l->text, had + joint + more + 1); // heddle links the texts when the module is loaded
    if (!text) return 2;
    memcpy(text + had, HEDDLE_JOINT, joint);
    memcpy(text + had + joint, data, more);
    text[had + joint + more] = 0;
    l->text = text, l->size = had + joint + more + 1;
    return 0;
}
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned n, CUjit_option *options,
                          void **values)
{
    size_t size;
    char *text = read_file(path, &size);
    int e = text ? cuLinkAddData_v2(state, type, text, size, path, n, options, values) : 301;
    free(text);
    return e;
}
CUresult cuLinkComplete(CUlinkState state, void **image, size_t *size)
{
    struct link *l = (struct link *)state;
    if (!l || !l->text) return 1;
    if (image) *image = l->text;
    if (size) *size = l->size;
    return 0;
}
CUresult cuLinkDestroy(CUlinkState state)
{
    if (!state) return 400;
    free(((struct link *)state)->text);
    free(state);
    return 0;
}

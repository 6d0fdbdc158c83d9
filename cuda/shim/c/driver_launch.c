// Kernels, launches, streams and events of the driver API.
#include "driver.h"

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction f)
{
    if (!f) return 400;
    if (!value || (int)attribute < 0 || attribute > 15) return 1;
    *value = ((struct function *)f)->kernel.attributes[attribute];
    return 0;
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute attribute, int value)
{
    if (!f) return 400;
    uint64_t v[VALUES] = {((struct function *)f)->kernel.id, (uint64_t)attribute, (uint64_t)(int64_t)value};
    int e = heddle_call(CALL_SET_ATTRIBUTE, v, NULL, 0, NULL, 0);
    if (!e && (int)attribute >= 0 && attribute < 16) ((struct function *)f)->kernel.attributes[attribute] = value;
    return e;
}
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void **args, void **extra)
{
    uint32_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
    if (!f) return 400;
    if (args && extra) return 1;
    return heddle_launch(&((struct function *)f)->kernel, grid, block, shared, (uint64_t)stream, 0, args, extra);
}
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, CUstream stream, void **args)
{
    uint32_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
    return f ? heddle_launch(&((struct function *)f)->kernel, grid, block, shared, (uint64_t)stream, 1, args, NULL) : 400;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **args, void **extra)
{
    int cooperative = 0;
    if (!c || !f || args && extra) return f ? 1 : 400;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttributeValue *v = &c->attrs[i].value;
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) cooperative = v->cooperative;
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && v->clusterDim.x * v->clusterDim.y * v->clusterDim.z > 1) {
            heddle_refuse("cuLaunchKernelEx", "clusters of blocks are not there; launch without a cluster dimension");
            return CUDA_NOT_SUPPORTED;
        }
    }
    uint32_t grid[3] = {c->gridDimX, c->gridDimY, c->gridDimZ}, block[3] = {c->blockDimX, c->blockDimY, c->blockDimZ};
    return heddle_launch(&((struct function *)f)->kernel, grid, block, c->sharedMemBytes, (uint64_t)c->hStream,
                         cooperative, args, extra);
}

// ---- what is known of a kernel

CUresult cuFuncGetName(const char **name, CUfunction f)
{
    if (!name || !f) return f ? 1 : 400;
    *name = ((struct function *)f)->name;
    return 0;
}
CUresult cuFuncGetModule(CUmodule *module, CUfunction f)
{
    if (!module || !f) return f ? 1 : 400;
    *module = ((struct function *)f)->module;
    return 0;
}
CUresult cuFuncSetCacheConfig(CUfunction f, CUfunc_cache config) { return (void)config, f ? 0 : 400; }
CUresult cuFuncSetSharedMemConfig(CUfunction f, CUsharedconfig config) { return (void)config, f ? 0 : 400; }
CUresult cuFuncGetParamInfo(CUfunction f, size_t index, size_t *offset, size_t *size)
{
    const struct kernel *k = f ? &((struct function *)f)->kernel : NULL;
    if (!k || index >= k->params) return k ? 1 : 400;
    if (offset) *offset = k->layout[2 * index];
    if (size) *size = k->layout[2 * index + 1];
    return 0;
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction f)
{
    if (!state || !f) return f ? 1 : 400;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return 0;
}
CUresult cuFuncLoad(CUfunction f) { return f ? 0 : 400; }

CUresult cuKernelGetFunction(CUfunction *f, CUkernel kernel)
{
    if (!f || !kernel) return kernel ? 1 : 400;
    *f = (CUfunction)kernel;
    return 0;
}
CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device)
{
    return device ? 101 : cuFuncGetAttribute(value, attribute, (CUfunction)kernel);
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device)
{
    return device ? 101 : cuFuncSetAttribute((CUfunction)kernel, attribute, value);
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device)
{
    return device ? 101 : cuFuncSetCacheConfig((CUfunction)kernel, config);
}
CUresult cuKernelGetName(const char **name, CUkernel kernel) { return cuFuncGetName(name, (CUfunction)kernel); }

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction f, int size, size_t shared,
                                                              unsigned flags)
{
    (void)flags;
    if (!blocks || !f) return f ? 1 : 400;
    uint64_t v[VALUES] = {((struct function *)f)->kernel.id, (uint64_t)size, shared};
    int e = heddle_call(CALL_OCCUPANCY, v, NULL, 0, NULL, 0);
    *blocks = e ? 0 : (int)v[0];
    return e;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int size, size_t shared)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, size, shared, 0);
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction f, CUoccupancyB2DSize sharedOf,
                                                   size_t shared, int limit, unsigned flags)
{
    int most = 0, threads = 0, sms, best_blocks = 0, e = cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    if (e) return e;
    if (!f) return 400;
    int last = ((struct function *)f)->kernel.attributes[0]; // the most threads of a block
    if (limit > 0 && limit < last) last = limit;
    for (int n = last; n > 0; n = n % 32 ? n - n % 32 : n - 32) {
        int blocks;
        e = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, f, n, sharedOf ? sharedOf(n) : shared, flags);
        if (e) return e;
        if (blocks * n > most) most = blocks * n, threads = n, best_blocks = blocks;
    }
    if (grid) *grid = best_blocks * sms;
    if (block) *block = threads;
    return 0;
}
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f, CUoccupancyB2DSize sharedOf, size_t shared,
                                          int limit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, f, sharedOf, shared, limit, 0);
}

// ---- streams and events

static int make(int number, void **to, unsigned flags)
{
    uint64_t v[VALUES] = {flags};
    int e = heddle_call(number, v, NULL, 0, NULL, 0);
    if (!e) *to = (void *)v[0];
    return e;
}
CUresult cuStreamCreate(CUstream *s, unsigned flags) { return make(CALL_STREAM, (void **)s, flags); }
CUresult cuStreamDestroy_v2(CUstream s) { return heddle_simple(CALL_STREAM_END, (uint64_t)s, 0); }
CUresult cuStreamSynchronize(CUstream s) { return heddle_simple(CALL_SYNC, (uint64_t)s, 0); }
CUresult cuStreamQuery(CUstream s) { return heddle_simple(CALL_STREAM_QUERY, (uint64_t)s, 0); }
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags)
{
    (void)flags;
    return heddle_stream_wait((uint64_t)s, (uint64_t)e);
}
CUresult cuEventCreate(CUevent *e, unsigned flags) { return make(CALL_EVENT, (void **)e, flags); }
CUresult cuEventDestroy_v2(CUevent e) { return heddle_simple(CALL_EVENT_END, (uint64_t)e, 0); }
CUresult cuEventRecord(CUevent e, CUstream s) { return heddle_event_record((uint64_t)e, (uint64_t)s); }
CUresult cuEventQuery(CUevent e) { return heddle_simple(CALL_EVENT_QUERY, (uint64_t)e, 0); }
CUresult cuEventSynchronize(CUevent e) { return heddle_simple(CALL_EVENT_SYNC, (uint64_t)e, 0); }
CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
    uint64_t v[VALUES] = {(uint64_t)from, (uint64_t)to};
    int e = heddle_call(CALL_EVENT_TIME, v, NULL, 0, NULL, 0);
    double us;
    memcpy(&us, v, sizeof us);
    if (!e) *ms = (float)(us / 1000);
    return e;
}
CUresult cuLaunchHostFunc(CUstream s, CUhostFn fn, void *data)
{
    return heddle_host_call((uint64_t)s, (void *)fn, data, 0);
}
CUresult cuStreamCreateWithPriority(CUstream *s, unsigned flags, int priority)
{
    (void)priority; // there is one
    return cuStreamCreate(s, flags);
}
CUresult cuStreamGetPriority(CUstream s, int *priority)
{
    (void)s;
    if (!priority) return 1;
    *priority = 0;
    return heddle_connect();
}
CUresult cuStreamGetFlags(CUstream s, unsigned *flags)
{
    uint64_t v[VALUES] = {(uint64_t)s};
    int e = flags ? heddle_call(CALL_STREAM_FLAGS, v, NULL, 0, NULL, 0) : 1;
    if (!e) *flags = (unsigned)v[0];
    return e;
}
CUresult cuStreamGetCtx(CUstream s, CUcontext *c)
{
    (void)s;
    return cuCtxGetCurrent(c);
}
CUresult cuStreamGetId(CUstream s, unsigned long long *id)
{
    if (!id) return 1;
    *id = (uint64_t)s;
    return 0;
}
CUresult cuStreamAddCallback(CUstream s, CUstreamCallback fn, void *data, unsigned flags)
{
    return flags ? 1 : heddle_host_call((uint64_t)s, (void *)fn, data, 1);
}
CUresult cuStreamAttachMemAsync(CUstream s, CUdeviceptr p, size_t bytes, unsigned flags)
{
    (void)s, (void)p, (void)bytes, (void)flags; // every kernel may touch all managed memory
    return heddle_connect();
}
CUresult cuEventRecordWithFlags(CUevent e, CUstream s, unsigned flags) { return (void)flags, cuEventRecord(e, s); }
CUresult cuEventElapsedTime_v2(float *ms, CUevent from, CUevent to) { return cuEventElapsedTime(ms, from, to); }

// ---- capture

CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode) { return heddle_capture_begin((uint64_t)s, mode); }
CUresult cuStreamEndCapture(CUstream s, CUgraph *graph)
{
    return graph ? heddle_capture_end((uint64_t)s, (struct graph **)graph) : 1;
}
CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *status)
{
    if (!status) return 1;
    *status = (CUstreamCaptureStatus)heddle_capture_status((uint64_t)s, NULL, NULL);
    return 0;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    static __thread CUstreamCaptureMode kept = CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!mode) return 1;
    CUstreamCaptureMode old = kept;
    kept = *mode, *mode = old;
    return 0;
}

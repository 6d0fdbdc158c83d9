// Devices, streams, events and errors of the runtime API.
#include "runtime.h"

static __thread int last;

cudaError_t heddle_runtime_error(int e)
{
    if (e && e != cudaErrorNotReady) last = e;
    return (cudaError_t)e;
}
cudaError_t cudaGetLastError(void)
{
    int e = last;
    last = 0;
    return (cudaError_t)e;
}
cudaError_t cudaPeekAtLastError(void) { return (cudaError_t)last; }
const char *cudaGetErrorName(cudaError_t e)
{
    const char *s = heddle_error_name(e); // "CUDA_ERROR_..." has other words than "cudaError..."
    if (s) return s;
    return "unrecognized error code";
}
const char *cudaGetErrorString(cudaError_t e)
{
    const char *s = heddle_error_text(e);
    return s ? s : "unrecognized error code";
}

static int simple(int call, uint64_t a, uint64_t b)
{
    uint64_t v[VALUES] = {a, b};
    int e = heddle_ready();
    return e ? e : heddle_call(call, v, NULL, 0, NULL, 0);
}

// ---- devices: there is one

cudaError_t cudaGetDeviceCount(int *count)
{
    int e = heddle_connect();
    *count = e ? 0 : 1;
    RETURN(e);
}
cudaError_t cudaSetDevice(int device) { RETURN(device ? 101 : heddle_connect()); }
cudaError_t cudaInitDevice(int device, unsigned a, unsigned b)
{
    (void)a, (void)b;
    RETURN(device ? 101 : heddle_connect());
}
cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    RETURN(heddle_connect());
}
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    (void)prop;
    *device = 0;
    RETURN(heddle_connect());
}
cudaError_t cudaSetValidDevices(int *devices, int n) { RETURN(n > 0 && devices[0] ? 101 : heddle_connect()); }
static __thread unsigned flags_of_device;
cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    flags_of_device = flags;
    RETURN(heddle_connect());
}
cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    *flags = flags_of_device | cudaDeviceMapHost;
    RETURN(heddle_connect());
}
cudaError_t cudaDeviceSynchronize(void) { RETURN(simple(CALL_SYNC_ALL, 0, 0)); }
cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
cudaError_t cudaDeviceReset(void)
{
    int e = simple(CALL_RESET, 0, 0);
    last = 0;
    RETURN(e);
}
cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    uint64_t v[VALUES] = {limit, value};
    RETURN(heddle_call(CALL_SET_LIMIT, v, NULL, 0, NULL, 0)); // before modules are loaded, which take their heap
}
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    uint64_t v[VALUES] = {limit};
    int e = heddle_ready();
    if (!e) e = heddle_call(CALL_GET_LIMIT, v, NULL, 0, NULL, 0);
    if (!e) *value = v[0];
    RETURN(e);
}
cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    *config = cudaFuncCachePreferNone;
    RETURN(heddle_connect());
}
cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config) { return cudaDeviceGetCacheConfig(config); }
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    (void)config;
    RETURN(heddle_connect());
}
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    *config = cudaSharedMemBankSizeFourByte;
    RETURN(heddle_connect());
}
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    (void)config;
    RETURN(heddle_connect());
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0; // streams have no priorities
    RETURN(heddle_connect());
}
cudaError_t cudaDeviceGetPCIBusId(char *id, int len, int device)
{
    if (device || len < 13) RETURN(device ? 101 : 1);
    strcpy(id, "0000:01:00.0");
    RETURN(0);
}
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    *device = 0;
    RETURN(strcmp(id, "0000:01:00.0") ? 1 : 0);
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = 0;
    RETURN(device || peer ? 101 : 0);
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer, (void)flags;
    RETURN(101);
}
cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    (void)peer;
    RETURN(101);
}
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = HEDDLE_DRIVER_VERSION;
    RETURN(0);
}
cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = HEDDLE_RUNTIME_VERSION; // of this library, given when it is built
    RETURN(0);
}
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    const int32_t *list;
    const char *name;
    uint64_t bytes;
    int n, e = heddle_attributes(&list, &n, &name, &bytes);
    if (e) RETURN(e);
    if (device) RETURN(101);
    if (!value || (int)attr <= 0 || (int)attr >= n) RETURN(1);
    *value = list[attr];
    RETURN(0);
}

static int properties(struct cudaDeviceProp *p, size_t size, int device)
{
    const int32_t *a;
    const char *name;
    uint64_t bytes;
    int n, e = heddle_attributes(&a, &n, &name, &bytes);
    if (e) return e;
    if (device) return 101;
    struct cudaDeviceProp q;
    memset(&q, 0, sizeof q);
    snprintf(q.name, sizeof q.name, "%s", name);
    memcpy(q.uuid.bytes, "heddle-simulated", 16);
    q.totalGlobalMem = bytes;
    q.maxThreadsPerBlock = a[1];
    for (int i = 0; i < 3; i++) q.maxThreadsDim[i] = a[2 + i], q.maxGridSize[i] = a[5 + i];
    q.sharedMemPerBlock = (size_t)a[8], q.totalConstMem = (size_t)a[9], q.warpSize = a[10], q.memPitch = (size_t)a[11];
    q.regsPerBlock = a[12], q.clockRate = a[13], q.textureAlignment = (size_t)a[14], q.deviceOverlap = a[15];
    q.multiProcessorCount = a[16], q.integrated = a[18], q.canMapHostMemory = a[19];
    q.concurrentKernels = a[31], q.ECCEnabled = a[32], q.pciBusID = a[33], q.pciDeviceID = a[34];
    q.memoryClockRate = a[36], q.memoryBusWidth = a[37], q.l2CacheSize = a[38];
    q.maxThreadsPerMultiProcessor = a[39], q.asyncEngineCount = a[40], q.unifiedAddressing = a[41];
    q.texturePitchAlignment = (size_t)a[51], q.major = a[75], q.minor = a[76];
    q.streamPrioritiesSupported = a[78], q.globalL1CacheSupported = a[79], q.localL1CacheSupported = a[80];
    q.sharedMemPerMultiprocessor = (size_t)a[81], q.regsPerMultiprocessor = a[82], q.managedMemory = a[83];
    q.singleToDoublePrecisionPerfRatio = a[87], q.pageableMemoryAccess = a[88], q.concurrentManagedAccess = a[89];
    q.computePreemptionSupported = a[90], q.cooperativeLaunch = a[95];
    q.sharedMemPerBlockOptin = (size_t)a[97], q.hostRegisterSupported = a[99], q.maxBlocksPerMultiProcessor = a[106];
    q.memoryPoolsSupported = a[115];
    memcpy(p, &q, size);
    return 0;
}
// Programs of CUDA 11 have the first 728 bytes of the structure, those of CUDA 12 ask for _v2.
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) { RETURN(properties(p, 728, device)); }
cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *p, int device) { RETURN(properties(p, sizeof *p, device)); }

// ---- streams and events

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    uint64_t v[VALUES] = {flags};
    int e = heddle_ready();
    (void)priority;
    if (!e) e = heddle_call(CALL_STREAM, v, NULL, 0, NULL, 0);
    if (!e) *stream = (cudaStream_t)v[0];
    RETURN(e);
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) { RETURN(simple(CALL_STREAM_END, (uint64_t)stream, 0)); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { RETURN(simple(CALL_SYNC, (uint64_t)stream, 0)); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { RETURN(simple(CALL_STREAM_QUERY, (uint64_t)stream, 0)); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    int e = heddle_ready();
    RETURN(e ? e : heddle_stream_wait((uint64_t)stream, (uint64_t)event));
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    (void)stream;
    *priority = 0;
    RETURN(heddle_connect());
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    uint64_t v[VALUES] = {(uint64_t)stream};
    int e = heddle_ready();
    if (!e) e = heddle_call(CALL_STREAM_FLAGS, v, NULL, 0, NULL, 0);
    if (!e) *flags = (unsigned)v[0];
    RETURN(e);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *data)
{
    RETURN(heddle_host_call((uint64_t)stream, (void *)fn, data, 0));
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t fn, void *data, unsigned flags)
{
    (void)flags;
    RETURN(heddle_host_call((uint64_t)stream, (void *)fn, data, 1));
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    uint64_t v[VALUES] = {flags};
    int e = heddle_ready();
    if (!e) e = heddle_call(CALL_EVENT, v, NULL, 0, NULL, 0);
    if (!e) *event = (cudaEvent_t)v[0];
    RETURN(e);
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { RETURN(simple(CALL_EVENT_END, (uint64_t)event, 0)); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    int e = heddle_ready();
    RETURN(e ? e : heddle_event_record((uint64_t)event, (uint64_t)stream));
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    (void)flags;
    return cudaEventRecord(event, stream);
}
cudaError_t cudaEventQuery(cudaEvent_t event) { RETURN(simple(CALL_EVENT_QUERY, (uint64_t)event, 0)); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { RETURN(simple(CALL_EVENT_SYNC, (uint64_t)event, 0)); }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    uint64_t v[VALUES] = {(uint64_t)start, (uint64_t)end};
    int e = heddle_ready();
    if (!e) e = heddle_call(CALL_EVENT_TIME, v, NULL, 0, NULL, 0);
    double us;
    memcpy(&us, v, sizeof us);
    if (!e) *ms = (float)(us / 1000);
    RETURN(e);
}

// ---- pools: one, whose memory is all there is

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    *pool = (cudaMemPool_t)&last;
    RETURN(device ? 101 : heddle_connect());
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr, void *value)
{
    (void)pool, (void)attr, (void)value; // how soon freed memory goes back has no meaning here
    RETURN(heddle_connect());
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
    (void)pool, (void)keep;
    RETURN(heddle_connect());
}

// The C++ forms of the runtime API: pointers, symbols and kernels of any type.
#pragma once

#define HEDDLE_CALL template <class T> static __inline__ __host__ cudaError_t

HEDDLE_CALL cudaMalloc(T **ptr, size_t size) { return ::cudaMalloc((void **)(void *)ptr, size); }
HEDDLE_CALL cudaMallocHost(T **ptr, size_t size, unsigned int flags = 0)
{
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}
HEDDLE_CALL cudaHostAlloc(T **ptr, size_t size, unsigned int flags)
{
    return ::cudaHostAlloc((void **)(void *)ptr, size, flags);
}
HEDDLE_CALL cudaMallocPitch(T **ptr, size_t *pitch, size_t width, size_t height)
{
    return ::cudaMallocPitch((void **)(void *)ptr, pitch, width, height);
}
HEDDLE_CALL cudaMallocManaged(T **ptr, size_t size, unsigned int flags = cudaMemAttachGlobal)
{
    return ::cudaMallocManaged((void **)(void *)ptr, size, flags);
}
HEDDLE_CALL cudaMallocAsync(T **ptr, size_t size, cudaStream_t stream)
{
    return ::cudaMallocAsync((void **)(void *)ptr, size, stream);
}
HEDDLE_CALL cudaMallocAsync(T **ptr, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, pool, stream);
}
HEDDLE_CALL cudaMallocFromPoolAsync(T **ptr, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)(void *)ptr, size, pool, stream);
}
HEDDLE_CALL cudaHostGetDevicePointer(T **device, void *host, unsigned int flags)
{
    return ::cudaHostGetDevicePointer((void **)(void *)device, host, flags);
}
HEDDLE_CALL cudaStreamAttachMemAsync(cudaStream_t stream, T *ptr, size_t length = 0,
                                     unsigned int flags = cudaMemAttachSingle)
{
    return ::cudaStreamAttachMemAsync(stream, (void *)ptr, length, flags);
}
HEDDLE_CALL cudaMemPrefetchAsync(T *ptr, size_t count, cudaMemLocation to, unsigned int, cudaStream_t stream = 0)
{
    int device = to.type == cudaMemLocationTypeDevice ? to.id : -1;
    return ::cudaMemPrefetchAsync((const void *)ptr, count, device, stream);
}
HEDDLE_CALL cudaMemAdvise(T *ptr, size_t count, enum cudaMemoryAdvise advice, cudaMemLocation at)
{
    return ::cudaMemAdvise((const void *)ptr, count, advice, at.type == cudaMemLocationTypeDevice ? at.id : -1);
}
static __inline__ __host__ cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
    return ::cudaEventCreateWithFlags(event, flags);
}

// ---- symbols

HEDDLE_CALL cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count, size_t offset = 0,
                               enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return ::cudaMemcpyToSymbol((const void *)&symbol, src, count, offset, kind);
}
HEDDLE_CALL cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count, size_t offset = 0,
                                    enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0)
{
    return ::cudaMemcpyToSymbolAsync((const void *)&symbol, src, count, offset, kind, stream);
}
HEDDLE_CALL cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                 enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return ::cudaMemcpyFromSymbol(dst, (const void *)&symbol, count, offset, kind);
}
HEDDLE_CALL cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                      enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0)
{
    return ::cudaMemcpyFromSymbolAsync(dst, (const void *)&symbol, count, offset, kind, stream);
}
HEDDLE_CALL cudaGetSymbolAddress(void **ptr, const T &symbol)
{
    return ::cudaGetSymbolAddress(ptr, (const void *)&symbol);
}
template <class P, class T> static __inline__ __host__ cudaError_t cudaGetSymbolAddress(P **ptr, const T &symbol)
{
    return ::cudaGetSymbolAddress((void **)(void *)ptr, (const void *)&symbol);
}
HEDDLE_CALL cudaGetSymbolSize(size_t *size, const T &symbol)
{
    return ::cudaGetSymbolSize(size, (const void *)&symbol);
}

// ---- kernels

HEDDLE_CALL cudaLaunchKernel(const T *func, dim3 grid, dim3 block, void **args, size_t shared = 0,
                             cudaStream_t stream = 0)
{
    return ::cudaLaunchKernel((const void *)func, grid, block, args, shared, stream);
}
HEDDLE_CALL cudaLaunchCooperativeKernel(const T *func, dim3 grid, dim3 block, void **args, size_t shared = 0,
                                        cudaStream_t stream = 0)
{
    return ::cudaLaunchCooperativeKernel((const void *)func, grid, block, args, shared, stream);
}
template <typename... Declared, typename... Given>
static __inline__ __host__ cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                                          void (*kernel)(Declared...), Given &&...args)
{
    return [&](Declared... coerced) {
        void *list[] = {(void *)&coerced..., nullptr};
        return ::cudaLaunchKernelExC(config, (const void *)kernel, list);
    }(static_cast<Given &&>(args)...);
}
HEDDLE_CALL cudaFuncSetCacheConfig(T *func, enum cudaFuncCache config)
{
    return ::cudaFuncSetCacheConfig((const void *)func, config);
}
HEDDLE_CALL cudaFuncSetSharedMemConfig(T *func, enum cudaSharedMemConfig config)
{
    return ::cudaFuncSetSharedMemConfig((const void *)func, config);
}
HEDDLE_CALL cudaFuncGetAttributes(struct cudaFuncAttributes *attr, T *func)
{
    return ::cudaFuncGetAttributes(attr, (const void *)func);
}
HEDDLE_CALL cudaFuncSetAttribute(T *func, enum cudaFuncAttribute attr, int value)
{
    return ::cudaFuncSetAttribute((const void *)func, attr, value);
}
HEDDLE_CALL cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T func, int blockSize, size_t shared)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)func, blockSize, shared);
}
HEDDLE_CALL cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T func, int blockSize, size_t shared,
                                                                   unsigned int flags)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)func, blockSize, shared, flags);
}
HEDDLE_CALL cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, T func, int blocks, int blockSize)
{
    return ::cudaOccupancyAvailableDynamicSMemPerBlock(shared, (const void *)func, blocks, blockSize);
}
// Tries block sizes in warps and keeps the one with most threads on a multiprocessor.
template <typename SharedOf, class T>
static __inline__ __host__ cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, T func,
                                                                                      SharedOf sharedOf, int limit = 0)
{
    int device = 0, sms = 0, most = 0, best = 0;
    cudaError_t e = ::cudaGetDevice(&device);
    if (e == cudaSuccess) e = ::cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (e == cudaSuccess) e = ::cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerBlock, device);
    if (limit > 0 && limit < most) most = limit;
    *grid = *block = 0;
    for (int threads = most; e == cudaSuccess && threads >= 32; threads -= 32) {
        int blocks = 0;
        e = ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)func, threads, sharedOf(threads));
        if (blocks * threads > best) {
            best = blocks * threads;
            *block = threads;
            *grid = blocks * sms;
        }
    }
    return e;
}
HEDDLE_CALL cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T func, size_t shared = 0, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, func, [shared](int) { return shared; }, limit);
}
HEDDLE_CALL cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, T func, size_t shared = 0, int limit = 0,
                                                        unsigned int = 0)
{
    return cudaOccupancyMaxPotentialBlockSize(grid, block, func, shared, limit);
}

// ---- graphs

template <class N>
static __inline__ __host__ cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, N, char *, size_t)
{
    return ::cudaGraphInstantiateWithFlags(exec, graph, 0);
}
static __inline__ __host__ cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                            unsigned long long flags = 0)
{
    return ::cudaGraphInstantiateWithFlags(exec, graph, flags);
}

static __inline__ __host__ cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *at,
                                                           enum cudaGraphExecUpdateResult *result) // of CUDA 11
{
    cudaGraphExecUpdateResultInfo info;
    cudaError_t e = ::cudaGraphExecUpdate(exec, graph, &info);
    if (at) *at = info.errorNode;
    if (result) *result = info.result;
    return e;
}

// ---- texture references

template <class T, int dim, enum cudaTextureReadMode mode>
static __inline__ __host__ cudaError_t cudaBindTexture(size_t *offset, const texture<T, dim, mode> &tex, const void *ptr,
                                                       const cudaChannelFormatDesc &desc, size_t size = UINT_MAX)
{
    return ::cudaBindTexture(offset, (const textureReference *)&tex, ptr, &desc, size);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static __inline__ __host__ cudaError_t cudaBindTexture(size_t *offset, const texture<T, dim, mode> &tex, const void *ptr,
                                                       size_t size = UINT_MAX)
{
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    return ::cudaBindTexture(offset, (const textureReference *)&tex, ptr, &desc, size);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static __inline__ __host__ cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, dim, mode> &tex,
                                                         const void *ptr, const cudaChannelFormatDesc &desc,
                                                         size_t width, size_t height, size_t pitch)
{
    return ::cudaBindTexture2D(offset, (const textureReference *)&tex, ptr, &desc, width, height, pitch);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static __inline__ __host__ cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, dim, mode> &tex,
                                                         const void *ptr, size_t width, size_t height, size_t pitch)
{
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    return ::cudaBindTexture2D(offset, (const textureReference *)&tex, ptr, &desc, width, height, pitch);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static __inline__ __host__ cudaError_t cudaBindTextureToArray(const texture<T, dim, mode> &tex, cudaArray_const_t array,
                                                              const cudaChannelFormatDesc &desc)
{
    return ::cudaBindTextureToArray((const textureReference *)&tex, array, &desc);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static __inline__ __host__ cudaError_t cudaBindTextureToArray(const texture<T, dim, mode> &tex, cudaArray_const_t array)
{
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    return ::cudaBindTextureToArray((const textureReference *)&tex, array, &desc);
}
template <class T, int dim, enum cudaTextureReadMode mode>
static __inline__ __host__ cudaError_t cudaUnbindTexture(const texture<T, dim, mode> &tex)
{
    return ::cudaUnbindTexture((const textureReference *)&tex);
}
template <class T, int dim>
static __inline__ __host__ cudaError_t cudaBindSurfaceToArray(const surface<T, dim> &surf, cudaArray_const_t array)
{
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    return ::cudaBindSurfaceToArray((const surfaceReference *)&surf, array, &desc);
}
#undef HEDDLE_CALL

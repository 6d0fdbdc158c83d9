// cuda.h -- the driver API, as far as Heddle has it.
#pragma once
#define __cuda_cuda_h__

#include <stddef.h>
#include "heddle/version.h"

#ifdef HEDDLE_LIBRARY // which gives any number
typedef int CUresult;
#endif
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUarray_st *CUarray;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
#include "heddle/driver_enums.h"
#include "heddle/driver_structs.h"
#include "heddle/driver_textures.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifndef HEDDLE_LIBRARY
#define cuCtxCreate cuCtxCreate_v2
#define cuCtxDestroy cuCtxDestroy_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuDeviceGetUuid cuDeviceGetUuid_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2
#define cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuEventDestroy cuEventDestroy_v2
#define cuGetProcAddress cuGetProcAddress_v2
#define cuGraphAddKernelNode cuGraphAddKernelNode_v2
#define cuGraphExecKernelNodeSetParams cuGraphExecKernelNodeSetParams_v2
#define cuGraphExecUpdate cuGraphExecUpdate_v2
#define cuGraphKernelNodeGetParams cuGraphKernelNodeGetParams_v2
#define cuGraphKernelNodeSetParams cuGraphKernelNodeSetParams_v2
#define cuLinkAddData cuLinkAddData_v2
#define cuLinkAddFile cuLinkAddFile_v2
#define cuLinkCreate cuLinkCreate_v2
#define cuMemAllocHost cuMemAllocHost_v2
#define cuMemAllocPitch cuMemAllocPitch_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemFree cuMemFree_v2
#define cuMemGetAddressRange cuMemGetAddressRange_v2
#define cuMemGetInfo cuMemGetInfo_v2
#define cuMemHostGetDevicePointer cuMemHostGetDevicePointer_v2
#define cuMemHostRegister cuMemHostRegister_v2
#define cuMemcpy2DAsync cuMemcpy2DAsync_v2
#define cuMemcpy2DUnaligned cuMemcpy2DUnaligned_v2
#define cuMemcpy2D cuMemcpy2D_v2
#define cuMemcpy3DAsync cuMemcpy3DAsync_v2
#define cuMemcpy3D cuMemcpy3D_v2
#define cuMemcpyDtoDAsync cuMemcpyDtoDAsync_v2
#define cuMemcpyDtoD cuMemcpyDtoD_v2
#define cuMemcpyDtoHAsync cuMemcpyDtoHAsync_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#define cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#define cuMemsetD16 cuMemsetD16_v2
#define cuMemsetD2D16 cuMemsetD2D16_v2
#define cuMemsetD2D32 cuMemsetD2D32_v2
#define cuMemsetD2D8 cuMemsetD2D8_v2
#define cuMemsetD32 cuMemsetD32_v2
#define cuMemsetD8 cuMemsetD8_v2
#define cuModuleGetGlobal cuModuleGetGlobal_v2
#define cuStreamBeginCapture cuStreamBeginCapture_v2
#define cuStreamDestroy cuStreamDestroy_v2
#define cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v2
#define cuGraphInstantiate cuGraphInstantiateWithFlags
#endif

CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetName(char *to, int n, CUdevice device);
CUresult cuDeviceTotalMem_v2(size_t *to, CUdevice device);
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device);
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device);
CUresult cuCtxPushCurrent_v2(CUcontext c);
CUresult cuCtxPopCurrent_v2(CUcontext *c);
CUresult cuCtxCreate_v2(CUcontext *c, unsigned flags, CUdevice device);
CUresult cuCtxCreate_v4(CUcontext *c, CUctxCreateParams *params, unsigned flags, CUdevice device);
CUresult cuCtxDestroy_v2(CUcontext c);
CUresult cuCtxSetCurrent(CUcontext c);
CUresult cuCtxGetCurrent(CUcontext *c);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxSynchronize(void);
CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice device);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuModuleLoadData(CUmodule *m, const void *image);
CUresult cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned n, CUjit_option *options, void **values);
CUresult cuModuleLoadFatBinary(CUmodule *m, const void *image);
CUresult cuModuleLoad(CUmodule *m, const char *file);
CUresult cuModuleUnload(CUmodule m);
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *addr, size_t *bytes, CUmodule m, const char *name);
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction f);
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute attribute, int value);
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void **args, void **extra);
CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes);
CUresult cuMemAllocManaged(CUdeviceptr *p, size_t bytes, unsigned flags);
CUresult cuMemAllocHost_v2(void **p, size_t bytes);
CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned flags);
CUresult cuMemFree_v2(CUdeviceptr p);
CUresult cuMemFreeHost(void *p);
CUresult cuMemGetInfo_v2(size_t *left, size_t *total);
CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t n);
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s);
CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t n);
CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t n);
CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t n);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t n, CUstream s);
CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t n, CUstream s);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s);
CUresult cuMemsetD8_v2(CUdeviceptr p, unsigned char value, size_t n);
CUresult cuMemsetD16_v2(CUdeviceptr p, unsigned short value, size_t n);
CUresult cuMemsetD32_v2(CUdeviceptr p, unsigned value, size_t n);
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, size_t n, CUstream s);
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned value, size_t n, CUstream s);
CUresult cuStreamCreate(CUstream *s, unsigned flags);
CUresult cuStreamDestroy_v2(CUstream s);
CUresult cuStreamSynchronize(CUstream s);
CUresult cuStreamQuery(CUstream s);
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags);
CUresult cuEventCreate(CUevent *e, unsigned flags);
CUresult cuEventDestroy_v2(CUevent e);
CUresult cuEventRecord(CUevent e, CUstream s);
CUresult cuEventQuery(CUevent e);
CUresult cuEventSynchronize(CUevent e);
CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to);
CUresult cuLaunchHostFunc(CUstream s, CUhostFn fn, void *data);
CUresult cuGetErrorName(CUresult error, const char **name);
CUresult cuGetErrorString(CUresult error, const char **text);

CUresult cuDeviceGetUuid_v2(CUuuid *to, CUdevice device);
CUresult cuDeviceGetPCIBusId(char *to, int n, CUdevice device);
CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id);
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device);
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device);
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active);
CUresult cuCtxGetFlags(unsigned *flags);
CUresult cuCtxSetFlags(unsigned flags);
CUresult cuCtxGetId(CUcontext c, unsigned long long *id);
CUresult cuCtxGetApiVersion(CUcontext c, unsigned *version);
CUresult cuCtxSetLimit(CUlimit limit, size_t value);
CUresult cuCtxGetLimit(size_t *value, CUlimit limit);
CUresult cuCtxGetCacheConfig(CUfunc_cache *config);
CUresult cuCtxSetCacheConfig(CUfunc_cache config);
CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config);
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config);
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);
CUresult cuCtxResetPersistingL2Cache(void);
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode);
CUresult cuLinkCreate_v2(unsigned n, CUjit_option *options, void **values, CUlinkState *state);
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name, unsigned n,
                          CUjit_option *options, void **values);
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned n, CUjit_option *options,
                          void **values);
CUresult cuLinkComplete(CUlinkState state, void **image, size_t *size);
CUresult cuLinkDestroy(CUlinkState state);
CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *jit, void **jitValues, unsigned n,
                           CUlibraryOption *options, void **values, unsigned m);
CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *file, CUjit_option *jit, void **jitValues, unsigned n,
                               CUlibraryOption *options, void **values, unsigned m);
CUresult cuLibraryUnload(CUlibrary library);
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name);
CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library);
CUresult cuLibraryGetGlobal(CUdeviceptr *addr, size_t *bytes, CUlibrary library, const char *name);
CUresult cuLibraryGetManaged(CUdeviceptr *addr, size_t *bytes, CUlibrary library, const char *name);
CUresult cuKernelGetFunction(CUfunction *f, CUkernel kernel);
CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device);
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device);
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device);
CUresult cuKernelGetName(const char **name, CUkernel kernel);
CUresult cuFuncGetName(const char **name, CUfunction f);
CUresult cuFuncGetModule(CUmodule *module, CUfunction f);
CUresult cuFuncSetCacheConfig(CUfunction f, CUfunc_cache config);
CUresult cuFuncSetSharedMemConfig(CUfunction f, CUsharedconfig config);
CUresult cuFuncGetParamInfo(CUfunction f, size_t index, size_t *offset, size_t *size);
CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction f);
CUresult cuFuncLoad(CUfunction f);
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **args, void **extra);
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, CUstream stream, void **args);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int size, size_t shared);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction f, int size, size_t shared,
                                                              unsigned flags);
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f, CUoccupancyB2DSize sharedOf, size_t shared,
                                          int limit);
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction f, CUoccupancyB2DSize sharedOf,
                                                   size_t shared, int limit, unsigned flags);

CUresult cuMemAllocPitch_v2(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned element);
CUresult cuMemAllocAsync(CUdeviceptr *p, size_t bytes, CUstream s);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t bytes, CUmemoryPool pool, CUstream s);
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s);
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep);
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr p);
CUresult cuMemHostRegister_v2(void *p, size_t bytes, unsigned flags);
CUresult cuMemHostUnregister(void *p);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *host, unsigned flags);
CUresult cuMemHostGetFlags(unsigned *flags, void *host);
CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n);
CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n, CUstream s);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *p);
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *p);
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream s);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *p);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *p, CUstream s);
CUresult cuMemsetD16Async(CUdeviceptr p, unsigned short value, size_t n, CUstream s);
CUresult cuMemsetD2D8_v2(CUdeviceptr p, size_t pitch, unsigned char value, size_t width, size_t height);
CUresult cuMemsetD2D16_v2(CUdeviceptr p, size_t pitch, unsigned short value, size_t width, size_t height);
CUresult cuMemsetD2D32_v2(CUdeviceptr p, size_t pitch, unsigned value, size_t width, size_t height);
CUresult cuMemsetD2D8Async(CUdeviceptr p, size_t pitch, unsigned char value, size_t width, size_t height, CUstream s);
CUresult cuMemsetD2D16Async(CUdeviceptr p, size_t pitch, unsigned short value, size_t width, size_t height, CUstream s);
CUresult cuMemsetD2D32Async(CUdeviceptr p, size_t pitch, unsigned value, size_t width, size_t height, CUstream s);
CUresult cuPointerGetAttribute(void *to, CUpointer_attribute attribute, CUdeviceptr p);
CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute *attributes, void **to, CUdeviceptr p);
CUresult cuMemPrefetchAsync(CUdeviceptr p, size_t bytes, CUdevice device, CUstream s);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr p, size_t bytes, CUmemLocation to, unsigned flags, CUstream s);
CUresult cuMemAdvise(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUdevice device);
CUresult cuMemAdvise_v2(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUmemLocation at);

CUresult cuStreamCreateWithPriority(CUstream *s, unsigned flags, int priority);
CUresult cuStreamGetPriority(CUstream s, int *priority);
CUresult cuStreamGetFlags(CUstream s, unsigned *flags);
CUresult cuStreamGetCtx(CUstream s, CUcontext *c);
CUresult cuStreamGetId(CUstream s, unsigned long long *id);
CUresult cuStreamAddCallback(CUstream s, CUstreamCallback fn, void *data, unsigned flags);
CUresult cuStreamAttachMemAsync(CUstream s, CUdeviceptr p, size_t bytes, unsigned flags);
CUresult cuEventRecordWithFlags(CUevent e, CUstream s, unsigned flags);
CUresult cuEventElapsedTime_v2(float *ms, CUevent from, CUevent to);
CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode);
CUresult cuStreamEndCapture(CUstream s, CUgraph *graph);
CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *status);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);

CUresult cuGraphCreate(CUgraph *graph, unsigned flags);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphClone(CUgraph *clone, CUgraph graph);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                              const CUDA_MEMCPY3D *params, CUcontext c);
CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *params, CUcontext c);
CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                            const CUDA_HOST_NODE_PARAMS *params);
CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                                  CUgraph child);
CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count);
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count);
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count);
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type);
CUresult cuGraphDestroyNode(CUgraphNode node);
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *bad, char *log, size_t size);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *params, CUcontext c);
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params,
                                        CUcontext c);
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *result);
CUresult cuGraphExecDestroy(CUgraphExec exec);
CUresult cuGraphLaunch(CUgraphExec exec, CUstream s);
CUresult cuGraphUpload(CUgraphExec exec, CUstream s);
#ifdef HEDDLE_LIBRARY // the calls of CUDA 11
CUresult cuDeviceGetUuid(CUuuid *to, CUdevice device);
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *params);
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params);
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params);
#endif
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);
CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, unsigned long long flags,
                             CUdriverProcAddressQueryResult *status);
#ifdef __cplusplus
}
#ifndef HEDDLE_LIBRARY // a source for CUDA 13 calls cuCtxCreate with parameters
static inline CUresult cuCtxCreate(CUcontext *c, CUctxCreateParams *params, unsigned flags, CUdevice device)
{
    return cuCtxCreate_v4(c, params, flags, device);
}
#endif
#endif

// cutil_inline.h -- cutil.h with the later names of its checks.
#pragma once
#include "cutil.h"

#define cutilSafeCall(call) CUDA_SAFE_CALL(call)
#define cutilSafeCallNoSync(call) CUDA_SAFE_CALL_NO_SYNC(call)
#define cutilSafeThreadSync() CUDA_SAFE_THREAD_SYNC()
#define cutilCheckError(call) CUT_SAFE_CALL(call)
#define cutilCheckMsg(message) CUT_CHECK_ERROR(message)
#define cutilCondition(c) CUT_CONDITION(c)
#define cutilExit(argc, argv) CUT_EXIT(argc, argv)
#define cutGetMaxGflopsDeviceId() 0
HEDDLE_HOST int cutilDeviceInit(int, char **)
{
    CUDA_SAFE_CALL(cudaSetDevice(0));
    return 0;
}

// cutil.h -- the names of the utility library of CUDA SDKs before 5.0 that old suites use: checks around
// calls, stopwatches, options of the command line, comparisons. It has no files of images.
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper_string.h"
#include "helper_timer.h"

enum CUTBoolean { CUTFalse = 0, CUTTrue = 1 };

HEDDLE_HOST void heddle_cut_check(int failed, const char *what, const char *why, const char *file, int line)
{
    if (!failed) return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, why);
    exit(EXIT_FAILURE);
}
HEDDLE_HOST void heddle_cut_cuda(cudaError_t e, const char *what, const char *file, int line)
{
    heddle_cut_check(e != cudaSuccess, what, cudaGetErrorString(e), file, line);
}

#define CUDA_SAFE_CALL_NO_SYNC(call) heddle_cut_cuda((call), #call, __FILE__, __LINE__)
#define CUDA_SAFE_CALL(call) CUDA_SAFE_CALL_NO_SYNC(call)
#define CUDA_SAFE_THREAD_SYNC() CUDA_SAFE_CALL_NO_SYNC(cudaDeviceSynchronize())
#define CUT_SAFE_CALL(call) heddle_cut_check(CUTTrue != (call), #call, "failed", __FILE__, __LINE__)
#define CUT_SAFE_MALLOC(call) heddle_cut_check(!(call), #call, "no memory", __FILE__, __LINE__)
#define CUT_CHECK_ERROR(message) heddle_cut_cuda(cudaGetLastError(), message, __FILE__, __LINE__)
#define CUT_CONDITION(c) heddle_cut_check(!(c), #c, "does not hold", __FILE__, __LINE__)
#define CUT_BANK_CHECKER(array, index) array[index]
#define CUT_DEVICE_INIT(...) CUDA_SAFE_CALL(cudaSetDevice(0))
#define CUT_EXIT(argc, argv) exit(EXIT_SUCCESS)

// Stopwatches are numbered from 1 on; a file has 256 of them at most.
static StopWatchInterface *heddle_cut_timers[257];
HEDDLE_HOST StopWatchInterface *heddle_cut_timer(unsigned n) { return n <= 256 ? heddle_cut_timers[n] : nullptr; }
HEDDLE_HOST CUTBoolean cutCreateTimer(unsigned *name)
{
    for (unsigned n = 1; n <= 256; n++) {
        if (heddle_cut_timers[n]) continue;
        heddle_cut_timers[n] = new StopWatchInterface;
        *name = n;
        return CUTTrue;
    }
    return CUTFalse;
}
HEDDLE_HOST CUTBoolean cutDeleteTimer(unsigned name)
{
    StopWatchInterface *t = heddle_cut_timer(name);
    if (!t) return CUTFalse;
    delete t;
    heddle_cut_timers[name] = nullptr;
    return CUTTrue;
}
#define HEDDLE_CUT_TIMER(NAME, METHOD)                              \
    HEDDLE_HOST CUTBoolean NAME(unsigned name)                      \
    {                                                               \
        StopWatchInterface *t = heddle_cut_timer(name);      \
        if (t) t->METHOD();                                         \
        return t ? CUTTrue : CUTFalse;                              \
    }
HEDDLE_CUT_TIMER(cutStartTimer, start)
HEDDLE_CUT_TIMER(cutStopTimer, stop)
HEDDLE_CUT_TIMER(cutResetTimer, reset)
#undef HEDDLE_CUT_TIMER
HEDDLE_HOST float cutGetTimerValue(unsigned name)
{
    StopWatchInterface *t = heddle_cut_timer(name);
    return t ? t->getTime() : 0.0f;
}
HEDDLE_HOST float cutGetAverageTimerValue(unsigned name)
{
    StopWatchInterface *t = heddle_cut_timer(name);
    return t ? t->getAverageTime() : 0.0f;
}

HEDDLE_HOST CUTBoolean cutCheckCmdLineFlag(int argc, const char **argv, const char *name)
{
    return checkCmdLineFlag(argc, argv, name) ? CUTTrue : CUTFalse;
}
HEDDLE_HOST CUTBoolean cutGetCmdLineArgumenti(int argc, const char **argv, const char *name, int *value)
{
    if (!checkCmdLineFlag(argc, argv, name)) return CUTFalse;
    *value = getCmdLineArgumentInt(argc, argv, name);
    return CUTTrue;
}
HEDDLE_HOST CUTBoolean cutGetCmdLineArgumentf(int argc, const char **argv, const char *name, float *value)
{
    if (!checkCmdLineFlag(argc, argv, name)) return CUTFalse;
    *value = getCmdLineArgumentFloat(argc, argv, name);
    return CUTTrue;
}
HEDDLE_HOST CUTBoolean cutGetCmdLineArgumentstr(int argc, const char **argv, const char *name, char **value)
{
    return getCmdLineArgumentString(argc, argv, name, value) ? CUTTrue : CUTFalse;
}

template <class T>
HEDDLE_HOST CUTBoolean heddle_cut_compare(const T *reference, const T *data, unsigned n, double epsilon)
{
    for (unsigned i = 0; i < n; i++)
        if (!(fabs((double)reference[i] - (double)data[i]) <= epsilon)) return CUTFalse;
    return CUTTrue;
}
HEDDLE_HOST CUTBoolean cutComparef(const float *reference, const float *data, unsigned n)
{
    return heddle_cut_compare(reference, data, n, 0);
}
HEDDLE_HOST CUTBoolean cutComparei(const int *reference, const int *data, unsigned n)
{
    return heddle_cut_compare(reference, data, n, 0);
}
HEDDLE_HOST CUTBoolean cutCompareub(const unsigned char *reference, const unsigned char *data, unsigned n)
{
    return heddle_cut_compare(reference, data, n, 0);
}
HEDDLE_HOST CUTBoolean cutComparefe(const float *reference, const float *data, unsigned n, float epsilon)
{
    return heddle_cut_compare(reference, data, n, epsilon);
}
// The root of the squared differences' sum, over that of the reference, lies below epsilon.
HEDDLE_HOST CUTBoolean cutCompareL2fe(const float *reference, const float *data, unsigned n, float epsilon)
{
    double off = 0, all = 0;
    for (unsigned i = 0; i < n; i++) {
        double d = (double)reference[i] - (double)data[i];
        off += d * d, all += (double)reference[i] * reference[i];
    }
    return all > 0 && sqrt(off / all) < epsilon ? CUTTrue : CUTFalse;
}

// What the files of libcudart share.
#pragma once
#include "graph.h"

#define HEDDLE_LIBRARY // the structures of CUDA as C has them
#if HEDDLE_RUNTIME_VERSION < 12000 // has other parameters
#define cudaGraphExecUpdate heddle_of_version_12
#endif
#include "cuda_runtime_api.h"
#undef cudaGraphExecUpdate
#undef cudaGetDeviceProperties

cudaError_t heddle_runtime_error(int e);  // keeps e for cudaGetLastError
#define RETURN(e) return heddle_runtime_error(e)
int heddle_ready(void); // loads what the program has registered
int heddle_kernel(const void *func, struct kernel **k);
int heddle_symbol(const void *host, uint64_t *addr, uint64_t *bytes);
// A texture or surface reference shows an image from now on; 0: none.
int heddle_bind(const void *reference, uint64_t image);
int heddle_reads_as_float(const void *reference);
int heddle_area(const struct cudaMemcpy3DParms *p, struct area *a);

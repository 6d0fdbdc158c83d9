// What the files of libcudart share.
#pragma once
#include "wire.h"

#define HEDDLE_LIBRARY // the structures of CUDA as C has them
#include "cuda_runtime_api.h"
#undef cudaGetDeviceProperties

cudaError_t heddle_runtime_error(int e);  // keeps e for cudaGetLastError
#define RETURN(e) return heddle_runtime_error(e)
int heddle_ready(void); // loads what the program has registered
int heddle_kernel(const void *func, struct kernel **k);
int heddle_symbol(const void *host, uint64_t *addr, uint64_t *bytes);

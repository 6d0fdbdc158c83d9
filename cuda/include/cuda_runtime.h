// cuda_runtime.h -- the runtime API and CUDA's types; in a .cu file the device functions, too.
#pragma once
#define __CUDA_RUNTIME_H__
#ifdef __CUDA__
#include "heddle/device.h"
#else // a C or C++ file, which has no kernels
#include "heddle/version.h"
#include "host_defines.h"
#ifdef __cplusplus
#include <new>
#endif
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vector_types.h"
#include "vector_functions.h"
#include "driver_types.h"
#include "texture_types.h"
#include "surface_types.h"
#include "cuda_runtime_api.h"
#ifdef __cplusplus
#include "channel_descriptor.h"
#include "heddle/runtime_templates.h"
#endif
#endif

// The version of CUDA whose names these headers have.
#pragma once
#define CUDA_VERSION 12030
#define CUDART_VERSION 12030
#define CUDA_API_PER_THREAD_DEFAULT_STREAM_VERSION 0

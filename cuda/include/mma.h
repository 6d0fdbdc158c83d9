// mma.h -- nvcuda::wmma: matrices of a warp in fragments, and their multiplication.
#pragma once
#define __CUDA_MMA_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "heddle/wmma.h"

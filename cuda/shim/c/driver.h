// What the files of the driver API share.
#pragma once
#include "graph.h"

#define HEDDLE_LIBRARY
#include "cuda.h"

// function is what a CUfunction and a CUkernel point at.
struct function {
    struct kernel kernel;
    CUmodule module;
    char *name;
};

int heddle_simple(int call, uint64_t a, uint64_t b);
int heddle_driver_area(const CUDA_MEMCPY3D *p, struct area *a);

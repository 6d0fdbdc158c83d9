// cub/cub.cuh -- reductions and scans of a warp and of a block, with CUB's names. The rest of CUB is not here.
#pragma once
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"

// cuda_pipeline.h -- the primitives; cuda::pipeline itself is in cuda/pipeline.
#pragma once
#include "cuda_pipeline_primitives.h"

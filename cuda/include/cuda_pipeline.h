// cuda_pipeline.h -- the primitives; cuda::pipeline itself is a class of libcu++, which Heddle does not have.
#pragma once
#include "cuda_pipeline_primitives.h"

// nvtx3/nvToolsExt.h -- NVTX under its newer name.
#pragma once
#include "../nvToolsExt.h"

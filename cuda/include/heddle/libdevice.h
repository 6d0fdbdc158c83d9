// libdevice.h -- what clang's CUDA headers take from NVIDIA's libdevice, written anew. Bessel
// functions are declared there and missing here.
#pragma once

#include "libdevice_basic.h"
#include "libdevice_simd.h"
#include "math_parts.h"
#include "math_double.h"
#include "math_float.h" // after math_double.h, whose reduction of large angles it uses
#include "math_special.h"

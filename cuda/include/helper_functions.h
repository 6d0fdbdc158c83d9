// helper_functions.h -- what samples include for timers, command lines and comparisons.
#pragma once

#include <math.h>

#include "helper_cuda.h"
#include "helper_string.h"
#include "helper_timer.h"

// Whether all of n numbers lie within epsilon of the reference, but for a share of them.
template <class T>
static inline bool compareData(const T *reference, const T *data, unsigned n, T epsilon, float share)
{
    unsigned bad = 0;
    for (unsigned i = 0; i < n; i++) bad += !(fabs((double)reference[i] - (double)data[i]) <= (double)epsilon);
    return (float)bad <= share * (float)n;
}

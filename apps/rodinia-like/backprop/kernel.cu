// backprop: one step of training a perceptron with one hidden layer of 16 units
// (Rumelhart, Hinton and Williams 1986). Almost all work is between the n inputs and the
// hidden layer, and is done here; the sixteen sums, the output unit and the error terms
// are the host's. Row 0 of the weights belongs to the bias, row i+1 to input i.
#include "heddle.cuh"

#define HIDDEN 16
#define ROWS 16

#define STRIDE HIDDEN
#define KERNEL(name) name
#define BLOCK blockIdx.y
#include "step.cuh"

// The same where there are more blocks than a grid may be high: the grid is as wide instead.
#undef KERNEL
#undef BLOCK
#define KERNEL(name) name##_wide
#define BLOCK blockIdx.x
#include "step.cuh"

// The same where a row of weights has a column for the bias in front, which nobody uses.
#undef STRIDE
#undef KERNEL
#undef BLOCK
#define STRIDE (HIDDEN + 1)
#define KERNEL(name) name##_padded
#define BLOCK blockIdx.y
#include "step.cuh"

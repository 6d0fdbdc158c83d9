// A program of the first years: cutil, and sources that ask which headers are there.
#include <cuComplex.h>
#include <cuda_gl_interop.h>
#include <cutil_inline.h>
#include <math_constants.h>
#include <nvToolsExt.h>

#if !defined(__DRIVER_TYPES_H__) || !defined(__VECTOR_TYPES_H__) || !defined(__CUDA_RUNTIME_H__)
#error "the guards that programs ask for are missing"
#endif
static_assert(CUDART_PI_F == 3.14159265f && CUDART_INF > 1e300, "constants");

__global__ void turn(cuFloatComplex *v, double2 *w)
{
    __shared__ cuFloatComplex tile[32];
    CUT_BANK_CHECKER(tile, threadIdx.x) = cuCmulf(v[threadIdx.x], make_cuFloatComplex(0.0f, 1.0f));
    w[threadIdx.x] = cuCdiv(cuComplexFloatToDouble(tile[threadIdx.x]), make_cuDoubleComplex(CUDART_SQRT_TWO, 0));
    v[threadIdx.x] = cuConjf(tile[threadIdx.x]);
}

int main(int argc, char **argv)
{
    unsigned timer = 0;
    CUT_DEVICE_INIT(argc, argv);
    CUT_SAFE_CALL(cutCreateTimer(&timer));
    CUT_SAFE_CALL(cutStartTimer(timer));
#define UNIT "ms"
    nvtxRangePushA("time in "UNIT); // a literal and a name without a space
    nvtxRangePop();
    cuFloatComplex *v;
    double2 *w;
    cutilSafeCall(cudaMalloc((void **)&v, 32 * sizeof *v));
    CUDA_SAFE_CALL(cudaMalloc((void **)&w, 32 * sizeof *w));
    turn<<<1, 32>>>(v, w);
    CUT_CHECK_ERROR("turn");
    cudaGraphicsResource *buffer;
    if (cudaGraphicsGLRegisterBuffer(&buffer, 1, cudaGraphicsMapFlagsWriteDiscard) != cudaErrorNotSupported) return 1;
    CUT_SAFE_CALL(cutStopTimer(timer));
    printf("%f\n", cutGetTimerValue(timer));
    CUT_EXIT(argc, argv);
}

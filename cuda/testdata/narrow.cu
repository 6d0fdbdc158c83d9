// Types of 16 bits, matrices of a warp, random numbers, staged copies: each kernel writes words, and the test knows them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <curand_kernel.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void halves(unsigned *out)
{
    float f[] = {1.5f, 65519.0f, 65520.0f, 5.9604645e-8f, 2.9802322e-8f, 2.98023224e-8f * 1.5f, -0.0f, 0.333333333f};
    for (int i = 0; i < 8; i++) *out++ = __half_as_ushort(__float2half(f[i]));
    half a = 1.5f, b = 3, nan = CUDART_NAN_FP16;
    *out++ = __half_as_ushort(a + b);                    // 4.5
    *out++ = __half_as_ushort(a - b);                    // -1.5
    *out++ = __half_as_ushort(a * b);                    // 4.5
    *out++ = __half_as_ushort(a / b);                    // 0.5
    *out++ = __half_as_ushort(__hfma(a, b, half(0.25))); // 4.75
    *out++ = __half_as_ushort(__hadd_sat(a, b));         // 1
    *out++ = __half_as_ushort(hsqrt(half(9)));           // 3
    *out++ = __half_as_ushort(__hmax(a, nan));           // 1.5
    *out++ = __half_as_ushort(__hmin_nan(a, nan));       // NaN
    *out++ = __hlt(a, b) | (a > b) << 1 | (a != b) << 2 | (nan != nan) << 3 | __hneu(nan, nan) << 4 | __hisnan(nan) << 5;
    half2 p = __floats2half2_rn(1.0f, 2.0f), q = __half2half2(b);
    *out++ = heddle::bits_of(__hfma2(p, q, p)); // 4, 8
    *out++ = heddle::bits_of(p * q - p);        // 2, 4
    *out++ = heddle::bits_of(__hgt2(q, p));     // 1, 1
    *out++ = heddle::bits_of(__lowhigh2highlow(p));
    *out++ = (unsigned)__half2int_rn(half(2.5)) | (unsigned)__half2int_ru(half(2.25)) << 8; // 2, 3
    *out++ = __half_as_ushort(__int2half_rz(2049));                                          // 2048
    *out++ = __half_as_ushort(__float2half_ru(1.0001f));                                     // 1 + 2^-10
    *out++ = (unsigned)float(half(100));
    *(half2 *)out = p;
    atomicAdd((half2 *)out, p);
    atomicAdd((half *)out, b);
}

extern "C" __global__ void bfloats(unsigned *out)
{
    float f[] = {1.0f, 1.00390625f, 1.01171875f, 3.4e38f, -0.0f, 0.333333333f}; // the second and third are halfway
    for (int i = 0; i < 6; i++) *out++ = __bfloat16_as_ushort(__float2bfloat16(f[i]));
    *out++ = __bfloat16_as_ushort(__float2bfloat16_rz(-1.01f));
    *out++ = __bfloat16_as_ushort(__float2bfloat16_rd(-1.01f));
    *out++ = __bfloat16_as_ushort(__float2bfloat16_ru(-1.01f));
    nv_bfloat16 a = 1.5f, b = 3;
    *out++ = __bfloat16_as_ushort(a + b);                           // 4.5
    *out++ = __bfloat16_as_ushort(a * b - a);                       // 3
    *out++ = __bfloat16_as_ushort(__hfma(a, b, nv_bfloat16(0.25f))); // 4.75
    *out++ = __bfloat16_as_ushort(a / b);                           // 0.5
    nv_bfloat162 p = __floats2bfloat162_rn(1.0f, 2.0f);
    *out++ = heddle::bits_of(__hadd2(p, __bfloat162bfloat162(b))); // 4, 5
    *out++ = (unsigned)__bfloat162float(hexp2(b));                  // 8
    *out++ = (a < b) | (a == b) << 1;
    *(nv_bfloat162 *)out = p;
    atomicAdd((nv_bfloat162 *)out, p);
    atomicAdd((nv_bfloat16 *)out, b);
}

// 16 x 16 products of small whole numbers, of halves in floats and in halves, and of other shapes and layouts.
extern "C" __global__ void products(unsigned *out)
{
    __shared__ half a[512], b[512];
    __shared__ float c[256];
    __shared__ half d[256];
    for (int i = threadIdx.x; i < 512; i += 32) a[i] = half(i * 5 % 7 - 3), b[i] = half(i * 3 % 5 - 2);
    for (int i = threadIdx.x; i < 256; i += 32) c[i] = (float)(i % 11), d[i] = half(i % 11);
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::load_matrix_sync(fc, c, 16, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2;
    wmma::store_matrix_sync((float *)out, fc, 16, wmma::mem_row_major);

    wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::col_major> ga;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, half, wmma::row_major> gb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, half> gc;
    wmma::load_matrix_sync(ga, a, 32);
    wmma::load_matrix_sync(gb, b, 8);
    wmma::fill_fragment(gc, half(1));
    wmma::mma_sync(gc, ga, gb, gc);
    wmma::store_matrix_sync(d, gc, 32, wmma::mem_col_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 32) ((float *)out)[256 + i] = __half2float(d[i]);
}

extern "C" __global__ void numbers(unsigned *out)
{
    curandStatePhilox4_32_10_t p;
    curand_init(0, 0, 0, &p); // the authors' known answer for key 0 and counter 0
    for (int i = 0; i < 4; i++) *out++ = curand(&p);
    curand_init(7, 5, 0, &p);
    skipahead(6, &p);
    unsigned seventh = curand(&p);
    curand_init(7, 5, 6, &p);
    *out++ = seventh == curand(&p);
    curandStateMRG32k3a_t m;
    for (int i = 0; i < 3; i++) m.s1[i] = m.s2[i] = 12345; // L'Ecuyer's: 0.127011122046577 of m1 + 1
    *out++ = curand(&m);
    curandState x; // Marsaglia's, from his seeds
    x.v[0] = 123456789, x.v[1] = 362436069, x.v[2] = 521288629, x.v[3] = 88675123, x.v[4] = 5783321, x.d = 6615241;
    for (int i = 0; i < 3; i++) *out++ = curand(&x);
    curand_init(1, 2, 0, &x);
    float sum = 0, squares = 0, low = 1, high = 0;
    for (int i = 0; i < 2000; i++) {
        float n = curand_normal(&x), u = curand_uniform(&x);
        sum += n, squares += n * n, low = fminf(low, u), high = fmaxf(high, u);
    }
    *out++ = fabsf(sum) < 150 && fabsf(squares - 2000) < 200;
    *out++ = low > 0 && low < 0.01f && high > 0.99f && high <= 1;
}

extern "C" __global__ void staged(unsigned *out)
{
    __shared__ uint4 at[64];
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = threadIdx.x * 4 + i + 1;
    __pipeline_memcpy_async(&at[threadIdx.x], &((uint4 *)out)[threadIdx.x], 16, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    ((uint4 *)out)[threadIdx.x] = at[63 - threadIdx.x];
}

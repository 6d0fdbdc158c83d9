// blackscholes: European call and put prices in closed form (Black and Scholes 1973),
// many options per thread in a grid-stride loop. The normal distribution function is
// the five-term polynomial 26.2.17 of Abramowitz and Stegun, |error| < 7.5e-8.
#include "heddle.cuh"

static __device__ __forceinline__ float normal_cdf(float d)
{
    float a = fabsf(d);
    float k = 1.0f / fmaf(0.2316419f, a, 1.0f);
    float p = fmaf(k, 1.330274429f, -1.821255978f);
    p = fmaf(k, p, 1.781477937f);
    p = fmaf(k, p, -0.356563782f);
    p = fmaf(k, p, 0.319381530f);
    float tail = 0.3989422804f * __expf(-0.5f * d * d) * (k * p);
    return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void blackscholes(const float *price, const float *strike, const float *years,
                                        float *call, float *put, float rate, float volatility, unsigned n)
{
    unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float s = price[i], x = strike[i], t = years[i];
        float root = sqrtf(t);
        float d1 = (__logf(s / x) + fmaf(0.5f * volatility, volatility, rate) * t) / (volatility * root);
        float d2 = fmaf(-volatility, root, d1);
        float n1 = normal_cdf(d1), n2 = normal_cdf(d2);
        float discounted = x * __expf(-rate * t);
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
    }
}

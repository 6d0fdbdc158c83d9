// libor: a portfolio of swaptions under the LIBOR market model by Monte Carlo (Brace,
// Gatarek, Musiela 1997), and its sensitivity to a parallel shift of today's rates by
// the adjoint method (Giles and Glasserman 2006). A thread simulates a path. Its rates
// stand in a local array; the adjoint kernel also keeps the rates of every step.
#include "exact.cuh"

#define MAX_RATES 80
#define MAX_STEPS 40
#define MAX_SWAPTIONS 16
#define NOTIONAL 100.0f

__constant__ float volatility[MAX_RATES];
__constant__ int maturity[MAX_SWAPTIONS]; // rates until the end of the swap, from 1
__constant__ float strike[MAX_SWAPTIONS];

// step moves rates n + 1 and later over one accrual period, driven by normal deviate z.
static __device__ __forceinline__ void step(float *rate, int n, int rates, float delta, float root, float z)
{
    float drift = 0.0f, shock = root * z;
    for (int i = n + 1; i < rates; i++) {
        float vol = volatility[i - n - 1], c = delta * vol, l = rate[i];
        drift += c * l / fmaf(delta, l, 1.0f);
        rate[i] = l * exact_exp(fmaf(c, drift, vol * fmaf(-0.5f, c, shock)));
    }
}

// discount is the value today of one unit when the last of the first `steps` rates ends.
static __device__ __forceinline__ float discount(const float *rate, int steps, float delta)
{
    float d = 1.0f;
    for (int n = 0; n < steps; n++) d = d / fmaf(delta, rate[n], 1.0f);
    return d;
}

extern "C" __global__ void libor_value(const float *z, float *value, int paths, int rates, int steps, int swaptions, float delta, float start)
{
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths) return;
    float rate[MAX_RATES], bond[MAX_RATES], annuity[MAX_RATES];
    for (int i = 0; i < rates; i++) rate[i] = start;
    float root = sqrtf(delta);
    for (int n = 0; n < steps; n++) step(rate, n, rates, delta, root, z[n * paths + path]);
    float b = 1.0f, a = 0.0f, v = 0.0f;
    for (int i = steps; i < rates; i++) {
        b = b / fmaf(delta, rate[i], 1.0f);
        a = fmaf(delta, b, a);
        bond[i - steps] = b;
        annuity[i - steps] = a;
    }
    for (int s = 0; s < swaptions; s++) {
        int m = maturity[s] - 1;
        v = fmaf(NOTIONAL, fmaxf(1.0f - fmaf(strike[s], annuity[m], bond[m]), 0.0f), v);
    }
    value[path] = v * discount(rate, steps, delta);
}

extern "C" __global__ void libor_delta(const float *z, float *sensitivity, int paths, int rates, int steps, int swaptions, float delta, float start)
{
    int path = blockIdx.x * blockDim.x + threadIdx.x;
    if (path >= paths) return;
    float rate[MAX_RATES], before[MAX_STEPS * MAX_RATES]; // rates i > n before step n
    float bond[MAX_RATES], annuity[MAX_RATES], bond_bar[MAX_RATES], annuity_bar[MAX_RATES], rate_bar[MAX_RATES];
    for (int i = 0; i < rates; i++) rate[i] = start;
    float root = sqrtf(delta);
    for (int n = 0; n < steps; n++) {
        for (int i = n + 1; i < rates; i++) before[n * MAX_RATES + i] = rate[i];
        step(rate, n, rates, delta, root, z[n * paths + path]);
    }

    // The portfolio forwards, then its derivatives backwards.
    float b = 1.0f, a = 0.0f, v = 0.0f;
    for (int i = steps; i < rates; i++) {
        b = b / fmaf(delta, rate[i], 1.0f);
        a = fmaf(delta, b, a);
        bond[i - steps] = b;
        annuity[i - steps] = a;
        bond_bar[i - steps] = annuity_bar[i - steps] = 0.0f;
    }
    for (int s = 0; s < swaptions; s++) {
        int m = maturity[s] - 1;
        float payoff = 1.0f - fmaf(strike[s], annuity[m], bond[m]);
        if (payoff <= 0.0f) continue;
        v = fmaf(NOTIONAL, payoff, v);
        bond_bar[m] -= NOTIONAL;
        annuity_bar[m] = fmaf(-NOTIONAL, strike[s], annuity_bar[m]);
    }
    float d = discount(rate, steps, delta), b_bar = 0.0f, a_bar = 0.0f;
    for (int i = rates - 1; i >= steps; i--) {
        float per = 1.0f / fmaf(delta, rate[i], 1.0f);
        a_bar += annuity_bar[i - steps];
        b_bar += fmaf(delta, a_bar, bond_bar[i - steps]);
        rate_bar[i] = -delta * bond[i - steps] * per * b_bar * d;
        b_bar *= per;
    }
    for (int i = 0; i < steps; i++) rate_bar[i] = -delta * v * d / fmaf(delta, rate[i], 1.0f);

    // The steps backwards: rate[i] and rate_bar[i] are those after step n, then before it.
    for (int n = steps - 1; n >= 0; n--) {
        float drift_bar = 0.0f;
        for (int i = rates - 1; i > n; i--) {
            float c = delta * volatility[i - n - 1], l = before[n * MAX_RATES + i], per = 1.0f / fmaf(delta, l, 1.0f);
            float grown = rate_bar[i] * rate[i];
            drift_bar = fmaf(c, grown, drift_bar);
            rate_bar[i] = fmaf(drift_bar, c * per * per, grown / l);
            rate[i] = l;
        }
    }
    float sum = 0.0f;
    for (int i = 0; i < rates; i++) sum += rate_bar[i];
    sensitivity[path] = sum;
}

extern "C" __global__ void doubles(const double *a, double *r, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i];
    r[i] = exp(x);
    r[n + i] = log(fabs(x));
    r[2 * n + i] = sin(x);
    r[3 * n + i] = cos(x);
    r[4 * n + i] = pow(fabs(x), 1.7);
    r[5 * n + i] = atan(x);
    r[6 * n + i] = tanh(x);
    r[7 * n + i] = cbrt(x);
    r[8 * n + i] = erf(x);
    r[9 * n + i] = sin(x * 1e6);
    r[10 * n + i] = expm1(x);
    r[11 * n + i] = erfc(x);
}
extern "C" __global__ void floats(const float *a, float *r, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    r[i] = expf(x);
    r[n + i] = logf(fabsf(x));
    r[2 * n + i] = sinf(x);
    r[3 * n + i] = cosf(x);
    r[4 * n + i] = powf(fabsf(x), 1.7f);
    r[5 * n + i] = atanf(x);
    r[6 * n + i] = tanhf(x);
    r[7 * n + i] = cbrtf(x);
}

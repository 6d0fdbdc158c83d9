__device__ int table[4] = {1, 2, 3, 4};
static __device__ int own = 1000;
__device__ int helper(int x) { return x * x + own; }
void set(int v) { cudaMemcpyToSymbol(table, &v, sizeof v); }

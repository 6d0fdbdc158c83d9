// cuda::barrier, cuda::pipeline and cuda::atomic: what kernels compute with them is compared with what they must give.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/atomic>
#include <cuda/std/type_traits>
#include <stdio.h>

namespace cg = cooperative_groups;

// Each warp writes its part of a table, and reads the next warp's once all have arrived; three rounds.
__global__ void around(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> all;
    __shared__ int table[128];
    if (threadIdx.x == 0) init(&all, blockDim.x);
    __syncthreads();
    int v = (int)threadIdx.x;
    for (int round = 0; round < 3; round++) {
        table[threadIdx.x] = v;
        auto token = all.arrive();
        int mine = v + 1000;
        all.wait(std::move(token));
        v = table[(threadIdx.x + 32) % 128] + mine - mine;
        all.arrive_and_wait();
    }
    out[threadIdx.x] = v;
}

// A thread copies its words in four stages that overlap.
__global__ void stages(const int *in, int *out, int n)
{
    __shared__ int buffer[4][64];
    auto pipe = cuda::make_pipeline();
    const auto size = cuda::aligned_size_t<4>(sizeof(int));
    int sum = 0;
    for (int fetch = 0, use = 0; use < n; use++) {
        for (; fetch < n && fetch < use + 4; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buffer[fetch % 4][threadIdx.x], &in[fetch * 64 + threadIdx.x], size, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum = sum * 3 + buffer[use % 4][threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

// One warp copies, the others add.
__global__ void roles(const int *in, int *out, int n)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int buffer[2][64];
    auto block = cg::this_thread_block();
    bool produces = threadIdx.x >= 64;
    auto pipe = cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (produces) {
            pipe.producer_acquire();
            int t = (int)threadIdx.x - 64;
            cuda::memcpy_async(&buffer[i % 2][2 * t], &in[i * 64 + 2 * t], sizeof(int2), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum = sum * 3 + buffer[i % 2][63 - threadIdx.x];
            pipe.consumer_release();
        }
    }
    if (!produces) out[63 - threadIdx.x] = sum;
}

__device__ cuda::atomic<int, cuda::thread_scope_device> total(5);
__global__ void count(unsigned long long *big, float *real, unsigned *most)
{
    __shared__ cuda::std::atomic<int> here;
    if (threadIdx.x == 0) here.store(0);
    __syncthreads();
    here.fetch_add(1, cuda::std::memory_order_relaxed);
    here |= 1 << 20;
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>(*big).fetch_add(1ull << 33);
    cuda::atomic_ref<float>(*real) += 0.5f;
    cuda::atomic_ref<unsigned>(*most).fetch_max(threadIdx.x * 7 % 61);
    __syncthreads();
    int want = here.load() - (1 << 20), one = 1;
    if (threadIdx.x == 0) total += want;
    if (threadIdx.x == 9 && here.compare_exchange_strong(one, 2)) total = 0; // here is not 1
    if (threadIdx.x == 9 && one != want + (1 << 20)) total = 0;
}
__global__ void result(int *out) { *out = total--; }

int main()
{
    int *in, *out, host[64 * 10], got[128], bad = 0;
    cudaMallocManaged(&in, sizeof host);
    cudaMallocManaged(&out, sizeof got);
    for (int i = 0; i < 640; i++) in[i] = host[i] = i * i % 1000;
    around<<<1, 128>>>(out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 128; i++) bad += out[i] != (i + 96) % 128;
    printf("around %d\n", bad);
    for (int kind = 0; kind < 2; kind++) {
        bad = 0;
        if (kind == 0) stages<<<1, 64>>>(in, out, 10);
        else roles<<<1, 96>>>(in, out, 10);
        cudaDeviceSynchronize();
        for (int t = 0; t < 64; t++) {
            int sum = 0;
            for (int i = 0; i < 10; i++) sum = sum * 3 + host[i * 64 + t];
            bad += out[t] != sum;
        }
        printf("pipeline %d\n", bad);
    }
    unsigned long long *big;
    float *real;
    unsigned *most;
    cudaMallocManaged(&big, 8);
    cudaMallocManaged(&real, 4);
    cudaMallocManaged(&most, 4);
    *big = 3, *real = 1, *most = 2;
    count<<<2, 64>>>(big, real, most);
    result<<<1, 1>>>(out);
    cudaError_t e = cudaDeviceSynchronize();
    cuda::std::atomic<long long> host_side(40);
    host_side += 2;
    static_assert(cuda::std::is_same<int, int>::value, "");
    printf("total %d, big %llx, real %g, most %u, host %lld, %s\n", *out, *big, *real, *most, host_side.exchange(0),
           cudaGetErrorString(e));
    return 0;
}

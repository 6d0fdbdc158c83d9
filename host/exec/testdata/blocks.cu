// CUB's reductions and scans of a block and a warp, against sums of the host.
#include <cub/cub.cuh>
#include <stdio.h>

struct best { double value; int at; }; // larger than a register
struct better { __device__ best operator()(const best &a, const best &b) const { return b.value > a.value ? b : a; } };

template <int N> __global__ void reduce(const int *in, int *out, int valid)
{
    typedef cub::BlockReduce<int, N> Sums;
    typedef cub::BlockReduce<best, N> Bests;
    __shared__ union { typename Sums::TempStorage sums; typename Bests::TempStorage bests; } room;
    int v = in[threadIdx.x], four[2] = {v, v * v};
    int sum = Sums(room.sums).Sum(v);
    __syncthreads();
    int some = Sums(room.sums).Sum(v, valid);
    __syncthreads();
    int most = Sums(room.sums).Reduce(four, cub::Max());
    __syncthreads();
    int own = cub::BlockReduce<int, N>().Sum(v); // in shared memory of its own
    best b = Bests(room.bests).Reduce(best{v * 0.5, (int)threadIdx.x}, better());
    if (threadIdx.x == 0) out[0] = sum == own ? sum : -1, out[1] = some, out[2] = most, out[3] = b.at;
}
template <int N> __global__ void scan(const int *in, int *out)
{
    typedef cub::BlockScan<int, N> Scan;
    __shared__ typename Scan::TempStorage room;
    int t = (int)threadIdx.x, v = in[t], a, b, all, pair[2] = {v, 1}, sums[2];
    Scan(room).InclusiveSum(v, a);
    __syncthreads();
    Scan(room).ExclusiveSum(v, b, all);
    __syncthreads();
    Scan(room).ExclusiveSum(pair, sums);
    out[4 * t] = a, out[4 * t + 1] = b, out[4 * t + 2] = all, out[4 * t + 3] = sums[1] - sums[0] + 100 * (sums[0] - b - t);
}
__global__ void warp(const int *in, int *out)
{
    typedef cub::WarpReduce<int, 8> Warp;
    __shared__ Warp::TempStorage room[8];
    int s = Warp(room[threadIdx.x / 8]).Sum(in[threadIdx.x], 5);
    if (threadIdx.x % 8 == 0) out[threadIdx.x / 8] = s;
}

template <int N> static int check(int *in, int *out, int valid)
{
    int bad = 0, sum = 0, some = 0, most = 0, at = 0;
    reduce<N><<<1, N>>>(in, out, valid);
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++) {
        sum += in[i], some += i < valid ? in[i] : 0;
        if (in[i] * in[i] > most) most = in[i] * in[i];
        if (in[i] > in[at]) at = i;
    }
    bad += (out[0] != sum) + (out[1] != some) + (out[2] != most) + (out[3] != at);
    scan<N><<<1, N>>>(in, out);
    cudaDeviceSynchronize();
    for (int i = 0, before = 0; i < N; i++) {
        bad += (out[4 * i + 1] != before) + (out[4 * i] != before + in[i]) + (out[4 * i + 2] != sum);
        bad += out[4 * i + 3] != in[i];
        before += in[i];
    }
    return bad;
}

int main()
{
    int *in, *out, bad = 0;
    cudaMallocManaged(&in, 1024 * 4);
    cudaMallocManaged(&out, 4 * 1024 * 4);
    for (int i = 0; i < 1024; i++) in[i] = i * 37 % 101 - 20;
    int a = check<256>(in, out, 100), b = check<50>(in, out, 7), c = check<1024>(in, out, 1000);
    warp<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 8; i++) {
        int sum = 0;
        for (int k = 0; k < 5; k++) sum += in[8 * i + k];
        bad += out[i] != sum;
    }
    printf("%d %d %d %d %s\n", a, b, c, bad, cudaGetErrorString(cudaGetLastError()));
    return 0;
}

#include <helper_functions.h>
#include <helper_math.h>
__global__ void shade(float4 *p, int3 at, uint2 size)
{
    float3 n = normalize(cross(make_float3(p[0]), make_float3(0.0f, 1.0f, 0.5f)));
    float2 d = make_float2((float)threadIdx.x) / 2.0f - make_float2(1, 2);
    float4 c = lerp(p[0], make_float4(n, 1.0f), clamp(dot(n, n), 0.0f, 1.0f));
    at += make_int3(1, 2, 3) * 2;
    c += 2.0f * c - max(c, make_float4(0.25f)) * length(d);
    p[threadIdx.x] = -c + fmaxf(c, make_float4(0.0f)) * (float)dot(size, make_uint2(1, 2)) + make_float4(make_int4(at));
}
int main()
{
    float4 *p;
    checkCudaErrors(cudaMalloc(&p, 32 * sizeof(float4)));
    checkCudaErrors(cudaMemset(p, 0, 32 * sizeof(float4)));
    shade<<<1, 32>>>(p, make_int3(1), make_uint2(3));
    checkCudaErrors(cudaDeviceSynchronize());
    float ours[4] = {1, 2, 3, 4}, theirs[4] = {1, 2, 3, 5}, *read = 0;
    unsigned n = 0, w = 0, h = 0;
    unsigned char grey[6] = {1, 2, 3, 4, 5, 6}, *loaded = 0, colours[8] = {1, 2, 3, 0, 4, 5, 6, 0};
    float *pixels = 0;
    bool good = sdkWriteFile("numbers.dat", ours, 4, 0.0f, false) && !compareData(ours, theirs, 4, 0.5f, 0.0f) &&
                compareData(ours, theirs, 4, 0.5f, 0.25f) && sdkCompareL2fe(ours, theirs, 4, 0.5f) &&
                !sdkReadFile("missing.dat", &read, &n) && sdkSavePGM("grey.pgm", grey, 3, 2) &&
                sdkLoadPGM("grey.pgm", &loaded, &w, &h) && w == 3 && h == 2 && loaded[5] == 6 &&
                sdkLoadPGM("grey.pgm", &pixels, &w, &h) && pixels[5] > 0.0234f && pixels[5] < 0.0236f &&
                sdkSavePPM4ub("colours.ppm", colours, 2, 1) && (loaded = 0, sdkLoadPPM4ub("colours.ppm", &loaded, &w, &h)) &&
                w == 2 && h == 1 && loaded[4] == 4 && loaded[7] == 0 &&
                sdkComparePPM("colours.ppm", "colours.ppm", 0, 0) && !sdkComparePGM("colours.ppm", "colours.ppm", 0, 0);
    sdkDumpBin(ours, sizeof ours, "ours.bin");
    good = good && sdkCompareBin2BinFloat("ours.bin", "ours.bin", 4, 0, 0, 0);
    std::cout << (good ? "good" : "bad") << std::endl;
    return !good;
}

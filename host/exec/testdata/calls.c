/* Every name of the driver API: by cuGetProcAddress, and what is not there says so. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>

static void ask(const char *name, int version)
{
    void *f, *want;
    CUdriverProcAddressQueryResult how;
    CUresult e = cuGetProcAddress(name, &f, version, 0, &how);
    const char *is = "nothing";
    char with[80];
    for (int v = 3; v >= 0 && f; v--) { // the newest first: the first name is that of the oldest, too
        snprintf(with, sizeof with, v ? "%s_v%d" : "%s", name, v + 1);
        if ((want = dlsym(RTLD_DEFAULT, with)) && want == f) is = with;
        if (is == with) break;
    }
    printf("%s of %d: %s, %d, %d\n", name, version, is, e, (int)how);
}

int main(void)
{
    CUcontext c;
    CUmipmappedArray array;
    CUresult (*destroy)(CUcontext) = (CUresult (*)(CUcontext))dlsym(RTLD_DEFAULT, "cuCtxDestroy");
    if (cuInit(0) || cuCtxCreate(&c, 0, 0)) return 1;
    ask("cuMemAlloc", 12000);
    ask("cuMemAlloc", 3010);
    ask("cuGraphAddKernelNode", 11080);
    ask("cuGraphAddKernelNode", 12010);
    ask("cuLaunchKernelEx", 11050);
    ask("cuLaunchKernelEx", 11060);
    ask("cuCtxCreate", 11030);
    ask("cuCtxSynchronize", 13000);
    ask("cuNoSuchCall", 12000);
    CUresult (*create)(CUmipmappedArray *, const void *) =
        (CUresult (*)(CUmipmappedArray *, const void *))dlsym(RTLD_DEFAULT, "cuMipmappedArrayCreate");
    printf("array %d, again %d\n", create(&array, NULL), create(&array, NULL));
    printf("by its first name %d\n", destroy ? (int)destroy(c) : -1);
    return 0;
}

/* A runtime that lays its heap at an address of its choice before main, as Go's does: the machine's memory comes first. */
#include <cuda.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static char *const wanted = (char *)0x4000000000, *heap;

__attribute__((constructor)) static void lay(void)
{
    heap = mmap(wanted, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void)
{
    CUcontext c;
    CUdeviceptr p;
    int e = cuInit(0);
    if (!e) e = cuCtxCreate(&c, 0, 0);
    if (!e) e = cuMemAlloc(&p, 4096);
    if (heap != MAP_FAILED) memset(heap, 1, 1 << 20);
    printf("error %d, heap %s\n", e, heap == MAP_FAILED ? "nowhere" : heap == wanted ? "in the window" : "elsewhere");
    return 0;
}

/* A process that uses CUDA starts another one that does, and waits for it. */
#include <cuda.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    CUcontext c;
    CUdeviceptr p;
    int e = cuInit(0), status = 0;
    if (!e) e = cuCtxCreate(&c, 0, 0);
    if (!e) e = cuMemAlloc(&p, 4096);
    if (argc > 1 && !fork()) {
        execl(argv[0], argv[0], (char *)0);
        _exit(1);
    }
    if (argc > 1) wait(&status);
    return e || status;
}

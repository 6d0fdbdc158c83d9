// Managed memory that the system reads and writes, while its pages are on the machine.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

__global__ void add(unsigned char *p, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += by;
}

int main()
{
    enum { N = 200000 };
    char name[] = "/tmp/heddle-files-XXXXXX";
    int fd = mkstemp(name), bad = 0;
    unsigned char *p;
    if (fd < 0 || cudaMallocManaged(&p, N)) return 1;
    unlink(name);
    for (int i = 0; i < N; i++) p[i] = i;
    add<<<(N + 255) / 256, 256>>>(p, N, 3);
    ssize_t wrote = write(fd, p, N); // without a wait the pages are on the machine
    add<<<(N + 255) / 256, 256>>>(p, N, 100);
    lseek(fd, 0, SEEK_SET);
    FILE *f = fdopen(fd, "r+");
    size_t got = fread(p, 1, N, f);
    for (int i = 0; i < N; i++) bad += p[i] != (unsigned char)(i + 3);
    unsigned char *d;
    if (cudaMalloc(&d, N)) return 1; // its end is in no page of managed memory
    printf("wrote %zd, read %zu, bad %d, device memory %zd\n", wrote, got, bad, write(1, d + N - 10, 10));
    return 0;
}

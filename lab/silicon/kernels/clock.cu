// How fast the core clock runs: cycles and ns of the same wait.
#include "common.h"
extern "C" __global__ void spin(u64 *out, u64 cycles)
{
    u64 c0, c1, n0, n1;
    asm volatile("mov.u64 %0, %%globaltimer; mov.u64 %1, %%clock64;" : "=l"(n0), "=l"(c0) :: "memory");
    do asm volatile("mov.u64 %0, %%clock64;" : "=l"(c1) :: "memory"); while (c1 - c0 < cycles);
    asm volatile("mov.u64 %0, %%globaltimer; mov.u64 %1, %%clock64;" : "=l"(n1), "=l"(c1) :: "memory");
    out[0] = c1 - c0;
    out[1] = n1 - n0;
}

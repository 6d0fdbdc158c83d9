// cuda_pipeline_primitives.h -- copies from global to shared memory that a thread waits for later. From sm_80 on they
// are cp.async; before, the thread copies by itself, at once.
#pragma once
#define _CUDA_PIPELINE_PRIMITIVES_H_

#include "cuda_runtime.h"

// size is 4, 8 or 16; the last zfill bytes are zeros instead of what lies at from.
HEDDLE_DEVICE void __pipeline_memcpy_async(void *__restrict__ to, const void *__restrict__ from, size_t size,
                                           size_t zfill = 0)
{
#if __CUDA_ARCH__ >= 800
    unsigned at = (unsigned)__cvta_generic_to_shared(to), bytes = (unsigned)(size - zfill);
    switch (size) {
    case 4:
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
        break;
    case 8:
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
        break;
    case 16:
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
        break;
    default: __trap(); // no size of these copies
    }
#else
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)to)[i] = i < size - zfill ? ((const unsigned char *)from)[i] : (unsigned char)0;
#endif
}
HEDDLE_DEVICE void __pipeline_commit()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits for all copies but those of the last n groups.
HEDDLE_DEVICE void __pipeline_wait_prior(size_t n)
{
#if __CUDA_ARCH__ >= 800
    switch (n) {
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
    case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
    case 7: asm volatile("cp.async.wait_group 7;" ::: "memory"); break;
    case 8: asm volatile("cp.async.wait_group 8;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 0;" ::: "memory"); // 0, or more than nine stages: all of them
    }
#endif
}

namespace heddle {
// copy_async copies the part of bytes that falls to one of size threads: pieces of 16, 8 or 4 bytes, as the addresses
// allow, else bytes one by one and at once. Only copies from global to shared memory are asynchronous.
HEDDLE_DEVICE void copy_async(void *to, const void *from, size_t bytes, size_t rank, size_t size)
{
    char *d = (char *)to;
    const char *s = (const char *)from;
    size_t both = (size_t)d | (size_t)s | bytes, step = both % 16 == 0 ? 16 : both % 8 == 0 ? 8 : both % 4 == 0 ? 4 : 1;
    bool later = step > 1 && __isShared(to) && __isGlobal(from);
    for (size_t i = rank * step; i < bytes; i += size * step) {
        if (!later) for (size_t b = 0; b < step; b++) d[i + b] = s[i + b];
        else if (step == 16) __pipeline_memcpy_async(d + i, s + i, 16);
        else if (step == 8) __pipeline_memcpy_async(d + i, s + i, 8);
        else __pipeline_memcpy_async(d + i, s + i, 4);
    }
}
} // namespace heddle

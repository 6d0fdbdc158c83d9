// cooperative_groups/memcpy_async.h -- copies into shared memory by all threads of a group.
#pragma once
#include "../cooperative_groups.h"
#include "../cuda_pipeline_primitives.h"

namespace cooperative_groups {

// Bytes of 16, 8 or 4 at once, as the addresses allow, else one by one and at once.
template <class G> HEDDLE_DEVICE void memcpy_async(const G &g, void *to, const void *from, size_t bytes)
{
    char *d = (char *)to;
    const char *s = (const char *)from;
    size_t both = (size_t)d | (size_t)s | bytes, step = both % 16 == 0 ? 16 : both % 8 == 0 ? 8 : both % 4 == 0 ? 4 : 1;
    for (size_t i = g.thread_rank() * step; i < bytes; i += g.size() * step) {
        if (step == 16) __pipeline_memcpy_async(d + i, s + i, 16);
        else if (step == 8) __pipeline_memcpy_async(d + i, s + i, 8);
        else if (step == 4) __pipeline_memcpy_async(d + i, s + i, 4);
        else d[i] = s[i];
    }
    __pipeline_commit();
}
// Elements: as many as both sides have.
template <class G, class T> HEDDLE_DEVICE void memcpy_async(const G &g, T *to, size_t toCount, const T *from, size_t fromCount)
{
    memcpy_async(g, (void *)to, (const void *)from, (toCount < fromCount ? toCount : fromCount) * sizeof(T));
}
template <class G> HEDDLE_DEVICE void wait(const G &g)
{
    __pipeline_wait_prior(0);
    g.sync();
}
template <unsigned N, class G> HEDDLE_DEVICE void wait_prior(const G &g)
{
    __pipeline_wait_prior(N);
    g.sync();
}

} // namespace cooperative_groups

// cooperative_groups/memcpy_async.h -- copies into shared memory by all threads of a group.
#pragma once
#include "../cooperative_groups.h"
#include "../cuda_pipeline_primitives.h"

namespace cooperative_groups {

template <class G> HEDDLE_DEVICE void memcpy_async(const G &g, void *to, const void *from, size_t bytes)
{
    heddle::copy_async(to, from, bytes, g.thread_rank(), g.size());
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

// Who sees what a thread does, and in which order: the scopes and orders of cuda::atomic and cuda::barrier.
#pragma once
#include <stddef.h>

#include "../cuda_runtime.h"

namespace cuda {

enum thread_scope { thread_scope_system = 0, thread_scope_device = 1, thread_scope_block = 2, thread_scope_thread = 10 };

namespace std {
enum memory_order {
    memory_order_relaxed,
    memory_order_consume,
    memory_order_acquire,
    memory_order_release,
    memory_order_acq_rel,
    memory_order_seq_cst
};
} // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

} // namespace cuda

namespace heddle {

#define HEDDLE_ANYWHERE __inline__ __attribute__((host, device, always_inline))

// fence keeps what stands before it from what stands behind it, for all threads of a scope.
HEDDLE_ANYWHERE void fence(cuda::thread_scope s)
{
#ifdef __CUDA_ARCH__
    if (s == cuda::thread_scope_block) __threadfence_block();
    else if (s == cuda::thread_scope_device) __threadfence();
    else if (s == cuda::thread_scope_system) __threadfence_system();
#else
    if (s != cuda::thread_scope_thread) __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
HEDDLE_ANYWHERE void fence_before(cuda::thread_scope s, cuda::memory_order o)
{
    if (o == cuda::memory_order_release || o == cuda::memory_order_acq_rel || o == cuda::memory_order_seq_cst) fence(s);
}
HEDDLE_ANYWHERE void fence_behind(cuda::thread_scope s, cuda::memory_order o)
{
    if (o != cuda::memory_order_relaxed && o != cuda::memory_order_release) fence(s);
}

} // namespace heddle

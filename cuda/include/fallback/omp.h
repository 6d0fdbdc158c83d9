// omp.h -- OpenMP for host code where the system's clang has none: one thread, as the standard allows.
#pragma once
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif
typedef struct { int held; } omp_lock_t;
typedef struct { int held; } omp_nest_lock_t;
static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_get_num_threads(void) { return 1; }
static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_get_num_procs(void) { return 1; }
static inline int omp_in_parallel(void) { return 0; }
static inline int omp_get_level(void) { return 0; }
static inline int omp_get_dynamic(void) { return 0; }
static inline int omp_get_nested(void) { return 0; }
static inline void omp_set_num_threads(int n) { (void)n; }
static inline void omp_set_dynamic(int on) { (void)on; }
static inline void omp_set_nested(int on) { (void)on; }
static inline void omp_init_lock(omp_lock_t *l) { l->held = 0; }
static inline void omp_destroy_lock(omp_lock_t *l) { (void)l; }
static inline void omp_set_lock(omp_lock_t *l) { l->held = 1; }
static inline void omp_unset_lock(omp_lock_t *l) { l->held = 0; }
static inline int omp_test_lock(omp_lock_t *l) { return l->held ? 0 : (l->held = 1); }
static inline double omp_get_wtime(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static inline double omp_get_wtick(void) { return 1e-9; }
#ifdef __cplusplus
}
#endif

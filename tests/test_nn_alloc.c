/* Nothing is allocated inside a training step: every malloc of this program and of its libraries is
 * counted. The sanitizers bring allocators of their own; under them the counting is left out. */
#include <stdatomic.h>

#include "nn_fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUNTED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COUNTED 0
#endif
#endif
#ifndef COUNTED
#ifdef __GLIBC__
#define COUNTED 1
#else
#define COUNTED 0
#endif
#endif

#if COUNTED
static atomic_long allocation_count;

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

void *malloc(size_t bytes) {
    atomic_fetch_add(&allocation_count, 1);
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
    atomic_fetch_add(&allocation_count, 1);
    return __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes) {
    atomic_fetch_add(&allocation_count, 1);
    return __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    atomic_fetch_add(&allocation_count, 1);
    return __libc_memalign(alignment, bytes);
}

void *memalign(size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes) {
    return aligned_alloc(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    *memory = aligned_alloc(alignment, bytes);
    return *memory != NULL ? 0 : 12; /* ENOMEM */
}

Test(allocation, a_step_allocates_nothing_after_the_first) {
    static const char *const backends[] = {"serial", "openmp", "openblas"};
    static const char *const optimizers[] = {"sgd", "momentum", "adam", "adamw"};
    for (int b = 0; b < 3; b++) {
        for (int o = 0; o < 4; o++) {
            TrainOptions options = train_default_options;
            Trial trial;
            double loss, accuracy;
            options.optimizer = optimizers[o];
            options.batch = 8;
            long before = atomic_load(&allocation_count);
            trial_start(&trial, "mlp:12-800-400-3", backends[b], 2, &options);
            cr_assert_gt(atomic_load(&allocation_count), before, "the counter does not count");
            trial_steps(&trial, 1);
            before = atomic_load(&allocation_count);
            trial_steps(&trial, 20); /* over two ends of epochs, with their partial batches */
            long in_steps = atomic_load(&allocation_count) - before;
            cr_assert_eq(in_steps, 0, "%s, %s: %ld allocations in 20 steps", backends[b],
                         optimizers[o], in_steps);
            EXPECT_OK(run_evaluate(trial.run, &trial.data.test, &loss, &accuracy));
            cr_assert_eq(atomic_load(&allocation_count) - before, 0, "%s: evaluation allocates",
                         backends[b]);
            trial_end(&trial);
        }
    }
}
#endif

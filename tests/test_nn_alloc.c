/* Nothing is allocated inside a training step: every malloc of this program and of its libraries is
 * counted, libgomp's too. One caller is beyond our reach: OpenBLAS allocates a table of jobs for
 * each product that it divides among threads, so its own are left out, and only its own. The
 * sanitizers bring allocators of their own; under them there is nothing to count. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
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
static atomic_bool counting;

static void count_call(const void *caller) {
    Dl_info info;
    if (atomic_load(&counting) && !(dladdr(caller, &info) != 0 && info.dli_fname != NULL &&
                                    strstr(info.dli_fname, "libopenblas") != NULL)) {
        atomic_fetch_add(&allocation_count, 1);
    }
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

/* The C library calls its parameters __size and the like.
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
void *malloc(size_t bytes) {
    count_call(__builtin_return_address(0));
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
    count_call(__builtin_return_address(0));
    return __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes) {
    count_call(__builtin_return_address(0));
    return __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    count_call(__builtin_return_address(0));
    return __libc_memalign(alignment, bytes);
}

void *memalign(size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes) {
    count_call(__builtin_return_address(0));
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    count_call(__builtin_return_address(0));
    *memory = __libc_memalign(alignment, bytes);
    return *memory != NULL ? 0 : 12; /* ENOMEM */
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

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
            atomic_store(&allocation_count, 0);
            atomic_store(&counting, true);
            trial_start(&trial, "mlp:12-800-400-3", backends[b], 2, &options);
            cr_assert_gt(atomic_load(&allocation_count), 0, "the counter does not count");
            trial_steps(&trial, 1);
            atomic_store(&allocation_count, 0);
            trial_steps(&trial, 20); /* over two ends of epochs, with their partial batches */
            long in_steps = atomic_load(&allocation_count);
            cr_assert_eq(in_steps, 0, "%s, %s: %ld allocations in 20 steps", backends[b],
                         optimizers[o], in_steps);
            EXPECT_OK(run_evaluate(trial.run, &trial.data.test, &loss, &accuracy));
            cr_assert_eq(atomic_load(&allocation_count), 0, "%s: evaluation allocates",
                         backends[b]);
            atomic_store(&counting, false);
            trial_end(&trial);
        }
    }
}
#endif

/* For tests of operations: go through every backend and kernel; make the arguments of any operation
 * from its specification. */
#ifndef LOCKSTEP_TESTS_EVERY_KERNEL_H
#define LOCKSTEP_TESTS_EVERY_KERNEL_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/philox.h"
#include "ops/front.h"
#include "ops/spec.h"

enum { TEST_BACKENDS = 3 };
static const char *const test_backends[TEST_BACKENDS] = {"serial", "openmp", "openblas"};

#define OK(call) cr_assert_eq(call, STATUS_OK, "%s", status_message())

static inline void get_backend(Backend *be, const char *name, int threads) {
    OK(backend_get(be, name));
    OK(be->open(threads));
}

/* Calls check with each kernel of op chosen in turn, on 2 threads. who: "openmp/tiled". */
static inline void on_every_kernel(OpId op, void (*check)(const Backend *be, const char *who)) {
    for (int b = 0; b < TEST_BACKENDS; b++) {
        Backend be;
        get_backend(&be, test_backends[b], 2);
        const Kernel *kernel;
        for (int k = 0; (kernel = backend_kernel(&be, op, k)) != NULL; k++) {
            char who[96];
            snprintf(who, sizeof who, "%s/%s", be.name, kernel->name);
            OK(backend_choose_kernel(&be, op, kernel->name));
            check(&be, who);
        }
        be.close();
    }
}

/* Memory for one call of any operation. */
typedef struct TestCall {
    OpCall call;
    size_t count[SPEC_MAX_ARGS];
} TestCall;

static inline void fill_arg(TestCall *t, int arg, uint64_t seed) {
    const OpArg *a = &t->call.spec->args[arg];
    Philox rng = {seed, (uint64_t)arg};
    for (size_t i = 0; i < t->count[arg]; i++) {
        if (a->dtype == DTYPE_INT32) {
            size_t bound = a->below != NULL ? t->call.dim[spec_dim(t->call.spec, a->below)] : 1;
            ((int32_t *)t->call.arg[arg])[i] = (int32_t)philox_below(rng, i, (uint32_t)bound);
        } else {
            float x = philox_normal(rng, i);
            ((float *)t->call.arg[arg])[i] = a->nonnegative ? x * x : x;
        }
    }
}

/* Sizes, memory from the backend, and inputs that the seed decides. Release with test_call_end. */
static inline void test_call_begin(TestCall *t, const Backend *be, OpId op, const size_t *dim,
                                   uint64_t seed) {
    call_init(&t->call, op);
    for (int i = 0; i < SPEC_MAX_DIMS && t->call.spec->dims[i] != NULL; i++) {
        t->call.dim[i] = dim[i];
    }
    for (int i = 0; t->call.spec->args[i].name != NULL; i++) {
        OK(call_storage(&t->call, i, &t->count[i]));
        t->call.arg[i] = be->alloc(t->count[i] * sizeof(float));
        cr_assert_not_null(t->call.arg[i]);
        fill_arg(t, i, seed);
    }
}

static inline Status test_call_run(TestCall *t, const Backend *be) {
    return t->call.spec->call(be, &t->call);
}

static inline void test_call_end(TestCall *t, const Backend *be) {
    for (int i = 0; t->call.spec->args[i].name != NULL; i++) {
        be->release(t->call.arg[i]);
    }
}

/* Whether all that two calls wrote is the same to the bit; names the first argument that is not. */
static inline const char *first_difference(const TestCall *a, const TestCall *b) {
    for (int i = 0; a->call.spec->args[i].name != NULL; i++) {
        if (memcmp(a->call.arg[i], b->call.arg[i], a->count[i] * sizeof(float)) != 0) {
            return a->call.spec->args[i].name;
        }
    }
    return NULL;
}

#endif

/* For tests of the verifier: a call written by hand, and what the reference says to it. */
#ifndef LOCKSTEP_TESTS_CALL_FIXTURE_H
#define LOCKSTEP_TESTS_CALL_FIXTURE_H

#include <criterion/criterion.h>
#include <stdio.h>

#include "verify/check.h"

#define CALL_OK(call) cr_assert_eq(call, STATUS_OK, "%s", status_message())

/* A call of op with these sizes, options at their defaults, no arguments. */
static inline OpCall call_of(OpId op, size_t d0, size_t d1, size_t d2) {
    OpCall call;
    call_init(&call, op);
    call.dim[0] = d0;
    call.dim[1] = d1;
    call.dim[2] = d2;
    return call;
}

/* data is not changed; outputs need none. */
static inline void give(OpCall *call, const char *name, const void *data) {
    int arg = spec_arg(call->spec, name);
    cr_assert_geq(arg, 0, "%s has no argument %s", op_name(call->spec->op), name);
    call->arg[arg] = (void *)data;
}

static inline void set(OpCall *call, const char *name, double value) {
    CALL_OK(call_set_option(call, name, value));
}

/* The reference for output name; released by the caller. */
static inline const Approx *refer(Reference *reference, const OpCall *call, const char *name) {
    CALL_OK(reference_compute(reference, call));
    return reference->expected[spec_arg(call->spec, name)];
}

/* Checks the call on every kernel of every backend that can run here, with 1 and with 3 threads,
 * and that two runs agree to the bit where the kernel says so. */
static inline void accept_on_every_kernel(const OpCall *call) {
    Reference reference;
    CALL_OK(reference_compute(&reference, call));
    for (int b = 0; b < backend_count(); b++) {
        Backend backend;
        const Kernel *kernel;
        if (backend_missing(backend_at(b)) != NULL) {
            continue;
        }
        CALL_OK(backend_get(&backend, backend_at(b)->name));
        for (int threads = 1; threads <= 3; threads += 2) {
            CALL_OK(backend.open(threads));
            for (int k = 0; (kernel = backend_kernel(&backend, call->spec->op, k)) != NULL; k++) {
                CheckResult result;
                CALL_OK(backend_choose_kernel(&backend, call->spec->op, kernel->name));
                CALL_OK(check_call(&result, &backend, call, &reference, kernel->deterministic));
                cr_assert_eq(result.fault, CHECK_OK, "%s on %s/%s, %d threads: %s: %s",
                             op_name(call->spec->op), backend.name, kernel->name, threads,
                             check_fault_name(result.fault), result.message);
            }
            backend.close();
        }
    }
    reference_release(&reference);
}

#endif

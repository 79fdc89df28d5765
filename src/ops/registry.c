/* The registry: which backends, operations and kernels exist, and which kernel is chosen. */
#include <stdio.h>
#include <string.h>

#include "cpu/openblas/openblas.h"
#include "cpu/openmp/openmp.h"
#include "cpu/serial/serial.h"
#include "cuda/backends.h"
#include "ops/backend.h"
#include "ops/spec.h"

static const Backend *const backends[] = {
    &backend_serial, &backend_openmp, &backend_openblas, &backend_cuda, &backend_simt,
};
enum { BACKEND_COUNT = sizeof backends / sizeof backends[0] };

static const char *const op_names[OP_COUNT] = {
#define OP_NAME(op) [OP_##op] = #op,
    OPERATIONS(OP_NAME)
#undef OP_NAME
};

const char *op_name(OpId op) {
    return op_names[op];
}

Status op_find(OpId *op, const char *name) {
    for (int i = 0; i < OP_COUNT; i++) {
        if (strcmp(op_names[i], name) == 0) {
            *op = (OpId)i;
            return STATUS_OK;
        }
    }
    return fail_unknown("operation", name, op_names, OP_COUNT);
}

int backend_count(void) {
    return BACKEND_COUNT;
}

const Backend *backend_at(int index) {
    return backends[index];
}

const char *backend_missing(const Backend *backend) {
    if (backend->missing == NULL && backend->probe != NULL) {
        return backend->probe();
    }
    return backend->missing;
}

const Kernel *backend_kernel(const Backend *backend, OpId op, int index) {
    for (int t = 0; backend->tables != NULL && backend->tables[t] != NULL; t++) {
        for (const Kernel *kernel = backend->tables[t]; kernel->name != NULL; kernel++) {
            if (kernel->op == op && index-- == 0) {
                return kernel;
            }
        }
    }
    return NULL;
}

static void choose(Backend *backend, const Kernel *kernel) {
    backend->ops.slot[kernel->op] = kernel->function;
    backend->chosen[kernel->op] = kernel;
}

static void choose_defaults(Backend *backend) {
    for (int op = 0; op < OP_COUNT; op++) {
        const Kernel *kernel;
        for (int i = 0; (kernel = backend_kernel(backend, (OpId)op, i)) != NULL; i++) {
            if (kernel->is_default) {
                choose(backend, kernel);
            }
        }
    }
}

bool backend_runs_unnamed(const Backend *backend) {
    return backend_missing(backend) == NULL && !backend->emulated;
}

Status backend_get(Backend *backend, const char *name) {
    const char *names[BACKEND_COUNT];
    for (int i = 0; i < BACKEND_COUNT; i++) {
        names[i] = backends[i]->name;
        if (strcmp(names[i], name) != 0) {
            continue;
        }
        if (backend_missing(backends[i]) != NULL) {
            return fail_missing("backend %s: %s", name, backend_missing(backends[i]));
        }
        *backend = *backends[i];
        choose_defaults(backend);
        return STATUS_OK;
    }
    return fail_unknown("backend", name, names, BACKEND_COUNT);
}

Status backend_choose_kernel(Backend *backend, OpId op, const char *kernel_name) {
    enum { MAX_LADDER = 32 };
    const char *names[MAX_LADDER];
    int count = 0;
    const Kernel *kernel;
    for (int i = 0; i < MAX_LADDER && (kernel = backend_kernel(backend, op, i)) != NULL; i++) {
        if (strcmp(kernel->name, kernel_name) == 0) {
            choose(backend, kernel);
            return STATUS_OK;
        }
        names[count++] = kernel->name;
    }
    char what[96];
    snprintf(what, sizeof what, "kernel of %s on %s", op_name(op), backend->name);
    return fail_unknown(what, kernel_name, names, count);
}

Status backend_choose_assignment(Backend *backend, const char *assignment) {
    char name[64];
    const char *equals = strchr(assignment, '=');
    if (equals == NULL || equals == assignment || equals[1] == '\0' ||
        equals - assignment >= (long)sizeof name) {
        return fail("--kernel %s: expected op=kernel, such as matmul=naive (lockstep list kernels "
                    "shows them)",
                    assignment);
    }
    snprintf(name, sizeof name, "%.*s", (int)(equals - assignment), assignment);
    OpId op = OP_COUNT;
    TRY(op_find(&op, name));
    return backend_choose_kernel(backend, op, equals + 1);
}

/* One ladder: exactly one default, no name twice. */
static Status check_ladder(const Backend *backend, OpId op) {
    int defaults = 0;
    const Kernel *kernel, *other;
    for (int i = 0; (kernel = backend_kernel(backend, op, i)) != NULL; i++) {
        defaults += kernel->is_default;
        for (int j = 0; j < i && (other = backend_kernel(backend, op, j)) != NULL; j++) {
            if (strcmp(kernel->name, other->name) == 0) {
                return fail("backend %s: %s has two kernels named %s", backend->name, op_name(op),
                            kernel->name);
            }
        }
    }
    if (backend_kernel(backend, op, 0) == NULL) {
        return fail(
            "backend %s: %s has no kernel; write one in a file of this backend and add it to "
            "the table at its end",
            backend->name, op_name(op));
    }
    if (defaults != 1) {
        return fail("backend %s: %s has %d default kernels; one row, and only one, must be "
                    "KERNEL_DEFAULT",
                    backend->name, op_name(op), defaults);
    }
    return STATUS_OK;
}

/* A row of the table that is missing is all zeros. */
static Status check_spec(OpId op) {
    const OpSpec *spec = spec_of(op);
    if (spec->op != op || spec->formula == NULL || spec->call == NULL) {
        return fail("%s has no row in src/ops/spec_table.c: its formula, arguments and options",
                    op_name(op));
    }
    return STATUS_OK;
}

Status registry_check(void) {
    for (int op = 0; op < OP_COUNT; op++) {
        TRY(check_spec((OpId)op));
    }
    for (int b = 0; b < BACKEND_COUNT; b++) {
        for (int op = 0; backend_missing(backends[b]) == NULL && op < OP_COUNT; op++) {
            TRY(check_ladder(backends[b], (OpId)op));
        }
    }
    return STATUS_OK;
}

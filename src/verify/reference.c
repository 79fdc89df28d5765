/* The reference's table, its memory, and its arguments by name. */
#include "verify/reference.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

static reference_fn *const references[OP_COUNT] = {
#define REFERENCE_ROW(op) [OP_##op] = reference_##op,
    OPERATIONS(REFERENCE_ROW)
#undef REFERENCE_ROW
};

Status reference_compute(Reference *reference, const OpCall *call) {
    *reference = (Reference){.spec = call->spec};
    for (int i = 0; call->spec->args[i].name != NULL; i++) {
        if (call->spec->args[i].role == ARG_IN) {
            continue;
        }
        size_t shape[2] = {1, 1};
        int rank = call_shape(call, i, shape);
        size_t count = rank == 0 ? 1 : rank == 1 ? shape[0] : shape[0] * shape[1];
        reference->count[i] = count;
        reference->expected[i] =
            count < SIZE_MAX / sizeof(Approx) ? memory_alloc(count * sizeof(Approx)) : NULL;
        if (reference->expected[i] == NULL) {
            reference_release(reference);
            return fail("%s: out of memory for the reference of %zu elements",
                        op_name(call->spec->op), count);
        }
        memset(reference->expected[i], 0, count * sizeof(Approx));
    }
    references[call->spec->op](call, reference);
    return STATUS_OK;
}

void reference_release(Reference *reference) {
    for (int i = 0; i < SPEC_MAX_ARGS; i++) {
        memory_free(reference->expected[i]);
        reference->expected[i] = NULL;
    }
}

static int arg_index(const OpSpec *spec, const char *name) {
    int i = spec_arg(spec, name);
    assert(i >= 0 && "a reference names an argument that the specification lacks");
    return i;
}

const float *reference_in(const OpCall *call, const char *name) {
    return call->arg[arg_index(call->spec, name)];
}

const int32_t *reference_labels(const OpCall *call, const char *name) {
    return call->arg[arg_index(call->spec, name)];
}

Approx *reference_out(const Reference *reference, const char *name) {
    return reference->expected[arg_index(reference->spec, name)];
}

size_t reference_size(const OpCall *call, const char *name) {
    int i = spec_dim(call->spec, name);
    assert(i >= 0 && "a reference names a size that the specification lacks");
    return call->dim[i];
}

double reference_option(const OpCall *call, const char *name) {
    int i = spec_option(call->spec, name);
    assert(i >= 0 && "a reference names an option that the specification lacks");
    return (double)(float)call->option[i];
}

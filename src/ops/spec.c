/* Operations as data: what the table of spec_table.c means. */
#include "ops/spec.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ops/spec_table.h"

const OpSpec *spec_of(OpId op) {
    return &spec_table[op];
}

void call_init(OpCall *call, OpId op) {
    *call = (OpCall){.spec = spec_of(op)};
    for (int i = 0; call->spec->options[i].name != NULL; i++) {
        call->option[i] = call->spec->options[i].value;
    }
}

/* Whether name is the first length characters of text. */
static bool same_name(const char *name, const char *text, size_t length) {
    return strlen(name) == length && strncmp(name, text, length) == 0;
}

static int find_dim(const OpSpec *spec, const char *text, size_t length) {
    for (int i = 0; spec->dims[i] != NULL; i++) {
        if (same_name(spec->dims[i], text, length)) {
            return i;
        }
    }
    return -1;
}

int spec_dim(const OpSpec *spec, const char *name) {
    return find_dim(spec, name, strlen(name));
}

int spec_arg(const OpSpec *spec, const char *name) {
    for (int i = 0; spec->args[i].name != NULL; i++) {
        if (strcmp(spec->args[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int spec_option(const OpSpec *spec, const char *name) {
    for (int i = 0; spec->options[i].name != NULL; i++) {
        if (strcmp(spec->options[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

Status call_set_option(OpCall *call, const char *name, double value) {
    const OpSpec *spec = call->spec;
    int i = spec_option(spec, name);
    if (i < 0) {
        const char *names[SPEC_MAX_OPTIONS];
        int count = 0;
        for (; spec->options[count].name != NULL; count++) {
            names[count] = spec->options[count].name;
        }
        if (count == 0) {
            return fail("%s has no options, so %.100s cannot be set", op_name(spec->op), name);
        }
        char what[96];
        snprintf(what, sizeof what, "option of %s", op_name(spec->op));
        return fail_unknown(what, name, names, count);
    }
    OptionKind kind = spec->options[i].kind;
    if (kind == OPTION_INT && !(fabs(value) <= INT_MAX && value == trunc(value))) {
        return fail("%s: %s is %g; it must be a whole number of at most %d", op_name(spec->op),
                    name, value, INT_MAX);
    }
    if (kind == OPTION_FLOAT && isfinite(value) && fabs(value) > (double)FLT_MAX) {
        return fail("%s: %s is %g, more than fp32 holds (3.4e38)", op_name(spec->op), name, value);
    }
    if (kind == OPTION_FLAG && value != 0.0 && value != 1.0) {
        return fail("%s: %s is %g; it must be 0 or 1", op_name(spec->op), name, value);
    }
    call->option[i] = value;
    return STATUS_OK;
}

/* The value of an option that the table names; 0 for NULL. */
static double option_value(const OpCall *call, const char *name) {
    return name != NULL ? call->option[spec_option(call->spec, name)] : 0.0;
}

int call_shape(const OpCall *call, int arg, size_t shape[2]) {
    const OpArg *a = &call->spec->args[arg];
    int rank = 0;
    for (const char *name = a->shape; *name != '\0' && rank < 2; rank++) {
        size_t length = strcspn(name, ",");
        shape[rank] = call->dim[find_dim(call->spec, name, length)];
        name += length + (name[length] == ',');
    }
    if (rank == 2 && option_value(call, a->swapped) != 0.0) {
        size_t rows = shape[0];
        shape[0] = shape[1];
        shape[1] = rows;
    }
    return rank;
}

Status call_storage(const OpCall *call, int arg, size_t *element_count) {
    const OpArg *a = &call->spec->args[arg];
    size_t shape[2] = {1, 1};
    int rank = call_shape(call, arg, shape);
    double leading = option_value(call, a->leading);
    if (leading != 0.0) {
        if (leading < (double)shape[1] || leading > INT_MAX) {
            return fail("%s: %s is %g, and a stored row of %s has %zu elements; make it at least "
                        "that",
                        op_name(call->spec->op), a->leading, leading, a->name, shape[1]);
        }
        shape[1] = (size_t)leading;
    }
    size_t count = rank > 0 ? shape[0] : 1;
    if (__builtin_mul_overflow(count, rank > 1 ? shape[1] : 1, &count) ||
        count > SIZE_MAX / 2 / dtype_bytes(a->dtype)) {
        return fail("%s: %s of %zu x %zu elements needs more bytes than an address can hold",
                    op_name(call->spec->op), a->name, shape[0], shape[1]);
    }
    *element_count = count;
    return STATUS_OK;
}

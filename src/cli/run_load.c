/* lockstep run, first half: from names and files to a call whose sizes agree. */
#include "cli/run.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/npy.h"

enum { SHAPE_BYTES = 80 };

static const char *shape_of(char text[SHAPE_BYTES], const Tensor *tensor) {
    return shape_text(text, SHAPE_BYTES, tensor->rank, tensor->dim);
}

/* ---- names ---------------------------------------------------------------------------------- */

/* Splits "name=value"; the name goes to name. Fails with what was expected. */
static Status split_assignment(char name[64], const char **value, const char *option,
                               const char *text) {
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0' || equals - text >= 64) {
        return fail("%s %s: expected name=%s", option, text,
                    strcmp(option, "--set") == 0 ? "number" : "FILE.npy");
    }
    snprintf(name, 64, "%.*s", (int)(equals - text), text);
    *value = equals + 1;
    return STATUS_OK;
}

/* The argument of this name among those that may be read, or written. */
static Status find_argument(int *arg, const OpSpec *spec, const char *name, bool output) {
    const char *names[SPEC_MAX_ARGS];
    int count = 0;
    char what[96];
    for (int i = 0; spec->args[i].name != NULL; i++) {
        if (spec->args[i].role != (output ? ARG_IN : ARG_OUT)) {
            names[count++] = spec->args[i].name;
        }
        if (strcmp(spec->args[i].name, name) == 0) {
            *arg = i;
            if (spec->args[i].role == (output ? ARG_IN : ARG_OUT)) {
                return fail("%s: %s is an %s; give it with %s", op_name(spec->op), name,
                            output ? "input" : "output", output ? "--in" : "--out");
            }
            return STATUS_OK;
        }
    }
    snprintf(what, sizeof what, "%s of %s", output ? "output" : "input", op_name(spec->op));
    return fail_unknown(what, name, names, count);
}

/* Fills paths from the --in or --out list. */
static Status parse_files(const char **paths, const OpSpec *spec, const CliList *list,
                          bool output) {
    const char *option = output ? "--out" : "--in";
    for (int k = 0; k < list->count; k++) {
        char name[64];
        const char *path = "";
        int arg = -1;
        TRY(split_assignment(name, &path, option, list->items[k]));
        TRY(find_argument(&arg, spec, name, output));
        if (paths[arg] != NULL) {
            return fail("%s: %s is given twice, as %s and as %s", option, name, paths[arg], path);
        }
        for (int other = 0; output && other < SPEC_MAX_ARGS; other++) {
            if (paths[other] != NULL && strcmp(paths[other], path) == 0) {
                return fail("--out: %s and %s would both be written to %s; give each a file",
                            spec->args[other].name, name, path);
            }
        }
        paths[arg] = path;
    }
    return STATUS_OK;
}

/* A size (n=1000) or an option (eps=1e-5). */
static Status set_value(Run *run, const char *text) {
    char name[64], *end = NULL;
    const char *value = "";
    TRY(split_assignment(name, &value, "--set", text));
    errno = 0;
    double number = strtod(value, &end);
    if (*end != '\0' || isnan(number)) {
        return fail("--set %s: expected a number after %s=", text, name);
    }
    int d = spec_dim(run->call.spec, name);
    if (d < 0) {
        return call_set_option(&run->call, name, number);
    }
    if (!(number >= 0.0 && number <= INT_MAX && number == floor(number))) {
        return fail("--set %s: a size is a whole number of 0 to %d", text, INT_MAX);
    }
    run->call.dim[d] = (size_t)number;
    run->bound_by[d] = BOUND_BY_SET;
    return STATUS_OK;
}

Status run_parse(Run *run, const CliList *set, const CliList *in, const CliList *out) {
    for (int k = 0; k < set->count; k++) {
        TRY(set_value(run, set->items[k]));
    }
    TRY(parse_files(run->in_path, run->call.spec, in, false));
    return parse_files(run->out_path, run->call.spec, out, true);
}

/* ---- arrays and sizes ----------------------------------------------------------------------- */

double run_option(const OpCall *call, const char *name) {
    return name != NULL ? call->option[spec_option(call->spec, name)] : 0.0;
}

static bool is_needed(const OpCall *call, const OpArg *arg) {
    bool written_only = arg->read_if != NULL && run_option(call, arg->read_if) == 0.0;
    return arg->role != ARG_OUT && !arg->optional && !written_only;
}

/* Dimension d is size, says argument arg. */
static Status bind(Run *run, int d, size_t size, int arg) {
    const OpSpec *spec = run->call.spec;
    char mine[SHAPE_BYTES], other[SHAPE_BYTES];
    int by = run->bound_by[d];
    if (by == NOT_BOUND) {
        run->call.dim[d] = size;
        run->bound_by[d] = arg;
        return STATUS_OK;
    }
    if (run->call.dim[d] == size) {
        return STATUS_OK;
    }
    shape_of(mine, &run->in[arg]);
    if (by == BOUND_BY_SET) {
        return fail("%s: --set says %s = %zu, but %s (%s) has %zu", op_name(spec->op),
                    spec->dims[d], run->call.dim[d], spec->args[arg].name, mine, size);
    }
    return fail("%s: %s is %zu in %s (%s) but %zu in %s (%s)", op_name(spec->op), spec->dims[d],
                run->call.dim[d], spec->args[by].name, shape_of(other, &run->in[by]), size,
                spec->args[arg].name, mine);
}

/* "n": any shape, and the same one in every array. */
static Status bind_any_shape(Run *run, int arg) {
    const OpSpec *spec = run->call.spec;
    const Tensor *mine = &run->in[arg];
    char mine_text[SHAPE_BYTES], other_text[SHAPE_BYTES];
    for (int i = 0; i < arg; i++) {
        const Tensor *other = &run->in[i];
        if (other->data != NULL &&
            (other->rank != mine->rank || memcmp(other->dim, mine->dim, sizeof mine->dim) != 0)) {
            return fail("%s: %s is %s but %s is %s; they must have one shape", op_name(spec->op),
                        spec->args[i].name, shape_of(other_text, other), spec->args[arg].name,
                        shape_of(mine_text, mine));
        }
    }
    return bind(run, 0, mine->count, arg);
}

/* Row reductions take a plain vector as one row. */
static bool is_one_row(const OpSpec *spec, int arg, const Tensor *tensor) {
    bool reduction =
        spec->op == OP_sum || spec->op == OP_mean || spec->op == OP_max || spec->op == OP_argmax;
    return reduction && spec->args[arg].role == ARG_IN && tensor->rank == 1;
}

/* The sizes that argument arg's array gives. */
static Status bind_array(Run *run, int arg) {
    const OpSpec *spec = run->call.spec;
    const OpArg *a = &spec->args[arg];
    const Tensor *tensor = &run->in[arg];
    char shape[SHAPE_BYTES], names[2][8] = {"", ""};
    if (strcmp(a->shape, "n") == 0) {
        return bind_any_shape(run, arg);
    }
    int rank = sscanf(a->shape, "%7[^,],%7s", names[0], names[1]);
    int first = spec_dim(spec, names[0]), second = rank > 1 ? spec_dim(spec, names[1]) : -1;
    if (is_one_row(spec, arg, tensor)) {
        TRY(bind(run, first, 1, arg));
        return bind(run, second, tensor->count, arg);
    }
    if (tensor->rank != rank) {
        return fail("%s: %s is %s, %d dimensions; expected %d: (%s)", op_name(spec->op), a->name,
                    shape_of(shape, tensor), tensor->rank, rank, a->shape);
    }
    bool swapped = run_option(&run->call, a->swapped) != 0.0;
    TRY(bind(run, swapped ? second : first, (size_t)tensor->dim[0], arg));
    double leading = run_option(&run->call, a->leading);
    if (leading == 0.0 && rank > 1) {
        return bind(run, swapped ? first : second, (size_t)tensor->dim[1], arg);
    }
    if (leading != 0.0 && leading != (double)tensor->dim[1]) {
        return fail("%s: %s is %g, but rows of %s (%s) are stored %d apart", op_name(spec->op),
                    a->leading, leading, a->name, shape_of(shape, tensor), tensor->dim[1]);
    }
    return STATUS_OK;
}

static Status read_array(Run *run, int arg) {
    const OpArg *a = &run->call.spec->args[arg];
    bool was_double = false;
    TRY(npy_read(&run->in[arg], &was_double, run->in_path[arg]));
    if (run->in[arg].dtype != a->dtype) {
        return fail("%s: %s must be %s, found %s; save it with .astype('%s')", run->in_path[arg],
                    a->name, a->dtype == DTYPE_INT32 ? "int32 or int64" : "float32 or float64",
                    a->dtype == DTYPE_INT32 ? "floating-point numbers" : "integers",
                    a->dtype == DTYPE_INT32 ? "int32" : "float32");
    }
    if (was_double) {
        fprintf(stderr, "lockstep: %s: float64 rounded to fp32\n", run->in_path[arg]);
    }
    return STATUS_OK;
}

/* Values that a kernel would take as an index, or a root of. */
static Status check_values(const Run *run, int arg) {
    const OpArg *a = &run->call.spec->args[arg];
    const Tensor *tensor = &run->in[arg];
    for (size_t i = 0; a->below != NULL && i < tensor->count; i++) {
        int32_t value = ((const int32_t *)tensor->data)[i];
        size_t below = run->call.dim[spec_dim(run->call.spec, a->below)];
        if (below == 0) {
            return fail("%s: %s holds values below %s, but %s is 0: there are none",
                        run->in_path[arg], a->name, a->below, a->below);
        }
        if (value < 0 || (size_t)value >= below) {
            return fail("%s: %s[%zu] is %d, but %s is %zu: expected 0 to %zu", run->in_path[arg],
                        a->name, i, value, a->below, below, below - 1);
        }
    }
    for (size_t i = 0; a->nonnegative && i < tensor->count; i++) {
        float value = ((const float *)tensor->data)[i];
        if (value < 0.0f) {
            return fail("%s: %s[%zu] is %g; it cannot be below 0", run->in_path[arg], a->name, i,
                        (double)value);
        }
    }
    return STATUS_OK;
}

/* Names of all arguments that must be given and are not. */
static Status check_given(const Run *run) {
    const OpSpec *spec = run->call.spec;
    char missing[256] = "", outputs[256] = "";
    bool has_output = false;
    for (int i = 0; spec->args[i].name != NULL; i++) {
        const OpArg *a = &spec->args[i];
        char *list = a->role == ARG_IN ? NULL : outputs;
        if (list != NULL) {
            snprintf(list + strlen(list), sizeof outputs - strlen(list), " --out %s=FILE.npy",
                     a->name);
        }
        if (is_needed(&run->call, a) && run->in_path[i] == NULL) {
            snprintf(missing + strlen(missing), sizeof missing - strlen(missing),
                     " --in %s=FILE.npy", a->name);
        }
        has_output |= run->out_path[i] != NULL;
    }
    if (missing[0] != '\0') {
        return fail("%s: missing%s", op_name(spec->op), missing);
    }
    return has_output ? STATUS_OK : fail("%s: name an output:%s", op_name(spec->op), outputs);
}

Status run_load(Run *run) {
    const OpSpec *spec = run->call.spec;
    TRY(check_given(run));
    for (int i = 0; spec->args[i].name != NULL; i++) {
        if (run->in_path[i] != NULL) {
            TRY(read_array(run, i));
            TRY(bind_array(run, i));
        }
    }
    for (int d = 0; spec->dims[d] != NULL; d++) {
        if (run->bound_by[d] == NOT_BOUND) {
            return fail("%s: no array gives %s; say --set %s=SIZE", op_name(spec->op),
                        spec->dims[d], spec->dims[d]);
        }
    }
    for (int i = 0; spec->args[i].name != NULL; i++) {
        if (run->in[i].data != NULL) {
            TRY(check_values(run, i));
        }
    }
    return STATUS_OK;
}

void run_release(Run *run) {
    for (int i = 0; i < SPEC_MAX_ARGS; i++) {
        memory_free(run->in[i].data);
        memory_free(run->host[i]);
        if (run->device[i] != NULL) {
            run->backend.release(run->device[i]);
        }
    }
}

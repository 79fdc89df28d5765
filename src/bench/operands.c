#include "bench/operands.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/philox.h"

enum { PERIOD = 65521 };
static const double TOLERANCE = 1e-4;

static bool is_argument(const OpCall *call, int i) {
    return i < SPEC_MAX_ARGS && call->spec->args[i].name != NULL;
}

static bool is_written(const OpCall *call, int i) {
    return call->spec->args[i].role != ARG_IN;
}

/* An argument that is both read and written, under the call's options. */
static bool is_updated(const OpCall *call, int i) {
    const OpArg *arg = &call->spec->args[i];
    return arg->role == ARG_INOUT &&
           (arg->read_if == NULL || call->option[spec_option(call->spec, arg->read_if)] != 0.0);
}

static void fill_floats(float *values, size_t count, Philox rng, bool nonnegative) {
    size_t drawn = count < PERIOD ? count : PERIOD;
    for (size_t i = 0; i < drawn; i++) {
        float uniform = philox_uniform(rng, i);
        values[i] = nonnegative ? uniform : 2.0f * uniform - 1.0f;
    }
    for (size_t i = drawn; i < count; i++) {
        values[i] = values[i - PERIOD];
    }
}

static void fill_integers(int32_t *values, size_t count, Philox rng, size_t bound) {
    for (size_t i = 0; i < count; i++) {
        values[i] = bound == 0 ? 0 : (int32_t)philox_below(rng, i % PERIOD, (uint32_t)bound);
    }
}

static void fill_argument(const Operands *host, int i, uint64_t seed) {
    const OpArg *arg = &host->call.spec->args[i];
    Philox rng = {seed, (uint64_t)i};
    bool poison = arg->role != ARG_IN && !is_updated(&host->call, i);
    if (arg->dtype == DTYPE_INT32) {
        int below = arg->below == NULL ? -1 : spec_dim(host->call.spec, arg->below);
        int32_t *values = host->call.arg[i];
        fill_integers(values, host->count[i], rng, below < 0 ? 0 : host->call.dim[below]);
        for (size_t j = 0; j < host->count[i] && poison; j++) {
            values[j] = INT32_MIN;
        }
        return;
    }
    float *values = host->call.arg[i];
    fill_floats(values, poison ? 0 : host->count[i], rng, arg->nonnegative);
    for (size_t j = 0; j < host->count[i] && poison; j++) {
        values[j] = NAN;
    }
}

Status operands_make(Operands *host, const OpCall *call, uint64_t seed) {
    *host = (Operands){.call = *call};
    for (int i = 0; is_argument(call, i); i++) {
        host->call.arg[i] = NULL;
        TRY(call_storage(call, i, &host->count[i]));
        host->bytes[i] = host->count[i] * dtype_bytes(call->spec->args[i].dtype);
    }
    size_t available = memory_available_bytes(), needed = operands_bytes(host);
    if (needed > available / 2) {
        return fail("%s: the arrays need %zu MiB, and half of what is free is %zu MiB; "
                    "choose smaller --sizes",
                    op_name(call->spec->op), needed >> 20, available >> 21);
    }
    for (int i = 0; is_argument(call, i); i++) {
        host->call.arg[i] = memory_alloc(host->bytes[i]);
        if (host->call.arg[i] == NULL) {
            operands_release_host(host);
            return fail("%s: no memory for %zu MiB", op_name(call->spec->op), needed >> 20);
        }
        fill_argument(host, i, seed);
    }
    return STATUS_OK;
}

void operands_release_host(Operands *host) {
    for (int i = 0; i < SPEC_MAX_ARGS; i++) {
        memory_free(host->call.arg[i]);
        host->call.arg[i] = NULL;
    }
}

Status operands_upload(Operands *device, const Operands *host, const Backend *be) {
    *device = *host;
    memset(device->call.arg, 0, sizeof device->call.arg);
    for (int i = 0; is_argument(&host->call, i); i++) {
        device->call.arg[i] = be->alloc(host->bytes[i]);
        if (device->call.arg[i] == NULL) {
            operands_release(device, be);
            return fail("%s: no memory for %zu MiB; choose smaller --sizes or fewer --backends",
                        be->name, host->bytes[i] >> 20);
        }
    }
    return operands_refresh(device, host, be);
}

Status operands_refresh(Operands *device, const Operands *host, const Backend *be) {
    for (int i = 0; is_argument(&host->call, i); i++) {
        TRY(be->upload(device->call.arg[i], host->call.arg[i], host->bytes[i]));
    }
    return STATUS_OK;
}

Status operands_download(Operands *host, const Operands *device, const Backend *be) {
    for (int i = 0; is_argument(&device->call, i); i++) {
        if (is_written(&device->call, i)) {
            TRY(be->download(host->call.arg[i], device->call.arg[i], device->bytes[i]));
        }
    }
    return STATUS_OK;
}

void operands_release(Operands *device, const Backend *be) {
    for (int i = 0; i < SPEC_MAX_ARGS; i++) {
        be->release(device->call.arg[i]);
        device->call.arg[i] = NULL;
    }
}

size_t operands_bytes(const Operands *operands) {
    size_t sum = 0;
    for (int i = 0; i < SPEC_MAX_ARGS; i++) {
        sum += operands->bytes[i];
    }
    return sum;
}

bool operands_writes_only(const OpCall *call) {
    for (int i = 0; is_argument(call, i); i++) {
        if (!is_written(call, i) || is_updated(call, i)) {
            return false;
        }
    }
    return true;
}

bool operands_repeatable(const OpCall *call) {
    for (int i = 0; is_argument(call, i); i++) {
        if (is_updated(call, i)) {
            return false;
        }
    }
    return true;
}

static double largest_magnitude(const float *values, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs((double)values[i])); /* fmax passes over NaN */
    }
    return largest;
}

static Status compare_floats(const char *name, const float *got, const float *expected,
                             size_t count) {
    double allowed = TOLERANCE * largest_magnitude(expected, count);
    for (size_t i = 0; i < count; i++) {
        double difference = fabs((double)got[i] - (double)expected[i]);
        bool both_nan = isnan(got[i]) && isnan(expected[i]);
        if (!(difference <= allowed) && !both_nan && got[i] != expected[i]) {
            return fail_no("wrong result: %s[%zu] is %g where another kernel has %g", name, i,
                           (double)got[i], (double)expected[i]);
        }
    }
    return STATUS_OK;
}

static Status compare_integers(const char *name, const int32_t *got, const int32_t *expected,
                               size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (got[i] != expected[i]) {
            return fail_no("wrong result: %s[%zu] is %d where another kernel has %d", name, i,
                           got[i], expected[i]);
        }
    }
    return STATUS_OK;
}

Status operands_compare(const Operands *got, const Operands *expected) {
    for (int i = 0; is_argument(&got->call, i); i++) {
        const OpArg *arg = &got->call.spec->args[i];
        if (!is_written(&got->call, i)) {
            continue;
        }
        if (arg->dtype == DTYPE_INT32) {
            TRY(compare_integers(arg->name, got->call.arg[i], expected->call.arg[i],
                                 got->count[i]));
        } else {
            TRY(compare_floats(arg->name, got->call.arg[i], expected->call.arg[i], got->count[i]));
        }
    }
    return STATUS_OK;
}

/* The checker. Around and in every array lie bit patterns that no kernel writes by chance:
 *
 *     canaries | row 0 | gap | row 1 | gap | ... | canaries        outputs are full of poison
 *
 * All of them are NaNs of fp32 with a payload of their own, so a kernel that reads one shows it in
 * its results, and one that writes over one is found by comparing bits. The poison is a signalling
 * NaN: arithmetic on it makes it a quiet one, so what still is poison was not written. */
#include "verify/check.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static const uint32_t CANARY = 0x7fe1dea1u, POISON = 0x7f92beefu, GAP = 0x7fc3faceu;

/* Elements of canaries on each side; 1 KiB keeps the alignment that the backend's alloc gives. */
enum { GUARD = 256 };

const char *check_fault_name(CheckFault fault) {
    static const char *const names[CHECK_FAULT_COUNT] = {
        [CHECK_OK] = "ok",
        [CHECK_REFUSED] = "refused",
        [CHECK_OVERRUN] = "wrote outside its array",
        [CHECK_INPUT_CHANGED] = "changed an input",
        [CHECK_GAP_CHANGED] = "wrote between rows",
        [CHECK_UNWRITTEN] = "not written",
        [CHECK_NAN] = "NaN or infinity",
        [CHECK_OUT_OF_BOUND] = "out of bound",
        [CHECK_NO_BOUND] = "no finite bound",
        [CHECK_UNSTEADY] = "two runs differ",
    };
    return names[fault];
}

CheckFault check_element(double got, Approx expected, double *headroom) {
    double error = fabs(got - expected.value);
    *headroom = 0.0;
    if (isnan(expected.value)) {
        return isnan(got) ? CHECK_OK : CHECK_OUT_OF_BOUND;
    }
    if (isinf(expected.value)) {
        return got == expected.value ? CHECK_OK : CHECK_OUT_OF_BOUND;
    }
    if (isinf(got)) {
        bool may_overflow = fabs(expected.value) * (1.0 + 0x1p-20) > (double)FLT_MAX;
        return may_overflow && signbit(got) == signbit(expected.value) ? CHECK_OK : CHECK_NAN;
    }
    if (isnan(got)) {
        return CHECK_NAN;
    }
    if (!isfinite(expected.error)) {
        return CHECK_NO_BOUND;
    }
    *headroom = error > 0.0 ? error / expected.error : 0.0;
    return !(error <= expected.error) ? CHECK_OUT_OF_BOUND : CHECK_OK;
}

/* ---- buffers -------------------------------------------------------------------------------- */

/* One argument: its image with canaries before the call, after it, and on the device. */
typedef struct Buffer {
    const OpArg *arg;
    size_t rows, width, stride;       /* elements; stride - width is the gap */
    size_t count;                     /* elements of storage, canaries not counted */
    uint32_t *before, *after, *again; /* again: after a second run, or NULL */
    void *device;
    int same_as; /* index of the argument that shares this one's memory, or -1 */
} Buffer;

static size_t image_bytes(const Buffer *buffer) {
    return (buffer->count + (size_t)2 * GUARD) * sizeof(uint32_t);
}

/* Whether the call's values of this argument are read: not an output's, nor an in-and-out's whose
 * option says so. */
static bool is_read(const OpCall *call, const OpArg *arg) {
    if (arg->role == ARG_INOUT && arg->read_if != NULL) {
        return call->option[spec_option(call->spec, arg->read_if)] != 0.0;
    }
    return arg->role != ARG_OUT;
}

static void fill_words(uint32_t *words, uint32_t value, size_t count) {
    for (size_t i = 0; i < count; i++) {
        words[i] = value;
    }
}

static void fill_image(Buffer *buffer, const OpCall *call, const uint32_t *values, bool in_place) {
    bool read = in_place || is_read(call, buffer->arg);
    uint32_t *content = buffer->before + GUARD;
    fill_words(buffer->before, CANARY, GUARD);
    fill_words(content, GAP, buffer->count);
    fill_words(content + buffer->count, CANARY, GUARD);
    for (size_t row = 0; row < buffer->rows; row++) {
        uint32_t *to = content + row * buffer->stride;
        if (read) {
            memcpy(to, values + row * buffer->stride, buffer->width * sizeof(uint32_t));
        } else {
            fill_words(to, POISON, buffer->width);
        }
    }
}

/* Shape and memory of argument i. */
static Status buffer_init(Buffer *buffer, const Backend *backend, const OpCall *call, int i,
                          bool twice) {
    const OpArg *arg = &call->spec->args[i];
    size_t shape[2] = {1, 1};
    int rank = call_shape(call, i, shape);
    *buffer = (Buffer){.arg = arg, .rows = rank > 1 ? shape[0] : 1, .same_as = -1};
    buffer->width = rank > 1 ? shape[1] : shape[0];
    TRY(call_storage(call, i, &buffer->count));
    buffer->stride = buffer->rows > 0 ? buffer->count / buffer->rows : 0;
    buffer->before = memory_alloc(image_bytes(buffer));
    buffer->after = memory_alloc(image_bytes(buffer));
    buffer->again = twice ? memory_alloc(image_bytes(buffer)) : NULL;
    buffer->device = backend->alloc(image_bytes(buffer));
    if (buffer->before == NULL || buffer->after == NULL || (twice && buffer->again == NULL) ||
        buffer->device == NULL) {
        return fail("%s: out of memory for %zu elements of %s", op_name(call->spec->op),
                    buffer->count, arg->name);
    }
    return STATUS_OK;
}

static void buffers_release(Buffer *buffers, int count, const Backend *backend) {
    for (int i = 0; i < count; i++) {
        memory_free(buffers[i].before);
        memory_free(buffers[i].after);
        memory_free(buffers[i].again);
        backend->release(buffers[i].device);
    }
}

/* The argument before i with the same host address where one is an output and the other an input,
 * that is: in place. Two inputs may come from one array and still have memory of their own. */
static int shared_with(const OpCall *call, int i) {
    const OpArg *args = call->spec->args;
    for (int j = 0; j < i; j++) {
        bool in_place = (args[i].role == ARG_OUT && args[j].role == ARG_IN) ||
                        (args[i].role == ARG_IN && args[j].role == ARG_OUT);
        if (in_place && call->arg[i] != NULL && call->arg[i] == call->arg[j]) {
            return j;
        }
    }
    return -1;
}

/* Buffers of all arguments, filled. An absent optional one has arg = NULL. */
static Status buffers_prepare(Buffer *buffers, int count, const Backend *backend,
                              const OpCall *call, bool twice) {
    for (int i = 0; i < count; i++) {
        const OpArg *arg = &call->spec->args[i];
        int same_as = shared_with(call, i);
        if (arg->optional && call->arg[i] == NULL) {
            continue;
        }
        if (same_as >= 0) {
            buffers[i].same_as = same_as;
            buffers[i].arg = arg;
            fill_image(&buffers[same_as], call, call->arg[i], true);
            continue;
        }
        TRY(buffer_init(&buffers[i], backend, call, i, twice));
        fill_image(&buffers[i], call, call->arg[i], false);
    }
    return STATUS_OK;
}

/* ---- running -------------------------------------------------------------------------------- */

/* Uploads, calls, downloads every image into after or again. *ran: what the call itself said. */
static Status run_once(Status *ran, Buffer *buffers, int count, const Backend *backend,
                       const OpCall *call, bool second) {
    OpCall on_device = *call;
    for (int i = 0; i < count; i++) {
        if (buffers[i].arg != NULL && buffers[i].same_as < 0) {
            TRY(backend->upload(buffers[i].device, buffers[i].before, image_bytes(&buffers[i])));
        }
        Buffer *owner = buffers[i].same_as >= 0 ? &buffers[buffers[i].same_as] : &buffers[i];
        on_device.arg[i] = owner->device != NULL ? (uint32_t *)owner->device + GUARD : NULL;
    }
    *ran = call->spec->call(backend, &on_device);
    if (*ran == STATUS_OK) {
        *ran = backend->synchronize();
    }
    for (int i = 0; *ran == STATUS_OK && i < count; i++) {
        if (buffers[i].arg != NULL && buffers[i].same_as < 0) {
            TRY(backend->download(second ? buffers[i].again : buffers[i].after, buffers[i].device,
                                  image_bytes(&buffers[i])));
        }
    }
    return STATUS_OK;
}

/* ---- judging -------------------------------------------------------------------------------- */

static void blame(CheckResult *result, CheckFault fault, const Buffer *buffer, size_t index) {
    result->fault = fault;
    result->arg = buffer->arg->name;
    result->index = index;
}

/* Canaries, then inputs or gaps. */
static void judge_surroundings(CheckResult *result, const Buffer *buffer, bool is_output) {
    const uint32_t *before = buffer->before, *after = buffer->after;
    size_t words = image_bytes(buffer) / sizeof(uint32_t);
    for (size_t i = 0; i < words && result->fault == CHECK_OK; i++) {
        if (before[i] == after[i]) {
            continue;
        }
        size_t at = i - GUARD;
        bool inside = i >= GUARD && at < buffer->count;
        if (!inside) {
            blame(result, CHECK_OVERRUN, buffer, at);
            snprintf(result->message, sizeof result->message, "%s: wrote %zu elements %s",
                     buffer->arg->name, i < GUARD ? GUARD - i : at - buffer->count + 1,
                     i < GUARD ? "before its start" : "past its end");
        } else if (!is_output) {
            blame(result, CHECK_INPUT_CHANGED, buffer, at);
            snprintf(result->message, sizeof result->message, "%s[%zu]: an input was changed",
                     buffer->arg->name, at);
        } else if (at % buffer->stride >= buffer->width) {
            blame(result, CHECK_GAP_CHANGED, buffer, at);
            snprintf(result->message, sizeof result->message,
                     "%s: wrote between row %zu and the next", buffer->arg->name,
                     at / buffer->stride);
        }
    }
}

/* Rows and columns that hold all wrong elements: shows a tile, a tail, a last row. */
typedef struct Extent {
    size_t first_row, last_row, first_column, last_column;
} Extent;

static void extend(Extent *extent, size_t row, size_t column, bool first) {
    extent->first_row = first || row < extent->first_row ? row : extent->first_row;
    extent->last_row = first || row > extent->last_row ? row : extent->last_row;
    extent->first_column = first || column < extent->first_column ? column : extent->first_column;
    extent->last_column = first || column > extent->last_column ? column : extent->last_column;
}

static double value_of(const Buffer *buffer, uint32_t word) {
    if (buffer->arg->dtype == DTYPE_INT32) {
        return (double)(int32_t)word;
    }
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

/* One element; keeps the worst in *result. Returns whether it is at fault. */
static bool judge_element(CheckResult *result, const Buffer *buffer, size_t index, uint32_t word,
                          Approx expected) {
    double got = value_of(buffer, word), headroom = 0.0;
    CheckFault fault = check_element(got, expected, &headroom);
    if (word == POISON) {
        fault = CHECK_UNWRITTEN;
    }
    bool first_of_worse_kind =
        fault != CHECK_OK && (result->fault == CHECK_OK || fault < result->fault);
    bool further_off = fault == result->fault && headroom > result->headroom;
    if (first_of_worse_kind || further_off || result->arg == NULL) {
        blame(result, fault, buffer, index);
        result->got = got;
        result->expected = expected.value;
        result->bound = expected.error;
    }
    result->headroom = fmax(result->headroom, headroom);
    return fault != CHECK_OK;
}

static void describe_elements(CheckResult *result, const Buffer *buffer, Extent extent) {
    char where[96] = "";
    if (buffer->rows > 1) {
        snprintf(where, sizeof where, ", all in rows %zu to %zu, columns %zu to %zu",
                 extent.first_row, extent.last_row, extent.first_column, extent.last_column);
    }
    snprintf(result->message, sizeof result->message,
             "%s[%zu]: got %.9g, expected %.9g, bound %.3g; %zu of %zu elements wrong%s",
             result->arg, result->index, result->got, result->expected, result->bound,
             result->wrong_count, result->wrong_of, where);
}

static void judge_output(CheckResult *result, const Buffer *buffer, const Buffer *owner,
                         const Approx *expected) {
    Extent extent = {0};
    size_t wrong_count = 0;
    for (size_t row = 0; row < owner->rows; row++) {
        const uint32_t *words = owner->after + GUARD + row * owner->stride;
        for (size_t column = 0; column < owner->width; column++) {
            size_t index = row * owner->width + column;
            if (judge_element(result, buffer, index, words[column], expected[index])) {
                extend(&extent, row, column, wrong_count == 0);
                wrong_count++;
            }
        }
    }
    if (wrong_count > 0) {
        result->wrong_count = wrong_count;
        result->wrong_of = owner->rows * owner->width;
        describe_elements(result, owner, extent);
    }
}

/* Whether some output is stored in this buffer. */
static bool holds_output(const Buffer *buffers, int count, int i) {
    for (int j = 0; j < count; j++) {
        bool here = j == i || (buffers[j].arg != NULL && buffers[j].same_as == i);
        if (here && buffers[j].arg->role != ARG_IN) {
            return true;
        }
    }
    return false;
}

static void judge(CheckResult *result, const Buffer *buffers, int count, const Reference *reference,
                  bool twice) {
    for (int i = 0; i < count && result->fault == CHECK_OK; i++) {
        if (buffers[i].arg != NULL && buffers[i].same_as < 0) {
            judge_surroundings(result, &buffers[i], holds_output(buffers, count, i));
        }
    }
    for (int i = 0; i < count && result->fault == CHECK_OK; i++) {
        if (buffers[i].arg != NULL && buffers[i].arg->role != ARG_IN) {
            const Buffer *owner =
                buffers[i].same_as >= 0 ? &buffers[buffers[i].same_as] : &buffers[i];
            judge_output(result, &buffers[i], owner, reference->expected[i]);
        }
    }
    for (int i = 0; twice && i < count && result->fault == CHECK_OK; i++) {
        if (buffers[i].arg != NULL && buffers[i].same_as < 0 &&
            memcmp(buffers[i].after, buffers[i].again, image_bytes(&buffers[i])) != 0) {
            blame(result, CHECK_UNSTEADY, &buffers[i], 0);
            snprintf(result->message, sizeof result->message, "%s: two runs differ in some bits",
                     buffers[i].arg->name);
        }
    }
}

Status check_call(CheckResult *result, const Backend *backend, const OpCall *call,
                  const Reference *reference, bool twice) {
    Buffer buffers[SPEC_MAX_ARGS] = {0};
    Status ran = STATUS_OK;
    int count = 0;
    *result = (CheckResult){.fault = CHECK_OK};
    while (call->spec->args[count].name != NULL) {
        buffers[count++].same_as = -1;
    }
    Status status = buffers_prepare(buffers, count, backend, call, twice);
    if (status == STATUS_OK) {
        status = run_once(&ran, buffers, count, backend, call, false);
    }
    if (status == STATUS_OK && ran == STATUS_OK && twice) {
        status = run_once(&ran, buffers, count, backend, call, true);
    }
    if (status == STATUS_OK && ran != STATUS_OK) {
        result->fault = CHECK_REFUSED;
        snprintf(result->message, sizeof result->message, "%s", status_message());
    } else if (status == STATUS_OK) {
        judge(result, buffers, count, reference, twice);
    }
    buffers_release(buffers, count, backend);
    return status;
}

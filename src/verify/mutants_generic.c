/* Corruptions: the right kernel, and then one fault in one argument. They go through the backend's
 * own transfers, so they work on every backend. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "verify/mutants.h"

/* One argument on the device, as it was before the call and as it is after. */
typedef struct Spoiled {
    uint32_t *before, *after;
    size_t count;         /* elements of storage */
    size_t width, stride; /* of a stored row */
    size_t elements;      /* without the gaps */
} Spoiled;

static size_t place(const Spoiled *x, size_t element) {
    return element / x->width * x->stride + element % x->width;
}

static Status spoiled_init(Spoiled *x, const OpCall *call, int arg) {
    size_t shape[2] = {1, 1};
    int rank = call_shape(call, arg, shape);
    *x = (Spoiled){.width = rank > 1 ? shape[1] : shape[0]};
    TRY(call_storage(call, arg, &x->count));
    x->elements = rank > 1 ? shape[0] * shape[1] : shape[0];
    x->stride = rank > 1 && shape[0] > 0 ? x->count / shape[0] : x->width;
    x->before = memory_alloc((x->count + 1) * sizeof(uint32_t));
    x->after = memory_alloc((x->count + 1) * sizeof(uint32_t));
    return x->before != NULL && x->after != NULL ? STATUS_OK : fail("mutant: out of memory");
}

static void spoiled_release(Spoiled *x) {
    memory_free(x->before);
    memory_free(x->after);
}

typedef void spoil_fn(Spoiled *x);

static Status around(Spoiled *x, const Backend *backend, const OpCall *call, int arg,
                     spoil_fn *spoil) {
    size_t bytes = x->count * sizeof(uint32_t);
    TRY(backend->download(x->before, call->arg[arg], bytes));
    TRY(call->spec->call(backend, call));
    TRY(backend->synchronize());
    TRY(backend->download(x->after, call->arg[arg], bytes));
    if (x->elements > 0) {
        spoil(x);
    }
    return backend->upload(call->arg[arg], x->after, bytes);
}

/* Runs the right kernel, hands its argument to spoil, and puts back what spoil left. */
static Status spoil_after(const Backend *backend, const OpCall *call, int arg, spoil_fn *spoil) {
    Spoiled x;
    Status status = call->arg[arg] == NULL ? STATUS_NO : spoiled_init(&x, call, arg);
    if (status == STATUS_NO) {
        return call->spec->call(backend, call);
    }
    if (status == STATUS_OK) {
        status = around(&x, backend, call, arg, spoil);
    }
    spoiled_release(&x);
    return status;
}

/* ---- in the result -------------------------------------------------------------------------- */

static void spoil_last_not_written(Spoiled *x) {
    size_t last = place(x, x->elements - 1);
    x->after[last] = x->before[last];
}

/* The second half is what the array held before. */
static void spoil_half_stale(Spoiled *x) {
    for (size_t i = x->elements / 2; i < x->elements; i++) {
        x->after[place(x, i)] = x->before[place(x, i)];
    }
}

static void spoil_all_zero(Spoiled *x) {
    for (size_t i = 0; i < x->elements; i++) {
        x->after[place(x, i)] = 0;
    }
}

static void set_middle(Spoiled *x, float value) {
    memcpy(&x->after[place(x, x->elements / 2)], &value, sizeof value);
}

static void spoil_one_nan(Spoiled *x) {
    set_middle(x, NAN);
}

static void spoil_one_infinite(Spoiled *x) {
    set_middle(x, INFINITY);
}

static float float_at(const Spoiled *x, size_t at) {
    float value;
    memcpy(&value, &x->after[at], sizeof value);
    return value;
}

/* An error that a loose tolerance lets through. */
static void spoil_scaled(Spoiled *x) {
    for (size_t i = 0; i < x->elements; i++) {
        float value = float_at(x, place(x, i)) * (1.0f + 0x1p-12f);
        memcpy(&x->after[place(x, i)], &value, sizeof value);
    }
}

/* 32 units in the last place, in one element. */
static void spoil_one_off(Spoiled *x) {
    x->after[place(x, x->elements - 1)] += 32;
}

static void spoil_two_swapped(Spoiled *x) {
    size_t last = place(x, x->elements - 1);
    uint32_t first = x->after[0];
    x->after[0] = x->after[last];
    x->after[last] = first;
}

/* ---- around the result ---------------------------------------------------------------------- */

/* Writes one word at an offset in elements from the argument's start. */
static Status write_word(const Backend *backend, const OpCall *call, int arg, ptrdiff_t at) {
    const float word = 1.0f;
    TRY(call->spec->call(backend, call));
    return call->arg[arg] == NULL
               ? STATUS_OK
               : backend->upload((float *)call->arg[arg] + at, &word, sizeof word);
}

static Status corrupt_past_end(const Backend *backend, const OpCall *call, const Mutant *mutant) {
    size_t count = 0;
    TRY(call_storage(call, mutant->arg, &count));
    return write_word(backend, call, mutant->arg, (ptrdiff_t)count);
}

static Status corrupt_before_start(const Backend *backend, const OpCall *call,
                                   const Mutant *mutant) {
    return write_word(backend, call, mutant->arg, -1);
}

/* The first element after a row, where rows are longer than they need to be. */
static void spoil_gap(Spoiled *x) {
    if (x->stride > x->width) {
        x->after[x->width] = 0;
    }
}

static void spoil_input(Spoiled *x) {
    x->after[0] ^= 1;
}

/* Some bit that changes from run to run. */
static Status corrupt_unsteady(const Backend *backend, const OpCall *call, const Mutant *mutant) {
    uint32_t word = 0;
    size_t count = 0;
    TRY(call_storage(call, mutant->arg, &count));
    TRY(call->spec->call(backend, call));
    if (count == 0) {
        return STATUS_OK;
    }
    TRY(backend->download(&word, call->arg[mutant->arg], sizeof word));
    word ^= (uint32_t)(backend->now_ns() / 8) & 1;
    return backend->upload(call->arg[mutant->arg], &word, sizeof word);
}

/* ---- of another call ------------------------------------------------------------------------ */

static void spoil_reverse(Spoiled *x) {
    for (size_t i = 0; i < x->elements / 2; i++) {
        size_t a = place(x, i), b = place(x, x->elements - 1 - i);
        uint32_t kept = x->after[a];
        x->after[a] = x->after[b];
        x->after[b] = kept;
    }
}

/* Reverses an argument on the device; twice is as before. */
static Status reverse(const Backend *backend, const OpCall *call, int arg) {
    Spoiled x;
    if (call->arg[arg] == NULL) {
        return STATUS_OK;
    }
    Status status = spoiled_init(&x, call, arg);
    size_t bytes = x.count * sizeof(uint32_t);
    if (status == STATUS_OK && x.count > 0) {
        status = backend->download(x.after, call->arg[arg], bytes);
        if (status == STATUS_OK) {
            spoil_reverse(&x);
            status = backend->upload(call->arg[arg], x.after, bytes);
        }
    }
    spoiled_release(&x);
    return status;
}

/* The result of a call on other inputs: theirs, in reverse. */
static Status corrupt_previous_call(const Backend *backend, const OpCall *call,
                                    const Mutant *mutant) {
    TRY(reverse(backend, call, mutant->arg));
    TRY(call->spec->call(backend, call));
    TRY(backend->synchronize());
    return reverse(backend, call, mutant->arg);
}

/* ---- the table ------------------------------------------------------------------------------ */

enum Where { ON_OUTPUT, ON_FLOAT_OUTPUT, ON_INPUT, ON_LEADING };

typedef struct Corruption {
    const char *name;
    spoil_fn *spoil; /* or: */
    corruption_fn *corrupt;
    enum Where where;
} Corruption;

static const Corruption corruptions[] = {
    {"last_not_written", spoil_last_not_written, NULL, ON_OUTPUT},
    {"half_stale", spoil_half_stale, NULL, ON_OUTPUT},
    {"all_zero", spoil_all_zero, NULL, ON_OUTPUT},
    {"one_nan", spoil_one_nan, NULL, ON_OUTPUT}, /* a huge index in an int32 output */
    {"one_infinite", spoil_one_infinite, NULL, ON_OUTPUT},
    {"scaled_by_2_to_-12", spoil_scaled, NULL, ON_FLOAT_OUTPUT},
    {"one_off_by_32_ulp", spoil_one_off, NULL, ON_OUTPUT},
    {"two_swapped", spoil_two_swapped, NULL, ON_OUTPUT},
    {"past_end", NULL, corrupt_past_end, ON_OUTPUT},
    {"before_start", NULL, corrupt_before_start, ON_OUTPUT},
    {"unsteady", NULL, corrupt_unsteady, ON_OUTPUT},
    {"gap_written", spoil_gap, NULL, ON_LEADING},
    {"input_changed", spoil_input, NULL, ON_INPUT},
    {"previous_call", NULL, corrupt_previous_call, ON_INPUT},
};
enum { CORRUPTIONS = sizeof corruptions / sizeof corruptions[0] };

static Status corrupt_by_spoiling(const Backend *backend, const OpCall *call,
                                  const Mutant *mutant) {
    for (int i = 0; i < CORRUPTIONS; i++) {
        if (strcmp(corruptions[i].name, mutant->name) == 0) {
            return spoil_after(backend, call, mutant->arg, corruptions[i].spoil);
        }
    }
    return fail("mutant: no corruption %s", mutant->name);
}

/* Where the corruption changes nothing that matters, there is no mutant: all elements of a fill are
 * equal, so two swapped ones are right. */
static bool is_equivalent(const Corruption *corruption, OpId op) {
    return op == OP_fill && corruption->spoil == spoil_two_swapped;
}

static bool applies(const Corruption *corruption, OpId op, const OpArg *arg) {
    bool output = arg->role != ARG_IN;
    bool here[] = {
        [ON_OUTPUT] = output,
        [ON_FLOAT_OUTPUT] = output && arg->dtype == DTYPE_FP32,
        [ON_INPUT] = !output,
        [ON_LEADING] = output && arg->leading != NULL,
    };
    return here[corruption->where] && !is_equivalent(corruption, op);
}

bool mutant_corruption(Mutant *mutant, OpId op, int arg, int index) {
    for (int i = 0; i < CORRUPTIONS; i++) {
        if (applies(&corruptions[i], op, &spec_of(op)->args[arg]) && index-- == 0) {
            *mutant = (Mutant){
                .op = op,
                .name = corruptions[i].name,
                .arg = arg,
                .corruption =
                    corruptions[i].corrupt != NULL ? corruptions[i].corrupt : corrupt_by_spoiling,
            };
            return true;
        }
    }
    return false;
}

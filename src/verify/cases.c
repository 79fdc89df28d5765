/* Inputs and options of test cases. */
#include "verify/cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/philox.h"

/* Streams of the case's random numbers. */
enum { STREAM_SHAPE = 1, STREAM_CHOICE = 2, STREAM_OPTION = 3, STREAM_DATA = 16 };

/* Elements of all arguments. Above the first, all data are normal (a billion products of denormals
 * would take a minute); above the second, all are 1 (20 million of them stop a running sum). */
enum { MOST_ANY = 1 << 20, MOST_RANDOM = 1 << 22 };

/* ---- distributions -------------------------------------------------------------------------- */

/* Element i of an array; constant: drawn once for each array. */
typedef float sample_fn(Philox rng, uint64_t i, float constant);

static float sample_normal(Philox rng, uint64_t i, float constant) {
    (void)constant;
    return philox_normal(rng, i);
}

/* 2^-20 to 2^20 in size, either sign. */
static float sample_wide(Philox rng, uint64_t i, float constant) {
    (void)constant;
    float size = exp2f(40.0f * philox_uniform(rng, 2 * i) - 20.0f);
    return philox_bits(rng, 2 * i + 1) & 1 ? size : -size;
}

static float sample_ones(Philox rng, uint64_t i, float constant) {
    (void)rng;
    (void)i;
    (void)constant;
    return 1.0f;
}

static float sample_equal(Philox rng, uint64_t i, float constant) {
    (void)rng;
    (void)i;
    return constant;
}

/* A quarter each of 0 and -0. */
static float sample_zeros(Philox rng, uint64_t i, float constant) {
    (void)constant;
    uint32_t kind = philox_below(rng, 4 * i + 1, 4);
    return kind == 0 ? 0.0f : kind == 1 ? -0.0f : philox_normal(rng, i);
}

/* Pairs that cancel but for the last bits. */
static float sample_cancel(Philox rng, uint64_t i, float constant) {
    (void)constant;
    float x = philox_normal(rng, i / 2);
    return i % 2 == 0 ? x : -x * (1.0f + 0x1p-22f * philox_uniform(rng, i));
}

/* Below 2^-126. */
static float sample_denormal(Philox rng, uint64_t i, float constant) {
    (void)constant;
    float size = (float)philox_below(rng, 2 * i, 1u << 23) * 0x1p-149f;
    return philox_bits(rng, 2 * i + 1) & 1 ? size : -size;
}

/* Far past what exp can take; cubes of it still fit into fp32. */
static float sample_large(Philox rng, uint64_t i, float constant) {
    (void)constant;
    return 0x1p36f * philox_normal(rng, i);
}

/* The whole range in which exp neither overflows nor is 0, and the parts just outside. */
static float sample_exponents(Philox rng, uint64_t i, float constant) {
    (void)constant;
    return 240.0f * philox_uniform(rng, i) - 120.0f;
}

/* One in eight NaN; only for operations whose contract speaks of it. */
static float sample_nan(Philox rng, uint64_t i, float constant) {
    (void)constant;
    return philox_below(rng, 4 * i + 1, 8) == 0 ? NAN : philox_normal(rng, i);
}

/* Few different values, so that ties are common. */
static float sample_ties(Philox rng, uint64_t i, float constant) {
    (void)constant;
    return (float)philox_below(rng, i, 4) - 2.0f;
}

typedef struct Distribution {
    const char *name;
    sample_fn *sample;
} Distribution;

/* The last one is not for every operation. */
static const Distribution distributions[] = {
    {"normal", sample_normal}, {"wide", sample_wide},           {"equal", sample_equal},
    {"zeros", sample_zeros},   {"cancelling", sample_cancel},   {"denormal", sample_denormal},
    {"large", sample_large},   {"exponents", sample_exponents}, {"ties", sample_ties},
    {"nan", sample_nan},
};
enum { DISTRIBUTIONS = sizeof distributions / sizeof distributions[0], NORMAL = 0 };

static const Distribution *choose_distribution(OpId op, size_t elements, Philox choice) {
    static const bool speaks_of_nan[OP_COUNT] = {
        [OP_copy] = true,   [OP_vector_add] = true,   [OP_transpose] = true,     [OP_max] = true,
        [OP_argmax] = true, [OP_relu_forward] = true, [OP_relu_backward] = true,
    };
    static const Distribution ones = {"ones", sample_ones};
    uint32_t count = DISTRIBUTIONS - (speaks_of_nan[op] ? 0 : 1);
    uint32_t chosen = philox_below(choice, 0, count);
    if (elements > MOST_RANDOM) {
        return &ones;
    }
    return &distributions[elements > MOST_ANY ? NORMAL : chosen];
}

static void fill_floats(float *x, size_t count, const Distribution *distribution, Philox rng,
                        bool nonnegative) {
    static const float constants[] = {1.0f, 0.1f, -0.3f, 0.7f, 3.3f, -1.0f, 0.0f};
    enum { CONSTANTS = sizeof constants / sizeof constants[0] };
    float constant = constants[philox_below(rng, 1ull << 40, CONSTANTS)];
    for (size_t i = 0; i < count; i++) {
        float value = distribution->sample(rng, i, constant);
        x[i] = nonnegative ? fabsf(value) : value;
    }
}

/* ---- options -------------------------------------------------------------------------------- */

typedef struct OptionChoice {
    const char *name;
    double values[4];
} OptionChoice;

static const OptionChoice option_choices[] = {
    {"value", {1.0, 0.0, -2.5, 0.1}}, {"alpha", {1.0, 0.0, -0.5, 2.25}},
    {"beta", {0.0, 1.0, -0.5, 0.9}},  {"scale", {1.0, 0.25, -3.0, 1.0 / 3.0}},
    {"lr", {0.1, 0.001, 1.0, 0.25}},  {"weight_decay", {0.0, 0.01, 0.5, 0.1}},
    {"beta1", {0.9, 0.0, 0.5, 0.9}},  {"beta2", {0.999, 0.9, 0.0, 0.999}},
    {"eps", {1e-8, 1e-3, 0.1, 1e-8}}, {"step", {1.0, 2.0, 10.0, 1000.0}},
};
enum { OPTION_CHOICES = sizeof option_choices / sizeof option_choices[0] };

/* A leading dimension is chosen where its argument's width is known. */
static void choose_options(OpCall *call, Philox rng) {
    for (int i = 0; call->spec->options[i].name != NULL; i++) {
        const OpOption *option = &call->spec->options[i];
        if (option->kind == OPTION_FLAG) {
            call->option[i] = philox_below(rng, (uint64_t)i, 2);
        }
        for (int k = 0; k < OPTION_CHOICES; k++) {
            if (strcmp(option->name, option_choices[k].name) == 0) {
                call->option[i] = option_choices[k].values[philox_below(rng, (uint64_t)i, 4)];
            }
        }
    }
}

/* Rows that are contiguous (half of the time), or 1 to 9 elements longer than they need to be. */
static void choose_leading(OpCall *call, Philox rng) {
    for (int i = 0; call->spec->args[i].name != NULL; i++) {
        const char *leading = call->spec->args[i].leading;
        size_t shape[2] = {1, 1};
        if (leading != NULL && philox_below(rng, 100 + (uint64_t)i, 2) == 0) {
            call_shape(call, i, shape);
            call->option[spec_option(call->spec, leading)] =
                (double)(shape[1] + 1 + philox_below(rng, 200 + (uint64_t)i, 9));
        }
    }
}

/* ---- cases ---------------------------------------------------------------------------------- */

static Status make_argument(Case *c, int i, const Distribution *distribution) {
    const OpArg *arg = &c->call.spec->args[i];
    Philox rng = {c->seed, STREAM_DATA + (uint64_t)i};
    size_t count = 0;
    TRY(call_storage(&c->call, i, &count));
    c->elements += count;
    if (arg->role == ARG_OUT) {
        return STATUS_OK;
    }
    void *data = memory_alloc(count > 0 ? count * dtype_bytes(arg->dtype) : 1);
    if (data == NULL) {
        return fail("%s: out of memory for %zu elements of %s", op_name(c->call.spec->op), count,
                    arg->name);
    }
    c->owned[i] = c->call.arg[i] = data;
    if (arg->dtype == DTYPE_FP32) {
        fill_floats(data, count, distribution, rng, arg->nonnegative);
    }
    for (size_t n = 0; arg->dtype == DTYPE_INT32 && n < count; n++) {
        uint32_t below = (uint32_t)c->call.dim[spec_dim(c->call.spec, arg->below)];
        ((int32_t *)data)[n] = (int32_t)philox_below(rng, n, below);
    }
    return STATUS_OK;
}

/* Outputs that the contract allows to be an input, in a third of the cases. */
static void choose_in_place(Case *c, Philox rng) {
    static const struct {
        OpId op;
        const char *out, *inp;
    } allowed[] = {
        {OP_vector_add, "out", "a"},        {OP_vector_add, "out", "b"},
        {OP_relu_backward, "dinp", "dout"}, {OP_sigmoid_backward, "dinp", "dout"},
        {OP_tanh_backward, "dinp", "dout"},
    };
    for (size_t k = 0; k < sizeof allowed / sizeof allowed[0]; k++) {
        const OpSpec *spec = c->call.spec;
        if (allowed[k].op == spec->op && philox_below(rng, 8 + k, 3) == 0) {
            c->call.arg[spec_arg(spec, allowed[k].out)] =
                c->call.arg[spec_arg(spec, allowed[k].inp)];
        }
    }
}

Status case_make(Case *c, OpId op, const size_t dim[SPEC_MAX_DIMS], uint64_t seed) {
    Philox choice = {seed, STREAM_CHOICE}, options = {seed, STREAM_OPTION};
    size_t elements = 0;
    *c = (Case){.seed = seed};
    call_init(&c->call, op);
    memcpy(c->call.dim, dim, sizeof c->call.dim);
    choose_options(&c->call, options);
    choose_leading(&c->call, options);
    for (int i = 0; c->call.spec->args[i].name != NULL; i++) {
        size_t count = 0;
        TRY(call_storage(&c->call, i, &count));
        elements += count;
    }
    const Distribution *distribution = choose_distribution(op, elements, choice);
    c->data = distribution->name;
    for (int i = 0; c->call.spec->args[i].name != NULL; i++) {
        bool absent = c->call.spec->args[i].optional && philox_below(choice, 4, 4) == 0;
        Status status = absent ? STATUS_OK : make_argument(c, i, distribution);
        if (status != STATUS_OK) {
            case_release(c);
            return status;
        }
    }
    choose_in_place(c, choice);
    return STATUS_OK;
}

void case_release(Case *c) {
    for (int i = 0; i < SPEC_MAX_ARGS; i++) {
        memory_free(c->owned[i]);
        c->owned[i] = NULL;
    }
}

char *case_text(char text[CASE_TEXT_BYTES], const Case *c) {
    const OpSpec *spec = c->call.spec;
    size_t used = (size_t)snprintf(text, CASE_TEXT_BYTES, "%s data", c->data);
    for (int i = 0; spec->options[i].name != NULL && used < CASE_TEXT_BYTES; i++) {
        used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, "%s%s=%g",
                                 i == 0 ? ", " : " ", spec->options[i].name, c->call.option[i]);
    }
    for (int i = 0; spec->args[i].name != NULL && used < CASE_TEXT_BYTES; i++) {
        bool in_place = c->owned[i] == NULL && c->call.arg[i] != NULL;
        bool absent = spec->args[i].optional && c->call.arg[i] == NULL;
        if (in_place || absent) {
            used += (size_t)snprintf(text + used, CASE_TEXT_BYTES - used, ", %s %s",
                                     spec->args[i].name, in_place ? "in place" : "absent");
        }
    }
    return text;
}

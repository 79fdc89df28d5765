/* What an operation's arguments are, as data: names, roles, shapes, options. `run`, `verify` and
 * `bench` treat every operation alike through this table, and call it through its front. */
#ifndef LOCKSTEP_SPEC_H
#define LOCKSTEP_SPEC_H

#include "base/tensor.h"
#include "ops/backend.h"

enum { SPEC_MAX_ARGS = 5, SPEC_MAX_DIMS = 3, SPEC_MAX_OPTIONS = 8 };

typedef enum ArgRole { ARG_IN, ARG_OUT, ARG_INOUT } ArgRole;

typedef struct OpArg {
    const char *name;  /* "weight"; NULL ends the list */
    const char *shape; /* names of dimensions: "OC,C". "n": any shape of n elements */
    ArgRole role;
    DType dtype;
    bool optional;       /* may be NULL */
    const char *swapped; /* option that, when not 0, swaps the two dimensions; or NULL */
    const char *leading; /* option with the stored row's stride, 0: contiguous; or NULL */
    const char *below;   /* int32 inputs: the dimension whose size bounds the values; or NULL */
    const char *read_if; /* ARG_INOUT: the option at whose 0 it is written only; or NULL */
    bool nonnegative;    /* float inputs that are never below 0 (a second moment) */
} OpArg;

typedef enum OptionKind { OPTION_FLOAT, OPTION_INT, OPTION_FLAG } OptionKind;

typedef struct OpOption {
    const char *name; /* "alpha"; NULL ends the list */
    OptionKind kind;
    double value; /* the default */
    const char *meaning;
} OpOption;

typedef struct OpCall OpCall;

typedef struct OpSpec {
    OpId op;
    const char *formula;                 /* one line, as on a blackboard */
    const char *dims[SPEC_MAX_DIMS + 1]; /* {"N","C","OC"}, NULL-terminated */
    OpArg args[SPEC_MAX_ARGS + 1];
    OpOption options[SPEC_MAX_OPTIONS + 1];
    Status (*call)(const Backend *be, const OpCall *call); /* unpacks and calls the front */
} OpSpec;

/* One call of an operation. arg[i] belongs to spec->args[i]: a pointer on the backend's device. */
struct OpCall {
    const OpSpec *spec;
    void *arg[SPEC_MAX_ARGS];
    size_t dim[SPEC_MAX_DIMS];
    double option[SPEC_MAX_OPTIONS];
};

const OpSpec *spec_of(OpId op);

/* *call = no arguments, sizes 0, options at their defaults. */
void call_init(OpCall *call, OpId op);

/* The index of a dimension, argument or option by name; -1 when there is none. */
int spec_dim(const OpSpec *spec, const char *name);
int spec_arg(const OpSpec *spec, const char *name);
int spec_option(const OpSpec *spec, const char *name);

/* Sets an option from its name; fails with the list of names and the nearest match. */
Status call_set_option(OpCall *call, const char *name, double value);

/* The logical shape of argument i under the call's sizes and options: rank (0 to 2) and dims.
 * "n" gives rank 1. */
int call_shape(const OpCall *call, int arg, size_t shape[2]);

/* Elements of storage behind argument i: rows * leading dimension for matrices with one, the
 * product of the shape otherwise. Fails on overflow. */
Status call_storage(const OpCall *call, int arg, size_t *element_count);

#endif

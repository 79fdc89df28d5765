/* What the two files of `lockstep run` share: the call, its files and arrays. */
#ifndef LOCKSTEP_CLI_RUN_H
#define LOCKSTEP_CLI_RUN_H

#include "cli/cli.h"
#include "ops/spec.h"

enum { NOT_BOUND = -2, BOUND_BY_SET = -1 };

typedef struct Run {
    OpCall call; /* arguments in host memory */
    Backend backend;
    const char *in_path[SPEC_MAX_ARGS], *out_path[SPEC_MAX_ARGS];
    Tensor in[SPEC_MAX_ARGS];    /* data = NULL where none was given */
    int bound_by[SPEC_MAX_DIMS]; /* the argument that gave a size, BOUND_BY_SET or NOT_BOUND */
    void *host[SPEC_MAX_ARGS];   /* arguments as they are uploaded and downloaded */
    void *device[SPEC_MAX_ARGS];
} Run;

/* Parses --set, --in and --out into run, whose call is initialised and whose sizes are NOT_BOUND.
 * Unknown names fail with the list and the nearest match. */
Status run_parse(Run *run, const CliList *set, const CliList *in, const CliList *out);

/* Reads the arrays, fills and checks all sizes, and checks values that a kernel would take as an
 * index. Fails with the two arrays that contradict each other. run_release frees, after failure
 * too. */
Status run_load(Run *run);
void run_release(Run *run);

/* The value of an option of the call; 0 for NULL. */
double run_option(const OpCall *call, const char *name);

#endif

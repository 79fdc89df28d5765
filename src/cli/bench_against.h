/* `lockstep bench ... --against pytorch`. */
#ifndef LOCKSTEP_BENCH_AGAINST_H
#define LOCKSTEP_BENCH_AGAINST_H

#include <cjson/cJSON.h>

#include "bench/peak.h"
#include "ops/spec.h"

typedef struct AgainstSettings {
    const char *python; /* from torch_find_python */
    int threads;
    double seconds;
    int rounds; /* 0: as many as fit */
    int batch;
    double lr;
    const Peaks *peaks; /* of so many threads */
    bool json;
    cJSON *rows, *comparisons; /* where the JSON goes */
} AgainstSettings;

/* A whole training step of a model such as mlp:784-128-10, on one of our backends and on PyTorch.
 */
Status bench_against_train_step(const AgainstSettings *settings, const char *model,
                                const char *backend);

/* One operation and shape. */
Status bench_against_op(const AgainstSettings *settings, const OpCall *call, const char *backend);

#endif

/* Optimizers: how gradients change the weights. */
#ifndef LOCKSTEP_OPTIMIZER_H
#define LOCKSTEP_OPTIMIZER_H

#include "base/tensor.h"
#include "ops/backend.h"

enum { OPTIMIZER_MAX_STATES = 2 };

typedef struct OptimizerSettings {
    double lr;                /* 0: the optimizer's own default */
    double weight_decay;      /* 0: none; below 0: the optimizer's own default */
    double momentum;          /* momentum's beta */
    double beta1, beta2, eps; /* adam, adamw */
} OptimizerSettings;

#define OPTIMIZER_DEFAULT_SETTINGS                                                                 \
    { .weight_decay = -1.0, .momentum = 0.9, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8 }

typedef struct Optimizer {
    const char *name, *about;
    double default_lr, default_weight_decay;
    int state_count; /* tensors as large as the parameter, 0 at the start */
    const char *state_names[OPTIMIZER_MAX_STATES];
    /* One update of one parameter; step counts from 1. */
    Status (*update)(const Backend *be, const Tensor *param, const Tensor *grad,
                     const Tensor *state, const OptimizerSettings *settings, int step);
} Optimizer;

/* Finds an optimizer by name; fails with the list and the nearest match. */
Status optimizer_find(const Optimizer **optimizer, const char *name);

#endif

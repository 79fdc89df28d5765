#include "nn/optimizer.h"

#include <string.h>

#include "ops/front.h"

static Status sgd_update(const Backend *be, const Tensor *param, const Tensor *grad,
                         const Tensor *state, const OptimizerSettings *s, int step) {
    (void)state;
    (void)step;
    return op_sgd(be, param->data, grad->data, (float)s->lr, (float)s->weight_decay, param->count);
}

static Status momentum_update(const Backend *be, const Tensor *param, const Tensor *grad,
                              const Tensor *state, const OptimizerSettings *s, int step) {
    (void)step;
    return op_momentum(be, param->data, state[0].data, grad->data, (float)s->lr, (float)s->momentum,
                       (float)s->weight_decay, param->count);
}

static Status adam_update(const Backend *be, const Tensor *param, const Tensor *grad,
                          const Tensor *state, const OptimizerSettings *s, int step) {
    return op_adam(be, param->data, state[0].data, state[1].data, grad->data, (float)s->lr,
                   (float)s->beta1, (float)s->beta2, (float)s->eps, (float)s->weight_decay, step,
                   param->count);
}

static Status adamw_update(const Backend *be, const Tensor *param, const Tensor *grad,
                           const Tensor *state, const OptimizerSettings *s, int step) {
    return op_adamw(be, param->data, state[0].data, state[1].data, grad->data, (float)s->lr,
                    (float)s->beta1, (float)s->beta2, (float)s->eps, (float)s->weight_decay, step,
                    param->count);
}

static const Optimizer optimizers[] = {
    {"sgd", "param -= lr * grad", 0.1, 0.0, 0, {0}, sgd_update},
    {"momentum",
     "a running sum of gradients, 0.9 of it kept",
     0.02,
     0.0,
     1,
     {"velocity"},
     momentum_update},
    {"adam", "steps scaled by each gradient's own size", 0.001, 0.0, 2, {"m", "v"}, adam_update},
    {"adamw", "adam with weight decay apart", 0.001, 0.01, 2, {"m", "v"}, adamw_update},
};
enum { OPTIMIZER_COUNT = sizeof optimizers / sizeof optimizers[0] };

Status optimizer_find(const Optimizer **optimizer, const char *name) {
    const char *names[OPTIMIZER_COUNT];
    for (int i = 0; i < OPTIMIZER_COUNT; i++) {
        names[i] = optimizers[i].name;
        if (strcmp(names[i], name) == 0) {
            *optimizer = &optimizers[i];
            return STATUS_OK;
        }
    }
    return fail_unknown("optimizer", name, names, OPTIMIZER_COUNT);
}

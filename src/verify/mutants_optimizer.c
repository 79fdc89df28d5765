/* Wrong optimizers: the right formulas in double, but for the fault that each mutant asks for. */
#include <math.h>

#include "verify/mutants.h"

/* ---- sgd and momentum ----------------------------------------------------------------------- */

static void sgd_decay_sign(float *param, const float *grad, float lr, float weight_decay,
                           size_t n) {
    for (size_t i = 0; i < n; i++) {
        param[i] -= lr * (grad[i] - weight_decay * param[i]);
    }
}

static void sgd_no_decay(float *param, const float *grad, float lr, float weight_decay, size_t n) {
    (void)weight_decay;
    for (size_t i = 0; i < n; i++) {
        param[i] -= lr * grad[i];
    }
}

static void sgd_uphill(float *param, const float *grad, float lr, float weight_decay, size_t n) {
    for (size_t i = 0; i < n; i++) {
        param[i] += lr * (grad[i] + weight_decay * param[i]);
    }
}

/* The parameters are right; the velocity is another one. */
static void momentum_lr_in_velocity(float *param, float *velocity, const float *grad, float lr,
                                    float beta, float weight_decay, size_t n) {
    for (size_t i = 0; i < n; i++) {
        velocity[i] = beta * velocity[i] + lr * (grad[i] + weight_decay * param[i]);
        param[i] -= velocity[i];
    }
}

static void momentum_nesterov(float *param, float *velocity, const float *grad, float lr,
                              float beta, float weight_decay, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float g = grad[i] + weight_decay * param[i];
        velocity[i] = beta * velocity[i] + g;
        param[i] -= lr * (g + beta * velocity[i]);
    }
}

static void momentum_dampened(float *param, float *velocity, const float *grad, float lr,
                              float beta, float weight_decay, size_t n) {
    for (size_t i = 0; i < n; i++) {
        velocity[i] = beta * velocity[i] + (1.0f - beta) * (grad[i] + weight_decay * param[i]);
        param[i] -= lr * velocity[i];
    }
}

/* Moves by the velocity of the step before. */
static void momentum_late(float *param, float *velocity, const float *grad, float lr, float beta,
                          float weight_decay, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float old = velocity[i];
        velocity[i] = beta * velocity[i] + (grad[i] + weight_decay * param[i]);
        param[i] -= lr * old;
    }
}

/* ---- adam and adamw ------------------------------------------------------------------------- */

typedef struct AdamFault {
    bool coupled;   /* the decay in the gradient */
    bool decoupled; /* the decay beside the step */
    bool no_correction, swapped_corrections, eps_inside, not_squared, decay_without_lr, decay_sign;
    bool moments_of_old; /* steps by the moments of the step before */
} AdamFault;

typedef struct AdamOptions {
    double lr, beta1, beta2, eps, weight_decay, correction1, correction2;
} AdamOptions;

static AdamOptions faulty_options(const AdamFault *fault, AdamOptions o) {
    double correction1 = o.correction1;
    if (fault->no_correction) {
        o.correction1 = o.correction2 = 1.0;
    } else if (fault->swapped_corrections) {
        o.correction1 = o.correction2;
        o.correction2 = correction1;
    }
    o.weight_decay = fault->decay_sign ? -o.weight_decay : o.weight_decay;
    return o;
}

static void faulty_adam(const AdamFault *fault, float *param, float *m, float *v, const float *grad,
                        AdamOptions options, size_t n) {
    AdamOptions o = faulty_options(fault, options);
    for (size_t i = 0; i < n; i++) {
        double p = (double)param[i], old_m = (double)m[i], old_v = (double)v[i];
        double g = (double)grad[i] + (fault->coupled ? o.weight_decay * p : 0.0);
        double new_m = o.beta1 * old_m + (1.0 - o.beta1) * g;
        double new_v = o.beta2 * old_v + (1.0 - o.beta2) * (fault->not_squared ? g : g * g);
        double step_m = fault->moments_of_old ? old_m : new_m;
        double mean = (fault->moments_of_old ? old_v : new_v) / o.correction2;
        double root = fault->eps_inside ? sqrt(mean + o.eps) : sqrt(mean) + o.eps;
        double rate = fault->decay_without_lr ? 1.0 : o.lr;
        double decay = fault->decoupled ? rate * o.weight_decay * p : 0.0;
        param[i] = (float)(p - o.lr * (step_m / o.correction1) / root - decay);
        m[i] = (float)new_m;
        v[i] = (float)new_v;
    }
}

#define ADAM_MUTANT(name, ...)                                                                     \
    static void name(float *param, float *m, float *v, const float *grad, float lr, float beta1,   \
                     float beta2, float eps, float weight_decay, float correction1,                \
                     float correction2, size_t n) {                                                \
        const AdamFault fault = {__VA_ARGS__};                                                     \
        AdamOptions options = {(double)lr,         (double)beta1,        (double)beta2,            \
                               (double)eps,        (double)weight_decay, (double)correction1,      \
                               (double)correction2};                                               \
        faulty_adam(&fault, param, m, v, grad, options, n);                                        \
    }

ADAM_MUTANT(adam_no_correction, .coupled = true, .no_correction = true)
ADAM_MUTANT(adam_swapped_corrections, .coupled = true, .swapped_corrections = true)
ADAM_MUTANT(adam_eps_inside, .coupled = true, .eps_inside = true)
ADAM_MUTANT(adam_not_squared, .coupled = true, .not_squared = true)
ADAM_MUTANT(adam_decoupled, .decoupled = true)
ADAM_MUTANT(adam_no_decay, .coupled = false)
ADAM_MUTANT(adam_late, .coupled = true, .moments_of_old = true)
ADAM_MUTANT(adamw_no_correction, .decoupled = true, .no_correction = true)
ADAM_MUTANT(adamw_eps_inside, .decoupled = true, .eps_inside = true)
ADAM_MUTANT(adamw_coupled, .coupled = true)
ADAM_MUTANT(adamw_decay_without_lr, .decoupled = true, .decay_without_lr = true)
ADAM_MUTANT(adamw_decay_sign, .decoupled = true, .decay_sign = true)
ADAM_MUTANT(adamw_decay_twice, .coupled = true, .decoupled = true)

const Kernel mutants_optimizer[] = {
    KERNEL(sgd, "decay_sign", "grows the weights", 0, sgd_decay_sign),
    KERNEL(sgd, "no_decay", "ignores weight_decay", 0, sgd_no_decay),
    KERNEL(sgd, "uphill", "+ for -", 0, sgd_uphill),
    KERNEL(momentum, "lr_in_velocity", "another velocity", 0, momentum_lr_in_velocity),
    KERNEL(momentum, "nesterov", "looks ahead", 0, momentum_nesterov),
    KERNEL(momentum, "dampened", "1 - beta", 0, momentum_dampened),
    KERNEL(momentum, "late", "the old velocity", 0, momentum_late),
    KERNEL(adam, "no_correction", "small first steps", 0, adam_no_correction),
    KERNEL(adam, "swapped_corrections", "1 for 2", 0, adam_swapped_corrections),
    KERNEL(adam, "eps_inside", "sqrt(v + eps)", 0, adam_eps_inside),
    KERNEL(adam, "not_squared", "v of g", 0, adam_not_squared),
    KERNEL(adam, "decoupled", "adamw", 0, adam_decoupled),
    KERNEL(adam, "no_decay", "ignores weight_decay", 0, adam_no_decay),
    KERNEL(adam, "late", "the old moments", 0, adam_late),
    KERNEL(adamw, "no_correction", "small first steps", 0, adamw_no_correction),
    KERNEL(adamw, "eps_inside", "sqrt(v + eps)", 0, adamw_eps_inside),
    KERNEL(adamw, "coupled", "adam", 0, adamw_coupled),
    KERNEL(adamw, "decay_without_lr", "weight_decay itself", 0, adamw_decay_without_lr),
    KERNEL(adamw, "decay_sign", "grows the weights", 0, adamw_decay_sign),
    KERNEL(adamw, "decay_twice", "coupled and beside", 0, adamw_decay_twice),
    KERNEL_TABLE_END,
};

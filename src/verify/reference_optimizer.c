/* References of the optimizers: the contract's formulas in running error analysis, operation by
 * operation. Where two orders of evaluation are common, the bound covers both. */
#include "verify/reference.h"

static Approx option(const OpCall *call, const char *name) {
    return approx_exact(reference_option(call, name));
}

void reference_sgd(const OpCall *call, const Reference *reference) {
    const float *param = reference_in(call, "param"), *grad = reference_in(call, "grad");
    Approx lr = option(call, "lr"), weight_decay = option(call, "weight_decay");
    Approx *out = reference_out(reference, "param");
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        Approx p = approx_exact((double)param[i]), g = approx_exact((double)grad[i]);
        out[i] = approx_sub(p, approx_mul(lr, approx_add(g, approx_mul(weight_decay, p))));
    }
}

/* beta v + (g + d) or (beta v + g) + d, with d the decay. */
void reference_momentum(const OpCall *call, const Reference *reference) {
    const float *param = reference_in(call, "param"), *velocity = reference_in(call, "velocity"),
                *grad = reference_in(call, "grad");
    Approx lr = option(call, "lr"), beta = option(call, "beta"),
           weight_decay = option(call, "weight_decay");
    Approx *param_out = reference_out(reference, "param"),
           *velocity_out = reference_out(reference, "velocity");
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        Approx p = approx_exact((double)param[i]), g = approx_exact((double)grad[i]);
        Approx kept = approx_mul(beta, approx_exact((double)velocity[i]));
        Approx decay = approx_mul(weight_decay, p);
        velocity_out[i] = approx_either(approx_add(kept, approx_add(g, decay)),
                                        approx_add(approx_add(kept, g), decay));
        param_out[i] = approx_sub(p, approx_mul(lr, velocity_out[i]));
    }
}

/* What adam and adamw share. */
typedef struct Adam {
    Approx lr, beta1, beta2, eps, weight_decay, correction1, correction2;
} Adam;

/* 1 - beta^step, rounded once to fp32 by the front. */
static Approx correction(Approx beta, double step) {
    return approx_rounded(1.0 - pow(beta.value, step), 0.0);
}

static Adam adam_of(const OpCall *call) {
    Adam adam = {
        .lr = option(call, "lr"),
        .beta1 = option(call, "beta1"),
        .beta2 = option(call, "beta2"),
        .eps = option(call, "eps"),
        .weight_decay = option(call, "weight_decay"),
    };
    adam.correction1 = correction(adam.beta1, reference_option(call, "step"));
    adam.correction2 = correction(adam.beta2, reference_option(call, "step"));
    return adam;
}

/* beta * mean + (1 - beta) * x */
static Approx moving_mean(Approx beta, float mean, Approx x) {
    Approx rest = approx_sub(approx_exact(1.0), beta);
    return approx_add(approx_mul(beta, approx_exact((double)mean)), approx_mul(rest, x));
}

/* lr * (m / correction1) / (sqrt(v / correction2) + eps), lr taken first or last. Where g is a
 * difference that cancels, m and v are mostly rounding errors, and eps alone keeps the bound
 * finite.
 */
static Approx adam_step(const Adam *adam, Approx m, Approx v) {
    Approx numerator = approx_div(m, adam->correction1);
    Approx root = approx_add(approx_sqrt(approx_div(v, adam->correction2)), adam->eps);
    double least = adam->eps.value * (1.0 - UNIT_ROUNDOFF);
    return approx_either(approx_mul(adam->lr, approx_div_by_least(numerator, root, least)),
                         approx_div_by_least(approx_mul(adam->lr, numerator), root, least));
}

void reference_adam(const OpCall *call, const Reference *reference) {
    const float *param = reference_in(call, "param"), *grad = reference_in(call, "grad"),
                *m = reference_in(call, "m"), *v = reference_in(call, "v");
    Approx *param_out = reference_out(reference, "param"), *m_out = reference_out(reference, "m"),
           *v_out = reference_out(reference, "v");
    Adam adam = adam_of(call);
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        Approx p = approx_exact((double)param[i]);
        Approx g = approx_add(approx_exact((double)grad[i]), approx_mul(adam.weight_decay, p));
        m_out[i] = moving_mean(adam.beta1, m[i], g);
        v_out[i] = moving_mean(adam.beta2, v[i], approx_mul(g, g));
        param_out[i] = approx_sub(p, adam_step(&adam, m_out[i], v_out[i]));
    }
}

/* p less its step and less its decay: the decay first, the step first, or as a factor
 * 1 - lr * weight_decay. */
static Approx adamw_param(const Adam *adam, Approx p, Approx step) {
    Approx rate = approx_mul(adam->lr, adam->weight_decay);
    Approx decay = approx_mul(rate, p), factor = approx_sub(approx_exact(1.0), rate);
    Approx decay_first = approx_sub(approx_sub(p, decay), step);
    Approx together = approx_sub(p, approx_add(step, decay));
    return approx_either(approx_either(decay_first, together),
                         approx_sub(approx_mul(factor, p), step));
}

void reference_adamw(const OpCall *call, const Reference *reference) {
    const float *param = reference_in(call, "param"), *grad = reference_in(call, "grad"),
                *m = reference_in(call, "m"), *v = reference_in(call, "v");
    Approx *param_out = reference_out(reference, "param"), *m_out = reference_out(reference, "m"),
           *v_out = reference_out(reference, "v");
    Adam adam = adam_of(call);
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        Approx g = approx_exact((double)grad[i]);
        m_out[i] = moving_mean(adam.beta1, m[i], g);
        v_out[i] = moving_mean(adam.beta2, v[i], approx_mul(g, g));
        param_out[i] = adamw_param(&adam, approx_exact((double)param[i]),
                                   adam_step(&adam, m_out[i], v_out[i]));
    }
}

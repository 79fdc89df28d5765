/* Optimizers, shared out among threads: one step of sgd, momentum, adam, adamw over n parameters.
 *
 *     sgd        param -= lr * (grad + weight_decay * param)
 *     momentum   velocity = beta * velocity + (grad + weight_decay * param)
 *                param -= lr * velocity
 *     adam       g = grad + weight_decay * param
 *                m = beta1 * m + (1 - beta1) * g        v = beta2 * v + (1 - beta2) * g^2
 *                param -= lr * (m / correction1) / (sqrt(v / correction2) + eps)
 *     adamw      the same with g = grad, and param -= lr * weight_decay * param beside it
 *
 * In parallel: every parameter stands alone, so each thread takes one stretch of them.
 * Limit: memory, which the threads share. A step moves 12, 20, 28 and 28 bytes a parameter.
 * Beside its serial twin: the same loops, shared out. */
#include "base/trace.h"
#include "cpu/openmp/openmp.h"
#include "ops/formulas.h"

static void sgd_share(float *param, const float *grad, float lr, float weight_decay, size_t n) {
    TRACE_SHARE_OF("sgd");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        param[i] -= lr * (grad[i] + weight_decay * param[i]);
    }
}

void sgd_openmp(float *param, const float *grad, float lr, float weight_decay, size_t n) {
    if (n >= FORK_ELEMENTS) {
#pragma omp parallel
        sgd_share(param, grad, lr, weight_decay, n);
    } else {
        sgd_share(param, grad, lr, weight_decay, n);
    }
}

static void momentum_share(float *param, float *velocity, const float *grad, float lr, float beta,
                           float weight_decay, size_t n) {
    TRACE_SHARE_OF("momentum");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        velocity[i] = beta * velocity[i] + (grad[i] + weight_decay * param[i]);
        param[i] -= lr * velocity[i];
    }
}

void momentum_openmp(float *param, float *velocity, const float *grad, float lr, float beta,
                     float weight_decay, size_t n) {
    if (n >= FORK_ELEMENTS) {
#pragma omp parallel
        momentum_share(param, velocity, grad, lr, beta, weight_decay, n);
    } else {
        momentum_share(param, velocity, grad, lr, beta, weight_decay, n);
    }
}

static void adam_share(float *param, float *m, float *v, const float *grad, float lr, float beta1,
                       float beta2, float eps, float weight_decay, float correction1,
                       float correction2, size_t n) {
    TRACE_SHARE_OF("adam");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        float g = grad[i] + weight_decay * param[i];
        m[i] = beta1 * m[i] + (1.0f - beta1) * g;
        v[i] = beta2 * v[i] + (1.0f - beta2) * (g * g);
        param[i] -= lr * adam_direction(m[i], v[i], eps, correction1, correction2);
    }
}

void adam_openmp(float *param, float *m, float *v, const float *grad, float lr, float beta1,
                 float beta2, float eps, float weight_decay, float correction1, float correction2,
                 size_t n) {
    if (n >= FORK_ELEMENTS) {
#pragma omp parallel
        adam_share(param, m, v, grad, lr, beta1, beta2, eps, weight_decay, correction1, correction2,
                   n);
    } else {
        adam_share(param, m, v, grad, lr, beta1, beta2, eps, weight_decay, correction1, correction2,
                   n);
    }
}

static void adamw_share(float *param, float *m, float *v, const float *grad, float lr, float beta1,
                        float beta2, float eps, float weight_decay, float correction1,
                        float correction2, size_t n) {
    TRACE_SHARE_OF("adamw");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        float g = grad[i];
        m[i] = beta1 * m[i] + (1.0f - beta1) * g;
        v[i] = beta2 * v[i] + (1.0f - beta2) * (g * g);
        param[i] -= lr * (adam_direction(m[i], v[i], eps, correction1, correction2) +
                          weight_decay * param[i]);
    }
}

void adamw_openmp(float *param, float *m, float *v, const float *grad, float lr, float beta1,
                  float beta2, float eps, float weight_decay, float correction1, float correction2,
                  size_t n) {
    if (n >= FORK_ELEMENTS) {
#pragma omp parallel
        adamw_share(param, m, v, grad, lr, beta1, beta2, eps, weight_decay, correction1,
                    correction2, n);
    } else {
        adamw_share(param, m, v, grad, lr, beta1, beta2, eps, weight_decay, correction1,
                    correction2, n);
    }
}

const Kernel optimizer_kernels_openmp[] = {
    KERNEL_DEFAULT(sgd, "static", "one stretch of the parameters for each thread", 0, sgd_openmp),
    KERNEL_DEFAULT(momentum, "static", "one stretch of the parameters for each thread", 0,
                   momentum_openmp),
    KERNEL_DEFAULT(adam, "static", "one stretch of the parameters for each thread", 0, adam_openmp),
    KERNEL_DEFAULT(adamw, "static", "as adam, with the decay beside the moments", 0, adamw_openmp),
    KERNEL_TABLE_END,
};

/* Optimizers, on one thread: one step of sgd, momentum, adam, adamw over n parameters.
 *
 *     sgd        param -= lr * (grad + weight_decay * param)
 *     momentum   velocity = beta * velocity + (grad + weight_decay * param)
 *                param -= lr * velocity
 *     adam       g = grad + weight_decay * param
 *                m = beta1 * m + (1 - beta1) * g        v = beta2 * v + (1 - beta2) * g^2
 *                param -= lr * (m / correction1) / (sqrt(v / correction2) + eps)
 *     adamw      the same with g = grad, and param -= lr * weight_decay * param beside it
 *
 * Every parameter stands alone. Limit: memory. A step moves 12, 20, 28 and 28 bytes a parameter;
 * adam's root and two divisions come near that limit while the parameters fit in the cache. */
#include "cpu/serial/serial.h"
#include "ops/formulas.h"

static void sgd_serial(float *param, const float *grad, float lr, float weight_decay, size_t n) {
    for (size_t i = 0; i < n; i++) {
        param[i] -= lr * (grad[i] + weight_decay * param[i]);
    }
}

static void momentum_serial(float *param, float *velocity, const float *grad, float lr, float beta,
                            float weight_decay, size_t n) {
    for (size_t i = 0; i < n; i++) {
        velocity[i] = beta * velocity[i] + (grad[i] + weight_decay * param[i]);
        param[i] -= lr * velocity[i];
    }
}

static void adam_serial(float *param, float *m, float *v, const float *grad, float lr, float beta1,
                        float beta2, float eps, float weight_decay, float correction1,
                        float correction2, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float g = grad[i] + weight_decay * param[i];
        m[i] = beta1 * m[i] + (1.0f - beta1) * g;
        v[i] = beta2 * v[i] + (1.0f - beta2) * (g * g);
        param[i] -= lr * adam_direction(m[i], v[i], eps, correction1, correction2);
    }
}

static void adamw_serial(float *param, float *m, float *v, const float *grad, float lr, float beta1,
                         float beta2, float eps, float weight_decay, float correction1,
                         float correction2, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float g = grad[i];
        m[i] = beta1 * m[i] + (1.0f - beta1) * g;
        v[i] = beta2 * v[i] + (1.0f - beta2) * (g * g);
        param[i] -= lr * (adam_direction(m[i], v[i], eps, correction1, correction2) +
                          weight_decay * param[i]);
    }
}

const Kernel optimizer_kernels_serial[] = {
    KERNEL_DEFAULT(sgd, "naive", "one loop", 0, sgd_serial),
    KERNEL_DEFAULT(momentum, "naive", "one loop over parameters and velocities", 0,
                   momentum_serial),
    KERNEL_DEFAULT(adam, "naive", "one loop over parameters and both moments", 0, adam_serial),
    KERNEL_DEFAULT(adamw, "naive", "as adam, with the decay beside the moments", 0, adamw_serial),
    KERNEL_TABLE_END,
};

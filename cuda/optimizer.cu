/* Optimizers: one step of sgd, momentum, adam, adamw over n parameters. The equations stand in
 * cpu/serial/optimizer.c.
 *
 * One thread, one parameter at a time, in a loop over the grid. Limit: memory, 12 to 28 bytes a
 * parameter. */
#include "cuda/cuda.h"

__global__ void sgd_kernel(float *param, const float *grad, float lr, float weight_decay,
                           size_t n) {
    GRID_STRIDE(i, n) {
        param[i] -= lr * (grad[i] + weight_decay * param[i]);
    }
}

static void sgd_grid_stride(float *param, const float *grad, float lr, float weight_decay,
                            size_t n) {
    sgd_kernel<<<blocks_to_fill(n), BLOCK_THREADS>>>(param, grad, lr, weight_decay, n);
    cuda_launched(OP_sgd, "grid_stride", n, 1, 1);
}

__global__ void momentum_kernel(float *param, float *velocity, const float *grad, float lr,
                                float beta, float weight_decay, size_t n) {
    GRID_STRIDE(i, n) {
        velocity[i] = beta * velocity[i] + (grad[i] + weight_decay * param[i]);
        param[i] -= lr * velocity[i];
    }
}

static void momentum_grid_stride(float *param, float *velocity, const float *grad, float lr,
                                 float beta, float weight_decay, size_t n) {
    momentum_kernel<<<blocks_to_fill(n), BLOCK_THREADS>>>(param, velocity, grad, lr, beta,
                                                          weight_decay, n);
    cuda_launched(OP_momentum, "grid_stride", n, 1, 1);
}

__global__ void adam_kernel(float *param, float *m, float *v, const float *grad, float lr,
                            float beta1, float beta2, float eps, float weight_decay,
                            float correction1, float correction2, size_t n) {
    GRID_STRIDE(i, n) {
        float g = grad[i] + weight_decay * param[i];
        m[i] = beta1 * m[i] + (1.0f - beta1) * g;
        v[i] = beta2 * v[i] + (1.0f - beta2) * (g * g);
        param[i] -= lr * adam_direction(m[i], v[i], eps, correction1, correction2);
    }
}

static void adam_grid_stride(float *param, float *m, float *v, const float *grad, float lr,
                             float beta1, float beta2, float eps, float weight_decay,
                             float correction1, float correction2, size_t n) {
    adam_kernel<<<blocks_to_fill(n), BLOCK_THREADS>>>(param, m, v, grad, lr, beta1, beta2, eps,
                                                      weight_decay, correction1, correction2, n);
    cuda_launched(OP_adam, "grid_stride", n, 1, 1);
}

__global__ void adamw_kernel(float *param, float *m, float *v, const float *grad, float lr,
                             float beta1, float beta2, float eps, float weight_decay,
                             float correction1, float correction2, size_t n) {
    GRID_STRIDE(i, n) {
        float g = grad[i];
        m[i] = beta1 * m[i] + (1.0f - beta1) * g;
        v[i] = beta2 * v[i] + (1.0f - beta2) * (g * g);
        param[i] -= lr * (adam_direction(m[i], v[i], eps, correction1, correction2) +
                          weight_decay * param[i]);
    }
}

static void adamw_grid_stride(float *param, float *m, float *v, const float *grad, float lr,
                              float beta1, float beta2, float eps, float weight_decay,
                              float correction1, float correction2, size_t n) {
    adamw_kernel<<<blocks_to_fill(n), BLOCK_THREADS>>>(param, m, v, grad, lr, beta1, beta2, eps,
                                                       weight_decay, correction1, correction2, n);
    cuda_launched(OP_adamw, "grid_stride", n, 1, 1);
}

#define IDEA "each thread in a loop over the grid"

const Kernel CUDA_TABLE(optimizer)[] = {
    KERNEL_DEFAULT(sgd, "grid_stride", IDEA, 0, sgd_grid_stride),
    KERNEL_DEFAULT(momentum, "grid_stride", IDEA, 0, momentum_grid_stride),
    KERNEL_DEFAULT(adam, "grid_stride", IDEA, 0, adam_grid_stride),
    KERNEL_DEFAULT(adamw, "grid_stride", IDEA, 0, adamw_grid_stride),
    KERNEL_TABLE_END,
};

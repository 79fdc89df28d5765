/* Activations and their gradients, shared out among threads: relu, sigmoid, tanh.
 *
 *     relu      out = max(inp, 0)              dinp = out > 0 ? dout : 0
 *     sigmoid   out = 1 / (1 + exp(-inp))      dinp = dout * out * (1 - out)
 *     tanh      out = tanh(inp)                dinp = dout * (1 - out^2)
 *
 * In parallel: every element stands alone, so each thread takes one stretch of the array.
 * Limit: memory, which the threads share, for relu and all gradients; arithmetic for sigmoid
 * and tanh, which each core works out for itself.
 * Beside its serial twin: the same loops, shared out. */
#include "base/trace.h"
#include "cpu/openmp/openmp.h"
#include "ops/formulas.h"

static void relu_forward_share(float *out, const float *inp, size_t n) {
    TRACE_SHARE_OF("relu_forward");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        out[i] = relu(inp[i]);
    }
}

void relu_forward_openmp(float *out, const float *inp, size_t n) {
    if (n >= FORK_ELEMENTS) {
#pragma omp parallel
        relu_forward_share(out, inp, n);
    } else {
        relu_forward_share(out, inp, n);
    }
}

static void relu_backward_share(float *dinp, const float *dout, const float *out, size_t n) {
    TRACE_SHARE_OF("relu_backward");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        dinp[i] = relu_gradient(dout[i], out[i]);
    }
}

void relu_backward_openmp(float *dinp, const float *dout, const float *out, size_t n) {
    if (n >= FORK_ELEMENTS) {
#pragma omp parallel
        relu_backward_share(dinp, dout, out, n);
    } else {
        relu_backward_share(dinp, dout, out, n);
    }
}

static void sigmoid_forward_share(float *out, const float *inp, size_t n) {
    TRACE_SHARE_OF("sigmoid_forward");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        out[i] = sigmoid_of(inp[i], exp_fp32(-fabsf(inp[i])));
    }
}

void sigmoid_forward_openmp(float *out, const float *inp, size_t n) {
    if (n >= FORK_EXPONENTIALS) {
#pragma omp parallel
        sigmoid_forward_share(out, inp, n);
    } else {
        sigmoid_forward_share(out, inp, n);
    }
}

static void sigmoid_backward_share(float *dinp, const float *dout, const float *out, size_t n) {
    TRACE_SHARE_OF("sigmoid_backward");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        dinp[i] = dout[i] * out[i] * (1.0f - out[i]);
    }
}

void sigmoid_backward_openmp(float *dinp, const float *dout, const float *out, size_t n) {
    if (n >= FORK_ELEMENTS) {
#pragma omp parallel
        sigmoid_backward_share(dinp, dout, out, n);
    } else {
        sigmoid_backward_share(dinp, dout, out, n);
    }
}

static void tanh_forward_share(float *out, const float *inp, size_t n) {
    TRACE_SHARE_OF("tanh_forward");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        out[i] = tanh_fp32(inp[i]);
    }
}

void tanh_forward_openmp(float *out, const float *inp, size_t n) {
    if (n >= FORK_EXPONENTIALS) {
#pragma omp parallel
        tanh_forward_share(out, inp, n);
    } else {
        tanh_forward_share(out, inp, n);
    }
}

static void tanh_backward_share(float *dinp, const float *dout, const float *out, size_t n) {
    TRACE_SHARE_OF("tanh_backward");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        dinp[i] = dout[i] * (1.0f - out[i] * out[i]);
    }
}

void tanh_backward_openmp(float *dinp, const float *dout, const float *out, size_t n) {
    if (n >= FORK_ELEMENTS) {
#pragma omp parallel
        tanh_backward_share(dinp, dout, out, n);
    } else {
        tanh_backward_share(dinp, dout, out, n);
    }
}

const Kernel activation_kernels_openmp[] = {
    KERNEL_DEFAULT(relu_forward, "static", "one stretch of the array for each thread", 0,
                   relu_forward_openmp),
    KERNEL_DEFAULT(relu_backward, "static", "one stretch of the array for each thread", 0,
                   relu_backward_openmp),
    KERNEL_DEFAULT(sigmoid_forward, "static", "one stretch of the array for each thread", 0,
                   sigmoid_forward_openmp),
    KERNEL_DEFAULT(sigmoid_backward, "static", "one stretch of the array for each thread", 0,
                   sigmoid_backward_openmp),
    KERNEL_DEFAULT(tanh_forward, "static", "one stretch of the array for each thread", 0,
                   tanh_forward_openmp),
    KERNEL_DEFAULT(tanh_backward, "static", "one stretch of the array for each thread", 0,
                   tanh_backward_openmp),
    KERNEL_TABLE_END,
};

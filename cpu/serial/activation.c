/* Activations and their gradients, on one thread: relu, sigmoid, tanh.
 *
 *     relu      out = max(inp, 0)              dinp = out > 0 ? dout : 0
 *     sigmoid   out = 1 / (1 + exp(-inp))      dinp = dout * out * (1 - out)
 *     tanh      out = tanh(inp)                dinp = dout * (1 - out^2)
 *
 * The gradients need only the output, which the network keeps anyway.
 * Limit: memory for relu and all gradients (8 and 12 bytes an element); arithmetic for sigmoid and
 * tanh. libm calls the C library for each element, 4 and 20 ns; the default's polynomials are plain
 * arithmetic, which the compiler does for 8 elements at a time. */
#include "cpu/serial/serial.h"
#include "ops/formulas.h"

static void relu_forward_serial(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = relu(inp[i]);
    }
}

static void relu_backward_serial(float *dinp, const float *dout, const float *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        dinp[i] = relu_gradient(dout[i], out[i]);
    }
}

static void sigmoid_forward_libm_serial(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = sigmoid_of(inp[i], expf(-fabsf(inp[i])));
    }
}

static void sigmoid_forward_serial(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = sigmoid_of(inp[i], exp_fp32(-fabsf(inp[i])));
    }
}

static void sigmoid_backward_serial(float *dinp, const float *dout, const float *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        dinp[i] = dout[i] * out[i] * (1.0f - out[i]);
    }
}

static void tanh_forward_libm_serial(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = tanhf(inp[i]);
    }
}

static void tanh_forward_serial(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = tanh_fp32(inp[i]);
    }
}

static void tanh_backward_serial(float *dinp, const float *dout, const float *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        dinp[i] = dout[i] * (1.0f - out[i] * out[i]);
    }
}

const Kernel activation_kernels_serial[] = {
    KERNEL_DEFAULT(relu_forward, "naive", "one loop", 0, relu_forward_serial),
    KERNEL_DEFAULT(relu_backward, "naive", "one loop", 0, relu_backward_serial),
    KERNEL(sigmoid_forward, "libm", "a call of the C library for each element", 0,
           sigmoid_forward_libm_serial),
    KERNEL_DEFAULT(sigmoid_forward, "polynomial", "an exponential without calls, many at a time", 0,
                   sigmoid_forward_serial),
    KERNEL_DEFAULT(sigmoid_backward, "naive", "one loop", 0, sigmoid_backward_serial),
    KERNEL(tanh_forward, "libm", "a call of the C library for each element", 0,
           tanh_forward_libm_serial),
    KERNEL_DEFAULT(tanh_forward, "polynomial", "a tanh without calls, many at a time", 0,
                   tanh_forward_serial),
    KERNEL_DEFAULT(tanh_backward, "naive", "one loop", 0, tanh_backward_serial),
    KERNEL_TABLE_END,
};

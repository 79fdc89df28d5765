/* Activations over n elements: relu, sigmoid, tanh, and their gradients from the outputs.
 *
 * One thread, one element at a time, in a loop over the grid. Limit: memory for relu; for sigmoid
 * and tanh the exponential as well. */
#include "cuda/cuda.h"

__global__ void relu_forward_kernel(float *out, const float *inp, size_t n) {
    GRID_STRIDE(i, n) {
        out[i] = relu(inp[i]);
    }
}

__global__ void relu_backward_kernel(float *dinp, const float *dout, const float *out, size_t n) {
    GRID_STRIDE(i, n) {
        dinp[i] = relu_gradient(dout[i], out[i]);
    }
}

__global__ void sigmoid_forward_kernel(float *out, const float *inp, size_t n) {
    GRID_STRIDE(i, n) {
        out[i] = sigmoid_of(inp[i], expf(-fabsf(inp[i])));
    }
}

__global__ void sigmoid_backward_kernel(float *dinp, const float *dout, const float *out,
                                        size_t n) {
    GRID_STRIDE(i, n) {
        dinp[i] = dout[i] * out[i] * (1.0f - out[i]);
    }
}

__global__ void tanh_forward_kernel(float *out, const float *inp, size_t n) {
    GRID_STRIDE(i, n) {
        out[i] = tanhf(inp[i]);
    }
}

__global__ void tanh_backward_kernel(float *dinp, const float *dout, const float *out, size_t n) {
    GRID_STRIDE(i, n) {
        dinp[i] = dout[i] * (1.0f - out[i] * out[i]);
    }
}

#define ACTIVATION(activation)                                                                     \
    static void activation##_forward(float *out, const float *inp, size_t n) {                     \
        activation##_forward_kernel<<<blocks_to_fill(n), BLOCK_THREADS>>>(out, inp, n);            \
        cuda_launched(OP_##activation##_forward, "grid_stride", n, 1, 1);                          \
    }                                                                                              \
    static void activation##_backward(float *dinp, const float *dout, const float *out,            \
                                      size_t n) {                                                  \
        activation##_backward_kernel<<<blocks_to_fill(n), BLOCK_THREADS>>>(dinp, dout, out, n);    \
        cuda_launched(OP_##activation##_backward, "grid_stride", n, 1, 1);                         \
    }

ACTIVATION(relu)
ACTIVATION(sigmoid)
ACTIVATION(tanh)

#define IDEA "each thread in a loop over the grid"

const Kernel CUDA_TABLE(activation)[] = {
    KERNEL_DEFAULT(relu_forward, "grid_stride", IDEA, 0, relu_forward),
    KERNEL_DEFAULT(relu_backward, "grid_stride", IDEA, 0, relu_backward),
    KERNEL_DEFAULT(sigmoid_forward, "grid_stride", IDEA, 0, sigmoid_forward),
    KERNEL_DEFAULT(sigmoid_backward, "grid_stride", IDEA, 0, sigmoid_backward),
    KERNEL_DEFAULT(tanh_forward, "grid_stride", IDEA, 0, tanh_forward),
    KERNEL_DEFAULT(tanh_backward, "grid_stride", IDEA, 0, tanh_backward),
    KERNEL_TABLE_END,
};

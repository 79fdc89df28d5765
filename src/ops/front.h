/* The fronts: one per operation, the only way that anything above the kernels calls one. A front
 * checks sizes and pointers, passes over empty work, runs the backend's chosen kernel, counts flops
 * and bytes, adds up the time and writes the trace span. Parameters are those of the contract
 * (ops.h) behind the backend. Errors: STATUS_BAD with operation, argument and value. */
#ifndef LOCKSTEP_FRONT_H
#define LOCKSTEP_FRONT_H

#include "ops/backend.h"

Status op_fill(const Backend *be, float *x, float value, size_t n);
Status op_copy(const Backend *be, float *out, const float *inp, size_t n);
Status op_vector_add(const Backend *be, float *out, const float *a, const float *b, size_t n);
Status op_axpy(const Backend *be, float *y, const float *x, float alpha, size_t n);
Status op_transpose(const Backend *be, float *out, const float *inp, int M, int N);
Status op_sum(const Backend *be, float *out, const float *inp, int M, size_t N);
Status op_mean(const Backend *be, float *out, const float *inp, int M, size_t N);
Status op_max(const Backend *be, float *out, const float *inp, int M, size_t N);
Status op_argmax(const Backend *be, int32_t *out, const float *inp, int M, int N);
Status op_matmul(const Backend *be, float *c, const float *a, const float *b, float alpha,
                 float beta, bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                 int ldc);
Status op_matmul_forward(const Backend *be, float *out, const float *inp, const float *weight,
                         const float *bias, int N, int C, int OC);
Status op_matmul_backward_input(const Backend *be, float *dinp, const float *dout,
                                const float *weight, int N, int C, int OC);
Status op_matmul_backward_weight(const Backend *be, float *dweight, const float *dout,
                                 const float *inp, bool accumulate, int N, int C, int OC);
Status op_matmul_backward_bias(const Backend *be, float *dbias, const float *dout, bool accumulate,
                               int N, int OC);
Status op_relu_forward(const Backend *be, float *out, const float *inp, size_t n);
Status op_relu_backward(const Backend *be, float *dinp, const float *dout, const float *out,
                        size_t n);
Status op_sigmoid_forward(const Backend *be, float *out, const float *inp, size_t n);
Status op_sigmoid_backward(const Backend *be, float *dinp, const float *dout, const float *out,
                           size_t n);
Status op_tanh_forward(const Backend *be, float *out, const float *inp, size_t n);
Status op_tanh_backward(const Backend *be, float *dinp, const float *dout, const float *out,
                        size_t n);
Status op_softmax_cross_entropy_forward(const Backend *be, float *losses, float *probs,
                                        const float *logits, const int32_t *labels, int N, int V);
Status op_softmax_cross_entropy_backward(const Backend *be, float *dlogits, const float *probs,
                                         const int32_t *labels, float scale, int N, int V);
Status op_sgd(const Backend *be, float *param, const float *grad, float lr, float weight_decay,
              size_t n);
Status op_momentum(const Backend *be, float *param, float *velocity, const float *grad, float lr,
                   float beta, float weight_decay, size_t n);
/* step counts from 1; the front works out the bias corrections. */
Status op_adam(const Backend *be, float *param, float *m, float *v, const float *grad, float lr,
               float beta1, float beta2, float eps, float weight_decay, int step, size_t n);
Status op_adamw(const Backend *be, float *param, float *m, float *v, const float *grad, float lr,
                float beta1, float beta2, float eps, float weight_decay, int step, size_t n);

#endif

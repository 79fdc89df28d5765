/* The contract of every operation: what it computes, its shapes, its signature. Each twin (serial,
 * OpenMP, OpenBLAS, CUDA) is declared through the typedef here, so one with other parameters does
 * not compile. Kernels take raw pointers and plain sizes; arrays are row-major and contiguous and
 * never overlap unless a comment says so. Every kernel takes every size, zero included.
 *
 * A flop is one +, -, *, /, square root, exp, log or tanh; comparisons and copies are none.
 *
 * To add an operation: a line in OPERATIONS, a typedef with its comment, a front in front.h, a row
 * in spec_table.c, a kernel in each backend, a reference and two mutants in src/verify/. The
 * compiler, the registry's self-check and the tests name whatever is still missing. */
#ifndef LOCKSTEP_OPS_H
#define LOCKSTEP_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OPERATIONS(X)                                                                              \
    X(fill)                                                                                        \
    X(copy)                                                                                        \
    X(vector_add)                                                                                  \
    X(axpy)                                                                                        \
    X(transpose)                                                                                   \
    X(sum)                                                                                         \
    X(mean)                                                                                        \
    X(max)                                                                                         \
    X(argmax)                                                                                      \
    X(matmul)                                                                                      \
    X(matmul_forward)                                                                              \
    X(matmul_backward_input)                                                                       \
    X(matmul_backward_weight)                                                                      \
    X(matmul_backward_bias)                                                                        \
    X(relu_forward)                                                                                \
    X(relu_backward)                                                                               \
    X(sigmoid_forward)                                                                             \
    X(sigmoid_backward)                                                                            \
    X(tanh_forward)                                                                                \
    X(tanh_backward)                                                                               \
    X(softmax_cross_entropy_forward)                                                               \
    X(softmax_cross_entropy_backward)                                                              \
    X(sgd)                                                                                         \
    X(momentum)                                                                                    \
    X(adam)                                                                                        \
    X(adamw)

#define OP_ENUM(op) OP_##op,
typedef enum OpId { OPERATIONS(OP_ENUM) OP_COUNT } OpId;
#undef OP_ENUM

/* ---- vectors; n elements ------------------------------------------------------------------- */

/* x[i] = value.  0 flops, writes 4n bytes */
typedef void fill_fn(float *x, float value, size_t n);

/* out[i] = inp[i].  0 flops */
typedef void copy_fn(float *out, const float *inp, size_t n);

/* out[i] = a[i] + b[i].  n flops; out may be a or b */
typedef void vector_add_fn(float *out, const float *a, const float *b, size_t n);

/* y[i] += alpha * x[i].  2n flops */
typedef void axpy_fn(float *y, const float *x, float alpha, size_t n);

/* ---- matrices ------------------------------------------------------------------------------ */

/* out (N,M) = inp (M,N)^T.  0 flops */
typedef void transpose_fn(float *out, const float *inp, int M, int N);

/* Row reductions of inp (M,N) to out (M); M = 1 reduces a whole array. The order of summation is
 * fixed: the result does not depend on the number of threads, and its error grows like log N or
 * slower, not like N (pairwise summation or better: Higham 1993, "The accuracy of floating point
 * summation"). */
typedef void sum_fn(float *out, const float *inp, int M,
                    size_t N); /* an empty row gives 0. M*N flops */
typedef void mean_fn(float *out, const float *inp, int M, size_t N); /* N >= 1. M*(N+1) flops */
typedef void max_fn(float *out, const float *inp, int M, size_t N);  /* N >= 1; NaN wins. 0 flops */

/* out (M) = the index of each row's largest element; the lowest index of equals; N >= 1. The first
 * NaN counts as the largest, as in max. */
typedef void argmax_fn(int32_t *out, const float *inp, int M, int N);

/* c (M,N) = alpha * op(a) (M,K) . op(b) (K,N) + beta * c, where op(x) is x or its transpose.
 * lda, ldb, ldc: elements from one stored row to the next, at least the stored row's width; the
 * gaps are neither read nor written. beta = 0 never reads c (a NaN there does not survive). alpha =
 * 0 never reads a and b, as in BLAS: the front makes K = 0 of it.  2*M*N*K flops */
typedef void matmul_fn(float *c, const float *a, const float *b, float alpha, float beta,
                       bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb, int ldc);

/* out (N,OC) = inp (N,C) . weight (OC,C)^T + bias (OC); bias may be NULL.  2*N*C*OC flops */
typedef void matmul_forward_fn(float *out, const float *inp, const float *weight, const float *bias,
                               int N, int C, int OC);

/* dinp (N,C) = dout (N,OC) . weight (OC,C).  2*N*C*OC flops */
typedef void matmul_backward_input_fn(float *dinp, const float *dout, const float *weight, int N,
                                      int C, int OC);

/* dweight (OC,C) = dout (N,OC)^T . inp (N,C), added to what is there if accumulate.
 * 2*N*C*OC flops */
typedef void matmul_backward_weight_fn(float *dweight, const float *dout, const float *inp,
                                       bool accumulate, int N, int C, int OC);

/* dbias (OC) = the sum of dout (N,OC) over N, added to what is there if accumulate.
 * N*OC flops */
typedef void matmul_backward_bias_fn(float *dbias, const float *dout, bool accumulate, int N,
                                     int OC);

/* ---- activations; n elements; backward kernels take the forward's output -------------------- */

/* out[i] = max(inp[i], 0); NaN stays NaN.  0 flops */
typedef void relu_forward_fn(float *out, const float *inp, size_t n);
/* dinp[i] = out[i] > 0 ? dout[i] : 0.  The subgradient at 0 is 0. dinp may be dout.  0 flops */
typedef void relu_backward_fn(float *dinp, const float *dout, const float *out, size_t n);

/* out[i] = 1 / (1 + exp(-inp[i])), in the form that cannot overflow on either side.  3n flops */
typedef void sigmoid_forward_fn(float *out, const float *inp, size_t n);
/* dinp[i] = dout[i] * out[i] * (1 - out[i]). dinp may be dout.  3n flops */
typedef void sigmoid_backward_fn(float *dinp, const float *dout, const float *out, size_t n);

/* out[i] = tanh(inp[i]).  n flops */
typedef void tanh_forward_fn(float *out, const float *inp, size_t n);
/* dinp[i] = dout[i] * (1 - out[i]^2). dinp may be dout.  3n flops */
typedef void tanh_backward_fn(float *dinp, const float *dout, const float *out, size_t n);

/* ---- loss ---------------------------------------------------------------------------------- */

/* For each row n of logits (N,V) with its label (0..V-1; the loader and `run` see to that):
 * probs (N,V) = exp(logits - m) / s, losses (N) = m + log(s) - logits[label], where m is the row's
 * largest logit and s the sum of exp(logits - m). The loss never goes through a probability, so a
 * probability of 0 gives its true, finite loss.  N*(4V+3) flops */
typedef void softmax_cross_entropy_forward_fn(float *losses, float *probs, const float *logits,
                                              const int32_t *labels, int N, int V);

/* dlogits (N,V) = scale * (probs (N,V) - onehot(labels (N))); scale = 1/N for a mean loss.
 * N*(V+1) flops */
typedef void softmax_cross_entropy_backward_fn(float *dlogits, const float *probs,
                                               const int32_t *labels, float scale, int N, int V);

/* ---- optimizers; n parameters, updated in place --------------------------------------------- */

/* param -= lr * (grad + weight_decay * param).  4n flops */
typedef void sgd_fn(float *param, const float *grad, float lr, float weight_decay, size_t n);

/* velocity = beta * velocity + (grad + weight_decay * param); param -= lr * velocity
 * (Polyak 1964, in the form of Sutskever et al. 2013 without Nesterov).  6n flops */
typedef void momentum_fn(float *param, float *velocity, const float *grad, float lr, float beta,
                         float weight_decay, size_t n);

/* g = grad + weight_decay * param
 * m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g^2
 * param -= lr * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps);  t = 1 for the first step.
 * correction1 = 1 - beta1^t and correction2 = 1 - beta2^t are worked out once, in double, by the
 * front.  Kingma, Ba 2015, algorithm 1.  16n flops */
typedef void adam_fn(float *param, float *m, float *v, const float *grad, float lr, float beta1,
                     float beta2, float eps, float weight_decay, float correction1,
                     float correction2, size_t n);

/* Adam without decay in g; then param -= lr * weight_decay * param, with the old param.
 * Loshchilov, Hutter 2019, algorithm 2.  16n flops */
typedef void adamw_fn(float *param, float *m, float *v, const float *grad, float lr, float beta1,
                      float beta2, float eps, float weight_decay, float correction1,
                      float correction2, size_t n);

/* ---- one table of function pointers -------------------------------------------------------- */

typedef void generic_fn(void);

/* One kernel per operation: by name (ops.matmul) for callers, by number for the registry. */
typedef union Ops {
    struct {
#define OP_SLOT(op) op##_fn *op;
        OPERATIONS(OP_SLOT)
#undef OP_SLOT
    };
    generic_fn *slot[OP_COUNT];
} Ops;

/* The operation's name, e.g. "matmul_forward". */
const char *op_name(OpId op);

#ifdef __cplusplus
}
#endif
#endif

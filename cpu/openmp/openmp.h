/* The openmp backend and its kernel tables, one per file of this folder. */
#ifndef LOCKSTEP_OPENMP_H
#define LOCKSTEP_OPENMP_H

#include "ops/backend.h"

extern const Backend backend_openmp;

extern const Kernel vector_kernels_openmp[]; /* fill, copy, vector_add, axpy */
extern const Kernel transpose_kernels_openmp[];
extern const Kernel reduce_kernels_openmp[];     /* sum, mean, max, argmax */
extern const Kernel matmul_kernels_openmp[];     /* matmul and its forward and backward forms */
extern const Kernel activation_kernels_openmp[]; /* relu, sigmoid, tanh */
extern const Kernel loss_kernels_openmp[];       /* softmax_cross_entropy */
extern const Kernel optimizer_kernels_openmp[];  /* sgd, momentum, adam, adamw */

/* Each kernel has a share: what one thread does of it, its part of the loop dealt by `omp for`. A
 * kernel too small for a team calls its share alone, outside any parallel region, where the loop is
 * dealt whole. (`omp parallel if` would say it in fewer lines, but libgomp allocates a team of one
 * each time, and nothing is allocated inside a training step.)
 *
 * Waking the threads costs some microseconds; below these sizes the caller is done sooner alone.
 * Elements that are only moved and added, and elements that each take an exponential. */
enum { FORK_ELEMENTS = 32768, FORK_EXPONENTIALS = 4096 };

/* What the openblas backend borrows where BLAS has nothing. */
fill_fn fill_openmp;
vector_add_fn vector_add_openmp;
axpy_fn axpy_openmp;
transpose_fn transpose_tiled_openmp;
sum_fn sum_openmp;
mean_fn mean_openmp;
max_fn max_openmp;
argmax_fn argmax_openmp;
relu_forward_fn relu_forward_openmp;
relu_backward_fn relu_backward_openmp;
sigmoid_forward_fn sigmoid_forward_openmp;
sigmoid_backward_fn sigmoid_backward_openmp;
tanh_forward_fn tanh_forward_openmp;
tanh_backward_fn tanh_backward_openmp;
softmax_cross_entropy_forward_fn softmax_cross_entropy_forward_openmp;
softmax_cross_entropy_backward_fn softmax_cross_entropy_backward_openmp;
sgd_fn sgd_openmp;
momentum_fn momentum_openmp;
adam_fn adam_openmp;
adamw_fn adamw_openmp;

#endif

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

#endif

/* The openblas backend and its kernel tables, one per file of this folder. */
#ifndef LOCKSTEP_OPENBLAS_H
#define LOCKSTEP_OPENBLAS_H

#include "ops/backend.h"

extern const Backend backend_openblas;

extern const Kernel vector_kernels_openblas[]; /* fill, copy, vector_add, axpy */
extern const Kernel transpose_kernels_openblas[];
extern const Kernel reduce_kernels_openblas[];     /* sum, mean, max, argmax */
extern const Kernel matmul_kernels_openblas[];     /* matmul and its forward and backward forms */
extern const Kernel activation_kernels_openblas[]; /* relu, sigmoid, tanh */
extern const Kernel loss_kernels_openblas[];       /* softmax_cross_entropy */
extern const Kernel optimizer_kernels_openblas[];  /* sgd, momentum, adam, adamw */

#endif

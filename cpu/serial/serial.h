/* The serial backend and its kernel tables, one per file of this folder. */
#ifndef LOCKSTEP_SERIAL_H
#define LOCKSTEP_SERIAL_H

#include "ops/backend.h"

extern const Backend backend_serial;

extern const Kernel vector_kernels_serial[]; /* fill, copy, vector_add, axpy */
extern const Kernel transpose_kernels_serial[];
extern const Kernel reduce_kernels_serial[];     /* sum, mean, max, argmax */
extern const Kernel matmul_kernels_serial[];     /* matmul and its forward and backward forms */
extern const Kernel activation_kernels_serial[]; /* relu, sigmoid, tanh */
extern const Kernel loss_kernels_serial[];       /* softmax_cross_entropy */
extern const Kernel optimizer_kernels_serial[];  /* sgd, momentum, adam, adamw */

#endif

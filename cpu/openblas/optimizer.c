/* Optimizers: sgd, momentum, adam, adamw. They could be strung together from BLAS's axpy and scal,
 * but each call would read and write all parameters again, and memory is the limit: all run the
 * OpenMP kernels, in cpu/openmp/optimizer.c. */
#include "cpu/openblas/openblas.h"
#include "cpu/openmp/openmp.h"

const Kernel optimizer_kernels_openblas[] = {
    KERNEL_DEFAULT(sgd, "openmp", "BLAS has none: the OpenMP kernel", 0, sgd_openmp),
    KERNEL_DEFAULT(momentum, "openmp", "BLAS has none: the OpenMP kernel", 0, momentum_openmp),
    KERNEL_DEFAULT(adam, "openmp", "BLAS has none: the OpenMP kernel", 0, adam_openmp),
    KERNEL_DEFAULT(adamw, "openmp", "BLAS has none: the OpenMP kernel", 0, adamw_openmp),
    KERNEL_TABLE_END,
};

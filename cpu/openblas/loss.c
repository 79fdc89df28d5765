/* Softmax and cross-entropy, and their gradient. BLAS has neither exponential nor logarithm: both
 * run the OpenMP kernels, in cpu/openmp/loss.c. */
#include "cpu/openblas/openblas.h"
#include "cpu/openmp/openmp.h"

const Kernel loss_kernels_openblas[] = {
    KERNEL_DEFAULT(softmax_cross_entropy_forward, "openmp", "BLAS has none: the OpenMP kernel", 0,
                   softmax_cross_entropy_forward_openmp),
    KERNEL_DEFAULT(softmax_cross_entropy_backward, "openmp", "BLAS has none: the OpenMP kernel", 0,
                   softmax_cross_entropy_backward_openmp),
    KERNEL_TABLE_END,
};

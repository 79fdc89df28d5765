/* Activations and their gradients: relu, sigmoid, tanh. BLAS is linear algebra and has none of
 * them: all run the OpenMP kernels, in cpu/openmp/activation.c. */
#include "cpu/openblas/openblas.h"
#include "cpu/openmp/openmp.h"

const Kernel activation_kernels_openblas[] = {
    KERNEL_DEFAULT(relu_forward, "openmp", "BLAS has none: the OpenMP kernel", 0,
                   relu_forward_openmp),
    KERNEL_DEFAULT(relu_backward, "openmp", "BLAS has none: the OpenMP kernel", 0,
                   relu_backward_openmp),
    KERNEL_DEFAULT(sigmoid_forward, "openmp", "BLAS has none: the OpenMP kernel", 0,
                   sigmoid_forward_openmp),
    KERNEL_DEFAULT(sigmoid_backward, "openmp", "BLAS has none: the OpenMP kernel", 0,
                   sigmoid_backward_openmp),
    KERNEL_DEFAULT(tanh_forward, "openmp", "BLAS has none: the OpenMP kernel", 0,
                   tanh_forward_openmp),
    KERNEL_DEFAULT(tanh_backward, "openmp", "BLAS has none: the OpenMP kernel", 0,
                   tanh_backward_openmp),
    KERNEL_TABLE_END,
};

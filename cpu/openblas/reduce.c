/* Row reductions: sum, mean, max, argmax. BLAS sums and compares absolute values only (sasum,
 * isamax). OpenBLAS adds ssum, whose rounding error grows with N where the contract allows log N,
 * and ismax, which passes over NaN. So all run the OpenMP kernels, in cpu/openmp/reduce.c. */
#include "cpu/openblas/openblas.h"
#include "cpu/openmp/openmp.h"

const Kernel reduce_kernels_openblas[] = {
    KERNEL_DEFAULT(sum, "openmp", "BLAS has none: the OpenMP kernel", 0, sum_openmp),
    KERNEL_DEFAULT(mean, "openmp", "BLAS has none: the OpenMP kernel", 0, mean_openmp),
    KERNEL_DEFAULT(max, "openmp", "BLAS has none: the OpenMP kernel", 0, max_openmp),
    KERNEL_DEFAULT(argmax, "openmp", "BLAS has none: the OpenMP kernel", 0, argmax_openmp),
    KERNEL_TABLE_END,
};

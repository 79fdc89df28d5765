/* Transposition: out (N,M) = inp (M,N)^T. BLAS transposes only on the way into a product; OpenBLAS
 * adds omatcopy, which copies and transposes on one thread.
 * Limit: memory, and how it is walked. */
#include <cblas.h>

#include "cpu/openblas/openblas.h"
#include "cpu/openmp/openmp.h"

/* omatcopy takes row lengths of 0 for an error, even when there are no rows. */
static void transpose_omatcopy_openblas(float *out, const float *inp, int M, int N) {
    if (M > 0 && N > 0) {
        cblas_somatcopy(CblasRowMajor, CblasTrans, M, N, 1.0f, inp, N, out, M);
    }
}

const Kernel transpose_kernels_openblas[] = {
    KERNEL(transpose, "openmp", "the OpenMP kernel: tiles, shared out among threads", 0,
           transpose_tiled_openmp),
    KERNEL_DEFAULT(transpose, "omatcopy", "OpenBLAS's copy with a transposition", 0,
                   transpose_omatcopy_openblas),
    KERNEL_TABLE_END,
};

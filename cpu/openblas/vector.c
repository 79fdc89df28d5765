/* Vectors: fill, copy, vector_add, axpy.
 *
 * BLAS has copy (scopy) and axpy (saxpy). It has no out = a + b that leaves both inputs alone, and
 * its scal by 0 keeps NaN, so it cannot fill; these two run the OpenMP kernels.
 * In parallel: as OpenBLAS decides. Limit: memory. */
#include <cblas.h>
#include <limits.h>

#include "cpu/openblas/openblas.h"
#include "cpu/openmp/openmp.h"

/* BLAS counts in int: longer vectors go in pieces. A multiple of 64 bytes keeps them aligned. */
enum { PIECE = INT_MAX / 64 * 64 };

static int piece_of(size_t left) {
    return left < PIECE ? (int)left : PIECE;
}

static void copy_openblas(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n; i += PIECE) {
        cblas_scopy(piece_of(n - i), inp + i, 1, out + i, 1);
    }
}

/* saxpy returns at once when alpha is 0, where 0 * NaN has to be NaN. */
static void axpy_openblas(float *y, const float *x, float alpha, size_t n) {
    if (alpha == 0.0f) {
        axpy_openmp(y, x, alpha, n);
        return;
    }
    for (size_t i = 0; i < n; i += PIECE) {
        cblas_saxpy(piece_of(n - i), alpha, x + i, 1, y + i, 1);
    }
}

const Kernel vector_kernels_openblas[] = {
    KERNEL_DEFAULT(fill, "openmp", "BLAS has none: the OpenMP kernel", 0, fill_openmp),
    KERNEL_DEFAULT(copy, "scopy", "BLAS level 1", 0, copy_openblas),
    KERNEL_DEFAULT(vector_add, "openmp", "BLAS has none: the OpenMP kernel", 0, vector_add_openmp),
    KERNEL_DEFAULT(axpy, "saxpy", "BLAS level 1", 0, axpy_openblas),
    KERNEL_TABLE_END,
};

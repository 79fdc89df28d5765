/* Vectors, shared out among threads: fill, copy, vector_add, axpy.
 *
 *     x[i] = value     out[i] = inp[i]     out[i] = a[i] + b[i]     y[i] += alpha * x[i]
 *
 * In parallel: every element stands alone, so each thread takes one stretch of the array.
 * Limit: memory. One core cannot keep all of the memory's channels busy, but a few can: these gain
 * from the first threads and then no more.
 * Beside its serial twin: the same loops, shared out. */
#include "base/trace.h"
#include "cpu/openmp/openmp.h"

void fill_openmp(float *x, float value, size_t n) {
#pragma omp parallel if (n >= FORK_ELEMENTS)
    {
        TRACE_SHARE_OF("fill");
#pragma omp for schedule(static) nowait
        for (size_t i = 0; i < n; i++) {
            x[i] = value;
        }
    }
}

static void copy_openmp(float *out, const float *inp, size_t n) {
#pragma omp parallel if (n >= FORK_ELEMENTS)
    {
        TRACE_SHARE_OF("copy");
#pragma omp for schedule(static) nowait
        for (size_t i = 0; i < n; i++) {
            out[i] = inp[i];
        }
    }
}

void vector_add_openmp(float *out, const float *a, const float *b, size_t n) {
#pragma omp parallel if (n >= FORK_ELEMENTS)
    {
        TRACE_SHARE_OF("vector_add");
#pragma omp for schedule(static) nowait
        for (size_t i = 0; i < n; i++) {
            out[i] = a[i] + b[i];
        }
    }
}

void axpy_openmp(float *y, const float *x, float alpha, size_t n) {
#pragma omp parallel if (n >= FORK_ELEMENTS)
    {
        TRACE_SHARE_OF("axpy");
#pragma omp for schedule(static) nowait
        for (size_t i = 0; i < n; i++) {
            y[i] += alpha * x[i];
        }
    }
}

const Kernel vector_kernels_openmp[] = {
    KERNEL_DEFAULT(fill, "static", "one stretch of the array for each thread", 0, fill_openmp),
    KERNEL_DEFAULT(copy, "static", "one stretch of the array for each thread", 0, copy_openmp),
    KERNEL_DEFAULT(vector_add, "static", "one stretch of the array for each thread", 0,
                   vector_add_openmp),
    KERNEL_DEFAULT(axpy, "static", "one stretch of the array for each thread", 0, axpy_openmp),
    KERNEL_TABLE_END,
};

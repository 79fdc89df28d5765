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

static void fill_share(float *x, float value, size_t n) {
    TRACE_SHARE_OF("fill");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        x[i] = value;
    }
}

void fill_openmp(float *x, float value, size_t n) {
    if (n >= FORK_ELEMENTS) {
#pragma omp parallel
        fill_share(x, value, n);
    } else {
        fill_share(x, value, n);
    }
}

static void copy_share(float *out, const float *inp, size_t n) {
    TRACE_SHARE_OF("copy");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        out[i] = inp[i];
    }
}

static void copy_openmp(float *out, const float *inp, size_t n) {
    if (n >= FORK_ELEMENTS) {
#pragma omp parallel
        copy_share(out, inp, n);
    } else {
        copy_share(out, inp, n);
    }
}

static void vector_add_share(float *out, const float *a, const float *b, size_t n) {
    TRACE_SHARE_OF("vector_add");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        out[i] = a[i] + b[i];
    }
}

void vector_add_openmp(float *out, const float *a, const float *b, size_t n) {
    if (n >= FORK_ELEMENTS) {
#pragma omp parallel
        vector_add_share(out, a, b, n);
    } else {
        vector_add_share(out, a, b, n);
    }
}

static void axpy_share(float *y, const float *x, float alpha, size_t n) {
    TRACE_SHARE_OF("axpy");
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < n; i++) {
        y[i] += alpha * x[i];
    }
}

void axpy_openmp(float *y, const float *x, float alpha, size_t n) {
    if (n >= FORK_ELEMENTS) {
#pragma omp parallel
        axpy_share(y, x, alpha, n);
    } else {
        axpy_share(y, x, alpha, n);
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

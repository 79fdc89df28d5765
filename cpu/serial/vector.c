/* Vectors, on one thread: fill, copy, vector_add, axpy.
 *
 *     x[i] = value     out[i] = inp[i]     out[i] = a[i] + b[i]     y[i] += alpha * x[i]
 *
 * Every element stands alone, so the compiler makes vector instructions of these loops by itself.
 * Limit: memory. Per element they move 4, 8, 12 and 12 bytes for at most 2 flops. */
#include <string.h>

#include "cpu/serial/serial.h"

static void fill_serial(float *x, float value, size_t n) {
    for (size_t i = 0; i < n; i++) {
        x[i] = value;
    }
}

static void copy_serial(float *out, const float *inp, size_t n) {
    if (n > 0) { /* memcpy may not be given NULL, even for nothing */
        memcpy(out, inp, n * sizeof *out);
    }
}

static void vector_add_serial(float *out, const float *a, const float *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = a[i] + b[i];
    }
}

static void axpy_serial(float *y, const float *x, float alpha, size_t n) {
    for (size_t i = 0; i < n; i++) {
        y[i] += alpha * x[i];
    }
}

const Kernel vector_kernels_serial[] = {
    KERNEL_DEFAULT(fill, "naive", "one loop", 0, fill_serial),
    KERNEL_DEFAULT(copy, "memcpy", "the C library's copy", 0, copy_serial),
    KERNEL_DEFAULT(vector_add, "naive", "one loop", 0, vector_add_serial),
    KERNEL_DEFAULT(axpy, "naive", "one loop", 0, axpy_serial),
    KERNEL_TABLE_END,
};

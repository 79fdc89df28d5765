/* What the matmul ladders of the CPU backends have in common. */
#ifndef LOCKSTEP_MATMUL_H
#define LOCKSTEP_MATMUL_H

#include <string.h>

#include "ops/ops.h"

/* Where the elements of op(x) lie, stored as it is or transposed: row i, column j of op(x) is
 * x[i * row + j * column]. */
typedef struct Strides {
    size_t row, column;
} Strides;

static inline Strides strides_of(bool transposed, int leading) {
    return transposed ? (Strides){1, leading} : (Strides){leading, 1};
}

/* Row c_i (N) = beta * c_i; beta = 0 does not read it. */
static inline void scale_row(float *c_i, float beta, int N) {
    for (int j = 0; j < N; j++) {
        c_i[j] = beta == 0.0F ? 0.0F : beta * c_i[j];
    }
}

/* Row c_i (N) += scale * row b_k (N), whose elements lie step apart. */
static inline void add_scaled_row(float *__restrict__ c_i, const float *__restrict__ b_k,
                                  size_t step, float scale, int N) {
    if (step == 1) {
        for (int j = 0; j < N; j++) {
            c_i[j] += scale * b_k[j];
        }
    } else {
        for (int j = 0; j < N; j++) {
            c_i[j] += scale * b_k[j * step];
        }
    }
}

enum { TILE_K = 32, TILE_N = 256 }; /* a tile of b: 32 KiB; it is used with 1 KiB of a row of c */

/* tile (k_count,columns), its rows TILE_N apart, = alpha * the part of op(b) that begins at b. */
static inline void copy_tile(float *tile, const float *b, Strides at_b, float alpha, int k_count,
                             int columns) {
    for (int k = 0; k < k_count; k++) {
        for (int j = 0; j < columns; j++) {
            tile[k * TILE_N + j] = alpha * b[k * at_b.row + j * at_b.column];
        }
    }
}

/* Each of the M rows of c, ldc apart, = bias (N). */
static inline void copy_bias(float *c, const float *bias, int M, int N, int ldc) {
    for (int i = 0; i < M; i++) {
        memcpy(c + (size_t)i * ldc, bias, N * sizeof(float));
    }
}

/* ---- a fully connected layer is three products: the same kernels under other names ---------- */

/* The rows of out start as the bias and the product is added: the bias needs no pass of its own. */
static inline void layer_forward(matmul_fn *product, float *out, const float *inp,
                                 const float *weight, const float *bias, int N, int C, int OC) {
    if (bias != NULL) {
        copy_bias(out, bias, N, OC, OC);
    }
    product(out, inp, weight, 1.0F, bias == NULL ? 0.0F : 1.0F, false, true, N, OC, C, C, C, OC);
}

static inline void layer_backward_input(matmul_fn *product, float *dinp, const float *dout,
                                        const float *weight, int N, int C, int OC) {
    product(dinp, dout, weight, 1.0F, 0.0F, false, false, N, C, OC, OC, C, C);
}

static inline void layer_backward_weight(matmul_fn *product, float *dweight, const float *dout,
                                         const float *inp, bool accumulate, int N, int C, int OC) {
    float beta = accumulate ? 1.0F : 0.0F;
    product(dweight, dout, inp, 1.0F, beta, true, false, OC, C, N, OC, C, C);
}

/* ---- the packed product (packed.c): what one thread does ------------------------------------ */

/* The contract of matmul. The serial backend gives it the whole output, the OpenMP backend one
 * rectangle per thread. Each element is summed in an order that depends on K alone; a rectangle cut
 * at multiples of the micro-tile has the bits that it has within the whole. Works in buffers of
 * fixed size that belong to the calling thread and go when it ends. */
matmul_fn packed_matmul;

/* Rows and columns of the micro-tile, the part of the output that is summed in registers. */
int packed_tile_rows(void);
int packed_tile_columns(void);

#endif

/* Matrix products on one thread: c (M,N) = alpha * op(a) (M,K) . op(b) (K,N) + beta * c, and the
 * three products of a fully connected layer, which are the same with other names.
 *
 * The ladder: naive, reordered, blocked, packed. Each rung computes the same 2*M*N*K operations;
 * what changes is how often a value is fetched from memory before it has done its work. */
#include "cpu/serial/matmul.h"
#include "cpu/serial/serial.h"

/* ---- naive: i, j, k ------------------------------------------------------------------------- */

/* Each element of c is the scalar product of a row and a column, as on the blackboard.
 * Limit: every step waits for the addition before it (4 cycles), nothing is vectorised, and a step
 * along a column of b touches a new cache line to use 4 of its 64 bytes. */
static void matmul_naive(float *c, const float *a, const float *b, float alpha, float beta,
                         bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                         int ldc) {
    Strides at_a = strides_of(trans_a, lda), at_b = strides_of(trans_b, ldb);
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            float sum = 0.0F;
            for (int k = 0; k < K; k++) {
                sum += a[i * at_a.row + k * at_a.column] * b[k * at_b.row + j * at_b.column];
            }
            float *c_ij = &c[(size_t)i * ldc + j];
            *c_ij = alpha * sum + (beta == 0.0F ? 0.0F : beta * *c_ij);
        }
    }
}

/* ---- reordered: i, k, j --------------------------------------------------------------------- */

/* The same loops with k outside j: the inner loop runs along rows of b and c, so its steps do not
 * wait for each other and become vector instructions, and each cache line is used whole.
 * Limit: two loads and a store for one multiply-add, and all of b passes by for each row of c: once
 * b is larger than a cache, memory sets the pace. A transposed b lies across: no gain there. */
static void matmul_reordered(float *c, const float *a, const float *b, float alpha, float beta,
                             bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                             int ldc) {
    Strides at_a = strides_of(trans_a, lda), at_b = strides_of(trans_b, ldb);
    for (int i = 0; i < M; i++) {
        float *c_i = c + (size_t)i * ldc;
        scale_row(c_i, beta, N);
        for (int k = 0; k < K; k++) {
            float scale = alpha * a[i * at_a.row + k * at_a.column];
            add_scaled_row(c_i, b + k * at_b.row, at_b.column, scale, N);
        }
    }
}

/* ---- blocked: tiles of b that fit the cache -------------------------------------------------- */

/* The reordered loops, one tile of b at a time: the tile is copied to where it lies in one piece,
 * then every row of c uses it from the cache. A transposed b costs no more than the copy.
 * Limit: still two loads and a store for one multiply-add; only registers can mend that. */
static void matmul_blocked(float *c, const float *a, const float *b, float alpha, float beta,
                           bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                           int ldc) {
    Strides at_a = strides_of(trans_a, lda), at_b = strides_of(trans_b, ldb);
    float tile[TILE_K * TILE_N];
    for (int i = 0; i < M; i++) {
        scale_row(c + (size_t)i * ldc, beta, N);
    }
    for (int k = 0, k_count; k < K; k += k_count) {
        k_count = K - k < TILE_K ? K - k : TILE_K;
        for (int j = 0, n; j < N; j += n) {
            n = N - j < TILE_N ? N - j : TILE_N;
            copy_tile(tile, b + k * at_b.row + j * at_b.column, at_b, alpha, k_count, n);
            for (int i = 0; i < M; i++) {
                for (int p = 0; p < k_count; p++) {
                    float a_ip = a[i * at_a.row + (k + p) * at_a.column];
                    add_scaled_row(c + (size_t)i * ldc + j, tile + p * TILE_N, 1, a_ip, n);
                }
            }
        }
    }
}

/* ---- packed: tiles of c that stay in registers ---------------------------------------------- */

/* A small tile of c is summed in registers, from panels of a and b copied into the order of use:
 * the loads per multiply-add fall from two to about a half and the stores vanish. See packed.c.
 * Limit: the multiply-add units themselves. */
static void matmul_packed(float *c, const float *a, const float *b, float alpha, float beta,
                          bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                          int ldc) {
    packed_matmul(c, a, b, alpha, beta, trans_a, trans_b, M, N, K, lda, ldb, ldc);
}

/* ---- a fully connected layer: the same products under other names --------------------------- */

static void matmul_forward_naive(float *out, const float *inp, const float *weight,
                                 const float *bias, int N, int C, int OC) {
    layer_forward(matmul_naive, out, inp, weight, bias, N, C, OC);
}

static void matmul_forward_reordered(float *out, const float *inp, const float *weight,
                                     const float *bias, int N, int C, int OC) {
    layer_forward(matmul_reordered, out, inp, weight, bias, N, C, OC);
}

static void matmul_forward_blocked(float *out, const float *inp, const float *weight,
                                   const float *bias, int N, int C, int OC) {
    layer_forward(matmul_blocked, out, inp, weight, bias, N, C, OC);
}

static void matmul_forward_packed(float *out, const float *inp, const float *weight,
                                  const float *bias, int N, int C, int OC) {
    layer_forward(matmul_packed, out, inp, weight, bias, N, C, OC);
}

static void matmul_backward_input_naive(float *dinp, const float *dout, const float *weight, int N,
                                        int C, int OC) {
    layer_backward_input(matmul_naive, dinp, dout, weight, N, C, OC);
}

static void matmul_backward_input_reordered(float *dinp, const float *dout, const float *weight,
                                            int N, int C, int OC) {
    layer_backward_input(matmul_reordered, dinp, dout, weight, N, C, OC);
}

static void matmul_backward_input_blocked(float *dinp, const float *dout, const float *weight,
                                          int N, int C, int OC) {
    layer_backward_input(matmul_blocked, dinp, dout, weight, N, C, OC);
}

static void matmul_backward_input_packed(float *dinp, const float *dout, const float *weight, int N,
                                         int C, int OC) {
    layer_backward_input(matmul_packed, dinp, dout, weight, N, C, OC);
}

static void matmul_backward_weight_naive(float *dweight, const float *dout, const float *inp,
                                         bool accumulate, int N, int C, int OC) {
    layer_backward_weight(matmul_naive, dweight, dout, inp, accumulate, N, C, OC);
}

static void matmul_backward_weight_reordered(float *dweight, const float *dout, const float *inp,
                                             bool accumulate, int N, int C, int OC) {
    layer_backward_weight(matmul_reordered, dweight, dout, inp, accumulate, N, C, OC);
}

static void matmul_backward_weight_blocked(float *dweight, const float *dout, const float *inp,
                                           bool accumulate, int N, int C, int OC) {
    layer_backward_weight(matmul_blocked, dweight, dout, inp, accumulate, N, C, OC);
}

static void matmul_backward_weight_packed(float *dweight, const float *dout, const float *inp,
                                          bool accumulate, int N, int C, int OC) {
    layer_backward_weight(matmul_packed, dweight, dout, inp, accumulate, N, C, OC);
}

/* ---- bias gradient -------------------------------------------------------------------------- */

/* Column by column, as the formula says.
 * Limit: each step down a column touches a new cache line. */
static void matmul_backward_bias_naive(float *dbias, const float *dout, bool accumulate, int N,
                                       int OC) {
    for (int oc = 0; oc < OC; oc++) {
        float sum = accumulate ? dbias[oc] : 0.0F;
        for (int n = 0; n < N; n++) {
            sum += dout[(size_t)n * OC + oc];
        }
        dbias[oc] = sum;
    }
}

/* Row by row: the same sums in the same order, whole cache lines, vector additions.
 * Limit: memory; each element of dout is read once and added once. */
static void matmul_backward_bias_reordered(float *dbias, const float *dout, bool accumulate, int N,
                                           int OC) {
    scale_row(dbias, accumulate ? 1.0F : 0.0F, OC);
    for (int n = 0; n < N; n++) {
        add_scaled_row(dbias, dout + (size_t)n * OC, 1, 1.0F, OC);
    }
}

/* ---- the ladders ---------------------------------------------------------------------------- */

#define NAIVE     "each element one scalar product (i,j,k)"
#define REORDERED "loops i,k,j: the inner one runs along rows and vectorises"
#define BLOCKED   "tiles of b copied together and used from the cache"
#define PACKED    "tiles of c in registers, panels of a and b packed in the order of use"

const Kernel matmul_kernels_serial[] = {
    KERNEL(matmul, "naive", NAIVE, 0, matmul_naive),
    KERNEL(matmul, "reordered", REORDERED, 0, matmul_reordered),
    KERNEL(matmul, "blocked", BLOCKED, 0, matmul_blocked),
    KERNEL_DEFAULT(matmul, "packed", PACKED, 0, matmul_packed),
    KERNEL(matmul_forward, "naive", NAIVE, 0, matmul_forward_naive),
    KERNEL(matmul_forward, "reordered", REORDERED, 0, matmul_forward_reordered),
    KERNEL(matmul_forward, "blocked", BLOCKED, 0, matmul_forward_blocked),
    KERNEL_DEFAULT(matmul_forward, "packed", PACKED, 0, matmul_forward_packed),
    KERNEL(matmul_backward_input, "naive", NAIVE, 0, matmul_backward_input_naive),
    KERNEL(matmul_backward_input, "reordered", REORDERED, 0, matmul_backward_input_reordered),
    KERNEL(matmul_backward_input, "blocked", BLOCKED, 0, matmul_backward_input_blocked),
    KERNEL_DEFAULT(matmul_backward_input, "packed", PACKED, 0, matmul_backward_input_packed),
    KERNEL(matmul_backward_weight, "naive", NAIVE, 0, matmul_backward_weight_naive),
    KERNEL(matmul_backward_weight, "reordered", REORDERED, 0, matmul_backward_weight_reordered),
    KERNEL(matmul_backward_weight, "blocked", BLOCKED, 0, matmul_backward_weight_blocked),
    KERNEL_DEFAULT(matmul_backward_weight, "packed", PACKED, 0, matmul_backward_weight_packed),
    KERNEL(matmul_backward_bias, "naive", "column by column", 0, matmul_backward_bias_naive),
    KERNEL_DEFAULT(matmul_backward_bias, "reordered", "row by row: whole cache lines, vectorised",
                   0, matmul_backward_bias_reordered),
    KERNEL_TABLE_END,
};

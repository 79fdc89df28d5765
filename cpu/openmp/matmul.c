/* Matrix products on all threads: c (M,N) = alpha * op(a) (M,K) . op(b) (K,N) + beta * c, and the
 * three products of a fully connected layer, which are the same with other names.
 *
 * The ladder of cpu/serial/matmul.c, with the output divided among the threads: whole elements, so
 * that no two threads write to one place and the sums have the same bits on any number of threads.
 * A product too small to be worth waking the other threads (a few microseconds) runs on one. */
#include <omp.h>

#include "base/trace.h"
#include "cpu/openmp/openmp.h"
#include "cpu/serial/matmul.h"

enum { TEAM_MULTIPLY_ADDS = 1 << 17 }; /* from here on a team is faster: about 3 us of one thread */

/* All threads or one, nothing between: libgomp ends the threads that a smaller team leaves over,
 * and the next larger one has to start them again. */
static bool team_pays(int M, int N, int K) {
    return (double)M * N * K >= TEAM_MULTIPLY_ADDS;
}

/* ---- naive: i, j, k ------------------------------------------------------------------------- */

/* Each thread computes a stretch of rows of c, element by element.
 * Limit: that of the serial twin, on each thread; M rows keep no more than M threads busy. */
static void matmul_naive_share(float *c, const float *a, const float *b, float alpha, float beta,
                               bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                               int ldc) {
    Strides at_a = strides_of(trans_a, lda), at_b = strides_of(trans_b, ldb);
    TRACE_SHARE_OF("matmul");
#pragma omp for schedule(static) nowait
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

static void matmul_naive(float *c, const float *a, const float *b, float alpha, float beta,
                         bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                         int ldc) {
    if (team_pays(M, N, K)) {
#pragma omp parallel
        matmul_naive_share(c, a, b, alpha, beta, trans_a, trans_b, M, N, K, lda, ldb, ldc);
    } else {
        matmul_naive_share(c, a, b, alpha, beta, trans_a, trans_b, M, N, K, lda, ldb, ldc);
    }
}

/* ---- reordered: i, k, j --------------------------------------------------------------------- */

/* The same rows per thread, with k outside j: the inner loop becomes vector instructions.
 * Limit: each thread reads all of b for each of its rows, and the threads share one memory: this is
 * the first rung to run out of bandwidth, not of arithmetic. */
static void matmul_reordered_share(float *c, const float *a, const float *b, float alpha,
                                   float beta, bool trans_a, bool trans_b, int M, int N, int K,
                                   int lda, int ldb, int ldc) {
    Strides at_a = strides_of(trans_a, lda), at_b = strides_of(trans_b, ldb);
    TRACE_SHARE_OF("matmul");
#pragma omp for schedule(static) nowait
    for (int i = 0; i < M; i++) {
        float *c_i = c + (size_t)i * ldc;
        scale_row(c_i, beta, N);
        for (int k = 0; k < K; k++) {
            float scale = alpha * a[i * at_a.row + k * at_a.column];
            add_scaled_row(c_i, b + k * at_b.row, at_b.column, scale, N);
        }
    }
}

static void matmul_reordered(float *c, const float *a, const float *b, float alpha, float beta,
                             bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                             int ldc) {
    if (team_pays(M, N, K)) {
#pragma omp parallel
        matmul_reordered_share(c, a, b, alpha, beta, trans_a, trans_b, M, N, K, lda, ldb, ldc);
    } else {
        matmul_reordered_share(c, a, b, alpha, beta, trans_a, trans_b, M, N, K, lda, ldb, ldc);
    }
}

/* ---- blocked: tiles of b that fit the cache -------------------------------------------------- */

enum { TILE_M = 64 };

/* Tile c (m,n) = beta * c + a (m,K) . b (K,n), n <= TILE_N, tile of b by tile of b as the serial
 * twin does it. */
static void multiply_tile(float *c, const float *a, const float *b, float alpha, float beta,
                          Strides at_a, Strides at_b, int m, int n, int K, int ldc) {
    float tile[TILE_K * TILE_N];
    for (int i = 0; i < m; i++) {
        scale_row(c + (size_t)i * ldc, beta, n);
    }
    for (int k = 0, k_count; k < K; k += k_count) {
        k_count = K - k < TILE_K ? K - k : TILE_K;
        copy_tile(tile, b + k * at_b.row, at_b, alpha, k_count, n);
        for (int i = 0; i < m; i++) {
            for (int p = 0; p < k_count; p++) {
                float a_ip = a[i * at_a.row + (k + p) * at_a.column];
                add_scaled_row(c + (size_t)i * ldc, tile + p * TILE_N, 1, a_ip, n);
            }
        }
    }
}

/* The output falls into tiles of TILE_M x TILE_N, dealt to the threads as they come free; each
 * thread copies the tiles of b that it needs to its own stack.
 * Limit: the loads and stores of the serial twin, and each tile of b is copied M / TILE_M times. */
static void matmul_blocked_share(float *c, const float *a, const float *b, float alpha, float beta,
                                 bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                                 int ldc) {
    Strides at_a = strides_of(trans_a, lda), at_b = strides_of(trans_b, ldb);
    int64_t tiles_down = ((int64_t)M + TILE_M - 1) / TILE_M;
    int64_t tiles_across = ((int64_t)N + TILE_N - 1) / TILE_N;
    TRACE_SHARE_OF("matmul");
#pragma omp for schedule(dynamic) nowait
    for (int64_t t = 0; t < tiles_down * tiles_across; t++) {
        int i = (int)(t / tiles_across) * TILE_M, j = (int)(t % tiles_across) * TILE_N;
        int m = M - i < TILE_M ? M - i : TILE_M, n = N - j < TILE_N ? N - j : TILE_N;
        multiply_tile(c + (size_t)i * ldc + j, a + i * at_a.row, b + j * at_b.column, alpha, beta,
                      at_a, at_b, m, n, K, ldc);
    }
}

static void matmul_blocked(float *c, const float *a, const float *b, float alpha, float beta,
                           bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                           int ldc) {
    if (team_pays(M, N, K)) {
#pragma omp parallel
        matmul_blocked_share(c, a, b, alpha, beta, trans_a, trans_b, M, N, K, lda, ldb, ldc);
    } else {
        matmul_blocked_share(c, a, b, alpha, beta, trans_a, trans_b, M, N, K, lda, ldb, ldc);
    }
}

/* ---- packed: tiles of c that stay in registers ---------------------------------------------- */

/* How many parts the rows and the columns of the output are cut into: rows * columns = threads. */
typedef struct Grid {
    int rows, columns;
} Grid;

/* Where part number part of total begins; parts differ by one tile at most. */
static int part_start(int part, int parts, int total, int tile) {
    int64_t tiles = ((int64_t)total + tile - 1) / tile;
    int64_t start = tiles * part / parts * tile;
    return start < total ? (int)start : total;
}

/* The grid whose largest rectangle takes the least time: m * n multiply-adds per step of k, and the
 * packing of m + n values, each of which costs as much as about 6 multiply-adds. A batch of 64 rows
 * and a wide layer is cut into columns only, a square into squares. */
static Grid choose_grid(int threads, int M, int N) {
    Grid best = {1, threads};
    double best_cost = -1.0;
    for (int rows = 1; rows <= threads; rows++) {
        if (threads % rows != 0) {
            continue;
        }
        int columns = threads / rows, tile_m = packed_tile_rows(), tile_n = packed_tile_columns();
        int m_tiles = (M - 1) / tile_m / rows + 1, n_tiles = (N - 1) / tile_n / columns + 1;
        double m = (double)m_tiles * tile_m, n = (double)n_tiles * tile_n;
        double cost = m * n + 6.0 * (m + n);
        if (best_cost < 0.0 || cost < best_cost) {
            best = (Grid){rows, columns};
            best_cost = cost;
        }
    }
    return best;
}

/* Each thread computes one rectangle of c with the serial packed product, in buffers of its own; no
 * thread waits for another. If bias is not NULL, the rows start as the bias (N).
 * Limit: the multiply-add units; threads side by side pack the same rows of a. */
static void multiply_rectangles_share(float *c, const float *a, const float *b, const float *bias,
                                      float alpha, float beta, bool trans_a, bool trans_b, int M,
                                      int N, int K, int lda, int ldb, int ldc) {
    Strides at_a = strides_of(trans_a, lda), at_b = strides_of(trans_b, ldb);
    TRACE_SHARE_OF("matmul");
    Grid grid = choose_grid(omp_get_num_threads(), M, N);
#pragma omp for schedule(static) nowait
    for (int p = 0; p < grid.rows * grid.columns; p++) {
        int row = p / grid.columns, column = p % grid.columns;
        int i = part_start(row, grid.rows, M, packed_tile_rows());
        int j = part_start(column, grid.columns, N, packed_tile_columns());
        int m = part_start(row + 1, grid.rows, M, packed_tile_rows()) - i;
        int n = part_start(column + 1, grid.columns, N, packed_tile_columns()) - j;
        float *c_ij = c + (size_t)i * ldc + j;
        if (bias != NULL) {
            copy_bias(c_ij, bias + j, m, n, ldc);
        }
        packed_matmul(c_ij, a + i * at_a.row, b + j * at_b.column, alpha, beta, trans_a, trans_b, m,
                      n, K, lda, ldb, ldc);
    }
}

static void multiply_rectangles(float *c, const float *a, const float *b, const float *bias,
                                float alpha, float beta, bool trans_a, bool trans_b, int M, int N,
                                int K, int lda, int ldb, int ldc) {
    if (team_pays(M, N, K)) {
#pragma omp parallel
        multiply_rectangles_share(c, a, b, bias, alpha, beta, trans_a, trans_b, M, N, K, lda, ldb,
                                  ldc);
    } else {
        multiply_rectangles_share(c, a, b, bias, alpha, beta, trans_a, trans_b, M, N, K, lda, ldb,
                                  ldc);
    }
}

static void matmul_packed(float *c, const float *a, const float *b, float alpha, float beta,
                          bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                          int ldc) {
    multiply_rectangles(c, a, b, NULL, alpha, beta, trans_a, trans_b, M, N, K, lda, ldb, ldc);
}

/* ---- a fully connected layer ---------------------------------------------------------------- */

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

/* Here each thread lays the bias under its own rectangle. */
static void matmul_forward_packed(float *out, const float *inp, const float *weight,
                                  const float *bias, int N, int C, int OC) {
    multiply_rectangles(out, inp, weight, bias, 1.0F, bias == NULL ? 0.0F : 1.0F, false, true, N,
                        OC, C, C, C, OC);
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

enum { CHUNKS = 16, CHUNK_COLUMNS = 256, OUTPUT_COLUMNS = 64 };

/* partial (columns) = the sum of the rows first to last - 1 of dout. */
static void sum_rows(float *partial, const float *dout, int first, int last, int columns, int OC) {
    scale_row(partial, 0.0F, columns);
    for (int n = first; n < last; n++) {
        add_scaled_row(partial, dout + (size_t)n * OC, 1, 1.0F, columns);
    }
}

static void sum_chunks_share(float partial[CHUNKS][CHUNK_COLUMNS], const float *dout, int N,
                             int columns, int OC) {
    TRACE_SHARE_OF("matmul_backward_bias");
#pragma omp for schedule(static) nowait
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        int first = part_start(chunk, CHUNKS, N, 1);
        int last = part_start(chunk + 1, CHUNKS, N, 1);
        sum_rows(partial[chunk], dout, first, last, columns, OC);
    }
}

/* The batch falls into CHUNKS chunks whatever the number of threads; each chunk's sum is formed by
 * one thread, and the sums are added in the order of the chunks: same bits on any number of
 * threads. Serves a long batch with few outputs. Limit: two barriers for every CHUNK_COLUMNS
 * outputs, and the last addition is one thread's. */
static void matmul_backward_bias_batch_parallel(float *dbias, const float *dout, bool accumulate,
                                                int N, int OC) {
    float partial[CHUNKS][CHUNK_COLUMNS];
    for (int oc = 0, columns; oc < OC; oc += columns) {
        columns = OC - oc < CHUNK_COLUMNS ? OC - oc : CHUNK_COLUMNS;
        if ((size_t)N * columns >= FORK_ELEMENTS) {
#pragma omp parallel
            sum_chunks_share(partial, dout + oc, N, columns, OC);
        } else {
            sum_chunks_share(partial, dout + oc, N, columns, OC);
        }
        scale_row(dbias + oc, accumulate ? 1.0F : 0.0F, columns);
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            add_scaled_row(dbias + oc, partial[chunk], 1, 1.0F, columns);
        }
    }
}

/* Each thread sums whole columns of dout, OUTPUT_COLUMNS side by side so that cache lines are used
 * whole. No second pass and nothing shared; serves a wide layer.
 * Limit: memory; OC outputs keep no more than OC / OUTPUT_COLUMNS threads busy. */
static void matmul_backward_bias_output_parallel_share(float *dbias, const float *dout,
                                                       bool accumulate, int N, int OC) {
    int strips = (int)(((int64_t)OC + OUTPUT_COLUMNS - 1) / OUTPUT_COLUMNS);
    TRACE_SHARE_OF("matmul_backward_bias");
#pragma omp for schedule(static) nowait
    for (int strip = 0; strip < strips; strip++) {
        int oc = strip * OUTPUT_COLUMNS;
        int columns = OC - oc < OUTPUT_COLUMNS ? OC - oc : OUTPUT_COLUMNS;
        scale_row(dbias + oc, accumulate ? 1.0F : 0.0F, columns);
        for (int n = 0; n < N; n++) {
            add_scaled_row(dbias + oc, dout + (size_t)n * OC + oc, 1, 1.0F, columns);
        }
    }
}

static void matmul_backward_bias_output_parallel(float *dbias, const float *dout, bool accumulate,
                                                 int N, int OC) {
    if ((size_t)N * OC >= FORK_ELEMENTS) {
#pragma omp parallel
        matmul_backward_bias_output_parallel_share(dbias, dout, accumulate, N, OC);
    } else {
        matmul_backward_bias_output_parallel_share(dbias, dout, accumulate, N, OC);
    }
}

/* ---- the ladders ---------------------------------------------------------------------------- */

#define NAIVE     "rows of c per thread, each element one scalar product (i,j,k)"
#define REORDERED "rows of c per thread, loops i,k,j: the inner one vectorises"
#define BLOCKED   "tiles of c dealt to the threads, tiles of b used from their caches"
#define PACKED    "a rectangle of c per thread: register tiles, packed panels"

const Kernel matmul_kernels_openmp[] = {
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
    KERNEL(matmul_backward_bias, "batch_parallel", "chunks of the batch per thread, added in order",
           0, matmul_backward_bias_batch_parallel),
    KERNEL_DEFAULT(matmul_backward_bias, "output_parallel", "columns per thread, nothing shared", 0,
                   matmul_backward_bias_output_parallel),
    KERNEL_TABLE_END,
};

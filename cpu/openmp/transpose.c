/* Transposition, shared out among threads: out (N,M) = inp (M,N)^T.
 *
 * In parallel: naive gives each thread rows of out; tiled gives each thread tiles, so that a matrix
 * of few rows or few columns still has work for all.
 * Limit: memory, and how it is walked: see the serial twin. tiled stays within a tile until each
 * fetched cache line is used up.
 * Beside its serial twin: the same loops, shared out. */
#include "base/trace.h"
#include "cpu/openmp/openmp.h"

static bool is_worth_a_fork(int M, int N) {
    return (size_t)M * N >= FORK_ELEMENTS;
}

/* Writes along rows of out, reads down columns of inp. */
static void transpose_naive_share(float *out, const float *inp, int M, int N) {
    TRACE_SHARE_OF("transpose");
#pragma omp for schedule(static) nowait
    for (int n = 0; n < N; n++) {
        for (int m = 0; m < M; m++) {
            out[(size_t)n * M + m] = inp[(size_t)m * N + n];
        }
    }
}

static void transpose_naive_openmp(float *out, const float *inp, int M, int N) {
    if (is_worth_a_fork(M, N)) {
#pragma omp parallel
        transpose_naive_share(out, inp, M, N);
    } else {
        transpose_naive_share(out, inp, M, N);
    }
}

/* 16 floats are a cache line of 64 bytes. Larger tiles are slower where the row length is a power
 * of two: then the lines of a column fall into the same few places of the cache. */
enum { TILE = 16 };

static inline int tile_end(int start, int size) {
    return size - start < TILE ? size : start + TILE;
}

static void transpose_tiled_share(float *out, const float *inp, int M, int N) {
    int64_t tiles_m = ((int64_t)M + TILE - 1) / TILE, tiles_n = ((int64_t)N + TILE - 1) / TILE;
    TRACE_SHARE_OF("transpose");
#pragma omp for schedule(static) nowait
    for (int64_t tile = 0; tile < tiles_m * tiles_n; tile++) {
        int m0 = (int)(tile / tiles_n) * TILE, m_end = tile_end(m0, M);
        int n0 = (int)(tile % tiles_n) * TILE, n_end = tile_end(n0, N);
        for (int n = n0; n < n_end; n++) {
            for (int m = m0; m < m_end; m++) {
                out[(size_t)n * M + m] = inp[(size_t)m * N + n];
            }
        }
    }
}

void transpose_tiled_openmp(float *out, const float *inp, int M, int N) {
    if (is_worth_a_fork(M, N)) {
#pragma omp parallel
        transpose_tiled_share(out, inp, M, N);
    } else {
        transpose_tiled_share(out, inp, M, N);
    }
}

const Kernel transpose_kernels_openmp[] = {
    KERNEL(transpose, "naive", "each thread writes rows of its own", 0, transpose_naive_openmp),
    KERNEL_DEFAULT(transpose, "tiled", "each thread takes 16 x 16 tiles", 0,
                   transpose_tiled_openmp),
    KERNEL_TABLE_END,
};

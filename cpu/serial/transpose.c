/* Transposition, on one thread: out (N,M) = inp (M,N)^T.
 *
 * Limit: memory, and how it is walked. One side of the copy runs along rows, the other jumps by a
 * whole row from one element to the next and uses 4 bytes of every cache line that it fetches.
 * naive pays for that; tiled stays within a tile until each fetched line is used up. */
#include "cpu/serial/serial.h"

/* Writes along rows of out, reads down columns of inp. */
static void transpose_naive_serial(float *out, const float *inp, int M, int N) {
    for (int n = 0; n < N; n++) {
        for (int m = 0; m < M; m++) {
            out[(size_t)n * M + m] = inp[(size_t)m * N + n];
        }
    }
}

/* 16 floats are a cache line of 64 bytes. Larger tiles are slower where the row length is a power
 * of two: then the lines of a column fall into the same few places of the cache. */
enum { TILE = 16 };

static inline int tile_end(int start, int size) {
    return size - start < TILE ? size : start + TILE;
}

static void transpose_tiled_serial(float *out, const float *inp, int M, int N) {
    for (int m0 = 0; m0 < M; m0 = tile_end(m0, M)) {
        int m_end = tile_end(m0, M);
        for (int n0 = 0; n0 < N; n0 = tile_end(n0, N)) {
            int n_end = tile_end(n0, N);
            for (int n = n0; n < n_end; n++) {
                for (int m = m0; m < m_end; m++) {
                    out[(size_t)n * M + m] = inp[(size_t)m * N + n];
                }
            }
        }
    }
}

const Kernel transpose_kernels_serial[] = {
    KERNEL(transpose, "naive", "two loops: writes along rows, reads down columns", 0,
           transpose_naive_serial),
    KERNEL_DEFAULT(transpose, "tiled",
                   "16 x 16 tiles: a fetched cache line is used up before it goes", 0,
                   transpose_tiled_serial),
    KERNEL_TABLE_END,
};

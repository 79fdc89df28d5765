/* Transpose: out (N,M) = inp (M,N)^T.
 *
 * One thread, one element. Limit: memory, once reads and writes are both coalesced, which is what
 * the ladder is about. Tiles are numbered along x alone, whose grid has 2^31 - 1 blocks; y has only
 * 65,535. */
#include "cuda/cuda.h"

enum { TILE = 32, TILE_ROWS = 8 }; /* a block of 32 x 8 threads takes a tile in 4 rounds */

/* The tile of this block: its first row and column in inp. */
static __device__ void tile_origin(int N, int *row, int *column) {
    int tiles_across = (N + TILE - 1) / TILE;
    *row = (int)(blockIdx.x / tiles_across) * TILE;
    *column = (int)(blockIdx.x % tiles_across) * TILE;
}

static unsigned tile_count(int M, int N) {
    return (unsigned)((size_t)((M + TILE - 1) / TILE) * ((N + TILE - 1) / TILE));
}

/* ---- naive: reads along rows, writes down columns ---------------------------------------------
 */

/* A warp reads one row, 4 sectors, and writes 32 rows, 32 sectors of which it fills an eighth. */
__global__ void transpose_naive_kernel(float *out, const float *inp, int M, int N) {
    int row, column;
    tile_origin(N, &row, &column);
    int n = column + threadIdx.x;
    for (int m = row + threadIdx.y; m < row + TILE && m < M; m += TILE_ROWS) {
        if (n < N) {
            out[(size_t)n * M + m] = inp[(size_t)m * N + n];
        }
    }
}

/* ---- tiled, padded: turned in shared memory ----------------------------------------------------
 */

/* The tile goes into shared memory by rows and comes out by columns, so that global memory sees
 * rows both times. PADDING = 0: the 32 elements of a column lie 32 words apart, all in one bank,
 * and a warp takes them one after the other. PADDING = 1: 33 words apart, 32 different banks. */
template <int PADDING>
__global__ void transpose_shared_kernel(float *out, const float *inp, int M, int N) {
    __shared__ float tile[TILE][TILE + PADDING];
    int row, column;
    tile_origin(N, &row, &column);
    for (int y = threadIdx.y; y < TILE; y += TILE_ROWS) {
        if (row + y < M && column + (int)threadIdx.x < N) {
            tile[y][threadIdx.x] = inp[(size_t)(row + y) * N + column + threadIdx.x];
        }
    }
    __syncthreads(); /* other threads wrote the column that this one reads */
    for (int y = threadIdx.y; y < TILE; y += TILE_ROWS) {
        if (column + y < N && row + (int)threadIdx.x < M) {
            out[(size_t)(column + y) * M + row + threadIdx.x] = tile[threadIdx.x][y];
        }
    }
}

static void transpose_naive(float *out, const float *inp, int M, int N) {
    transpose_naive_kernel<<<tile_count(M, N), dim3(TILE, TILE_ROWS)>>>(out, inp, M, N);
    cuda_launched(OP_transpose, "naive", M, N, 1);
}

static void transpose_tiled(float *out, const float *inp, int M, int N) {
    transpose_shared_kernel<0><<<tile_count(M, N), dim3(TILE, TILE_ROWS)>>>(out, inp, M, N);
    cuda_launched(OP_transpose, "tiled", M, N, 1);
}

static void transpose_padded(float *out, const float *inp, int M, int N) {
    transpose_shared_kernel<1><<<tile_count(M, N), dim3(TILE, TILE_ROWS)>>>(out, inp, M, N);
    cuda_launched(OP_transpose, "padded", M, N, 1);
}

const Kernel CUDA_TABLE(transpose)[] = {
    KERNEL(transpose, "naive", "reads along rows, writes down columns", 3, transpose_naive),
    KERNEL(transpose, "tiled", "turned in shared memory: rows both times", 3, transpose_tiled),
    KERNEL_DEFAULT(transpose, "padded", "one column more: no two lanes in one bank", 3,
                   transpose_padded),
    KERNEL_TABLE_END,
};

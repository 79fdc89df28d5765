/* Matrix products: c (M,N) = alpha * op(a) (M,K) . op(b) (K,N) + beta * c, and the three products
 * of a fully connected layer, which are the same with other names.
 *
 * One thread, one element of c, or a small tile of them. Every rung computes the same 2*M*N*K
 * operations; what changes is how often a value is fetched from global memory (some 500 cycles
 * away) before it has done its work:
 *     naive            2 loads for each multiply-add, 32 sectors a request
 *     coalesced        the same loads, a warp's in 4 sectors
 *     tiled            each value is loaded once for 16 uses, from shared memory
 *     register_tiled   64 uses from global memory, and 4 from shared memory, per load
 * Tiles are numbered along x alone, whose grid has 2^31 - 1 blocks; y has only 65,535. */
#include "cuda/cuda.h"

/* An operand as its transposition wants it read: element (i,k) lies at i * row + k * column. */
typedef struct Operand {
    const float *data;
    size_t row, column;
} Operand;

static Operand operand(const float *data, bool transposed, int leading) {
    return transposed ? Operand{data, 1, (size_t)leading} : Operand{data, (size_t)leading, 1};
}

/* What a product is: one argument for all rungs, so that they can stand in one table. */
typedef struct Product {
    float *c;
    Operand a, b;
    const float *bias; /* (N), added to each row; or NULL */
    float alpha, beta;
    int M, N, K, ldc;
} Product;

static __device__ float element(const Operand &operand, int row, int column, int rows,
                                int columns) {
    return row < rows && column < columns
               ? operand.data[row * operand.row + column * operand.column]
               : 0.0f; /* beyond the edge: a term that adds nothing */
}

/* c (i,j) from its finished sum. beta = 0 must not read c, which may hold NaN. */
static __device__ void store(const Product &p, int i, int j, float sum) {
    float *c_ij = &p.c[(size_t)i * p.ldc + j];
    float product = p.alpha == 0.0f ? 0.0f : p.alpha * sum; /* as BLAS: 0, whatever sum is */
    float value = product + (p.beta == 0.0f ? 0.0f : p.beta * *c_ij);
    *c_ij = value + (p.bias == NULL ? 0.0f : p.bias[j]);
}

/* The tile of this block: rows and columns of c, tiles numbered along the rows. */
static __device__ void tile_origin(const Product &p, int tile_rows, int tile_columns, int *row,
                                   int *column) {
    int tiles_across = (p.N + tile_columns - 1) / tile_columns;
    *row = (int)(blockIdx.x / tiles_across) * tile_rows;
    *column = (int)(blockIdx.x % tiles_across) * tile_columns;
}

static unsigned tile_count(const Product &p, int tile_rows, int tile_columns) {
    size_t down = (p.M + tile_rows - 1) / tile_rows,
           across = (p.N + tile_columns - 1) / tile_columns;
    return blocks_for(down * across, 1);
}

static __device__ float row_by_column(const Product &p, int i, int j) {
    float sum = 0.0f;
    for (int k = 0; k < p.K; k++) {
        sum += p.a.data[i * p.a.row + k * p.a.column] * p.b.data[k * p.b.row + j * p.b.column];
    }
    return sum;
}

/* ---- naive: neighbouring threads, neighbouring rows -------------------------------------------
 */

enum { SIDE = 16 }; /* blocks of 16 x 16 threads */

__global__ void matmul_naive_kernel(Product p) {
    int row, column;
    tile_origin(p, SIDE, SIDE, &row, &column);
    int i = row + threadIdx.x, j = column + threadIdx.y;
    if (i < p.M && j < p.N) {
        store(p, i, j, row_by_column(p, i, j));
    }
}

static void matmul_naive(const Product &p) {
    matmul_naive_kernel<<<tile_count(p, SIDE, SIDE), dim3(SIDE, SIDE)>>>(p);
}

/* ---- coalesced: neighbouring threads, neighbouring columns ------------------------------------
 */

/* x and y change places, nothing else: the lanes of a warp now read b and write c side by side, and
 * share their element of a. */
__global__ void matmul_coalesced_kernel(Product p) {
    int row, column;
    tile_origin(p, SIDE, SIDE, &row, &column);
    int i = row + threadIdx.y, j = column + threadIdx.x;
    if (i < p.M && j < p.N) {
        store(p, i, j, row_by_column(p, i, j));
    }
}

static void matmul_coalesced(const Product &p) {
    matmul_coalesced_kernel<<<tile_count(p, SIDE, SIDE), dim3(SIDE, SIDE)>>>(p);
}

/* ---- tiled: shared memory ---------------------------------------------------------------------
 */

/* The block fetches a tile of a and one of b together, one element a thread, and each thread then
 * uses 16 of either: 16 times fewer global loads. Limit: two loads from shared memory for each
 * multiply-add. */
__global__ void matmul_tiled_kernel(Product p) {
    __shared__ float a_tile[SIDE][SIDE], b_tile[SIDE][SIDE];
    int row, column;
    tile_origin(p, SIDE, SIDE, &row, &column);
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0.0f;
    for (int k0 = 0; k0 < p.K; k0 += SIDE) {
        a_tile[y][x] = element(p.a, row + y, k0 + x, p.M, p.K);
        b_tile[y][x] = element(p.b, k0 + y, column + x, p.K, p.N);
        __syncthreads(); /* all of both tiles is there */
        for (int k = 0; k < SIDE; k++) {
            sum += a_tile[y][k] * b_tile[k][x];
        }
        __syncthreads(); /* nobody reads them any more: the next ones may come */
    }
    if (row + y < p.M && column + x < p.N) {
        store(p, row + y, column + x, sum);
    }
}

static void matmul_tiled(const Product &p) {
    matmul_tiled_kernel<<<tile_count(p, SIDE, SIDE), dim3(SIDE, SIDE)>>>(p);
}

/* ---- register_tiled: 4 x 4 elements of c for each thread ---------------------------------------
 */

enum { TILE = 64, DEPTH = 16, PER_THREAD = 4, ACROSS = TILE / PER_THREAD };

/* 256 threads bring 64 x 16 of a (stored turned, so that a column of it lies in a row) and 16 x 64
 * of b: 4 elements each. Threads of a warp take neighbouring addresses whichever way the operand
 * lies, or its transposition would undo the coalescing. */
static __device__ void load_tiles(const Product &p, float a_tile[DEPTH][TILE + 1],
                                  float b_tile[DEPTH][TILE + 1], int row, int column, int k0) {
    for (int e = threadIdx.x; e < TILE * DEPTH; e += ACROSS * ACROSS) {
        int i = p.a.column == 1 ? e / DEPTH : e % TILE, k = p.a.column == 1 ? e % DEPTH : e / TILE;
        a_tile[k][i] = element(p.a, row + i, k0 + k, p.M, p.K);
        int j = p.b.column == 1 ? e % TILE : e / DEPTH;
        k = p.b.column == 1 ? e / TILE : e % DEPTH;
        b_tile[k][j] = element(p.b, k0 + k, column + j, p.K, p.N);
    }
}

/* A thread takes 4 elements of a and of b from shared memory for 16 multiply-adds; the 16 sums stay
 * in registers. Its elements lie 16 apart, so that a warp's are side by side. Limit: the
 * multiply-add units begin to show; what is left is waiting for the next tiles. */
__global__ void matmul_register_tiled_kernel(Product p) {
    __shared__ float a_tile[DEPTH][TILE + 1], b_tile[DEPTH][TILE + 1]; /* + 1: no bank conflicts */
    int row, column;
    tile_origin(p, TILE, TILE, &row, &column);
    int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
    float sum[PER_THREAD][PER_THREAD] = {};
    for (int k0 = 0; k0 < p.K; k0 += DEPTH) {
        load_tiles(p, a_tile, b_tile, row, column, k0);
        __syncthreads(); /* all of both tiles is there */
        for (int k = 0; k < DEPTH; k++) {
            float a[PER_THREAD], b[PER_THREAD];
            for (int r = 0; r < PER_THREAD; r++) {
                a[r] = a_tile[k][y + r * ACROSS];
                b[r] = b_tile[k][x + r * ACROSS];
            }
            for (int r = 0; r < PER_THREAD; r++) {
                for (int q = 0; q < PER_THREAD; q++) {
                    sum[r][q] += a[r] * b[q];
                }
            }
        }
        __syncthreads(); /* nobody reads them any more: the next ones may come */
    }
    for (int r = 0; r < PER_THREAD; r++) {
        for (int q = 0; q < PER_THREAD; q++) {
            int i = row + y + r * ACROSS, j = column + x + q * ACROSS;
            if (i < p.M && j < p.N) {
                store(p, i, j, sum[r][q]);
            }
        }
    }
}

static void matmul_register_tiled(const Product &p) {
    matmul_register_tiled_kernel<<<tile_count(p, TILE, TILE), ACROSS * ACROSS>>>(p);
}

/* ---- the contract's five operations, each on every rung ----------------------------------------
 */

/* The four products of one rung, under the names that the table below takes. */
#define RUNG(name)                                                                                 \
    static void matmul_op_##name(float *c, const float *a, const float *b, float alpha,            \
                                 float beta, bool trans_a, bool trans_b, int M, int N, int K,      \
                                 int lda, int ldb, int ldc) {                                      \
        matmul_##name(Product{c, operand(a, trans_a, lda), operand(b, trans_b, ldb), NULL, alpha,  \
                              beta, M, N, K, ldc});                                                \
        cuda_launched(OP_matmul, #name, M, N, K);                                                  \
    }                                                                                              \
    static void forward_##name(float *out, const float *inp, const float *weight,                  \
                               const float *bias, int N, int C, int OC) {                          \
        matmul_##name(Product{out, operand(inp, false, C), operand(weight, true, C), bias, 1.0f,   \
                              0.0f, N, OC, C, OC});                                                \
        cuda_launched(OP_matmul_forward, #name, N, C, OC);                                         \
    }                                                                                              \
    static void backward_input_##name(float *dinp, const float *dout, const float *weight, int N,  \
                                      int C, int OC) {                                             \
        matmul_##name(Product{dinp, operand(dout, false, OC), operand(weight, false, C), NULL,     \
                              1.0f, 0.0f, N, C, OC, C});                                           \
        cuda_launched(OP_matmul_backward_input, #name, N, C, OC);                                  \
    }                                                                                              \
    static void backward_weight_##name(float *dweight, const float *dout, const float *inp,        \
                                       bool accumulate, int N, int C, int OC) {                    \
        matmul_##name(Product{dweight, operand(dout, true, OC), operand(inp, false, C), NULL,      \
                              1.0f, accumulate ? 1.0f : 0.0f, OC, C, N, C});                       \
        cuda_launched(OP_matmul_backward_weight, #name, N, C, OC);                                 \
    }

RUNG(naive)
RUNG(coalesced)
RUNG(tiled)
RUNG(register_tiled)

/* One thread a column: a warp reads 32 columns of a row side by side. N steps, in order. */
__global__ void matmul_backward_bias_kernel(float *dbias, const float *dout, bool accumulate, int N,
                                            int OC) {
    GRID_STRIDE(oc, (size_t)OC) {
        double sum = accumulate ? dbias[oc] : 0.0;
        for (int n = 0; n < N; n++) {
            sum += dout[(size_t)n * OC + oc];
        }
        dbias[oc] = (float)sum;
    }
}

static void backward_bias_column(float *dbias, const float *dout, bool accumulate, int N, int OC) {
    matmul_backward_bias_kernel<<<blocks_to_fill(OC), BLOCK_THREADS>>>(dbias, dout, accumulate, N,
                                                                       OC);
    cuda_launched(OP_matmul_backward_bias, "column", N, OC, 1);
}

#define NAIVE          "a thread for each element; neighbours in a column"
#define COALESCED      "neighbouring threads take neighbouring columns"
#define TILED          "tiles of a and b in shared memory, 16 uses a load"
#define REGISTER_TILED "4 x 4 elements of c in each thread's registers"
#define LADDER(op, prefix)                                                                         \
    KERNEL(op, "naive", NAIVE, 0, prefix##_naive),                                                 \
        KERNEL(op, "coalesced", COALESCED, 0, prefix##_coalesced),                                 \
        KERNEL(op, "tiled", TILED, 0, prefix##_tiled),                                             \
        KERNEL_DEFAULT(op, "register_tiled", REGISTER_TILED, 0, prefix##_register_tiled)

const Kernel CUDA_TABLE(matmul)[] = {
    LADDER(matmul, matmul_op),
    LADDER(matmul_forward, forward),
    LADDER(matmul_backward_input, backward_input),
    LADDER(matmul_backward_weight, backward_weight),
    KERNEL_DEFAULT(matmul_backward_bias, "column", "a thread a column", 0, backward_bias_column),
    KERNEL_TABLE_END,
};

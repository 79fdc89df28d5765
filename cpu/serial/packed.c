/* The packed matrix product: c (M,N) = alpha * op(a) (M,K) . op(b) (K,N) + beta * c, on one thread,
 * in the layers of Goto and van de Geijn 2008 ("Anatomy of high-performance matrix multiplication")
 * and BLIS.
 *
 * The processor can start two vector multiply-adds per cycle but can load no more than two or three
 * vectors, so every loaded value must be used several times before it leaves the registers:
 *   registers: a micro-tile of c, TILE_ROWS x TILE_COLUMNS, takes part in every step k; one step
 *              loads TILE_COLUMNS values of b and broadcasts TILE_ROWS values of a
 *   L1 cache:  a panel of b, BLOCK_K x TILE_COLUMNS, is used by all micro-tiles below each other
 *   L2 cache:  a block of a, BLOCK_ROWS x BLOCK_K, is used by all micro-tiles side by side
 * Packing copies panels into the order in which the micro-kernel reads them: no cache line carries
 * a value that is not wanted, no two lines compete for one place in the cache, few pages are
 * touched, and both transposes are gone. It costs a pass over a and b, which pays when the other
 * matrix is large enough; where the stored order serves as it is, small products read in place.
 *
 * What limits it: nothing but the multiply-adds, for large sizes. */
#include "cpu/serial/matmul.h"

/* The widest vector that the compiler was told of; 16 bytes: SSE, NEON, any other processor. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif
enum { LANES = VECTOR_BYTES / (int)sizeof(float) };
typedef float Vector __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef float Vector4 __attribute__((vector_size(16), aligned(4), may_alias));

/* The accumulators, TILE_ROWS * TILE_VECTORS of them, must fit the registers (32 with AVX-512, 16
 * before) with room for one row of b and a value of a, and be at least the 8 to 10 that keep two
 * multiply-adds of latency 4 to 5 in flight. */
enum {
    TILE_ROWS = VECTOR_BYTES == 64 ? 12 : 6,
    TILE_VECTORS = 2,
    TILE_COLUMNS = TILE_VECTORS * LANES,
    BLOCK_K = VECTOR_BYTES == 64 ? 128 : 256, /* a panel of b takes at most half of L1 */
    BLOCK_ROWS = 240,                         /* a block of a: 240 KiB, half of L2 or less */
    BLOCK_COLUMNS = 512,                      /* a block of b: 512 KiB */
};

static _Thread_local float a_block[BLOCK_ROWS * BLOCK_K] __attribute__((aligned(64)));
static _Thread_local float b_block[BLOCK_K * BLOCK_COLUMNS] __attribute__((aligned(64)));

/* A panel of a or b as the micro-kernel reads it: lane l of step k is data[l * lane + k * step].
 * A lane is a row of op(a) or a column of op(b). */
typedef struct Panel {
    const float *data;
    size_t lane, step;
} Panel;

int packed_tile_rows(void) {
    return TILE_ROWS;
}

int packed_tile_columns(void) {
    return TILE_COLUMNS;
}

static int min_int(int a, int b) {
    return a < b ? a : b;
}

/* 4 lanes of 4 steps, from lanes that lie apart to lanes side by side. */
#if __has_builtin(__builtin_shufflevector)
static inline void transpose_4x4(float *out, size_t out_step, const float *inp, size_t inp_lane) {
    Vector4 r0 = *(const Vector4 *)inp, r1 = *(const Vector4 *)(inp + inp_lane);
    Vector4 r2 = *(const Vector4 *)(inp + 2 * inp_lane),
            r3 = *(const Vector4 *)(inp + 3 * inp_lane);
    Vector4 low01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
    Vector4 high01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
    Vector4 low23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
    Vector4 high23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
    *(Vector4 *)out = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
    *(Vector4 *)(out + out_step) = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
    *(Vector4 *)(out + 2 * out_step) = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
    *(Vector4 *)(out + 3 * out_step) = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}
#else /* gcc before 12 */
static inline void transpose_4x4(float *out, size_t out_step, const float *inp, size_t inp_lane) {
    for (int k = 0; k < 4; k++) {
        for (int l = 0; l < 4; l++) {
            out[k * out_step + l] = inp[l * inp_lane + k];
        }
    }
}
#endif

/* Copies a panel so that the width lanes of a step lie side by side; lanes past the last are 0,
 * which adds nothing to the sums. */
static inline __attribute__((always_inline)) void pack_panel(float *out, Panel in, int width,
                                                             int lanes, int K) {
    if (lanes == width && in.lane == 1) {
        for (int k = 0; k < K; k++) {
            memcpy(out + (size_t)k * width, in.data + (size_t)k * in.step, width * sizeof(float));
        }
        return;
    }
    int k4 = in.step == 1 && lanes >= 4 ? K / 4 * 4 : 0;
    for (int k = 0; k < k4; k += 4) {
        for (int l = 0; l < lanes; l += 4) {
            int first = min_int(l, lanes - 4);
            transpose_4x4(out + (size_t)k * width + first, width, in.data + first * in.lane + k,
                          in.lane);
        }
    }
    for (int k = lanes == width ? k4 : 0; k < K; k++) {
        for (int l = k < k4 ? lanes : 0; l < lanes; l++) {
            out[(size_t)k * width + l] = in.data[l * in.lane + k * in.step];
        }
        for (int l = lanes; l < width; l++) {
            out[(size_t)k * width + l] = 0.0F;
        }
    }
}

/* The panels of one block: width lanes each, packed one behind the other into block, or, if
 * in_place, where they are stored (all but a last one that is not full). */
static inline __attribute__((always_inline)) void
pack_block(Panel *panels, float *block, Panel in, int width, bool in_place, int lanes, int K) {
    for (int l = 0; l < lanes; l += width) {
        Panel stored = {in.data + l * in.lane, in.lane, in.step};
        if (in_place && lanes - l >= width) {
            panels[l / width] = stored;
        } else {
            float *packed = block + (size_t)l * K;
            pack_panel(packed, stored, width, min_int(lanes - l, width), K);
            panels[l / width] = (Panel){packed, 1, width};
        }
    }
}

/* c (TILE_ROWS,TILE_COLUMNS) = alpha * the sum over k of a's lanes times b's lanes + beta * c; all
 * sums stay in registers until the end. Never inlined: with one copy of the machine code a tile at
 * the edge gets the bits that it would get inside. */
static __attribute__((noinline)) void micro_kernel(float *c, size_t ldc, const Panel *a_panel,
                                                   const Panel *b_panel, int K, float alpha,
                                                   float beta) {
    for (int i = 0; i < TILE_ROWS; i++) { /* c arrives while the sums are being formed */
        __builtin_prefetch(c + i * ldc, 1);
        __builtin_prefetch(c + i * ldc + TILE_COLUMNS - 1, 1);
    }
    Vector sum[TILE_ROWS][TILE_VECTORS] = {0};
    Panel a = *a_panel, b = *b_panel;
    for (int k = 0; k < K; k++) {
        Vector b_k[TILE_VECTORS];
        for (int v = 0; v < TILE_VECTORS; v++) {
            b_k[v] = *(const Vector *)(b.data + v * LANES);
        }
        for (int i = 0; i < TILE_ROWS; i++) {
            float a_ik = a.data[i * a.lane];
            for (int v = 0; v < TILE_VECTORS; v++) {
                sum[i][v] += a_ik * b_k[v];
            }
        }
        a.data += a.step;
        b.data += b.step;
    }
    for (int i = 0; i < TILE_ROWS; i++) {
        for (int v = 0; v < TILE_VECTORS; v++) {
            Vector *c_iv = (Vector *)(c + i * ldc + v * LANES);
            *c_iv = beta == 0.0F ? alpha * sum[i][v] : alpha * sum[i][v] + beta * *c_iv;
        }
    }
}

/* The micro-kernel where only rows x columns of the tile lie inside c: in a tile aside. */
static void micro_kernel_edge(float *c, size_t ldc, const Panel *a, const Panel *b, int K,
                              float alpha, float beta, int rows, int columns) {
    float aside[TILE_ROWS * TILE_COLUMNS] = {0};
    for (int i = 0; i < rows && beta != 0.0F; i++) {
        memcpy(aside + i * TILE_COLUMNS, c + i * ldc, columns * sizeof(float));
    }
    micro_kernel(aside, TILE_COLUMNS, a, b, K, alpha, beta);
    for (int i = 0; i < rows; i++) {
        memcpy(c + i * ldc, aside + i * TILE_COLUMNS, columns * sizeof(float));
    }
}

/* c (m,n) = alpha * a block (m,K) . b block (K,n) + beta * c. A panel of b stays in L1 while all
 * panels of a pass by. */
static void multiply_blocks(float *c, size_t ldc, const Panel *a, const Panel *b, int K,
                            float alpha, float beta, int m, int n) {
    for (int j = 0; j < n; j += TILE_COLUMNS) {
        for (int i = 0; i < m; i += TILE_ROWS) {
            int rows = min_int(m - i, TILE_ROWS), columns = min_int(n - j, TILE_COLUMNS);
            const Panel *a_i = &a[i / TILE_ROWS], *b_j = &b[j / TILE_COLUMNS];
            float *c_ij = c + i * ldc + j;
            if (rows == TILE_ROWS && columns == TILE_COLUMNS) {
                micro_kernel(c_ij, ldc, a_i, b_j, K, alpha, beta);
            } else {
                micro_kernel_edge(c_ij, ldc, a_i, b_j, K, alpha, beta, rows, columns);
            }
        }
    }
}

void packed_matmul(float *c, const float *a, const float *b, float alpha, float beta, bool trans_a,
                   bool trans_b, int M, int N, int K, int lda, int ldb, int ldc) {
    Panel a_all = {a, trans_a ? 1 : lda, trans_a ? lda : 1};
    Panel b_all = {b, trans_b ? ldb : 1, trans_b ? 1 : ldb};
    Panel a_panels[BLOCK_ROWS / TILE_ROWS], b_panels[BLOCK_COLUMNS / TILE_COLUMNS];
    /* Packing pays when each panel is used often enough: measured on Zen 3. */
    bool a_in_place = N <= 8 * TILE_COLUMNS, b_in_place = b_all.lane == 1 && M <= 2 * TILE_ROWS;
    int k_blocks = K <= BLOCK_K ? 1 : (K - 1) / BLOCK_K + 1;
    int block_k =
        K == 0 ? 0 : (K - 1) / k_blocks + 1; /* blocks of like size, not a last small one */
    for (int j = 0, n; j < N; j += n) {
        n = min_int(N - j, BLOCK_COLUMNS);
        for (int p = 0; p < k_blocks; p++) {
            int k = p * block_k, k_count = min_int(K - k, block_k);
            float beta_p = p == 0 ? beta : 1.0F; /* later blocks add to the first one's result */
            Panel b_block_in = {b + k * b_all.step + j * b_all.lane, b_all.lane, b_all.step};
            pack_block(b_panels, b_block, b_block_in, TILE_COLUMNS, b_in_place, n, k_count);
            for (int i = 0, m; i < M; i += m) {
                m = min_int(M - i, BLOCK_ROWS);
                Panel a_block_in = {a + k * a_all.step + i * a_all.lane, a_all.lane, a_all.step};
                pack_block(a_panels, a_block, a_block_in, TILE_ROWS, a_in_place, m, k_count);
                multiply_blocks(c + (size_t)i * ldc + j, ldc, a_panels, b_panels, k_count, alpha,
                                beta_p, m, n);
            }
        }
    }
}

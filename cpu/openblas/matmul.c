/* Matrix products by OpenBLAS: c (M,N) = alpha * op(a) (M,K) . op(b) (K,N) + beta * c, and the
 * three products of a fully connected layer, which are the same with other names.
 *
 * The ladder has one rung, cblas_sgemm: what the serial and OpenMP ladders climb towards, with
 * micro-kernels in assembly, one set for each kind of processor. It divides the work among its own
 * threads, so it is never called from inside a parallel region. */
#include <cblas.h>

#include "cpu/openblas/openblas.h"
#include "cpu/serial/matmul.h"

/* BLAS asks for leading dimensions of at least 1 and leaves c alone when K = 0 and beta = 1, so the
 * empty cases are ours. */
static void matmul_sgemm(float *c, const float *a, const float *b, float alpha, float beta,
                         bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                         int ldc) {
    if (M == 0 || N == 0) {
        return;
    }
    if (K == 0) {
        for (int i = 0; i < M; i++) {
            scale_row(c + (size_t)i * ldc, beta, N);
        }
        return;
    }
    cblas_sgemm(CblasRowMajor, trans_a ? CblasTrans : CblasNoTrans,
                trans_b ? CblasTrans : CblasNoTrans, M, N, K, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* ---- a fully connected layer ---------------------------------------------------------------- */

static void matmul_forward_sgemm(float *out, const float *inp, const float *weight,
                                 const float *bias, int N, int C, int OC) {
    layer_forward(matmul_sgemm, out, inp, weight, bias, N, C, OC);
}

static void matmul_backward_input_sgemm(float *dinp, const float *dout, const float *weight, int N,
                                        int C, int OC) {
    layer_backward_input(matmul_sgemm, dinp, dout, weight, N, C, OC);
}

static void matmul_backward_weight_sgemm(float *dweight, const float *dout, const float *inp,
                                         bool accumulate, int N, int C, int OC) {
    layer_backward_weight(matmul_sgemm, dweight, dout, inp, accumulate, N, C, OC);
}

/* ---- bias gradient -------------------------------------------------------------------------- */

enum { ONES = 64 };

/* BLAS has no sum over rows; this is the product ones (1,N) . dout (N,OC), ONES rows at a time.
 * Limit: memory, as for the plain sum, and a multiplication by 1 that nobody needs. */
static void matmul_backward_bias_sgemv(float *dbias, const float *dout, bool accumulate, int N,
                                       int OC) {
    float ones[ONES];
    for (int n = 0; n < ONES; n++) {
        ones[n] = 1.0F;
    }
    scale_row(dbias, accumulate ? 1.0F : 0.0F, OC);
    for (int n = 0, rows; n < N && OC > 0; n += rows) {
        rows = N - n < ONES ? N - n : ONES;
        cblas_sgemv(CblasRowMajor, CblasTrans, rows, OC, 1.0F, dout + (size_t)n * OC, OC, ones, 1,
                    1.0F, dbias, 1);
    }
}

/* ---- the ladders ---------------------------------------------------------------------------- */

#define SGEMM "OpenBLAS cblas_sgemm"

const Kernel matmul_kernels_openblas[] = {
    KERNEL_DEFAULT(matmul, "sgemm", SGEMM, 0, matmul_sgemm),
    KERNEL_DEFAULT(matmul_forward, "sgemm", SGEMM, 0, matmul_forward_sgemm),
    KERNEL_DEFAULT(matmul_backward_input, "sgemm", SGEMM, 0, matmul_backward_input_sgemm),
    KERNEL_DEFAULT(matmul_backward_weight, "sgemm", SGEMM, 0, matmul_backward_weight_sgemm),
    KERNEL_DEFAULT(matmul_backward_bias, "sgemv", "OpenBLAS cblas_sgemv with a vector of ones", 0,
                   matmul_backward_bias_sgemv),
    KERNEL_TABLE_END,
};

/* Wrong kernels of the matrix products: one general product in double, right but for the fault that
 * each mutant asks it for. */
#include <math.h>

#include "verify/mutants.h"

typedef struct Fault {
    bool short_K;      /* one product too few */
    bool full_tiles_K; /* K rounded down to a multiple of 16 */
    bool full_tiles_M; /* rows of whole tiles of 8 only: the rest is never written */
    bool ignores_alpha, ignores_beta, multiplies_zero_beta, alpha_on_both;
    bool ignores_ld, ignores_trans_a, swaps_trans;
    bool fp16; /* operands rounded to 11 bits */
} Fault;

/* x as a half precision number would hold it, range apart. */
static double rounded_to_11_bits(double x) {
    int exponent;
    double mantissa = frexp(x, &exponent);
    return ldexp(rint(mantissa * 2048.0), exponent - 11);
}

static double operand(const Fault *fault, const float *x, bool trans, int ld, int row, int column) {
    size_t at = trans ? (size_t)column * ld + row : (size_t)row * ld + column;
    return fault->fp16 ? rounded_to_11_bits((double)x[at]) : (double)x[at];
}

typedef struct Sizes {
    bool trans_a, trans_b;
    int M, N, K, lda, ldb, ldc;
} Sizes;

static Sizes faulty_sizes(const Fault *fault, Sizes s) {
    bool trans_a = s.trans_a;
    s.trans_a = fault->ignores_trans_a ? false : fault->swaps_trans ? s.trans_b : s.trans_a;
    s.trans_b = fault->swaps_trans ? trans_a : s.trans_b;
    /* A flag that is taken wrong reads with the stride that would fit the wrong shape. */
    if (fault->ignores_ld || s.trans_a != trans_a || fault->swaps_trans) {
        s.lda = s.trans_a ? s.M : s.K;
        s.ldb = s.trans_b ? s.K : s.N;
    }
    s.K = fault->full_tiles_K ? s.K / 16 * 16 : fault->short_K && s.K > 0 ? s.K - 1 : s.K;
    s.M = fault->full_tiles_M ? s.M / 8 * 8 : s.M;
    return s;
}

static void faulty_matmul(const Fault *fault, float *c, const float *a, const float *b,
                          double alpha, double beta, Sizes sizes) {
    Sizes s = faulty_sizes(fault, sizes);
    for (int m = 0; m < s.M; m++) {
        for (int n = 0; n < s.N; n++) {
            double dot = 0.0;
            for (int k = 0; k < s.K; k++) {
                dot += operand(fault, a, s.trans_a, s.lda, m, k) *
                       operand(fault, b, s.trans_b, s.ldb, k, n);
            }
            float *c_mn = &c[(size_t)m * s.ldc + n];
            bool adds = !fault->ignores_beta && (fault->multiplies_zero_beta || beta != 0.0);
            double added = adds ? beta * (double)*c_mn : 0.0;
            double scale = fault->ignores_alpha ? 1.0 : alpha;
            *c_mn = (float)(scale * dot + (fault->alpha_on_both ? scale : 1.0) * added);
        }
    }
}

#define MATMUL_MUTANT(name, ...)                                                                   \
    static void matmul_##name(float *c, const float *a, const float *b, float alpha, float beta,   \
                              bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,   \
                              int ldc) {                                                           \
        const Fault fault = {__VA_ARGS__};                                                         \
        Sizes sizes = {trans_a, trans_b, M, N, K, lda, ldb, ldc};                                  \
        faulty_matmul(&fault, c, a, b, (double)alpha, (double)beta, sizes);                        \
    }

MATMUL_MUTANT(short_K, .short_K = true)
MATMUL_MUTANT(full_tiles_K, .full_tiles_K = true)
MATMUL_MUTANT(full_tiles_M, .full_tiles_M = true)
MATMUL_MUTANT(ignores_alpha, .ignores_alpha = true)
MATMUL_MUTANT(ignores_beta, .ignores_beta = true)
MATMUL_MUTANT(beta_reads_nan, .multiplies_zero_beta = true)
MATMUL_MUTANT(alpha_on_both, .alpha_on_both = true)
MATMUL_MUTANT(ignores_ld, .ignores_ld = true)
MATMUL_MUTANT(ignores_trans_a, .ignores_trans_a = true)
MATMUL_MUTANT(swaps_trans, .swaps_trans = true)
MATMUL_MUTANT(fp16, .fp16 = true)

/* ---- layers: the same product by its four other names --------------------------------------- */

static const Fault no_fault = {.ignores_beta = false};

static void forward_by(const Fault *fault, float *out, const float *inp, const float *weight,
                       const float *bias, Sizes s) {
    faulty_matmul(fault, out, inp, weight, 1.0, 0.0, s);
    for (int n = 0; bias != NULL && n < s.M; n++) {
        for (int oc = 0; oc < s.N; oc++) {
            float *out_n = out + (size_t)n * s.N;
            out_n[oc] = (float)((double)out_n[oc] + (double)bias[oc]);
        }
    }
}

static void forward_drops_bias(float *out, const float *inp, const float *weight, const float *bias,
                               int N, int C, int OC) {
    (void)bias;
    forward_by(&no_fault, out, inp, weight, NULL, (Sizes){false, true, N, OC, C, C, C, OC});
}

static void forward_short_C(float *out, const float *inp, const float *weight, const float *bias,
                            int N, int C, int OC) {
    const Fault fault = {.short_K = true};
    forward_by(&fault, out, inp, weight, bias, (Sizes){false, true, N, OC, C, C, C, OC});
}

static void forward_weight_untransposed(float *out, const float *inp, const float *weight,
                                        const float *bias, int N, int C, int OC) {
    forward_by(&no_fault, out, inp, weight, bias, (Sizes){false, false, N, OC, C, C, OC, OC});
}

/* The bias of the row, not of the column. */
static void forward_bias_by_row(float *out, const float *inp, const float *weight,
                                const float *bias, int N, int C, int OC) {
    forward_by(&no_fault, out, inp, weight, NULL, (Sizes){false, true, N, OC, C, C, C, OC});
    for (int n = 0; bias != NULL && n < N; n++) {
        for (int oc = 0; oc < OC; oc++) {
            out[(size_t)n * OC + oc] += bias[n % OC];
        }
    }
}

static void input_short_OC(float *dinp, const float *dout, const float *weight, int N, int C,
                           int OC) {
    const Fault fault = {.short_K = true};
    faulty_matmul(&fault, dinp, dout, weight, 1.0, 0.0, (Sizes){false, false, N, C, OC, OC, C, C});
}

static void input_weight_transposed(float *dinp, const float *dout, const float *weight, int N,
                                    int C, int OC) {
    faulty_matmul(&no_fault, dinp, dout, weight, 1.0, 0.0,
                  (Sizes){false, true, N, C, OC, OC, OC, C});
}

/* Adds to what is there: to poison, when nothing is. */
static void input_accumulates(float *dinp, const float *dout, const float *weight, int N, int C,
                              int OC) {
    faulty_matmul(&no_fault, dinp, dout, weight, 1.0, 1.0,
                  (Sizes){false, false, N, C, OC, OC, C, C});
}

static void weight_short_N(float *dweight, const float *dout, const float *inp, bool accumulate,
                           int N, int C, int OC) {
    const Fault fault = {.short_K = true};
    faulty_matmul(&fault, dweight, dout, inp, 1.0, accumulate ? 1.0 : 0.0,
                  (Sizes){true, false, OC, C, N, OC, C, C});
}

static void weight_never_accumulates(float *dweight, const float *dout, const float *inp,
                                     bool accumulate, int N, int C, int OC) {
    (void)accumulate;
    faulty_matmul(&no_fault, dweight, dout, inp, 1.0, 0.0,
                  (Sizes){true, false, OC, C, N, OC, C, C});
}

static void weight_always_accumulates(float *dweight, const float *dout, const float *inp,
                                      bool accumulate, int N, int C, int OC) {
    (void)accumulate;
    faulty_matmul(&no_fault, dweight, dout, inp, 1.0, 1.0,
                  (Sizes){true, false, OC, C, N, OC, C, C});
}

/* The mean over the batch, where the contract says sum. */
static void weight_mean_over_N(float *dweight, const float *dout, const float *inp, bool accumulate,
                               int N, int C, int OC) {
    faulty_matmul(&no_fault, dweight, dout, inp, N > 0 ? 1.0 / N : 1.0, accumulate ? 1.0 : 0.0,
                  (Sizes){true, false, OC, C, N, OC, C, C});
}

static void bias_by(float *dbias, const float *dout, bool accumulate, int first, int N, int OC) {
    for (int oc = 0; oc < OC; oc++) {
        double sum = accumulate ? (double)dbias[oc] : 0.0;
        for (int n = first; n < N; n++) {
            sum += (double)dout[(size_t)n * OC + oc];
        }
        dbias[oc] = (float)sum;
    }
}

static void bias_skips_first(float *dbias, const float *dout, bool accumulate, int N, int OC) {
    bias_by(dbias, dout, accumulate, 1, N, OC);
}

static void bias_never_accumulates(float *dbias, const float *dout, bool accumulate, int N,
                                   int OC) {
    (void)accumulate;
    bias_by(dbias, dout, false, 0, N, OC);
}

static void bias_always_accumulates(float *dbias, const float *dout, bool accumulate, int N,
                                    int OC) {
    (void)accumulate;
    bias_by(dbias, dout, true, 0, N, OC);
}

const Kernel mutants_matmul[] = {
    KERNEL(matmul, "short_K", "K - 1 products", 0, matmul_short_K),
    KERNEL(matmul, "full_tiles_K", "ignores the tail of K", 0, matmul_full_tiles_K),
    KERNEL(matmul, "full_tiles_M", "ignores the last rows", 0, matmul_full_tiles_M),
    KERNEL(matmul, "ignores_alpha", "alpha = 1", 0, matmul_ignores_alpha),
    KERNEL(matmul, "ignores_beta", "beta = 0", 0, matmul_ignores_beta),
    KERNEL(matmul, "beta_reads_nan", "0 * NaN", 0, matmul_beta_reads_nan),
    KERNEL(matmul, "alpha_on_both", "alpha * (a b + beta c)", 0, matmul_alpha_on_both),
    KERNEL(matmul, "ignores_ld", "width taken for lda, ldb", 0, matmul_ignores_ld),
    KERNEL(matmul, "ignores_trans_a", "a as it lies", 0, matmul_ignores_trans_a),
    KERNEL(matmul, "swaps_trans", "trans_b for trans_a", 0, matmul_swaps_trans),
    KERNEL(matmul, "fp16", "operands of 11 bits", 0, matmul_fp16),
    KERNEL(matmul_forward, "drops_bias", "no bias", 0, forward_drops_bias),
    KERNEL(matmul_forward, "short_C", "C - 1 products", 0, forward_short_C),
    KERNEL(matmul_forward, "weight_untransposed", "weight as (C,OC)", 0,
           forward_weight_untransposed),
    KERNEL(matmul_forward, "bias_by_row", "bias[n]", 0, forward_bias_by_row),
    KERNEL(matmul_backward_input, "short_OC", "OC - 1 products", 0, input_short_OC),
    KERNEL(matmul_backward_input, "weight_transposed", "weight as (C,OC)", 0,
           input_weight_transposed),
    KERNEL(matmul_backward_input, "accumulates", "adds to what is there", 0, input_accumulates),
    KERNEL(matmul_backward_weight, "short_N", "N - 1 products", 0, weight_short_N),
    KERNEL(matmul_backward_weight, "never_accumulates", "ignores the flag", 0,
           weight_never_accumulates),
    KERNEL(matmul_backward_weight, "always_accumulates", "ignores the flag", 0,
           weight_always_accumulates),
    KERNEL(matmul_backward_weight, "mean_over_N", "divides by N", 0, weight_mean_over_N),
    KERNEL(matmul_backward_bias, "skips_first", "N - 1 terms", 0, bias_skips_first),
    KERNEL(matmul_backward_bias, "never_accumulates", "ignores the flag", 0,
           bias_never_accumulates),
    KERNEL(matmul_backward_bias, "always_accumulates", "ignores the flag", 0,
           bias_always_accumulates),
    KERNEL_TABLE_END,
};

/* References of the matrix products: c = alpha * a . b + (what is added), row by row and column by
 * column.
 *
 * The bound (Higham, section 3.5, for any order of summation and with or without FMA):
 *
 *     |error| <= gamma_n (|alpha| |a| |b| + |added|),     n = K + [alpha not 1] + [something added]
 *
 * A term passes through its product, at most K - 1 additions among the K terms, the factor alpha
 * (which may as well stand on a or b) and the addition of c or the bias, from which a kernel may
 * equally well start its sum. Underflow: each of K products may lose 2^-150, which alpha then
 * multiplies; where alpha was put on a or on b first, that loss is multiplied by b or a. */
#include <assert.h>
#include <stdlib.h>

#include "verify/reference.h"

/* A matrix of rows x columns in float, element (i,j) at data[i * row_step + j * column_step]. */
typedef struct Operand {
    const float *data;
    size_t row_step, column_step;
} Operand;

static Operand stored(const float *data, size_t leading) {
    return (Operand){data, leading, 1};
}

static Operand transposed(const float *data, size_t leading) {
    return (Operand){data, 1, leading};
}

/* c (M,N) = alpha * a (M,K) . b (K,N) + beta * added, as addressed by added's steps; added.data may
 * be NULL. */
typedef struct Product {
    Operand a, b, added;
    double alpha, beta;
    size_t M, N, K;
} Product;

/* packed (rows, columns) = the operand in double, contiguous, for the inner loop. */
static double *packed(Operand x, size_t rows, size_t columns) {
    double *to = malloc((rows * columns + 1) * sizeof *to);
    assert(to != NULL && "out of memory in a reference");
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            to[i * columns + j] = (double)x.data[i * x.row_step + j * x.column_step];
        }
    }
    return to;
}

/* One element: dot product, sum of |a||b|, sums of |a| and of |b|. */
static Approx element(const double *a, const double *b, const Product *p, double added) {
    double dot = 0.0, magnitude = 0.0, operands = 0.0, K = (double)p->K;
#pragma omp simd reduction(+ : dot, magnitude, operands)
    for (size_t k = 0; k < p->K; k++) {
        dot += a[k] * b[k];
        magnitude += fabs(a[k] * b[k]);
        operands += fabs(a[k]) + fabs(b[k]);
    }
    bool scaled = p->alpha != 1.0, adds = p->added.data != NULL;
    double n = K + (scaled ? 1.0 : 0.0) + (adds ? 1.0 : 0.0), alpha = fabs(p->alpha);
    double underflow = UNDERFLOW_ERROR * ((K + 1.0) * (1.0 + alpha) + (scaled ? operands : 0.0));
    return (Approx){p->alpha * dot + added,
                    gamma_n(n) * (alpha * magnitude + fabs(added)) + underflow};
}

static void product(Approx *out, const Product *p) {
    double *a = packed(p->a, p->M, p->K);
    double *b = packed((Operand){p->b.data, p->b.column_step, p->b.row_step}, p->N, p->K);
    for (size_t m = 0; m < p->M; m++) {
        for (size_t n = 0; n < p->N; n++) {
            size_t at = m * p->added.row_step + n * p->added.column_step;
            double added = p->added.data != NULL ? p->beta * (double)p->added.data[at] : 0.0;
            out[m * p->N + n] = element(a + m * p->K, b + n * p->K, p, added);
        }
    }
    free(a);
    free(b);
}

static size_t leading(const OpCall *call, const char *option, size_t width) {
    double value = reference_option(call, option);
    return value != 0.0 ? (size_t)value : width;
}

void reference_matmul(const OpCall *call, const Reference *reference) {
    size_t M = reference_size(call, "M"), N = reference_size(call, "N"),
           K = reference_size(call, "K");
    const float *a = reference_in(call, "a"), *b = reference_in(call, "b");
    bool trans_a = reference_option(call, "trans_a") != 0.0;
    bool trans_b = reference_option(call, "trans_b") != 0.0;
    size_t lda = leading(call, "lda", trans_a ? M : K), ldb = leading(call, "ldb", trans_b ? K : N);
    double beta = reference_option(call, "beta");
    Product p = {
        .a = trans_a ? transposed(a, lda) : stored(a, lda),
        .b = trans_b ? transposed(b, ldb) : stored(b, ldb),
        .added = stored(beta != 0.0 ? reference_in(call, "c") : NULL, leading(call, "ldc", N)),
        .alpha = reference_option(call, "alpha"),
        .beta = beta,
        .M = M,
        .N = N,
        .K = reference_option(call, "alpha") != 0.0 ? K : 0, /* an infinity in a or b is not read */
    };
    product(reference_out(reference, "c"), &p);
}

void reference_matmul_forward(const OpCall *call, const Reference *reference) {
    size_t C = reference_size(call, "C");
    Product p = {
        .a = stored(reference_in(call, "inp"), C),
        .b = transposed(reference_in(call, "weight"), C),
        .added = {reference_in(call, "bias"), 0, 1},
        .alpha = 1.0,
        .beta = 1.0,
        .M = reference_size(call, "N"),
        .N = reference_size(call, "OC"),
        .K = C,
    };
    product(reference_out(reference, "out"), &p);
}

void reference_matmul_backward_input(const OpCall *call, const Reference *reference) {
    size_t C = reference_size(call, "C"), OC = reference_size(call, "OC");
    Product p = {
        .a = stored(reference_in(call, "dout"), OC),
        .b = stored(reference_in(call, "weight"), C),
        .alpha = 1.0,
        .M = reference_size(call, "N"),
        .N = C,
        .K = OC,
    };
    product(reference_out(reference, "dinp"), &p);
}

void reference_matmul_backward_weight(const OpCall *call, const Reference *reference) {
    size_t C = reference_size(call, "C"), OC = reference_size(call, "OC");
    bool accumulate = reference_option(call, "accumulate") != 0.0;
    Product p = {
        .a = transposed(reference_in(call, "dout"), OC),
        .b = stored(reference_in(call, "inp"), C),
        .added = stored(accumulate ? reference_in(call, "dweight") : NULL, C),
        .alpha = 1.0,
        .beta = 1.0,
        .M = OC,
        .N = C,
        .K = reference_size(call, "N"),
    };
    product(reference_out(reference, "dweight"), &p);
}

/* A sum of N terms, and one more if accumulated: gamma_N sum of |terms|. The contract asks for no
 * particular order here. */
void reference_matmul_backward_bias(const OpCall *call, const Reference *reference) {
    size_t N = reference_size(call, "N"), OC = reference_size(call, "OC");
    const float *dout = reference_in(call, "dout");
    bool accumulate = reference_option(call, "accumulate") != 0.0;
    Approx *out = reference_out(reference, "dbias");
    for (size_t oc = 0; oc < OC; oc++) {
        double sum = accumulate ? (double)reference_in(call, "dbias")[oc] : 0.0;
        double magnitude = fabs(sum);
        for (size_t n = 0; n < N; n++) {
            sum += (double)dout[n * OC + oc];
            magnitude += fabs((double)dout[n * OC + oc]);
        }
        double terms = (double)N + (accumulate ? 1.0 : 0.0);
        out[oc] = (Approx){sum, gamma_n(fmax(terms - 1.0, 0.0)) * magnitude};
    }
}

/* The fronts of vectors, reductions and matrix products. Each reads the same: check what is
 * checkable, pass over empty work, then begin, call the chosen kernel, end with what the contract
 * says the operation needs. */
#include "ops/front_call.h"

/* ---- vectors -------------------------------------------------------------------------------- */

Status op_fill(const Backend *be, float *x, float value, size_t n) {
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_fill, x);
    OpSpan span = front_begin(be, OP_fill);
    be->ops.fill(x, value, n);
    return front_end(span, 0, floats((double)n));
}

Status op_copy(const Backend *be, float *out, const float *inp, size_t n) {
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_copy, out, inp);
    OpSpan span = front_begin(be, OP_copy);
    be->ops.copy(out, inp, n);
    return front_end(span, 0, floats(2.0 * (double)n));
}

Status op_vector_add(const Backend *be, float *out, const float *a, const float *b, size_t n) {
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_vector_add, out, a, b);
    OpSpan span = front_begin(be, OP_vector_add);
    be->ops.vector_add(out, a, b, n);
    return front_end(span, (double)n, floats(3.0 * (double)n));
}

Status op_axpy(const Backend *be, float *y, const float *x, float alpha, size_t n) {
    if (n == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_axpy, y, x);
    OpSpan span = front_begin(be, OP_axpy);
    be->ops.axpy(y, x, alpha, n);
    return front_end(span, 2.0 * (double)n, floats(3.0 * (double)n));
}

/* ---- matrices ------------------------------------------------------------------------------- */

Status op_transpose(const Backend *be, float *out, const float *inp, int M, int N) {
    CHECK_SIZES(OP_transpose, M, N);
    if (M == 0 || N == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_transpose, out, inp);
    OpSpan span = front_begin(be, OP_transpose);
    be->ops.transpose(out, inp, M, N);
    return front_end(span, 0, floats(2.0 * M * N));
}

/* The checks of all row reductions; empty_allowed: no numbers have a value, as in a sum. */
static Status check_reduction(OpId op, const void *out, const void *inp, int M, size_t N,
                              bool empty_allowed) {
    CHECK_SIZES(op, M);
    if (M > 0 && N == 0 && !empty_allowed) {
        return fail("%s: N is 0; an empty row has no %s", op_name(op), op_name(op));
    }
    if (N > SIZE_MAX / sizeof(float) / (size_t)(M > 0 ? M : 1)) {
        return fail("%s: M %d times N %zu is more than an address can hold", op_name(op), M, N);
    }
    if (M > 0) {
        CHECK_POINTERS(op, out);
    }
    if (M > 0 && N > 0) {
        CHECK_POINTERS(op, inp);
    }
    return STATUS_OK;
}

Status op_sum(const Backend *be, float *out, const float *inp, int M, size_t N) {
    TRY(check_reduction(OP_sum, out, inp, M, N, true));
    if (M == 0) {
        return STATUS_OK;
    }
    OpSpan span = front_begin(be, OP_sum);
    be->ops.sum(out, inp, M, N);
    return front_end(span, M * (double)N, floats(M * (double)N + M));
}

Status op_mean(const Backend *be, float *out, const float *inp, int M, size_t N) {
    TRY(check_reduction(OP_mean, out, inp, M, N, false));
    if (M == 0) {
        return STATUS_OK;
    }
    OpSpan span = front_begin(be, OP_mean);
    be->ops.mean(out, inp, M, N);
    return front_end(span, M * ((double)N + 1), floats(M * (double)N + M));
}

Status op_max(const Backend *be, float *out, const float *inp, int M, size_t N) {
    TRY(check_reduction(OP_max, out, inp, M, N, false));
    if (M == 0) {
        return STATUS_OK;
    }
    OpSpan span = front_begin(be, OP_max);
    be->ops.max(out, inp, M, N);
    return front_end(span, 0, floats(M * (double)N + M));
}

Status op_argmax(const Backend *be, int32_t *out, const float *inp, int M, int N) {
    CHECK_SIZES(OP_argmax, N);
    TRY(check_reduction(OP_argmax, out, inp, M, (size_t)N, false));
    if (M == 0) {
        return STATUS_OK;
    }
    OpSpan span = front_begin(be, OP_argmax);
    be->ops.argmax(out, inp, M, N);
    return front_end(span, 0, floats((double)M * N + M));
}

/* ---- matrix products ------------------------------------------------------------------------ */

/* width: the stored row's. */
static Status check_leading(const char *name, int leading, int width) {
    return leading >= width ? STATUS_OK
                            : fail("matmul: %s is %d, and a stored row has %d elements; make it at "
                                   "least that",
                                   name, leading, width);
}

/* The sizes and leading dimensions of op_matmul. */
static Status check_matmul(bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                           int ldc) {
    CHECK_SIZES(OP_matmul, M, N, K);
    TRY(check_leading("lda", lda, trans_a ? M : K));
    TRY(check_leading("ldb", ldb, trans_b ? K : N));
    return check_leading("ldc", ldc, N);
}

/* A leading dimension of 0 (rows of no elements) is an error to BLAS; nothing is read then. */
static int at_least_1(int leading) {
    return leading > 0 ? leading : 1;
}

Status op_matmul(const Backend *be, float *c, const float *a, const float *b, float alpha,
                 float beta, bool trans_a, bool trans_b, int M, int N, int K, int lda, int ldb,
                 int ldc) {
    TRY(check_matmul(trans_a, trans_b, M, N, K, lda, ldb, ldc));
    if (M == 0 || N == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_matmul, c);
    K = alpha == 0.0f ? 0 : K;
    if (K > 0) {
        CHECK_POINTERS(OP_matmul, a, b);
    }
    OpSpan span = front_begin(be, OP_matmul);
    be->ops.matmul(c, a, b, alpha, beta, trans_a, trans_b, M, N, K, at_least_1(lda),
                   at_least_1(ldb), ldc);
    double c_passes = beta == 0.0f ? 1.0 : 2.0;
    return front_end(span, 2.0 * M * N * K,
                     floats((double)M * K + (double)K * N + c_passes * M * N));
}

Status op_matmul_forward(const Backend *be, float *out, const float *inp, const float *weight,
                         const float *bias, int N, int C, int OC) {
    CHECK_SIZES(OP_matmul_forward, N, C, OC);
    if (N == 0 || OC == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_matmul_forward, out);
    if (C > 0) {
        CHECK_POINTERS(OP_matmul_forward, inp, weight);
    }
    OpSpan span = front_begin(be, OP_matmul_forward);
    be->ops.matmul_forward(out, inp, weight, bias, N, C, OC);
    double elements = (double)N * C + (double)OC * C + (double)N * OC + (bias != NULL ? OC : 0);
    return front_end(span, 2.0 * N * C * OC, floats(elements));
}

Status op_matmul_backward_input(const Backend *be, float *dinp, const float *dout,
                                const float *weight, int N, int C, int OC) {
    CHECK_SIZES(OP_matmul_backward_input, N, C, OC);
    if (N == 0 || C == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_matmul_backward_input, dinp);
    if (OC > 0) {
        CHECK_POINTERS(OP_matmul_backward_input, dout, weight);
    }
    OpSpan span = front_begin(be, OP_matmul_backward_input);
    be->ops.matmul_backward_input(dinp, dout, weight, N, C, OC);
    return front_end(span, 2.0 * N * C * OC,
                     floats((double)N * C + (double)OC * C + (double)N * OC));
}

Status op_matmul_backward_weight(const Backend *be, float *dweight, const float *dout,
                                 const float *inp, bool accumulate, int N, int C, int OC) {
    CHECK_SIZES(OP_matmul_backward_weight, N, C, OC);
    if (C == 0 || OC == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_matmul_backward_weight, dweight);
    if (N > 0) {
        CHECK_POINTERS(OP_matmul_backward_weight, dout, inp);
    }
    OpSpan span = front_begin(be, OP_matmul_backward_weight);
    be->ops.matmul_backward_weight(dweight, dout, inp, accumulate, N, C, OC);
    double passes = accumulate ? 2.0 : 1.0;
    double elements = (double)N * C + (double)N * OC + passes * OC * C;
    return front_end(span, 2.0 * N * C * OC, floats(elements));
}

Status op_matmul_backward_bias(const Backend *be, float *dbias, const float *dout, bool accumulate,
                               int N, int OC) {
    CHECK_SIZES(OP_matmul_backward_bias, N, OC);
    if (OC == 0) {
        return STATUS_OK;
    }
    CHECK_POINTERS(OP_matmul_backward_bias, dbias);
    if (N > 0) {
        CHECK_POINTERS(OP_matmul_backward_bias, dout);
    }
    OpSpan span = front_begin(be, OP_matmul_backward_bias);
    be->ops.matmul_backward_bias(dbias, dout, accumulate, N, OC);
    double passes = accumulate ? 2.0 : 1.0;
    return front_end(span, (double)N * OC, floats((double)N * OC + passes * OC));
}

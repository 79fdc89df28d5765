/* References of vectors, transpose and row reductions. */
#include "verify/reference.h"

/* Exact: no rounding happens. */
void reference_fill(const OpCall *call, const Reference *reference) {
    Approx *x = reference_out(reference, "x");
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        x[i] = approx_exact(reference_option(call, "value"));
    }
}

/* Exact. */
void reference_copy(const OpCall *call, const Reference *reference) {
    const float *inp = reference_in(call, "inp");
    Approx *out = reference_out(reference, "out");
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        out[i] = approx_exact((double)inp[i]);
    }
}

/* One rounding: u|a + b|. */
void reference_vector_add(const OpCall *call, const Reference *reference) {
    const float *a = reference_in(call, "a"), *b = reference_in(call, "b");
    Approx *out = reference_out(reference, "out");
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        out[i] = approx_add(approx_exact((double)a[i]), approx_exact((double)b[i]));
    }
}

/* Two roundings, or one when fused: u|alpha x| + u|y + alpha x|. */
void reference_axpy(const OpCall *call, const Reference *reference) {
    const float *x = reference_in(call, "x"), *y = reference_in(call, "y");
    Approx alpha = approx_exact(reference_option(call, "alpha"));
    Approx *out = reference_out(reference, "y");
    for (size_t i = 0; i < reference_size(call, "n"); i++) {
        out[i] =
            approx_add(approx_exact((double)y[i]), approx_mul(alpha, approx_exact((double)x[i])));
    }
}

/* Exact. */
void reference_transpose(const OpCall *call, const Reference *reference) {
    size_t M = reference_size(call, "M"), N = reference_size(call, "N");
    const float *inp = reference_in(call, "inp");
    Approx *out = reference_out(reference, "out");
    for (size_t m = 0; m < M; m++) {
        for (size_t n = 0; n < N; n++) {
            out[n * M + m] = approx_exact((double)inp[m * N + n]);
        }
    }
}

/* How many roundings one number may pass through in a sum of N: the contract asks for pairwise
 * summation or better, so ceil(log2 N), and grants blocks of up to this many additions in a row at
 * the leaves (CPU lanes, GPU threads that stride). A running sum of fp32 has N - 1. */
enum { SUM_BLOCK = 128 };

static double sum_depth(size_t N) {
    double plain = N > 0 ? (double)(N - 1) : 0.0;
    return fmin(plain, SUM_BLOCK + ceil(log2((double)N + 1.0)));
}

/* |error| <= gamma_depth * sum of |x| (Higham, eq. 4.4 and 4.6). The reference's own sum carries
 * its rounding errors along (Neumaier 1974), so its error does not grow with N: 2^-53 of the
 * result, and N^2 2^-106 of the magnitude. */
static Approx sum_of(const float *x, size_t N) {
    double sum = 0.0, lost = 0.0, magnitude = 0.0;
    for (size_t n = 0; n < N; n++) {
        double next = (double)x[n], total = sum + next;
        lost += fabs(sum) >= fabs(next) ? (sum - total) + next : (next - total) + sum;
        sum = total;
        magnitude += fabs(next);
    }
    /* Infinity loses nothing, but inf - inf would make a NaN of it. */
    return (Approx){isfinite(sum) ? sum + lost : sum, gamma_n(sum_depth(N)) * magnitude};
}

void reference_sum(const OpCall *call, const Reference *reference) {
    size_t M = reference_size(call, "M"), N = reference_size(call, "N");
    Approx *out = reference_out(reference, "out");
    for (size_t m = 0; m < M; m++) {
        out[m] = sum_of(reference_in(call, "inp") + m * N, N);
    }
}

/* The sum over N, or times 1/N. Above 2^24 N itself is rounded. */
void reference_mean(const OpCall *call, const Reference *reference) {
    size_t M = reference_size(call, "M"), N = reference_size(call, "N");
    Approx *out = reference_out(reference, "out");
    Approx count = {(double)N, N > (1u << 24) ? UNIT_ROUNDOFF * (double)N : 0.0};
    Approx inverse = approx_div(approx_exact(1.0), count);
    for (size_t m = 0; m < M; m++) {
        Approx sum = sum_of(reference_in(call, "inp") + m * N, N);
        out[m] = approx_either(approx_div(sum, count), approx_mul(sum, inverse));
    }
}

/* The index of the largest: the lowest of equals, the first NaN. */
static size_t largest_index(const float *x, size_t N) {
    size_t best = 0;
    for (size_t n = 0; n < N; n++) {
        if (isnan(x[n])) {
            return n;
        }
        best = x[n] > x[best] ? n : best;
    }
    return best;
}

/* Exact: comparisons do not round. */
void reference_max(const OpCall *call, const Reference *reference) {
    size_t M = reference_size(call, "M"), N = reference_size(call, "N");
    Approx *out = reference_out(reference, "out");
    for (size_t m = 0; m < M; m++) {
        const float *inp_m = reference_in(call, "inp") + m * N;
        out[m] = approx_exact((double)inp_m[largest_index(inp_m, N)]);
    }
}

void reference_argmax(const OpCall *call, const Reference *reference) {
    size_t M = reference_size(call, "M"), N = reference_size(call, "N");
    Approx *out = reference_out(reference, "out");
    for (size_t m = 0; m < M; m++) {
        out[m] = approx_exact((double)largest_index(reference_in(call, "inp") + m * N, N));
    }
}

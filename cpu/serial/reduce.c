/* Row reductions of inp (M,N), on one thread: sum, mean, max, argmax.
 *
 * Limit: memory, once the additions no longer wait for each other. A single fp32 accumulator is
 * both slow (each addition waits some 4 cycles for the last) and wrong: past 2^24 it no longer
 * notices a 1. The ladder shows two cures for the rounding, and one that cures the waiting too. */
#include "cpu/serial/serial.h"
#include "ops/formulas.h"
#include "ops/pairwise.h"

/* 53 bits instead of 24: 2^29 ones more before the same thing happens. */
static double sum_in_double(const float *x, size_t n) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)x[i];
    }
    return sum;
}

static void sum_double_serial(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        out[m] = (float)sum_in_double(inp + m * N, N);
    }
}

static void mean_double_serial(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        out[m] = (float)(sum_in_double(inp + m * N, N) / (double)N);
    }
}

/* Kahan 1965: lost holds what the last addition rounded away, and the next one gives it back. When
 * the sum is infinite, lost is NaN; it must not spoil the answer. */
static float sum_kahan(const float *x, size_t n) {
    float sum = 0.0f, lost = 0.0f;
    for (size_t i = 0; i < n; i++) {
        float term = x[i] - lost;
        float next = sum + term;
        lost = isfinite(next) ? (next - sum) - term : 0.0f;
        sum = next;
    }
    return sum;
}

static void sum_kahan_serial(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        out[m] = sum_kahan(inp + m * N, N);
    }
}

static void mean_kahan_serial(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        out[m] = (float)((double)sum_kahan(inp + m * N, N) / (double)N);
    }
}

static void sum_pairwise_serial(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        out[m] = pairwise_sum(inp + m * N, N);
    }
}

static void mean_pairwise_serial(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        out[m] = (float)((double)pairwise_sum(inp + m * N, N) / (double)N);
    }
}

static float row_max_naive(const float *x, size_t n) {
    float best = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        best = larger(best, x[i]);
    }
    return best;
}

static void max_naive_serial(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        out[m] = row_max_naive(inp + m * N, N);
    }
}

static void max_lanes_serial(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        out[m] = row_max(inp + m * N, N);
    }
}

static void argmax_serial(int32_t *out, const float *inp, int M, int N) {
    for (int m = 0; m < M; m++) {
        out[m] = row_argmax(inp + (size_t)m * N, N);
    }
}

const Kernel reduce_kernels_serial[] = {
    KERNEL(sum, "double_accumulator", "one accumulator with 53 bits", 0, sum_double_serial),
    KERNEL(sum, "kahan", "one fp32 accumulator that is told what it lost", 0, sum_kahan_serial),
    KERNEL_DEFAULT(sum, "pairwise", "a tree of sums: log N roundings, and no addition waits", 0,
                   sum_pairwise_serial),
    KERNEL(mean, "double_accumulator", "one accumulator with 53 bits", 0, mean_double_serial),
    KERNEL(mean, "kahan", "one fp32 accumulator that is told what it lost", 0, mean_kahan_serial),
    KERNEL_DEFAULT(mean, "pairwise", "a tree of sums: log N roundings, and no addition waits", 0,
                   mean_pairwise_serial),
    KERNEL(max, "naive", "one running maximum", 0, max_naive_serial),
    KERNEL_DEFAULT(max, "lanes", "32 running maxima, in vector registers", 0, max_lanes_serial),
    KERNEL_DEFAULT(argmax, "naive", "one running maximum and its index", 0, argmax_serial),
    KERNEL_TABLE_END,
};

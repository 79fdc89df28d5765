/* Wrong kernels of vectors, transpose and row reductions. The name says the fault. */
#include <math.h>

#include "verify/mutants.h"

/* ---- vectors -------------------------------------------------------------------------------- */

static void fill_without_tail(float *x, float value, size_t n) {
    for (size_t i = 0; i < n / 4 * 4; i++) {
        x[i] = value;
    }
}

static void copy_without_tail(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n / 8 * 8; i++) {
        out[i] = inp[i];
    }
}

/* NaN and -0 pass through arithmetic that a copy must not do: here the NaN goes. */
static void copy_without_nan(float *out, const float *inp, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = fmaxf(inp[i], -INFINITY);
    }
}

/* Right, unless out is b. */
static void vector_add_not_in_place(float *out, const float *a, const float *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = a[i];
    }
    for (size_t i = 0; i < n; i++) {
        out[i] += b[i];
    }
}

static void vector_add_16_bit_grid(float *out, const float *a, const float *b, size_t n) {
    for (size_t i = 0; i < n && i < 65535; i++) { /* one thread short of a 16-bit grid */
        out[i] = a[i] + b[i];
    }
}

static void axpy_ignores_alpha(float *y, const float *x, float alpha, size_t n) {
    (void)alpha;
    for (size_t i = 0; i < n; i++) {
        y[i] += x[i];
    }
}

static void axpy_overwrites(float *y, const float *x, float alpha, size_t n) {
    for (size_t i = 0; i < n; i++) {
        y[i] = alpha * x[i];
    }
}

static void axpy_scales_y(float *y, const float *x, float alpha, size_t n) {
    for (size_t i = 0; i < n; i++) {
        y[i] = alpha * y[i] + x[i];
    }
}

/* ---- transpose ------------------------------------------------------------------------------ */

/* Right for squares. */
static void transpose_square_only(float *out, const float *inp, int M, int N) {
    for (int m = 0; m < M; m++) {
        for (int n = 0; n < N; n++) {
            size_t at = (size_t)n * N + m;
            if (at < (size_t)M * N) {
                out[at] = inp[(size_t)m * N + n];
            }
        }
    }
}

static void transpose_full_tiles(float *out, const float *inp, int M, int N) {
    for (int m = 0; m < M / 32 * 32; m++) {
        for (int n = 0; n < N / 32 * 32; n++) {
            out[(size_t)n * M + m] = inp[(size_t)m * N + n];
        }
    }
}

/* ---- reductions ----------------------------------------------------------------------------- */

/* Adds one after the other: of 20,000,000 ones it finds 2^24. */
static void sum_running(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        float sum = 0.0f;
        for (size_t n = 0; n < N; n++) {
            sum += inp[(size_t)m * N + n];
        }
        out[m] = sum;
    }
}

/* A tree over the largest power of two only (case 4). */
static void sum_power_of_two(float *out, const float *inp, int M, size_t N) {
    size_t used = 1;
    while (used * 2 <= N) {
        used *= 2;
    }
    for (int m = 0; m < M; m++) {
        double sum = 0.0;
        for (size_t n = 0; n < used && n < N; n++) {
            sum += (double)inp[(size_t)m * N + n];
        }
        out[m] = (float)sum;
    }
}

static void sum_512_at_most(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        double sum = 0.0;
        for (size_t n = 0; n < N && n < 512; n++) {
            sum += (double)inp[(size_t)m * N + n];
        }
        out[m] = (float)sum;
    }
}

static double row_sum(const float *inp, size_t m, size_t N) {
    double sum = 0.0;
    for (size_t n = 0; n < N; n++) {
        sum += (double)inp[m * N + n];
    }
    return sum;
}

/* Counts in float, which stops at 2^24 (case 5). */
static void mean_counts_in_float(float *out, const float *inp, int M, size_t N) {
    float count = (float)(N < (1u << 24) ? N : 1u << 24);
    for (int m = 0; m < M; m++) {
        out[m] = (float)(row_sum(inp, (size_t)m, N) / (double)count);
    }
}

static void mean_16_bit_count(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        out[m] = (float)(row_sum(inp, (size_t)m, N) / (double)(uint16_t)N);
    }
}

static void mean_running(float *out, const float *inp, int M, size_t N) {
    sum_running(out, inp, M, N);
    for (int m = 0; m < M; m++) {
        out[m] /= (float)N;
    }
}

static void mean_not_divided(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        out[m] = (float)row_sum(inp, (size_t)m, N);
    }
}

/* Rows of negative numbers have a largest one below 0. */
static void max_from_zero(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        float best = 0.0f;
        for (size_t n = 0; n < N; n++) {
            float x = inp[(size_t)m * N + n];
            best = x > best || x != x ? x : best;
        }
        out[m] = best;
    }
}

static void max_loses_nan(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        out[m] = -INFINITY;
        for (size_t n = 0; n < N; n++) {
            out[m] = fmaxf(out[m], inp[(size_t)m * N + n]);
        }
    }
}

static void max_without_last(float *out, const float *inp, int M, size_t N) {
    for (int m = 0; m < M; m++) {
        float best = inp[(size_t)m * N];
        for (size_t n = 0; n + 1 < N; n++) {
            float x = inp[(size_t)m * N + n];
            best = x > best || x != x ? x : best;
        }
        out[m] = best;
    }
}

static void argmax_last_of_ties(int32_t *out, const float *inp, int M, int N) {
    for (int m = 0; m < M; m++) {
        const float *inp_m = inp + (size_t)m * N;
        int best = 0;
        for (int n = 1; n < N && inp_m[best] == inp_m[best]; n++) {
            best = inp_m[n] >= inp_m[best] || inp_m[n] != inp_m[n] ? n : best;
        }
        out[m] = best;
    }
}

static void argmax_ignores_nan(int32_t *out, const float *inp, int M, int N) {
    for (int m = 0; m < M; m++) {
        const float *inp_m = inp + (size_t)m * N;
        int best = 0;
        for (int n = 1; n < N; n++) {
            best = inp_m[n] > inp_m[best] ? n : best;
        }
        out[m] = best;
    }
}

static void argmax_from_one(int32_t *out, const float *inp, int M, int N) {
    argmax_last_of_ties(out, inp, M, N);
    for (int m = 0; m < M; m++) {
        out[m]++;
    }
}

const Kernel mutants_vector[] = {
    KERNEL(fill, "without_tail", "writes multiples of 4", 0, fill_without_tail),
    KERNEL(copy, "without_tail", "copies multiples of 8", 0, copy_without_tail),
    KERNEL(copy, "without_nan", "NaN becomes -infinity", 0, copy_without_nan),
    KERNEL(vector_add, "not_in_place", "reads b after writing out", 0, vector_add_not_in_place),
    KERNEL(vector_add, "16_bit_grid", "stops at 65,535", 0, vector_add_16_bit_grid),
    KERNEL(axpy, "ignores_alpha", "adds x itself", 0, axpy_ignores_alpha),
    KERNEL(axpy, "overwrites", "loses y", 0, axpy_overwrites),
    KERNEL(axpy, "scales_y", "alpha at the wrong operand", 0, axpy_scales_y),
    KERNEL(transpose, "square_only", "N for M in the stride", 0, transpose_square_only),
    KERNEL(transpose, "full_tiles", "leaves the rest of 32", 0, transpose_full_tiles),
    KERNEL(sum, "running", "error grows like N", 0, sum_running),
    KERNEL(sum, "power_of_two", "a tree without the rest", 0, sum_power_of_two),
    KERNEL(sum, "512_at_most", "one block only", 0, sum_512_at_most),
    KERNEL(mean, "counts_in_float", "stops at 2^24", 0, mean_counts_in_float),
    KERNEL(mean, "16_bit_count", "N modulo 65,536", 0, mean_16_bit_count),
    KERNEL(mean, "running", "error grows like N", 0, mean_running),
    KERNEL(mean, "not_divided", "a sum", 0, mean_not_divided),
    KERNEL(max, "from_zero", "starts at 0", 0, max_from_zero),
    KERNEL(max, "loses_nan", "fmaxf passes over NaN", 0, max_loses_nan),
    KERNEL(max, "without_last", "one comparison short", 0, max_without_last),
    KERNEL(argmax, "last_of_ties", ">= for >", 0, argmax_last_of_ties),
    KERNEL(argmax, "ignores_nan", "NaN loses every comparison", 0, argmax_ignores_nan),
    KERNEL(argmax, "from_one", "Fortran's index", 0, argmax_from_one),
    KERNEL_TABLE_END,
};

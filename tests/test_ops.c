/* What the operations compute: cases worked by hand, on every backend and every kernel. The matrix
 * products have a file of their own. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "every_kernel.h"
#include "ops/elementary.h"

static const float from_1_to_6[] = {1, 2, 3, 4, 5, 6};

static void check_near(float got, double expected, double tolerance, const char *who) {
    cr_assert(fabs((double)got - expected) <= tolerance, "%s: %.9g, expected %.9g", who,
              (double)got, expected); /* written so that NaN fails */
}

/* ---- vectors and transposition ------------------------------------------------------------- */

static void check_fill(const Backend *be, const char *who) {
    float x[4] = {1, 2, NAN, 4};
    OK(op_fill(be, x, -0.5f, 3));
    cr_assert(x[0] == -0.5f && x[1] == -0.5f && x[2] == -0.5f && x[3] == 4, "%s", who);
}

static void check_copy(const Backend *be, const char *who) {
    float x[4] = {0, 0, 0, 9};
    OK(op_copy(be, x, from_1_to_6, 3));
    cr_assert(x[0] == 1 && x[1] == 2 && x[2] == 3 && x[3] == 9, "%s", who);
}

static void check_vector_add(const Backend *be, const char *who) {
    float x[4] = {10, 20, 30, 9};
    OK(op_vector_add(be, x, x, from_1_to_6, 3));
    cr_assert(x[0] == 11 && x[1] == 22 && x[2] == 33 && x[3] == 9, "%s: out is a", who);
    OK(op_vector_add(be, x, from_1_to_6, x, 3));
    cr_assert(x[0] == 12 && x[1] == 24 && x[2] == 36 && x[3] == 9, "%s: out is b", who);
}

static void check_axpy(const Backend *be, const char *who) {
    float y[4] = {10, 20, 30, 9}, nan[1] = {NAN};
    OK(op_axpy(be, y, from_1_to_6, -2, 3));
    cr_assert(y[0] == 8 && y[1] == 16 && y[2] == 24 && y[3] == 9, "%s", who);
    OK(op_axpy(be, y, nan, 0, 1));
    cr_assert(isnan(y[0]), "%s: 0 times NaN is NaN", who);
}

static void check_transpose(const Backend *be, const char *who) {
    enum { M = 67, N = 131 };
    static float inp[M * N], out[N * M];
    for (int i = 0; i < M * N; i++) {
        inp[i] = (float)i;
    }
    OK(op_transpose(be, out, inp, M, N));
    for (int m = 0; m < M; m++) {
        for (int n = 0; n < N; n++) {
            cr_assert_eq(out[n * M + m], (float)(m * N + n), "%s: row %d, column %d", who, m, n);
        }
    }
    float small[6];
    OK(op_transpose(be, small, from_1_to_6, 2, 3));
    cr_assert(small[0] == 1 && small[1] == 4 && small[2] == 2 && small[5] == 6, "%s", who);
}

Test(vector, fill_writes_n_elements) {
    on_every_kernel(OP_fill, check_fill);
}
Test(vector, copy_writes_n_elements) {
    on_every_kernel(OP_copy, check_copy);
}
Test(vector, vector_add_may_write_onto_an_input) {
    on_every_kernel(OP_vector_add, check_vector_add);
}
Test(vector, axpy_adds_a_multiple_and_keeps_nan) {
    on_every_kernel(OP_axpy, check_axpy);
}
Test(matrix, transpose_takes_sizes_off_the_tile) {
    on_every_kernel(OP_transpose, check_transpose);
}

/* ---- reductions ---------------------------------------------------------------------------- */

static float *counting(size_t n, float start, float step) {
    float *x = malloc(n * sizeof *x);
    cr_assert_not_null(x);
    for (size_t i = 0; i < n; i++) {
        x[i] = start + step * (float)i;
    }
    return x;
}

/* Cases 4 and 5 of the design's list of public faults. */
static void check_sum(const Backend *be, const char *who) {
    float *one_up = counting(48, 1, 1), *ones = counting(768, 1, 0), *up = counting(10000, 0, 1);
    float sum = NAN;
    OK(op_sum(be, &sum, one_up, 1, 48));
    cr_assert_eq(sum, 1176, "%s: 1 + ... + 48 is %g", who, (double)sum);
    OK(op_sum(be, &sum, ones, 1, 768));
    cr_assert_eq(sum, 768, "%s: 768 ones are %g", who, (double)sum);
    OK(op_sum(be, &sum, one_up + 41, 1, 1));
    cr_assert_eq(sum, 42, "%s: one number", who);
    OK(op_sum(be, &sum, NULL, 1, 0));
    cr_assert_eq(sum, 0, "%s: no number", who);
    OK(op_sum(be, &sum, up, 1, 10000));
    cr_assert_eq(sum, 49995000, "%s: 0 + ... + 9999 is %.9g", who, (double)sum);
    up[777] = NAN;
    OK(op_sum(be, &sum, up, 1, 10000));
    cr_assert(isnan(sum), "%s: NaN is lost", who);
    float rows[3] = {NAN, NAN, NAN};
    OK(op_sum(be, rows, from_1_to_6, 3, 2));
    cr_assert(rows[0] == 3 && rows[1] == 7 && rows[2] == 11, "%s: rows", who);
    free(one_up);
    free(ones);
    free(up);
}

static void check_mean(const Backend *be, const char *who) {
    enum { N = 20000000 };
    float *ones = counting(N, 1, 0), mean = NAN;
    OK(op_mean(be, &mean, ones, 1, N));
    cr_assert_eq(mean, 1, "%s: the mean of 20,000,000 ones is %.9g", who, (double)mean);
    float rows[2];
    OK(op_mean(be, rows, from_1_to_6, 2, 3));
    cr_assert(rows[0] == 2 && rows[1] == 5, "%s: rows", who);
    free(ones);
}

static void check_max(const Backend *be, const char *who) {
    static float x[40000];
    float largest = 0;
    for (int i = 0; i < 40000; i++) {
        x[i] = (float)(-(i * 7919 % 40000) - 1);
    }
    OK(op_max(be, &largest, x, 1, 40000));
    cr_assert_eq(largest, -1, "%s: negative numbers have a largest; found %g", who,
                 (double)largest);
    for (int at = 0; at < 40000; at += 4999) {
        float kept = x[at];
        x[at] = NAN;
        OK(op_max(be, &largest, x, 1, 40000));
        cr_assert(isnan(largest), "%s: NaN at %d is lost", who, at);
        x[at] = kept;
    }
    float lowest[2] = {-INFINITY, -INFINITY}, rows[3];
    OK(op_max(be, &largest, lowest, 1, 2));
    cr_assert_eq(largest, -INFINITY, "%s", who);
    OK(op_max(be, rows, from_1_to_6, 3, 2));
    cr_assert(rows[0] == 2 && rows[1] == 4 && rows[2] == 6, "%s: rows", who);
}

static void check_argmax(const Backend *be, const char *who) {
    const float x[5][4] = {{1, 3, 3, 2},
                           {1, NAN, 5, NAN},
                           {-INFINITY, -INFINITY, -INFINITY, -INFINITY},
                           {-4, -3, -2, -1},
                           {NAN, 9, 9, 9}};
    int32_t index[5] = {-1, -1, -1, -1, -1};
    OK(op_argmax(be, index, x[0], 5, 4));
    cr_assert(index[0] == 1 && index[1] == 1 && index[2] == 0 && index[3] == 3 && index[4] == 0,
              "%s: %d %d %d %d %d", who, index[0], index[1], index[2], index[3], index[4]);
}

Test(reduce, sums_of_any_length_are_right_past_2_to_the_24) {
    on_every_kernel(OP_sum, check_sum);
}
Test(reduce, the_mean_of_20_million_ones_is_1) {
    on_every_kernel(OP_mean, check_mean);
}
Test(reduce, nan_wins_max_wherever_it_stands) {
    on_every_kernel(OP_max, check_max);
}
Test(reduce, argmax_takes_the_lowest_of_equals_and_the_first_nan) {
    on_every_kernel(OP_argmax, check_argmax);
}

/* ---- activations ---------------------------------------------------------------------------- */

static void check_relu(const Backend *be, const char *who) {
    float x[4] = {-2, 0, 3, NAN}, out[4], d[4] = {10, 20, 30, 40};
    OK(op_relu_forward(be, out, x, 4));
    cr_assert(out[0] == 0 && out[1] == 0 && out[2] == 3 && isnan(out[3]), "%s", who);
    OK(op_relu_backward(be, d, d, out, 3));
    cr_assert(d[0] == 0 && d[1] == 0 && d[2] == 30 && d[3] == 40, "%s: in place", who);
}

/* sigmoid(2) = 0.88079707797788; sigmoid(-100) = 3.7200759760208e-44, a subnormal. */
static void check_sigmoid(const Backend *be, const char *who) {
    float x[7] = {0, 2, -2, 100, -100, INFINITY, NAN}, out[7], d[2] = {2, 8};
    OK(op_sigmoid_forward(be, out, x, 7));
    check_near(out[0], 0.5, 0, who);
    check_near(out[1], 0.88079707797788, 1.5e-7, who);
    check_near(out[2], 0.11920292202212, 2e-8, who);
    cr_assert(out[3] == 1 && out[5] == 1 && isnan(out[6]), "%s: far out", who);
    check_near(out[4], 3.7200759760208e-44, 2e-45, who);
    const float at[2] = {0.5f, 0.25f};
    OK(op_sigmoid_backward(be, d, d, at, 2));
    cr_assert(d[0] == 0.5f && d[1] == 1.5f, "%s: gradient in place", who);
}

/* tanh(0.5) = 0.46211715726001; tanh(1) = 0.76159415595576 */
static void check_tanh(const Backend *be, const char *who) {
    float x[7] = {0, 0.5f, -1, 50, -INFINITY, 1e-20f, NAN}, out[7], d[2] = {2, 8};
    OK(op_tanh_forward(be, out, x, 7));
    check_near(out[1], 0.46211715726001, 6e-8, who);
    check_near(out[2], -0.76159415595576, 1.5e-7, who);
    cr_assert(out[0] == 0 && out[3] == 1 && out[4] == -1 && isnan(out[6]), "%s: far out", who);
    cr_assert_eq(out[5], 1e-20f, "%s: near 0 tanh is the identity", who);
    const float at[2] = {0.5f, -1};
    OK(op_tanh_backward(be, d, d, at, 2));
    cr_assert(d[0] == 1.5f && d[1] == 0, "%s: gradient in place", who);
}

Test(activation, relu_keeps_nan_and_has_slope_0_at_0) {
    on_every_kernel(OP_relu_forward, check_relu);
}
Test(activation, sigmoid_is_right_far_out_on_both_sides) {
    on_every_kernel(OP_sigmoid_forward, check_sigmoid);
}
Test(activation, tanh_is_right_near_0_and_far_out) {
    on_every_kernel(OP_tanh_forward, check_tanh);
}

/* Case 16: a check of the form "difference > tolerance" would let NaN pass, and so would any check
 * under -ffast-math. */
Test(build_flags, nan_is_not_near_anything) {
    volatile float nan = NAN;
    cr_assert(!(fabs((double)nan - 1) <= 1e30) && nan != nan && isnan(nan));
}

/* Distance in units of the last place of the expected value. */
static double ulps(float got, double expected) {
    int exponent;
    frexp(expected, &exponent);
    return fabs((double)got - expected) / ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}

Test(elementary, exp_and_tanh_keep_their_stated_errors_over_all_floats) {
    for (uint64_t bits = 0; bits < 1ull << 32; bits += 4093) {
        uint32_t word = (uint32_t)bits;
        float x;
        memcpy(&x, &word, sizeof x);
        if (isnan(x)) {
            cr_assert(isnan(exp_fp32(x)) && isnan(tanh_fp32(x)));
            continue;
        }
        cr_assert(isinf((float)exp((double)x)) ? isinf(exp_fp32(x))
                                               : ulps(exp_fp32(x), exp((double)x)) <= 1.1,
                  "exp(%a) = %a", (double)x, (double)exp_fp32(x));
        cr_assert(ulps(tanh_fp32(x), tanh((double)x)) <= 1.6, "tanh(%a) = %a", (double)x,
                  (double)tanh_fp32(x));
    }
}

/* ---- loss ----------------------------------------------------------------------------------- */

/* Cases 1 and 2 of the list; log(1 + exp(-1/1024 * 10)) = 0.68827629 is the second row's loss. */
static void check_softmax(const Backend *be, const char *who) {
    const float far[5] = {-249.873093f, -424.126709f, -460.292542f, 378.097443f, -292.614532f};
    const float high[4] = {7999.99f, 8000, 2, 1}, sure[2] = {0, 200};
    const int32_t label[3] = {3, 1, 0};
    float loss, p[5];
    OK(op_softmax_cross_entropy_forward(be, &loss, p, far, &label[0], 1, 5));
    cr_assert(p[0] == 0 && p[1] == 0 && p[2] == 0 && p[3] == 1 && p[4] == 0 && loss == 0, "%s",
              who);
    OK(op_softmax_cross_entropy_forward(be, &loss, p, high, &label[1], 1, 4));
    check_near(p[0], 0.49755861, 1e-7, who);
    check_near(p[1], 0.50244139, 1e-7, who);
    cr_assert(p[2] == 0 && p[3] == 0, "%s", who);
    check_near(loss, 0.68827629, 1e-7, who);
    OK(op_softmax_cross_entropy_forward(be, &loss, p, sure, &label[2], 1, 2));
    cr_assert(loss == 200 && p[0] == 0 && p[1] == 1, "%s: loss %g", who, (double)loss);
    const float lost[2] = {NAN, 1};
    OK(op_softmax_cross_entropy_forward(be, &loss, p, lost, &label[1], 1, 2));
    cr_assert(isnan(loss) && isnan(p[0]) && isnan(p[1]), "%s: NaN is lost", who);
}

/* 4096 equal logits: every probability is 1/4096 and the loss log(4096) = 8.31776617. Case 17. */
static void check_wide_softmax(const Backend *be, const char *who) {
    enum { N = 3, V = 4096 };
    static float logits[N * V], probs[N * V];
    float losses[N];
    const int32_t labels[N] = {0, 2000, V - 1};
    OK(op_softmax_cross_entropy_forward(be, losses, probs, logits, labels, N, V));
    for (int i = 0; i < N * V; i++) {
        cr_assert_eq(probs[i], 1.0f / 4096, "%s", who);
    }
    for (int n = 0; n < N; n++) {
        check_near(losses[n], 8.31776617, 1e-6, who);
    }
}

static void check_softmax_gradient(const Backend *be, const char *who) {
    const float probs[4] = {0.25f, 0.75f, 0.5f, 0.5f};
    const int32_t labels[2] = {1, 0};
    float d[4];
    OK(op_softmax_cross_entropy_backward(be, d, probs, labels, 0.5f, 2, 2));
    cr_assert(d[0] == 0.125f && d[1] == -0.125f && d[2] == -0.25f && d[3] == 0.25f, "%s", who);
}

Test(loss, softmax_does_not_overflow_and_a_probability_of_0_has_its_loss) {
    on_every_kernel(OP_softmax_cross_entropy_forward, check_softmax);
    on_every_kernel(OP_softmax_cross_entropy_forward, check_wide_softmax);
}
Test(loss, gradient_is_probability_minus_one_hot) {
    on_every_kernel(OP_softmax_cross_entropy_backward, check_softmax_gradient);
}

/* ---- optimizers: each expected value worked out in double -----------------------------------
 * The tolerances hold that 0.1 is not an fp32 number: 1 - 0.9f is 0.1 + 2.4e-8, and 1 - 0.999f is
 * 0.001 less 1.3e-5 of itself. */

static void check_sgd(const Backend *be, const char *who) {
    float param = 1, grad = 0.5f;
    OK(op_sgd(be, &param, &grad, 0.1f, 0.2f, 1));
    check_near(param, 0.93, 6e-8, who); /* 1 - 0.1 * (0.5 + 0.2 * 1) */
}

static void check_momentum(const Backend *be, const char *who) {
    float param = 1, velocity = 2, grad = 0.5f;
    OK(op_momentum(be, &param, &velocity, &grad, 0.1f, 0.5f, 0.2f, 1));
    check_near(velocity, 1.7, 2e-7, who); /* 0.5 * 2 + 0.5 + 0.2 * 1 */
    check_near(param, 0.83, 6e-8, who);   /* 1 - 0.1 * 1.7 */
}

static void check_adam(const Backend *be, const char *who) {
    float param = 1, m = 0, v = 0, grad = 0.5f;
    OK(op_adam(be, &param, &m, &v, &grad, 0.1f, 0.9f, 0.999f, 1e-8f, 0, 1, 1));
    check_near(param, 0.900000002, 1e-7, who); /* the first step is lr against the sign of grad */
    grad = -0.25f;
    OK(op_adam(be, &param, &m, &v, &grad, 0.1f, 0.9f, 0.999f, 1e-8f, 0, 2, 1));
    check_near(m, 0.02, 1e-8, who);
    check_near(v, 0.00031225, 5e-9, who);
    check_near(param, 0.873366299, 5e-7, who);
    param = 1, m = 0, v = 0, grad = 0.5f;
    OK(op_adam(be, &param, &m, &v, &grad, 0.1f, 0.9f, 0.999f, 1e-8f, 0.2f, 1, 1));
    check_near(m, 0.07, 2e-8, who); /* the decay goes through the moments: 0.1 * (0.5 + 0.2) */
    check_near(param, 0.900000001, 1e-7, who);
}

static void check_adamw(const Backend *be, const char *who) {
    float param = 1, m = 0, v = 0, grad = 0.5f;
    OK(op_adamw(be, &param, &m, &v, &grad, 0.1f, 0.9f, 0.999f, 1e-8f, 0.2f, 1, 1));
    check_near(m, 0.05, 2e-8, who);            /* the decay stays out of the moments, */
    check_near(param, 0.880000002, 1e-7, who); /* and takes 0.1 * 0.2 * 1 by itself */
}

Test(optimizer, sgd_step) {
    on_every_kernel(OP_sgd, check_sgd);
}
Test(optimizer, momentum_step) {
    on_every_kernel(OP_momentum, check_momentum);
}
Test(optimizer, adam_steps_and_its_decay) {
    on_every_kernel(OP_adam, check_adam);
}
Test(optimizer, adamw_decays_beside_the_moments) {
    on_every_kernel(OP_adamw, check_adamw);
}

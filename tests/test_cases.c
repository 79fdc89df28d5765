/* Public faults as small inputs with right answers, on every kernel of every backend. Each test
 * first has the reference itself meet the answer that was worked out by hand, then has the checker
 * hold every kernel to the reference. Labels out of range and wrong data files (cases 14 and 20)
 * stand in test_data*.c, the cgroup's quota (18) in test_base.c. */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#include "base/threads.h"
#include "call_fixture.h"

/* The reference's values are the expected ones, to the error that an fp32 result may have. */
static void expect(const OpCall *call, const char *name, const double *expected, size_t count) {
    Reference reference;
    const Approx *found = refer(&reference, call, name);
    cr_assert_eq(reference.count[spec_arg(call->spec, name)], count);
    for (size_t i = 0; i < count; i++) {
        cr_assert(fabs(found[i].value - expected[i]) <= 1e-8 * fabs(expected[i]) + 1e-8,
                  "%s[%zu]: the reference says %.9g, expected %.9g", name, i, found[i].value,
                  expected[i]);
    }
    reference_release(&reference);
}

/* ---- 1 and 2: softmax, loss ----------------------------------------------------------------- */

static void softmax_case(const float *logits, int V, int32_t label, double loss,
                         const double *probs) {
    OpCall call = call_of(OP_softmax_cross_entropy_forward, 1, (size_t)V, 0);
    give(&call, "logits", logits);
    give(&call, "labels", &label);
    expect(&call, "losses", &loss, 1);
    expect(&call, "probs", probs, (size_t)V);
    accept_on_every_kernel(&call);
}

Test(cases, case_1_softmax_does_not_overflow) {
    const float spread[] = {-249.873093f, -424.126709f, -460.292542f, 378.097443f, -292.614532f};
    softmax_case(spread, 5, 3, 0.0, (double[]){0, 0, 0, 1, 0});
    /* The fp32 next to 7999.99 lies 0.009765625 below 8000. */
    const float high[] = {7999.99f, 8000.0f, 2.0f, 1.0f};
    const double probs[] = {0.49755861, 0.50244139, 0, 0};
    softmax_case(high, 4, 1, -log(1.0 / (1.0 + exp(-0.009765625))), probs);
}

Test(cases, case_2_a_probability_of_0_has_its_true_loss) {
    softmax_case((float[]){0.0f, 200.0f}, 2, 0, 200.0, (double[]){0, 1});
    softmax_case((float[]){200.0f, 0.0f}, 2, 1, 200.0, (double[]){1, 0});
    softmax_case((float[]){-1e4f, 1e4f, -1e4f}, 3, 2, 2e4, (double[]){0, 1, 0});
    softmax_case((float[]){7.0f}, 1, 0, 0.0, (double[]){1});
}

/* ---- 4 and 5: reductions -------------------------------------------------------------------- */

/* first, first + step, ... */
static float *ramp(size_t count, float first, float step) {
    float *x = malloc((count + 1) * sizeof *x);
    cr_assert_not_null(x);
    for (size_t i = 0; i < count; i++) {
        x[i] = first + (float)i * step;
    }
    return x;
}

static void reduction_case(OpId op, const float *inp, size_t N, double expected) {
    OpCall call = call_of(op, 1, N, 0);
    give(&call, "inp", inp);
    expect(&call, "out", &expected, 1);
    accept_on_every_kernel(&call);
}

Test(cases, case_4_reductions_take_any_length) {
    float *count_up = ramp(48, 1.0f, 1.0f), *ones = ramp(1537, 1.0f, 0.0f);
    reduction_case(OP_sum, count_up, 48, 1176.0);
    reduction_case(OP_mean, count_up, 48, 24.5);
    reduction_case(OP_max, count_up, 48, 48.0);
    reduction_case(OP_argmax, count_up, 48, 47.0);
    for (size_t N = 0; N <= 1537; N = N < 34 ? N + 1 : N * 3 / 2) {
        reduction_case(OP_sum, ones, N, (double)N);
    }
    reduction_case(OP_sum, ones, 768, 768.0);
    reduction_case(OP_mean, ones, 1, 1.0);
    free(count_up);
    free(ones);
}

Test(cases, case_5_sums_go_past_2_to_the_24, .timeout = 120) {
    enum { N = 20000000 };
    float *ones = ramp(N, 1.0f, 0.0f), *count_up = ramp(10000, 0.0f, 1.0f);
    reduction_case(OP_mean, ones, N, 1.0);
    reduction_case(OP_sum, ones, N, N);
    reduction_case(OP_sum, count_up, 10000, 49995000.0);
    free(ones);
    free(count_up);
}

/* ---- 7 and 8: matrix products --------------------------------------------------------------- */

/* Ones: every output is K, exactly. */
static void matmul_of_ones(size_t M, size_t N, size_t K) {
    size_t largest = M * K > K * N ? M * K : K * N;
    float *ones = ramp(largest, 1.0f, 0.0f);
    OpCall call = call_of(OP_matmul, M, N, K);
    give(&call, "a", ones);
    give(&call, "b", ones);
    accept_on_every_kernel(&call);
    free(ones);
}

Test(cases, case_7_every_output_is_written_at_sizes_off_the_tile, .timeout = 120) {
    matmul_of_ones(100, 100, 100);
    matmul_of_ones(5, 2, 1);
    matmul_of_ones(31, 32, 32);
    matmul_of_ones(253, 255, 257);
    matmul_of_ones(1, 1, 4097);
    matmul_of_ones(1000, 1, 3);
    matmul_of_ones(0, 3, 3);
    matmul_of_ones(3, 3, 0);
}

Test(cases, case_8_a_matrix_times_a_vector_gives_5_11_17) {
    const float a[] = {1, 2, 3, 4, 5, 6}, a_transposed[] = {1, 3, 5, 2, 4, 6}, x[] = {1, 2};
    const double expected[] = {5, 11, 17};
    OpCall call = call_of(OP_matmul, 3, 1, 2);
    give(&call, "a", a);
    give(&call, "b", x);
    expect(&call, "c", expected, 3);
    accept_on_every_kernel(&call);
    set(&call, "trans_b", 1);
    accept_on_every_kernel(&call);
    give(&call, "a", a_transposed);
    set(&call, "trans_a", 1);
    expect(&call, "c", expected, 3);
    accept_on_every_kernel(&call);
}

/* One matrix stored in both ways, in rows that are longer than they need to be. */
static void transposed_case(size_t M, size_t N, size_t K, int trans_a, int trans_b, size_t pad) {
    size_t lda = (trans_a ? M : K) + pad, ldb = (trans_b ? K : N) + 2 * pad;
    float *a = ramp((trans_a ? K : M) * lda, -3.0f, 0.25f);
    float *b = ramp((trans_b ? N : K) * ldb, 2.0f, -0.5f);
    float *c = ramp(M * (N + 3 * pad), NAN, 0.0f);
    OpCall call = call_of(OP_matmul, M, N, K);
    give(&call, "a", a);
    give(&call, "b", b);
    give(&call, "c", c);
    set(&call, "trans_a", trans_a);
    set(&call, "trans_b", trans_b);
    set(&call, "lda", (double)lda);
    set(&call, "ldb", (double)ldb);
    set(&call, "ldc", (double)(N + 3 * pad));
    accept_on_every_kernel(&call);
    free(a);
    free(b);
    free(c);
}

Test(cases, case_8_transposes_and_leading_dimensions_are_kept_apart) {
    for (size_t N = 7; N <= 15; N += 4) {
        for (int trans = 0; trans < 4; trans++) {
            transposed_case(N + 2, N, N + 1, trans & 1, trans >> 1, 0);
            transposed_case(N, N, N, trans & 1, trans >> 1, 3);
            transposed_case(2, N, 3 * N, trans & 1, trans >> 1, 1);
        }
    }
}

/* ---- 12 and 13: launch limits, repeats ------------------------------------------------------- */

Test(cases, case_12_a_batch_of_65536_works_and_0_is_success) {
    float *x = ramp(65536, -1.0f, 0x1p-15f);
    for (size_t n = 0; n <= 65536; n += 65536) {
        OpCall call = call_of(OP_relu_forward, n, 0, 0);
        give(&call, "inp", x);
        accept_on_every_kernel(&call);
        call = call_of(OP_softmax_cross_entropy_backward, n, 1, 0);
        int32_t *labels = calloc(65536, sizeof *labels);
        give(&call, "probs", x);
        give(&call, "labels", labels);
        accept_on_every_kernel(&call);
        free(labels);
    }
    free(x);
}

/* The gradient of the bias b in the sum over 1024x50 of (X + b)^2 is the sum of 2 (X + b): twice
 * the same bits, on any number of threads. accept_on_every_kernel compares two runs. */
Test(cases, case_13_the_gradient_of_a_bias_repeats_to_the_bit) {
    float *dout = ramp(1024 * 50, -7.0f, 0.000314f);
    OpCall call = call_of(OP_matmul_backward_bias, 1024, 50, 0);
    give(&call, "dout", dout);
    accept_on_every_kernel(&call);
    free(dout);
}

/* ---- 16 and 17: what must not pass ---------------------------------------------------------- */

Test(cases, case_16_nan_is_never_within_a_bound_under_these_build_flags) {
    double headroom;
    volatile double bounds[] = {0.0, 1e-7, 1.0, 1e300, HUGE_VAL};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        cr_assert_neq(check_element(nan(""), (Approx){1.0, bounds[i]}, &headroom), CHECK_OK);
        cr_assert_neq(check_element(nan(""), (Approx){0.0, bounds[i]}, &headroom), CHECK_OK);
    }
    cr_assert_neq(check_element(1.0, (Approx){1.0, nan("")}, &headroom), CHECK_OK);
}

Test(cases, case_17_zeros_for_a_softmax_over_4096_classes_do_not_pass) {
    enum { V = 4096 };
    double headroom;
    int32_t label = 5;
    float *logits = ramp(V, 0.0f, 0x1p-12f);
    OpCall call = call_of(OP_softmax_cross_entropy_forward, 1, V, 0);
    Reference reference;
    give(&call, "logits", logits);
    give(&call, "labels", &label);
    const Approx *probs = refer(&reference, &call, "probs");
    for (size_t v = 0; v < V; v++) {
        cr_assert_eq(check_element(0.0, probs[v], &headroom), CHECK_OUT_OF_BOUND);
        cr_assert_gt(headroom, 1000.0, "0 misses %g by %g bounds only", probs[v].value, headroom);
    }
    reference_release(&reference);
    free(logits);
}

/* ---- 18: threads follow the plan ------------------------------------------------------------- */

Test(cases, case_18_openblas_has_the_threads_of_the_plan_and_no_others) {
    ThreadPlan plan;
    Backend backend;
    CALL_OK(threads_plan(&plan, 0));
    cr_assert_leq(plan.threads, plan.allowed);
    cr_assert(plan.quota == 0.0 || plan.threads <= (int)fmax(1.0, plan.quota));
    CALL_OK(backend_get(&backend, "openblas"));
    bool serial_build =
        openblas_get_parallel() == 0; /* then it has one thread, whatever is asked */
    for (int threads = 1; threads <= 3; threads++) {
        CALL_OK(backend.open(threads));
        cr_assert_eq(openblas_get_num_threads(), serial_build ? 1 : threads);
    }
    CALL_OK(backend.open(plan.threads));
    matmul_of_ones(64, 64, 64);
    CALL_OK(backend.open(plan.threads));
    cr_assert_eq(openblas_get_num_threads(), serial_build ? 1 : plan.threads);
}

/* What holds for every operation: the registry, the fronts' checks, the specifications, and that
 * results repeat to the bit. */
#include <math.h>
#include <stdlib.h>

#include "base/trace.h"
#include "every_kernel.h"

static void check_says(const char *expected) {
    cr_assert_not_null(strstr(status_message(), expected), "'%s' does not say '%s'",
                       status_message(), expected);
}

/* ---- registry ------------------------------------------------------------------------------- */

Test(registry, every_backend_fills_every_slot_with_one_default) {
    OK(registry_check());
    for (int b = 0; b < TEST_BACKENDS; b++) {
        Backend be;
        get_backend(&be, test_backends[b], 1);
        for (int op = 0; op < OP_COUNT; op++) {
            cr_assert_not_null(be.ops.slot[op], "%s: %s", be.name, op_name((OpId)op));
        }
    }
}

Test(registry, unknown_names_list_what_there_is_with_the_nearest) {
    Backend be;
    OpId op;
    cr_assert_eq(backend_get(&be, "opnmp"), STATUS_BAD);
    check_says("did you mean 'openmp'? There are: serial, openmp, openblas, cuda, simt");
    cr_assert_eq(op_find(&op, "matmul_foward"), STATUS_BAD);
    check_says("did you mean 'matmul_forward'?");
    get_backend(&be, "serial", 1);
    cr_assert_eq(backend_choose_assignment(&be, "transpose=tild"), STATUS_BAD);
    check_says("did you mean 'tiled'? There are: naive, tiled");
    cr_assert_eq(backend_choose_assignment(&be, "transpose"), STATUS_BAD);
    check_says("expected op=kernel");
    OK(backend_choose_assignment(&be, "transpose=naive"));
    cr_assert_str_eq(be.chosen[OP_transpose]->name, "naive");
}

Test(registry, a_backend_that_cannot_run_here_says_why) {
    static const char *const names[] = {"cuda", "simt"};
    for (int i = 0; i < 2; i++) {
        Backend be;
        Status status = backend_get(&be, names[i]);
        if (status == STATUS_OK) {
            cr_assert_str_eq(be.name, names[i]);
            continue;
        }
        cr_assert_eq(status, STATUS_MISSING);
        check_says(names[i]);
        check_says(backend_missing(backend_at(3 + i)));
    }
}

Test(registry, emulated_backends_run_only_where_they_are_named) {
    for (int b = 0; b < backend_count(); b++) {
        cr_assert(!backend_at(b)->emulated || !backend_runs_unnamed(backend_at(b)));
    }
    cr_assert(backend_runs_unnamed(backend_at(0)), "serial always runs");
}

Test(backend, opens_again_with_other_threads_and_says_what_it_runs_on) {
    for (int b = 0; b < TEST_BACKENDS; b++) {
        Backend be;
        get_backend(&be, test_backends[b], 2);
        OK(be.open(1));
        cr_assert_not_null(strstr(be.device(), "1 thread"), "%s", be.device());
        cr_assert_eq(be.open(0), STATUS_BAD);
        check_says(test_backends[b]);
        void *memory = be.alloc(100);
        cr_assert_eq((uintptr_t)memory % 64, 0, "%s: not at a cache line", be.name);
        be.release(memory);
        be.release(NULL);
        cr_assert_null(be.alloc(SIZE_MAX - 8), "%s: too much memory", be.name);
    }
}

/* ---- fronts --------------------------------------------------------------------------------- */

Test(front, refuses_negative_sizes_and_null_with_the_argument_s_name) {
    Backend be;
    float x[4] = {0};
    get_backend(&be, "serial", 1);
    cr_assert_eq(op_transpose(&be, x, x, 2, -3), STATUS_BAD);
    check_says("transpose: N is -3");
    cr_assert_eq(op_sum(&be, x, x, -1, 1), STATUS_BAD);
    check_says("sum: M is -1");
    cr_assert_eq(op_axpy(&be, x, NULL, 1, 1), STATUS_BAD);
    check_says("axpy: x is NULL");
    cr_assert_eq(op_matmul_forward(&be, x, x, NULL, NULL, 1, 1, 1), STATUS_BAD);
    check_says("matmul_forward: weight is NULL");
    cr_assert_eq(op_sum(&be, x, x, 4, SIZE_MAX / 8), STATUS_BAD);
    check_says("more than an address can hold");
}

Test(front, refuses_rows_without_a_value_but_sums_them_to_0) {
    Backend be;
    float x[2] = {7, 7};
    int32_t index[2];
    get_backend(&be, "openmp", 2);
    cr_assert_eq(op_mean(&be, x, NULL, 2, 0), STATUS_BAD);
    check_says("mean: N is 0; an empty row has no mean");
    cr_assert_eq(op_max(&be, x, NULL, 2, 0), STATUS_BAD);
    cr_assert_eq(op_argmax(&be, index, NULL, 2, 0), STATUS_BAD);
    cr_assert_eq(op_softmax_cross_entropy_forward(&be, x, x, x, index, 2, 0), STATUS_BAD);
    check_says("V is 0");
    OK(op_sum(&be, x, NULL, 2, 0));
    cr_assert(x[0] == 0 && x[1] == 0);
}

Test(front, refuses_leading_dimensions_below_the_stored_row) {
    Backend be;
    float x[12] = {0}, c[12];
    get_backend(&be, "serial", 1);
    cr_assert_eq(op_matmul(&be, c, x, x, 1, 0, false, false, 2, 3, 4, 3, 3, 3), STATUS_BAD);
    check_says("matmul: lda is 3, and a stored row has 4 elements");
    cr_assert_eq(op_matmul(&be, c, x, x, 1, 0, true, true, 2, 3, 4, 2, 3, 3), STATUS_BAD);
    check_says("matmul: ldb is 3, and a stored row has 4 elements");
    cr_assert_eq(op_matmul(&be, c, x, x, 1, 0, false, false, 2, 3, 4, 4, 3, 2), STATUS_BAD);
    check_says("matmul: ldc is 2");
}

Test(front, refuses_optimizer_options_that_divide_by_0) {
    Backend be;
    float x[4] = {1, 1, 1, 1};
    get_backend(&be, "serial", 1);
    cr_assert_eq(op_adam(&be, x, x + 1, x + 2, x + 3, 1, 0.9f, 0.999f, 1e-8f, 0, 0, 1), STATUS_BAD);
    check_says("adam: step is 0; steps count from 1");
    cr_assert_eq(op_adamw(&be, x, x + 1, x + 2, x + 3, 1, 1, 0.999f, 1e-8f, 0, 1, 1), STATUS_BAD);
    check_says("adamw: beta1 is 1");
    cr_assert_eq(op_adam(&be, x, x + 1, x + 2, x + 3, 1, 0.9f, NAN, 1e-8f, 0, 1, 1), STATUS_BAD);
}

Test(front, counts_calls_flops_bytes_and_time_but_not_empty_work) {
    Backend be;
    OpCost costs[OP_COUNT] = {{0}};
    float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
    get_backend(&be, "serial", 1);
    be.costs = costs;
    OK(op_axpy(&be, y, x, 2, 6));
    OK(op_axpy(&be, y, x, 2, 6));
    OK(op_axpy(&be, NULL, NULL, 2, 0));
    cr_assert_eq(costs[OP_axpy].calls, 2);
    cr_assert_eq(costs[OP_axpy].flops, 2 * 2 * 6);
    cr_assert_eq(costs[OP_axpy].bytes, 2 * 3 * 4 * 6);
    OK(op_transpose(&be, y, x, 2, 3));
    cr_assert(costs[OP_transpose].calls == 1 && costs[OP_transpose].flops == 0);
    cr_assert_eq(costs[OP_transpose].bytes, 2 * 4 * 6);
}

/* Spans named name on all threads, and that their kind is right. */
static int count_spans(const char *name, TraceKind kind) {
    int count = 0;
    for (int t = 0; t < trace_thread_count(); t++) {
        for (size_t i = 0; i < trace_span_count(t); i++) {
            const TraceSpan *span = trace_span(t, i);
            count += span->kind == kind && strcmp(span->name, name) == 0;
        }
    }
    return count;
}

Test(front, traces_the_operation_and_each_thread_s_share) {
    enum { N = 100000 };
    Backend be;
    float *x = calloc(N, sizeof *x);
    cr_assert_not_null(x);
    get_backend(&be, "openmp", 2);
    OK(trace_start(0));
    OK(op_relu_forward(&be, x, x, N));
    trace_stop();
    cr_assert_eq(count_spans("relu_forward", TRACE_OP), 1);
    cr_assert_eq(count_spans("relu_forward", TRACE_SHARE), 2);
    free(x);
}

/* ---- specifications -------------------------------------------------------------------------- */

static const OpId all_ops[] = {
#define OP_LISTED(op) OP_##op,
    OPERATIONS(OP_LISTED)
#undef OP_LISTED
};

static void check_option_name(const OpSpec *spec, const char *name) {
    cr_assert(name == NULL || spec_option(spec, name) >= 0, "%s: no option %s", op_name(spec->op),
              name);
}

Test(spec, names_only_what_exists) {
    for (int op = 0; op < OP_COUNT; op++) {
        const OpSpec *spec = spec_of(all_ops[op]);
        cr_assert_eq(spec->op, all_ops[op]);
        cr_assert_not_null(spec->formula, "%s", op_name(spec->op));
        for (int i = 0; spec->args[i].name != NULL; i++) {
            char dims[32];
            snprintf(dims, sizeof dims, "%s", spec->args[i].shape);
            for (char *name = strtok(dims, ","); name != NULL; name = strtok(NULL, ",")) {
                cr_assert(spec_dim(spec, name) >= 0, "%s: no size %s", op_name(spec->op), name);
            }
            check_option_name(spec, spec->args[i].swapped);
            check_option_name(spec, spec->args[i].leading);
            check_option_name(spec, spec->args[i].read_if);
            cr_assert_eq(spec_arg(spec, spec->args[i].name), i, "%s: %s twice", op_name(spec->op),
                         spec->args[i].name);
            cr_assert(spec->args[i].read_if == NULL || spec->args[i].role == ARG_INOUT);
        }
    }
}

Test(spec, calls_every_operation_on_every_backend_at_tiny_and_empty_sizes) {
    const size_t tiny[SPEC_MAX_DIMS] = {3, 5, 2}, one[SPEC_MAX_DIMS] = {1, 1, 1};
    for (int b = 0; b < TEST_BACKENDS; b++) {
        Backend be;
        get_backend(&be, test_backends[b], 2);
        for (int op = 0; op < OP_COUNT; op++) {
            TestCall t;
            test_call_begin(&t, &be, all_ops[op], tiny, 1);
            OK(test_call_run(&t, &be));
            test_call_end(&t, &be);
            test_call_begin(&t, &be, all_ops[op], one, 1);
            OK(test_call_run(&t, &be));
            test_call_end(&t, &be);
            OpCall empty;
            call_init(&empty, all_ops[op]);
            OK(empty.spec->call(&be, &empty)); /* NULL everywhere: nothing to do is no error */
        }
    }
}

Test(spec, refuses_unknown_options_and_values_of_the_wrong_kind) {
    OpCall call;
    call_init(&call, OP_matmul);
    cr_assert_eq(call_set_option(&call, "trans_c", 1), STATUS_BAD);
    check_says("unknown option of matmul 'trans_c': did you mean 'trans_a'?");
    cr_assert_eq(call_set_option(&call, "trans_a", 2), STATUS_BAD);
    check_says("it must be 0 or 1");
    cr_assert_eq(call_set_option(&call, "lda", 1.5), STATUS_BAD);
    cr_assert_eq(call_set_option(&call, "lda", (double)NAN), STATUS_BAD);
    cr_assert_eq(call_set_option(&call, "lda", 1e300), STATUS_BAD);
    check_says("whole number");
    call_init(&call, OP_copy);
    cr_assert_eq(call_set_option(&call, "alpha", 1), STATUS_BAD);
    check_says("copy has no options");
}

Test(spec, shapes_follow_transposition_and_leading_dimensions) {
    OpCall call;
    size_t shape[2], count;
    call_init(&call, OP_matmul);
    call.dim[0] = 2, call.dim[1] = 3, call.dim[2] = 4;
    cr_assert(call_shape(&call, 1, shape) == 2 && shape[0] == 2 && shape[1] == 4);
    OK(call_set_option(&call, "trans_a", 1));
    cr_assert(call_shape(&call, 1, shape) == 2 && shape[0] == 4 && shape[1] == 2);
    OK(call_set_option(&call, "lda", 7));
    OK(call_storage(&call, 1, &count));
    cr_assert_eq(count, 4 * 7);
    OK(call_set_option(&call, "lda", 1));
    cr_assert_eq(call_storage(&call, 1, &count), STATUS_BAD);
    check_says("lda is 1");
    call.dim[0] = SIZE_MAX / 4;
    cr_assert_eq(call_storage(&call, 0, &count), STATUS_BAD);
    check_says("more bytes than an address can hold");
}

/* ---- results repeat to the bit -------------------------------------------------------------- */

/* Big enough for every kernel to share it out, and a multiple of nothing. */
static const size_t *big_sizes(OpId op) {
    static const size_t vector[SPEC_MAX_DIMS] = {100003}, matrix[SPEC_MAX_DIMS] = {67, 3001},
                        product[SPEC_MAX_DIMS] = {67, 131, 259};
    const OpSpec *spec = spec_of(op);
    return spec->dims[1] == NULL ? vector : spec->dims[2] == NULL ? matrix : product;
}

static void check_same(OpId op, const char *who, const Backend *a, int threads_a, int threads_b) {
    TestCall first, second;
    test_call_begin(&first, a, op, big_sizes(op), 7);
    test_call_begin(&second, a, op, big_sizes(op), 7);
    OK(a->open(threads_a));
    OK(test_call_run(&first, a));
    OK(a->open(threads_b));
    OK(test_call_run(&second, a));
    const char *differs = first_difference(&first, &second);
    cr_assert_null(differs, "%s %s: %s differs, %d and %d threads, seed 7", op_name(op), who,
                   differs, threads_a, threads_b);
    test_call_end(&first, a);
    test_call_end(&second, a);
}

static OpId op_under_test;

static void check_repeats(const Backend *be, const char *who) {
    if (be->chosen[op_under_test]->deterministic) {
        check_same(op_under_test, who, be, 2, 2);
    }
}

/* Case 13 of the list. */
Test(repeat, every_deterministic_kernel_gives_the_same_bits_twice) {
    for (int op = 0; op < OP_COUNT; op++) {
        op_under_test = all_ops[op];
        on_every_kernel(op_under_test, check_repeats);
    }
}

static void check_thread_counts(const Backend *be, const char *who) {
    check_same(op_under_test, who, be, 1, 2);
    check_same(op_under_test, who, be, 1, 3);
}

Test(repeat, reductions_do_not_depend_on_the_number_of_threads) {
    static const OpId reductions[] = {OP_sum, OP_mean, OP_max, OP_argmax};
    for (int i = 0; i < 4; i++) {
        op_under_test = reductions[i];
        on_every_kernel(op_under_test, check_thread_counts);
    }
}

Test(repeat, openmp_elementwise_kernels_do_not_depend_on_the_number_of_threads) {
    for (int op = 0; op < OP_COUNT; op++) {
        if (strncmp(op_name(all_ops[op]), "matmul", 6) != 0) {
            Backend be;
            get_backend(&be, "openmp", 1);
            op_under_test = all_ops[op];
            check_thread_counts(&be, "openmp");
        }
    }
}

/* Chunks that threads sum are branches of the serial tree of sums. */
Test(repeat, serial_and_openmp_sum_in_the_same_order) {
    static float x[50 * 70001];
    float serial_sum[50], openmp_sum[50];
    Philox rng = {13, 0};
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++) {
        x[i] = philox_normal(rng, i);
    }
    Backend serial, openmp;
    get_backend(&serial, "serial", 1);
    get_backend(&openmp, "openmp", 3);
    for (size_t length = 1; length <= 50 * 70001; length = length * 3 + 1) {
        OK(op_sum(&serial, serial_sum, x, 1, length));
        OK(op_sum(&openmp, openmp_sum, x, 1, length));
        cr_assert_eq(serial_sum[0], openmp_sum[0], "%zu numbers, seed 13", length);
    }
    OK(op_sum(&serial, serial_sum, x, 50, 70001));
    OK(op_sum(&openmp, openmp_sum, x, 50, 70001));
    cr_assert_arr_eq(serial_sum, openmp_sum, sizeof serial_sum);
}

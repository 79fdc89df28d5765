/* The verifier judged: its comparer, its checker, its cases, and the mutants that it must reject.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "call_fixture.h"
#include "cli/cli.h"
#include "verify/mutants.h"
#include "verify/verify.h"

/* ---- the comparer ---------------------------------------------------------------------------- */

static CheckFault compare(double got, double expected, double bound) {
    double headroom;
    return check_element(got, (Approx){expected, bound}, &headroom);
}

Test(comparer, takes_errors_up_to_the_bound_and_none_above) {
    cr_assert_eq(compare(1.5, 1.0, 0.5), CHECK_OK);
    cr_assert_eq(compare(0.5, 1.0, 0.5), CHECK_OK);
    cr_assert_eq(compare(nextafter(1.5, 2.0), 1.0, 0.5), CHECK_OUT_OF_BOUND);
    cr_assert_eq(compare(0.0, 1.0, 0.5), CHECK_OUT_OF_BOUND);
    cr_assert_eq(compare(-0.0, 0.0, 0.0), CHECK_OK);
    cr_assert_eq(compare(0x1p-149, 0.0, 0.0), CHECK_OUT_OF_BOUND);
}

Test(comparer, nan_and_infinity_pass_only_where_the_reference_has_them) {
    double nothing = nan(""), infinite = HUGE_VAL;
    cr_assert_eq(compare(nothing, 1.0, infinite), CHECK_NAN);
    cr_assert_eq(compare(infinite, 1.0, 1e300), CHECK_NAN);
    cr_assert_eq(compare(-infinite, 1.0, 1.0), CHECK_NAN);
    cr_assert_eq(compare(nothing, nothing, nothing), CHECK_OK);
    cr_assert_eq(compare(1.0, nothing, 0.0), CHECK_OUT_OF_BOUND);
    cr_assert_eq(compare(infinite, infinite, 0.0), CHECK_OK);
    cr_assert_eq(compare(-infinite, infinite, 0.0), CHECK_OUT_OF_BOUND);
    cr_assert_eq(compare((double)FLT_MAX, infinite, 0.0), CHECK_OUT_OF_BOUND);
}

Test(comparer, a_value_past_fp32_may_overflow_on_its_own_side) {
    cr_assert_eq(compare(HUGE_VAL, 1e39, 1e32), CHECK_OK);
    cr_assert_eq(compare(-HUGE_VAL, 1e39, 1e32), CHECK_NAN);
    cr_assert_eq(compare(HUGE_VAL, 1e38, 1e32), CHECK_NAN);
}

Test(comparer, without_a_finite_bound_nothing_passes) {
    cr_assert_eq(compare(1.0, 1.0, HUGE_VAL), CHECK_NO_BOUND);
    cr_assert_eq(compare(1.0, 1.0, nan("")), CHECK_NO_BOUND);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* Case 6: x = 1 + 2^-12, y = -fl(x * x). y + x * x is 2^-24 with a fused multiply-add and 0
 * without; neither is a fault, and 2^-22 is one. */
Test(bounds, hold_with_and_without_fused_multiply_add) {
    const float x = 1.0f + 0x1p-12f, y = -(1.0f + 0x1p-11f);
    Reference reference;
    OpCall call = call_of(OP_axpy, 1, 0, 0);
    give(&call, "x", &x);
    give(&call, "y", &y);
    set(&call, "alpha", (double)x);
    Approx expected = *refer(&reference, &call, "y");
    cr_assert_eq(expected.value, 0x1p-24);
    cr_assert_eq(compare(0x1p-24, expected.value, expected.error), CHECK_OK);
    cr_assert_eq(compare(0.0, expected.value, expected.error), CHECK_OK);
    cr_assert_eq(compare(0x1p-22, expected.value, expected.error), CHECK_OUT_OF_BOUND);
    reference_release(&reference);
}

Test(bounds, of_a_sum_grow_like_log_N) {
    enum { N = 3000000 };
    float *ones = malloc(N * sizeof *ones);
    for (size_t i = 0; i < N; i++) {
        ones[i] = 1.0f;
    }
    double previous = 0.0;
    for (size_t n = 3000; n <= N; n *= 10) {
        Reference reference;
        OpCall call = call_of(OP_sum, 1, n, 0);
        give(&call, "inp", ones);
        double relative = refer(&reference, &call, "out")->error / (double)n;
        cr_assert_lt(relative, 160 * 0x1p-24, "n = %zu", n);
        cr_assert(previous == 0.0 || relative < 1.05 * previous);
        previous = relative;
        reference_release(&reference);
    }
    free(ones);
}

/* Of small shapes with plain data: a result that is right to fp32 is well inside, and one that is
 * 16 units in the last place of the largest output off is outside. */
static void expect_tight(OpId op, const size_t dim[SPEC_MAX_DIMS], uint64_t seed) {
    Case c;
    Reference reference;
    CALL_OK(case_make(&c, op, dim, seed));
    CALL_OK(reference_compute(&reference, &c.call));
    for (int a = 0; a < SPEC_MAX_ARGS && strcmp(c.data, "normal") == 0; a++) {
        double largest = 0.0;
        for (size_t i = 0; i < reference.count[a]; i++) {
            largest = fmax(largest, fabs(reference.expected[a][i].value));
        }
        for (size_t i = 0; i < reference.count[a]; i++) {
            Approx expected = reference.expected[a][i];
            double rounded = (double)(float)expected.value;
            cr_assert_eq(compare(rounded, expected.value, expected.error), CHECK_OK);
            cr_assert_lt(expected.error, 16.0 * 0x1p-23 * fmax(largest, 1.0), "%s %s[%zu], seed %d",
                         op_name(op), reference.spec->args[a].name, i, (int)seed);
        }
    }
    reference_release(&reference);
    case_release(&c);
}

Test(bounds, are_tight_on_small_shapes_with_plain_data) {
    static const size_t dim[SPEC_MAX_DIMS] = {5, 4, 3};
    for (int op = 0; op < OP_COUNT; op++) {
        /* adam's step divides by sqrt(v) + eps, which may be small: its bound follows the data */
        for (uint64_t seed = 0; seed < 100 && op != OP_adam && op != OP_adamw; seed++) {
            expect_tight((OpId)op, dim, seed);
        }
    }
}

Test(bounds, exact_operations_have_none) {
    static const OpId exact[] = {OP_fill,   OP_copy,         OP_transpose,    OP_max,
                                 OP_argmax, OP_relu_forward, OP_relu_backward};
    static const size_t dim[SPEC_MAX_DIMS] = {7, 5, 0};
    for (size_t k = 0; k < sizeof exact / sizeof exact[0]; k++) {
        Case c;
        Reference reference;
        CALL_OK(case_make(&c, exact[k], dim, k));
        CALL_OK(reference_compute(&reference, &c.call));
        for (size_t i = 0; i < reference.count[0]; i++) {
            cr_assert_eq(reference.expected[0][i].error, 0.0, "%s", op_name(exact[k]));
        }
        reference_release(&reference);
        case_release(&c);
    }
}

/* ---- cases ----------------------------------------------------------------------------------- */

Test(cases_made, are_the_same_for_the_same_seed_and_differ_for_others) {
    static const size_t dim[SPEC_MAX_DIMS] = {9, 8, 7};
    Case a, b, other;
    CALL_OK(case_make(&a, OP_matmul_forward, dim, 5));
    CALL_OK(case_make(&b, OP_matmul_forward, dim, 5));
    CALL_OK(case_make(&other, OP_matmul_forward, dim, 6));
    cr_assert_arr_eq(a.call.arg[1], b.call.arg[1], 9 * 8 * sizeof(float));
    cr_assert_neq(memcmp(a.call.arg[1], other.call.arg[1], 9 * 8 * sizeof(float)), 0);
    case_release(&a);
    case_release(&b);
    case_release(&other);
}

/* What the default cases of matmul and vector_add reach, as bits. */
static unsigned matmul_features(const Case *c) {
    const double *o = c->call.option;
    unsigned trans = (unsigned)o[2] + 2 * (unsigned)o[3];
    return 1u << trans | (o[1] == 0.0 ? 1u << 4 : 1u << 5) | (o[0] == 0.0 ? 1u << 6 : 0) |
           (o[4] > 0 ? 1u << 7 : 0) | (o[5] > 0 ? 1u << 8 : 0) | (o[6] > 0 ? 1u << 9 : 0) |
           (c->call.dim[2] == 0 ? 1u << 10 : 0);
}

Test(cases_made, reach_every_option_and_running_in_place) {
    unsigned matmul = 0, add = 0, bias = 0;
    for (int i = 0; i < VERIFY_CASES; i++) {
        size_t dim[SPEC_MAX_DIMS];
        Case c;
        case_shape(dim, OP_matmul, i, 77);
        dim[0] = dim[0] < 200 ? dim[0] : 200; /* the options are what is asked for here */
        CALL_OK(case_make(&c, OP_matmul, dim, 77 + (uint64_t)i));
        matmul |= matmul_features(&c);
        case_release(&c);
        CALL_OK(case_make(&c, OP_vector_add, dim, 77 + (uint64_t)i));
        add |= c.call.arg[0] == NULL ? 1 : c.call.arg[0] == c.call.arg[1] ? 2 : 4;
        case_release(&c);
        CALL_OK(case_make(&c, OP_matmul_forward, (size_t[]){2, 3, 4}, 77 + (uint64_t)i));
        bias |= c.call.arg[3] == NULL ? 1 : 2;
        case_release(&c);
    }
    cr_assert_eq(matmul, (1u << 11) - 1, "found %x", matmul);
    cr_assert_eq(add, 7);
    cr_assert_eq(bias, 3);
}

Test(cases_made, shapes_are_read_as_they_are_written) {
    size_t dim[SPEC_MAX_DIMS] = {0};
    char text[CASE_TEXT_BYTES];
    CALL_OK(case_parse_shape(dim, OP_matmul, "65x0x127"));
    OpCall call = call_of(OP_matmul, dim[0], dim[1], dim[2]);
    cr_assert_str_eq(case_shape_text(text, &call), "65x0x127");
    static const char *const wrong[] = {"",     "65",     "65x1",   "1x2x3x4",         "x1x2",
                                        "1x2x", "-1x2x3", "1x2x3y", "1x2x99999999999", "axbxc"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_assert_eq(case_parse_shape(dim, OP_matmul, wrong[i]), STATUS_BAD, "%s", wrong[i]);
    }
    cr_assert_eq(case_parse_shape(dim, OP_mean, "3x0"), STATUS_BAD);
}

/* ---- the checker and its mutants ------------------------------------------------------------ */

/* What the checker says to the named corruption of c in a matmul of this shape, beta = 0. */
static CheckFault fault_of(const char *name) {
    float a[7 * 5], b[5 * 6];
    MutantSpec spec;
    Backend backend;
    Reference reference;
    CheckResult result;
    Mutant mutant;
    for (size_t i = 0; i < 35; i++) {
        a[i] = (float)i - 7.25f;
        b[i % 30] = 3.0f - (float)i;
    }
    OpCall call = call_of(OP_matmul, 7, 6, 5);
    give(&call, "a", a);
    give(&call, "b", b);
    set(&call, "ldc", 9);
    CALL_OK(backend_get(&backend, "serial"));
    CALL_OK(backend.open(1));
    CALL_OK(reference_compute(&reference, &call));
    for (int i = 0; mutant_at(&mutant, OP_matmul, i); i++) {
        if (strcmp(mutant.name, name) == 0) {
            mutant_install(&spec, &backend, &mutant);
            call.spec = &spec.spec;
            break;
        }
    }
    CALL_OK(check_call(&result, &backend, &call, &reference, false));
    reference_release(&reference);
    return result.fault;
}

Test(checker, names_each_kind_of_fault) {
    cr_assert_eq(fault_of("none"), CHECK_OK);
    cr_assert_eq(fault_of("last_not_written"), CHECK_UNWRITTEN);
    cr_assert_eq(fault_of("half_stale"), CHECK_UNWRITTEN);
    cr_assert_eq(fault_of("one_nan"), CHECK_NAN);
    cr_assert_eq(fault_of("one_infinite"), CHECK_NAN);
    cr_assert_eq(fault_of("all_zero"), CHECK_OUT_OF_BOUND);
    cr_assert_eq(fault_of("one_off_by_32_ulp"), CHECK_OUT_OF_BOUND);
    cr_assert_eq(fault_of("scaled_by_2_to_-12"), CHECK_OUT_OF_BOUND);
    cr_assert_eq(fault_of("two_swapped"), CHECK_OUT_OF_BOUND);
    cr_assert_eq(fault_of("past_end"), CHECK_OVERRUN);
    cr_assert_eq(fault_of("before_start"), CHECK_OVERRUN);
    cr_assert_eq(fault_of("gap_written"), CHECK_GAP_CHANGED);
    cr_assert_eq(fault_of("input_changed"), CHECK_INPUT_CHANGED);
    cr_assert_eq(fault_of("beta_reads_nan"), CHECK_NAN);
}

Test(checker, reports_where_a_wrong_tile_lies) {
    const float ones[10 * 3] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    Mutant mutant = {.op = OP_matmul};
    MutantSpec spec;
    Backend backend;
    Reference reference;
    CheckResult result;
    OpCall call = call_of(OP_matmul, 10, 3, 3);
    give(&call, "a", ones);
    give(&call, "b", ones);
    for (int i = 0; mutant_at(&mutant, OP_matmul, i) && strcmp(mutant.name, "full_tiles_M") != 0;) {
        i++;
    }
    CALL_OK(backend_get(&backend, "serial"));
    CALL_OK(backend.open(1));
    CALL_OK(reference_compute(&reference, &call));
    mutant_install(&spec, &backend, &mutant);
    CALL_OK(check_call(&result, &backend, &call, &reference, false));
    cr_assert_eq(result.fault, CHECK_UNWRITTEN);
    cr_assert_eq(result.wrong_count, 6);
    cr_assert_not_null(strstr(result.message, "rows 8 to 9, columns 0 to 2"), "%s", result.message);
    reference_release(&reference);
}

static void kill_all(const char *backend, uint64_t seed) {
    VerifyReport report = {0};
    VerifyPlan plan = {.op = VERIFY_ALL_OPS,
                       .backend = backend,
                       .seed = seed,
                       .cases = VERIFY_CASES,
                       .threads = 2};
    CALL_OK(verify_mutants(&report, &plan));
    cr_assert_gt(report.mutants_made, 450);
    cr_assert_eq(report.mutants_killed, report.mutants_made, "seed %d: %d survived, first: %s",
                 (int)seed, report.mutants_made - report.mutants_killed, report.survivors[0]);
    verify_report_release(&report);
}

Test(mutants, are_all_killed_on_serial, .timeout = 120) {
    kill_all("serial", 20260101);
}

Test(mutants, are_all_killed_with_another_seed, .timeout = 120) {
    kill_all("serial", 42);
}

Test(mutants, are_all_killed_on_openmp, .timeout = 120) {
    kill_all("openmp", 7);
}

Test(mutants, every_operation_has_written_and_generic_ones) {
    for (int op = 0; op < OP_COUNT; op++) {
        int generic = 0, written = 0;
        Mutant mutant;
        for (int i = 0; mutant_at(&mutant, (OpId)op, i); i++) {
            generic += mutant.corruption != NULL;
            written += mutant.written != NULL;
        }
        cr_assert_geq(generic, 9, "%s", op_name((OpId)op));
        cr_assert_geq(written, op == OP_fill ? 1 : 2, "%s", op_name((OpId)op));
    }
}

/* Empty work shows nothing: whatever survives there is counted and named. */
Test(mutants, that_survive_are_counted_and_named) {
    VerifyReport report = {0};
    VerifyPlan plan = {.op = OP_matmul, .shape = "0x3x3", .seed = 1, .cases = 1, .threads = 1};
    CALL_OK(verify_mutants(&report, &plan));
    cr_assert_lt(report.mutants_killed, report.mutants_made);
    cr_assert_gt(report.survivor_count, 0);
    cr_assert_not_null(strstr(report.survivors[0], "matmul "));
    verify_report_release(&report);
}

/* ---- all kernels ---------------------------------------------------------------------------- */

Test(verify, every_kernel_of_every_backend_is_within_its_bounds, .timeout = 120) {
    VerifyReport report = {0};
    VerifyPlan plan = {.op = VERIFY_ALL_OPS, .seed = 20260102, .cases = 30, .threads = 3};
    CALL_OK(verify_run(&report, &plan, NULL));
    cr_assert_gt(report.checked, 30 * 3 * OP_COUNT - 1);
    cr_assert_eq(report.failed, 0, "%s on %s/%s, %s, seed %d: %s", op_name(report.failures[0].op),
                 report.failures[0].backend, report.failures[0].kernel, report.failures[0].shape,
                 (int)report.failures[0].seed, report.failures[0].result.message);
    for (int i = 0; i < report.row_count; i++) {
        cr_assert_leq(report.rows[i].headroom, 1.0);
    }
    verify_report_release(&report);
}

/* The CUDA kernels, interpreted: the same bounds. Fewer cases: a warp is 32 turns here. */
Test(verify, every_kernel_of_the_interpreter_is_within_its_bounds, .timeout = 240) {
    Backend simt;
    if (backend_get(&simt, "simt") != STATUS_OK) {
        cr_skip_test("%s", status_message());
    }
    VerifyReport report = {0};
    VerifyPlan plan = {
        .op = VERIFY_ALL_OPS, .backend = "simt", .seed = 20260103, .cases = 10, .threads = 2};
    CALL_OK(verify_run(&report, &plan, NULL));
    cr_assert_gt(report.checked, 10 * OP_COUNT - 1);
    cr_assert_eq(report.failed, 0, "%s on simt/%s, %s: %s", op_name(report.failures[0].op),
                 report.failures[0].kernel, report.failures[0].shape,
                 report.failures[0].result.message);
    verify_report_release(&report);
}

/* A backend whose ladders are the written mutants: every row of the report is a no. */
Test(verify, every_kernel_of_a_wrong_backend_fails_and_is_named, .timeout = 120) {
    VerifyReport report = {0};
    Backend wrong;
    CALL_OK(backend_get(&wrong, "serial"));
    wrong.name = "wrong";
    wrong.tables = mutant_tables;
    VerifyPlan plan = {.op = VERIFY_ALL_OPS,
                       .instead = &wrong,
                       .seed = 20260101,
                       .cases = 32, /* the next one is 1000^3 */
                       .threads = 1};
    CALL_OK(verify_run(&report, &plan, NULL));
    cr_assert_gt(report.row_count, 80);
    for (int i = 0; i < report.row_count; i++) {
        cr_assert_gt(report.rows[i].failed, 0, "%s %s", op_name(report.rows[i].op),
                     report.rows[i].kernel->name);
    }
    cr_assert_gt(report.failed, report.row_count);
    cr_assert_eq(report.listed, VERIFY_LISTED);
    cr_assert_eq(report.failures[0].op, OP_fill);
    cr_assert_str_eq(report.failures[0].backend, "wrong");
    cr_assert_neq(report.failures[0].result.fault, CHECK_OK);
    verify_report_release(&report);
}

static Status command(const char *const *words) {
    char *argv[16];
    int argc = 0;
    for (; words[argc] != NULL; argc++) {
        argv[argc] = (char *)words[argc];
    }
    return cli_verify(argc, argv);
}

Test(verify, the_command_refuses_what_does_not_exist) {
    cr_assert_eq(command((const char *const[]){"verify", "--op", "relu", NULL}), STATUS_BAD);
    cr_assert_not_null(strstr(status_message(), "relu_forward"));
    cr_assert_eq(command((const char *const[]){"verify", "--kernel", "naive", NULL}), STATUS_BAD);
    cr_assert_eq(command((const char *const[]){"verify", "--shape", "3", NULL}), STATUS_BAD);
    cr_assert_eq(command((const char *const[]){"verify", "--backend", "opnmp", NULL}), STATUS_BAD);
    cr_assert_not_null(strstr(status_message(), "openmp"));
    cr_assert_eq(
        command((const char *const[]){"verify", "--op", "sum", "--kernel", "nonesuch", NULL}),
        STATUS_BAD);
    cr_assert_eq(command((const char *const[]){"verify", "--op", "sum", "--shape", "3", NULL}),
                 STATUS_BAD);
    cr_assert_eq(command((const char *const[]){"verify", "--cases", "0", NULL}), STATUS_BAD);
}

Test(verify, a_failure_comes_with_the_command_that_repeats_it) {
    char text[512];
    VerifyFailure failure = {
        .op = OP_sum, .backend = "openmp", .kernel = "chunks", .seed = 12345, .shape = "2x9"};
    cr_assert_str_eq(verify_command(text, &failure),
                     "lockstep verify --op sum --kernel chunks --backend openmp --shape 2x9 --seed "
                     "12345 --cases 1");
}

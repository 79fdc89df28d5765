/* The figures of a race: clocks, curves, speedups, shares; and how they are shown. Expected values
 * are worked by hand. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/race_result.h"
#include "bench/stopwatch.h"
#include "cli/race_table.h"
#include "cli/terminal.h"

/* ---- the own clock -------------------------------------------------------------------------- */

Test(stopwatch, counts_every_step_and_samples_only_whole_ones_after_the_warm_up) {
    Stopwatch watch;
    cr_assert_eq(stopwatch_init(&watch), STATUS_OK);
    stopwatch_add(&watch, 9000000, true); /* cold */
    stopwatch_add(&watch, 5000000, true);
    stopwatch_add(&watch, 5000000, true);
    stopwatch_add(&watch, 1000000, true);
    stopwatch_add(&watch, 100, false); /* a small last batch */
    stopwatch_add(&watch, 3000000, true);
    Stats stats = stopwatch_stats(&watch);
    cr_assert_eq(watch.steps, 6);
    cr_assert_eq(watch.total_ns, 23000100);
    cr_assert_eq(watch.cold_ns, 9000000);
    cr_assert_eq(stats.count, 2);
    cr_assert_float_eq(stats.median, 2.0, 1e-12);
    stopwatch_free(&watch);
}

Test(stopwatch, of_a_long_race_keeps_samples_from_all_of_it) {
    Stopwatch watch;
    cr_assert_eq(stopwatch_init(&watch), STATUS_OK);
    int n = 5 * STOPWATCH_SAMPLES;
    for (int i = 0; i < n + STOPWATCH_WARMUP; i++) {
        stopwatch_add(&watch, i < STOPWATCH_WARMUP ? 0 : (uint64_t)(i - STOPWATCH_WARMUP) * 1000000,
                      true);
    }
    Stats stats = stopwatch_stats(&watch);
    cr_assert_leq(stats.count, STOPWATCH_SAMPLES);
    cr_assert_geq(stats.count, STOPWATCH_SAMPLES / 2);
    cr_assert_float_eq(stats.median, n / 2.0, n * 0.001, "median %g of 0..%d", stats.median, n);
    cr_assert_float_eq(stats.quartile1, n / 4.0, n * 0.001);
    cr_assert_eq(watch.steps, n + STOPWATCH_WARMUP);
    stopwatch_free(&watch);
}

/* ---- curves --------------------------------------------------------------------------------- */

static RaceCurve curve;

static void fill_curve(double seconds_a_step) {
    const double accuracy[] = {0.1, 0.79, 0.85, 0.93, 0.92};
    memset(&curve, 0, sizeof curve);
    for (int i = 0; i < 5; i++) {
        race_curve_add(&curve, (RacePoint){i * 10, i * 10 * seconds_a_step, accuracy[i]});
    }
}

Test(race_curve, time_to_accuracy_is_the_first_evaluation_that_reached_it) {
    fill_curve(0.5);
    cr_assert_float_eq(race_curve_time_to(&curve, 0.80), 10.0, 1e-12);
    cr_assert_float_eq(race_curve_time_to(&curve, 0.93), 15.0, 1e-12, "reached is reached");
    cr_assert(isnan(race_curve_time_to(&curve, 0.95)));
}

Test(race_curve, at_a_time_gives_the_last_evaluation_by_then_and_the_steps_in_between) {
    fill_curve(0.5);
    RacePoint at = race_curve_at(&curve, 12.5);
    cr_assert_eq(at.steps, 25);
    cr_assert_float_eq(at.accuracy, 0.85, 1e-12);
    at = race_curve_at(&curve, 100.0);
    cr_assert_eq(at.steps, 40, "no more than it did");
    cr_assert_float_eq(at.accuracy, 0.92, 1e-12);
}

Test(race_curve, keeps_its_first_and_last_point_however_many_come) {
    memset(&curve, 0, sizeof curve);
    for (int i = 0; i < 5 * RACE_MAX_POINTS + 7; i++) {
        race_curve_add(&curve, (RacePoint){i, i, i});
        cr_assert_leq(curve.count, RACE_MAX_POINTS);
        cr_assert_eq(curve.points[0].steps, 0);
        cr_assert_eq(curve.points[curve.count - 1].steps, i);
    }
    for (int i = 1; i < curve.count; i++) {
        cr_assert_gt(curve.points[i].steps, curve.points[i - 1].steps);
    }
}

/* ---- comparing ------------------------------------------------------------------------------ */

static RaceResult result_of(const char *backend, double ms, bool is_cpu, bool emulated) {
    return (RaceResult){.backend = backend,
                        .is_cpu = is_cpu,
                        .emulated = emulated,
                        .own_s = ms,
                        .step_ms = {10, ms, ms, ms, ms, ms}};
}

Test(race_results, speedups_are_over_serial_and_over_the_best_cpu_backend) {
    RaceResult results[] = {result_of("serial", 8.0, true, false),
                            result_of("openblas", 2.0, true, false),
                            result_of("cuda", 0.5, false, false)};
    race_results_compare(results, 3);
    cr_assert_float_eq(results[0].speedup_serial, 1.0, 1e-12);
    cr_assert_float_eq(results[0].speedup_best_cpu, 0.25, 1e-12);
    cr_assert_float_eq(results[1].speedup_serial, 4.0, 1e-12);
    cr_assert_float_eq(results[2].speedup_serial, 16.0, 1e-12);
    cr_assert_float_eq(results[2].speedup_best_cpu, 4.0, 1e-12, "a GPU is no CPU's baseline");
}

Test(race_results, emulated_times_give_no_speedup_and_are_no_baseline) {
    RaceResult results[] = {result_of("openmp", 2.0, true, false),
                            result_of("simt", 1.0, true, true)};
    race_results_compare(results, 2);
    cr_assert(isnan(results[1].speedup_serial));
    cr_assert(isnan(results[1].speedup_best_cpu));
    cr_assert_float_eq(results[0].speedup_best_cpu, 1.0, 1e-12);
    cr_assert(isnan(results[0].speedup_serial), "serial is not in the race");
    cr_assert(isnan(results[1].equal_time.own_s));
}

Test(race_results, equal_time_is_the_shortest_own_clock) {
    static RaceCurve slow;
    fill_curve(0.5);
    slow = curve;
    fill_curve(0.125);
    RaceResult results[] = {result_of("serial", 20.0, true, false),
                            result_of("openmp", 5.0, true, false)};
    results[0].curve = &slow;
    results[1].curve = &curve;
    race_results_compare(results, 2);
    cr_assert_eq(results[0].equal_time.steps, 10);
    cr_assert_float_eq(results[0].equal_time.accuracy, 0.79, 1e-12);
    cr_assert_eq(results[1].equal_time.steps, 40);
}

Test(race_results, shares_are_ordered_and_add_up_to_the_step) {
    OpCost costs[OP_COUNT] = {0};
    RaceResult result = result_of("serial", 2.0, true, false);
    costs[OP_sgd].ns = 100;
    costs[OP_matmul_forward].ns = 600;
    race_result_shares(&result, costs, 1000);
    cr_assert_eq(result.share_count, 3);
    cr_assert_eq(result.shares[0].op, OP_matmul_forward);
    cr_assert_float_eq(result.shares[0].ms, 1.2, 1e-12);
    cr_assert_eq(result.shares[1].op, OP_sgd);
    cr_assert_eq(result.shares[2].op, OP_COUNT);
    cr_assert_float_eq(result.shares[2].share, 0.3, 1e-12);
}

/* ---- showing -------------------------------------------------------------------------------- */

Test(race_table, numbers_show_three_digits_and_columns_line_up) {
    char text[32];
    cr_assert_str_eq(race_number(text, 1.234, 6), "  1.23");
    cr_assert_str_eq(race_number(text, 9.996, 6), "  10.0");
    cr_assert_str_eq(race_number(text, 1234.0, 6), "  1234");
    cr_assert_str_eq(race_number(text, (double)NAN, 4), "   -");
    cr_assert_str_eq(race_grouped(text, 1234567), "1,234,567");
    cr_assert_str_eq(race_grouped(text, 999), "999");
    cr_assert_str_eq(race_grouped(text, 0), "0");
}

/* A report with hard values: nothing measured yet, six runners, long names. */
static void check_width(const char *text, int width) {
    for (const char *line = text; *line != '\0';) {
        int length = (int)strcspn(line, "\n");
        char copy[1024];
        snprintf(copy, sizeof copy, "%.*s", length, line);
        cr_assert_leq(text_columns(copy), width, "%d columns: %s", text_columns(copy), copy);
        line += length + (line[length] == '\n');
    }
}

Test(race_table, fits_in_80_columns_with_three_backends_and_with_nothing_measured) {
    static RaceReport report;
    static RaceCurve empty;
    const char *names[] = {"serial", "openmp", "openblas"};
    Terminal terminal = {.out = stdout, .width = 80, .height = 24, .utf8 = true};
    static Model model = {.name = "mlp:784-512-256-10"};
    static Dataset data = {.name = "mnist-small"};
    RaceOptions options = {
        .model = &model, .data = &data, .train = train_default_options, .wall_limit_s = 20.0};
    report = (RaceReport){.options = &options, .optimizer = "sgd", .count = 3};
    report.agreement.agree = true;
    for (int measured = 0; measured < 2; measured++) {
        for (int i = 0; i < 3; i++) {
            OpCost costs[OP_COUNT] = {0};
            costs[OP_softmax_cross_entropy_backward].ns = costs[OP_matmul_backward_weight].ns = 400;
            report.results[i] = result_of(names[i], measured ? 12345.678 : 0.0, true, false);
            report.results[i].step_ms.count = measured;
            report.results[i].curve = &empty;
            report.results[i].images_per_s = 1234567.0;
            report.results[i].loss = report.results[i].accuracy = measured ? 1.0 : (double)NAN;
            race_result_shares(&report.results[i], costs, 1000);
        }
        race_results_compare(report.results, 3);
        Frame frame = {.terminal = &terminal};
        race_table_live(&frame, &report);
        check_width(frame.text, 79);
        frame_free(&frame);
        race_summary(&frame, &report);
        check_width(frame.text, 79);
        frame_free(&frame);
    }
}

Test(terminal, text_wraps_at_words_and_styles_take_no_columns) {
    Terminal terminal = {.out = stdout, .width = 21, .height = 24, .colour = true};
    Frame frame = {.terminal = &terminal};
    frame_wrap(&frame, 2, "one two three four five");
    cr_assert_str_eq(frame.text, "  one two three four\n  five\n");
    frame_free(&frame);
    frame_style(&frame, STYLE_GOOD, "yes");
    cr_assert_eq(text_columns(frame.text), 3);
    frame_free(&frame);
    terminal.colour = false;
    frame_style(&frame, STYLE_GOOD, "yes");
    cr_assert_str_eq(frame.text, "yes");
    frame_free(&frame);
}

Test(terminal, bars_fill_in_eighths_and_keep_their_width) {
    Terminal terminal = {.out = stdout, .width = 80, .height = 24, .utf8 = true};
    Frame frame = {.terminal = &terminal};
    frame_bar(&frame, STYLE_PLAIN, 0.5 + 1.0 / 32.0, 4);
    cr_assert_str_eq(frame.text, "██▏ ");
    frame_free(&frame);
    terminal.utf8 = false;
    frame_bar(&frame, STYLE_PLAIN, 2.0, 4);
    cr_assert_str_eq(frame.text, "####", "more than all is all");
    frame_free(&frame);
}

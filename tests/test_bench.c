/* The bench: its arithmetic, its ceilings, and above all what it refuses. Clocks and backends are
 * made up here; nothing is timed. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/alternate.h"
#include "bench/bench.h"
#include "bench/neighbours.h"
#include "bench/operands.h"
#include "bench/peak.h"
#include "bench/pytorch.h"
#include "bench/size.h"
#include "bench/train_step.h"

/* ---- statistics: expected values worked by hand, as numpy.percentile gives them -------------- */

Test(bench_stats, quartiles_interpolate_between_order_statistics) {
    double values[] = {4, 1, 3, 2};
    Stats stats = stats_of(values, 4);
    cr_assert_eq(stats.count, 4);
    cr_assert_float_eq(stats.low, 1, 0);
    cr_assert_float_eq(stats.quartile1, 1.75, 1e-15);
    cr_assert_float_eq(stats.median, 2.5, 1e-15);
    cr_assert_float_eq(stats.quartile3, 3.25, 1e-15);
    cr_assert_float_eq(stats.high, 4, 0);
    cr_assert_float_eq(stats_iqr(&stats), 1.5, 1e-15);
}

Test(bench_stats, one_sample_is_all_five_numbers_and_none_gives_zeros) {
    double value = 7;
    Stats one = stats_of(&value, 1), none = stats_of(&value, 0);
    cr_assert(one.low == 7 && one.quartile1 == 7 && one.median == 7 && one.high == 7);
    cr_assert(none.count == 0 && none.median == 0);
}

/* ---- caches --------------------------------------------------------------------------------- */

static void write_file(const char *folder, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fprintf(file, "%s\n", text);
    fclose(file);
}

static void make_cache(const char *root, int index, const char *level, const char *type,
                       const char *size, const char *shared) {
    char folder[128];
    snprintf(folder, sizeof folder, "%s/index%d", root, index);
    cr_assert_eq(mkdir(folder, 0700), 0);
    write_file(folder, "level", level);
    write_file(folder, "type", type);
    write_file(folder, "size", size);
    write_file(folder, "shared_cpu_list", shared);
}

Test(bench_cache, levels_are_read_and_instruction_caches_left_out) {
    char root[] = "/tmp/lockstep-cache-XXXXXX";
    CacheLevel levels[CACHE_MAX_LEVELS];
    cr_assert_not_null(mkdtemp(root));
    make_cache(root, 0, "1", "Data", "48K", "0,64");
    make_cache(root, 1, "1", "Instruction", "32K", "0,64");
    make_cache(root, 2, "2", "Unified", "2048K", "0,64");
    make_cache(root, 3, "3", "Unified", "36M", "0-31,64-95");
    cr_assert_eq(cache_levels(levels, root), 3);
    cr_assert(levels[0].level == 1 && levels[0].bytes == 48 << 10 && levels[0].shared == 2);
    cr_assert(levels[2].level == 3 && levels[2].bytes == 36 << 20 && levels[2].shared == 64);
    /* 128 processors, 64 to an L3: 16 threads can reach both */
    cr_assert_eq(cache_capacity(&levels[2], 16, 128), (size_t)72 << 20);
    cr_assert_eq(cache_capacity(&levels[2], 1, 128), (size_t)36 << 20);
    cr_assert_eq(cache_capacity(&levels[0], 4, 128), (size_t)4 * 48 << 10);
}

Test(bench_cache, a_system_that_says_nothing_has_no_levels) {
    CacheLevel levels[CACHE_MAX_LEVELS];
    cr_assert_eq(cache_levels(levels, "/nonexistent"), 0);
    cr_assert_eq(cpu_list_count(""), 0);
    cr_assert_eq(cpu_list_count("0-3,8"), 5);
}

/* ---- ceilings ------------------------------------------------------------------------------- */

/* 100 GFLOP/s; a 1000-byte cache with 50 GB/s, memory with 10 GB/s (filling: 20). */
static Peaks made_up_peaks(void) {
    Peaks peaks = {.threads = 1, .stated = true, .gflops = 100, .level_count = 2};
    peaks.levels[0] = (PeakLevel){"L1", 1000, {[PEAK_READ] = 50, [PEAK_COPY] = 40}};
    peaks.levels[1] = (PeakLevel){"memory", SIZE_MAX, {[PEAK_READ] = 10, [PEAK_FILL] = 20}};
    return peaks;
}

Test(bench_peak, the_tighter_of_arithmetic_and_bandwidth_is_the_ceiling) {
    Peaks peaks = made_up_peaks();
    PeakFloor busy = peak_floor(&peaks, &(PeakWork){1e6, 500, 500, false});
    cr_assert(busy.by_arithmetic);
    cr_assert_float_eq(busy.ns, 1e4, 1e-9);
    PeakFloor moving = peak_floor(&peaks, &(PeakWork){10, 500, 500, false});
    cr_assert_not(moving.by_arithmetic);
    cr_assert_str_eq(moving.ceiling, "L1");
    cr_assert_float_eq(moving.ns, 10, 1e-12);
}

Test(bench_peak, a_set_larger_than_a_cache_is_charged_to_both_levels) {
    Peaks peaks = made_up_peaks();
    /* 1000 of 4000 bytes at 50, 3000 at 10 */
    PeakFloor floor = peak_floor(&peaks, &(PeakWork){0, 4000, 4000, false});
    cr_assert_str_eq(floor.ceiling, "memory");
    cr_assert_float_eq(floor.ns, 1000 / 50.0 + 3000 / 10.0, 1e-9);
}

Test(bench_peak, only_work_that_reads_nothing_is_held_against_filling) {
    Peaks peaks = made_up_peaks();
    PeakPattern pattern;
    cr_assert_float_eq(peak_bandwidth(&peaks.levels[1], true, &pattern), 20, 0);
    cr_assert_eq(pattern, PEAK_FILL);
    cr_assert_float_eq(peak_bandwidth(&peaks.levels[1], false, &pattern), 10, 0);
    cr_assert_eq(pattern, PEAK_READ);
}

/* ---- refusals ------------------------------------------------------------------------------- */

Test(bench_refusal, case_19_a_matmul_of_4096_cubed_in_23_us_is_refused_with_both_rates) {
    /* 2 * 4096^3 flop in 23.1 us are 5.95 PFLOP/s; the device does 60 TFLOP/s. */
    Peaks device = {.threads = 1, .stated = true, .gflops = 60000};
    double times[] = {23100, 23100, 23100};
    Figure figure = {.backend = "cuda", .kernel = "tiled", .work = {.flops = 0x1p37}};
    figure.ns = stats_of(times, 3);
    figure_rate(&figure, &device);
    cr_assert(figure_beats_peak(&figure));
    figure_refuse_above_peak(&figure, &device);
    cr_assert_not_null(strstr(figure.refused, "5.95 PFLOP/s in 23.1 us"), "%s", figure.refused);
    cr_assert_not_null(strstr(figure.refused, "60 TFLOP/s"), "%s", figure.refused);
    cr_assert_not_null(strstr(figure.refused, "at least 2.29 ms"), "%s", figure.refused);
    cr_assert(figure.ns.median == 0 && figure.gflops == 0 && figure.percent_of_ceiling == 0);
}

Test(bench_refusal, a_figure_within_the_tolerance_stands) {
    Peaks device = {.threads = 1, .stated = true, .gflops = 100};
    double just[] = {1000.0 / 1.09}, above[] = {1000.0 / 1.11};
    Figure figure = {.work = {.flops = 1e5}};
    figure.ns = stats_of(just, 1);
    figure_rate(&figure, &device);
    cr_assert_not(figure_beats_peak(&figure));
    figure.ns = stats_of(above, 1);
    figure_rate(&figure, &device);
    cr_assert(figure_beats_peak(&figure));
}

Test(bench_refusal, an_emulated_figure_has_no_rate) {
    Peaks device = {.threads = 1, .stated = true, .gflops = 100};
    double times[] = {1};
    Figure figure = {.emulated = true, .work = {.flops = 1e9, .bytes = 1e9}};
    figure.ns = stats_of(times, 1);
    figure_rate(&figure, &device);
    cr_assert(figure.gflops == 0 && figure.gbytes_per_s == 0 && figure.percent_of_ceiling == 0);
}

/* A backend on made-up time: each kernel call takes fake_call_ns on fake_clock. */
static uint64_t fake_clock_ns, fake_call_ns;
static int fake_calls;

static uint64_t read_fake_clock(void) {
    return fake_clock_ns;
}

static void add_right(float *out, const float *a, const float *b, size_t n) {
    fake_clock_ns += fake_call_ns;
    fake_calls++;
    for (size_t i = 0; i < n; i++) {
        out[i] = a[i] + b[i];
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the contract's signature */
static void add_nothing(float *out, const float *a, const float *b, size_t n) {
    (void)out, (void)a, (void)b, (void)n;
    fake_clock_ns += fake_call_ns;
}

static void add_all_but_the_last(float *out, const float *a, const float *b, size_t n) {
    add_right(out, a, b, n - 1);
    out[n - 1] = 0;
}

/* Works once, for the check, and then only takes the time. */
static void add_once(float *out, const float *a, const float *b, size_t n) {
    if (fake_calls == 0) {
        add_right(out, a, b, n);
    } else {
        add_nothing(out, a, b, n);
    }
}

static Status fail_to_wait(void) {
    return fail("an illegal address was met in kernel vector_add");
}

static const Kernel fake_kernel = {.op = OP_vector_add, .name = "fake", .deterministic = true};

static Figure measure_fake(vector_add_fn *function, Status (*synchronize)(void), Peaks *peaks) {
    BenchContender contender = {.threads = 1, .peaks = peaks};
    BenchSettings settings = {.samples = 7, .seed = 19};
    OpCall call;
    Figure figure;
    Backend *be = &contender.backend;
    cr_assert_eq(backend_get(be, "serial"), STATUS_OK);
    be->name = "fake";
    be->now_ns = read_fake_clock;
    be->synchronize = synchronize;
    be->ops.vector_add = function;
    be->chosen[OP_vector_add] = &fake_kernel;
    fake_clock_ns = 1;
    fake_calls = 0;
    call_init(&call, OP_vector_add);
    call.dim[0] = 1000;
    cr_assert_eq(bench_measure(&figure, &contender, 1, &call, &settings), STATUS_OK, "%s",
                 status_message());
    return figure;
}

static Status wait_for_nothing(void) {
    return STATUS_OK;
}

Test(bench_refusal, a_right_kernel_on_a_true_clock_gets_its_figure) {
    Peaks peaks = {.threads = 1, .stated = true, .gflops = 100};
    fake_call_ns = 2000;
    Figure figure = measure_fake(add_right, wait_for_nothing, &peaks);
    cr_assert_str_empty(figure.refused, "%s", figure.refused);
    cr_assert_eq(figure.ns.count, 7);
    cr_assert_float_eq(figure.ns.median, 2000, 1e-9);
    cr_assert_float_eq(figure.ns.high, 2000, 1e-9);
    cr_assert_float_eq(figure.cold_ns, 2000, 1e-9);
    cr_assert_float_eq(figure.gflops, 0.5, 1e-12);
    cr_assert_float_eq(figure.gbytes_per_s, 6, 1e-12);
    cr_assert_float_eq(figure.percent_of_ceiling, 0.5, 1e-9);
    cr_assert_str_not_empty(figure.checked_against);
}

Test(bench_refusal, faster_than_the_peak_is_refused_end_to_end) {
    Peaks peaks = {.threads = 1, .stated = true, .gflops = 100};
    fake_call_ns = 2; /* 1000 flop in 2 ns: 500 GFLOP/s */
    Figure figure = measure_fake(add_right, wait_for_nothing, &peaks);
    cr_assert_not_null(strstr(figure.refused, "above the measured peak of 100 GFLOP/s"), "%s",
                       figure.refused);
    cr_assert_eq(figure.ns.median, 0);
}

Test(bench_refusal, a_backend_that_cannot_wait_gets_no_figure) {
    fake_call_ns = 2000;
    Figure figure = measure_fake(add_right, NULL, NULL);
    cr_assert_not_null(strstr(figure.refused, "without synchronisation"), "%s", figure.refused);
    figure = measure_fake(add_right, fail_to_wait, NULL);
    cr_assert_not_null(strstr(figure.refused, "illegal address"), "%s", figure.refused);
    cr_assert_eq(figure.ns.median, 0);
}

Test(bench_refusal, a_wrong_or_unwritten_result_gets_no_figure) {
    fake_call_ns = 2000;
    Figure figure = measure_fake(add_nothing, wait_for_nothing, NULL);
    cr_assert_not_null(strstr(figure.refused, "wrong result: out[0] is nan"), "%s", figure.refused);
    figure = measure_fake(add_all_but_the_last, wait_for_nothing, NULL);
    cr_assert_not_null(strstr(figure.refused, "wrong result: out[999] is 0"), "%s", figure.refused);
}

Test(bench_refusal, a_kernel_that_works_only_for_the_check_gets_no_figure) {
    fake_call_ns = 2000;
    Figure figure = measure_fake(add_once, wait_for_nothing, NULL);
    cr_assert_str_not_empty(figure.refused);
    cr_assert_eq(figure.ns.median, 0);
}

Test(bench_refusal, a_clock_that_stands_still_gives_no_figure) {
    fake_call_ns = 0;
    Figure figure = measure_fake(add_right, wait_for_nothing, NULL);
    cr_assert_not_null(strstr(figure.refused, "did not move"), "%s", figure.refused);
}

/* ---- operands ------------------------------------------------------------------------------- */

Test(bench_operands, labels_stay_below_their_dimension_and_outputs_start_poisoned) {
    OpCall call;
    Operands host;
    call_init(&call, OP_softmax_cross_entropy_forward);
    call.dim[0] = 300;
    call.dim[1] = 7;
    cr_assert_eq(operands_make(&host, &call, 3), STATUS_OK);
    const int32_t *labels = host.call.arg[spec_arg(call.spec, "labels")];
    const float *losses = host.call.arg[spec_arg(call.spec, "losses")];
    for (int i = 0; i < 300; i++) {
        cr_assert(labels[i] >= 0 && labels[i] < 7);
        cr_assert(isnan(losses[i]));
    }
    operands_release_host(&host);
}

Test(bench_operands, a_matmul_that_does_not_read_c_can_be_repeated_and_one_that_does_cannot) {
    OpCall call;
    call_init(&call, OP_matmul);
    cr_assert(operands_repeatable(&call));
    cr_assert_eq(call_set_option(&call, "beta", 1), STATUS_OK);
    cr_assert_not(operands_repeatable(&call));
    call_init(&call, OP_fill);
    cr_assert(operands_writes_only(&call));
}

/* ---- sizes ---------------------------------------------------------------------------------- */

Test(bench_size, one_number_is_every_dimension_and_more_go_in_order) {
    OpCall call;
    call_init(&call, OP_matmul);
    cr_assert_eq(size_set(&call, "512"), STATUS_OK);
    cr_assert(call.dim[0] == 512 && call.dim[1] == 512 && call.dim[2] == 512);
    cr_assert_eq(size_set(&call, "64x784x128"), STATUS_OK);
    cr_assert(call.dim[0] == 64 && call.dim[1] == 784 && call.dim[2] == 128);
}

Test(bench_size, what_is_no_size_is_refused_with_the_dimensions_names) {
    static const char *const wrong[] = {"",
                                        "64x784",
                                        "64x784x128x2",
                                        "0",
                                        "-1",
                                        "64x",
                                        "x64",
                                        "64xx128",
                                        "2147483648",
                                        "1e3",
                                        "12 34",
                                        "64,784,8",
                                        "99999999999999999999"};
    OpCall call;
    call_init(&call, OP_matmul);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_assert_eq(size_set(&call, wrong[i]), STATUS_BAD, "'%s'", wrong[i]);
        cr_assert_not_null(strstr(status_message(), "M x N x K"), "%s", status_message());
    }
}

/* ---- turns ---------------------------------------------------------------------------------- */

static Status take_one_ms(void *self, long count, double *ns) {
    *(long *)self += count;
    *ns = 1e6 * (double)count;
    return STATUS_OK;
}

static Status take_two_ms(void *self, long count, double *ns) {
    *(long *)self += count;
    *ns = 2e6 * (double)count;
    return STATUS_OK;
}

Test(bench_alternate, the_ratio_is_theirs_over_ours_and_slices_take_alike) {
    long done[2] = {0, 0};
    Side sides[2] = {{"ours", take_one_ms, &done[0], 0}, {"theirs", take_two_ms, &done[1], 0}};
    Alternation result;
    cr_assert_eq(alternate(&result, sides, 1, 5), STATUS_OK);
    cr_assert_eq(result.rounds, 5);
    cr_assert_eq(result.wins, 5);
    cr_assert_float_eq(result.ratio.median, 2, 1e-12);
    cr_assert_float_eq(result.ns[0].median, 1e6, 1e-6);
    cr_assert_eq(result.counts[0], 2 * result.counts[1]);
    cr_assert_geq(done[0], 5 * result.counts[0]);
}

Test(bench_alternate, a_python_without_torch_is_missing_and_the_cure_is_named) {
    char python[256];
    cr_assert_eq(torch_find_python(python, sizeof python, "/bin/false"), STATUS_MISSING);
    cr_assert_not_null(strstr(status_message(), "python3-torch"), "%s", status_message());
    cr_assert_eq(torch_find_python(python, sizeof python, "/nonexistent"), STATUS_MISSING);
}

Test(bench_train_step, the_export_holds_first_weights_and_batches_and_the_run_starts_afresh) {
    TrainStep step;
    double ns;
    float first_loss;
    FILE *file = tmpfile();
    cr_assert_not_null(file);
    cr_assert_eq(train_step_open(&step, "mlp:6-5-3", "serial", 1, 4, 0.1), STATUS_OK, "%s",
                 status_message());
    cr_assert_eq(train_step_export(&step, file), STATUS_OK, "%s", status_message());
    long params = 6 * 5 + 5 + 5 * 3 + 3, rows = 4 * TRAIN_STEP_BATCHES;
    cr_assert_eq(ftell(file), 4 * (params + rows * 6 + rows));
    cr_assert_eq(step.run->step, 0);
    cr_assert_eq(train_step_run(&step, 1, &ns), STATUS_OK);
    first_loss = step.loss;
    cr_assert_eq(train_step_run(&step, 40, &ns), STATUS_OK); /* past the epoch's end */
    cr_assert_eq(step.run->step, 41);
    cr_assert(first_loss > 0.2f && first_loss < 10.0f);
    train_step_close(&step);
    fclose(file);
}

Test(bench_train_step, models_that_pytorch_has_no_twin_of_are_refused) {
    TrainStep step;
    cr_assert_eq(train_step_open(&step, "cnn", "serial", 1, 4, 0.1), STATUS_BAD);
    train_step_close(&step);
    cr_assert_eq(train_step_open(&step, "mlp:784", "serial", 1, 4, 0.1), STATUS_BAD);
    train_step_close(&step);
}

/* ---- words ---------------------------------------------------------------------------------- */

Test(bench_words, durations_and_rates_carry_three_digits_and_a_unit) {
    char text[32];
    cr_assert_str_eq(duration_text(text, sizeof text, 23100), "23.1 us");
    cr_assert_str_eq(duration_text(text, sizeof text, 999.6), "1.00 us");
    cr_assert_str_eq(duration_text(text, sizeof text, 12e6), "12.0 ms");
    cr_assert_str_eq(duration_text(text, sizeof text, 5.02e9), "5.02 s");
    cr_assert_str_eq(duration_text(text, sizeof text, 123e9), "123 s");
    cr_assert_str_eq(rate_text(text, sizeof text, 5.95e15, "FLOP/s"), "5.95 PFLOP/s");
    cr_assert_str_eq(rate_text(text, sizeof text, 12, "B/s"), "12 B/s");
}

Test(bench_neighbours, busy_time_counts_steal_and_leaves_out_idle_and_io_wait) {
    /* user nice system idle iowait irq softirq steal guest guest_nice, in ticks of 10 ms */
    cr_assert_float_eq(neighbours_parse("cpu  100 20 30 4000 50 6 7 37 5 0", 100), 2.0, 1e-12);
    cr_assert_float_eq(neighbours_parse("intr 5", 100), 0, 0);
}

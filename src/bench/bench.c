#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/operands.h"
#include "bench/settle.h"

enum {
    BATCH_MIN_NS = 1000000,  /* a batch is 10,000 times the clock's resolution or more, */
    BATCH_MAX_NS = 20000000, /* and short enough for many turns */
    BATCH_MAX_CALLS = 1 << 20,
    LONG_CALL_NS = 100000000, /* from here on, one more call to warm up changes nothing */
    SETTLE_LIMIT_MS = 150,
    LONG_SAMPLES = 3, /* enough where one call alone takes longer than its time */
};

/* A contender at work. */
typedef struct Turn {
    BenchContender *contender;
    Figure *figure;
    Operands device;
    OpCost cost;
    double *samples; /* nanoseconds a call */
    int sample_count;
    double spent_ns;
    bool done; /* measured, or refused */
} Turn;

/* ---- timing -------------------------------------------------------------------------------- */

/* Runs the call so many times and waits for the last; *ns = what that took on the backend's own
 * clock. */
static Status time_calls(const Turn *turn, long calls, double *ns) {
    const Backend *be = &turn->contender->backend;
    const OpCall *call = &turn->device.call;
    if (be->synchronize == NULL) {
        return fail_no("taken without synchronisation: %s has nothing to wait with", be->name);
    }
    uint64_t start = be->now_ns();
    for (long i = 0; i < calls; i++) {
        TRY(call->spec->call(be, call));
    }
    Status waited = be->synchronize();
    if (waited != STATUS_OK) {
        return fail_at(waited, "taken without synchronisation");
    }
    *ns = (double)(be->now_ns() - start);
    return STATUS_OK;
}

/* Strikes the contender out with the latest message. */
static void strike(Turn *turn) {
    figure_refuse(turn->figure, "%s", status_message());
    turn->done = true;
}

/* Finds how many calls make a batch of about target_ns; the calls warm up on the way. */
static Status choose_batch(Turn *turn, double target_ns) {
    long calls = 1;
    double ns = 0;
    TRY(time_calls(turn, 1, &ns));
    while (ns < 0.5 * BATCH_MIN_NS && calls < BATCH_MAX_CALLS) {
        calls *= 2;
        TRY(time_calls(turn, calls, &ns));
    }
    if (!(ns > 0)) {
        return fail_no("the clock of %s did not move in %ld calls", turn->contender->backend.name,
                       calls);
    }
    double fitting = target_ns / (ns / (double)calls);
    calls = fitting < 1 ? 1 : fitting > BATCH_MAX_CALLS ? BATCH_MAX_CALLS : (long)fitting;
    turn->figure->calls_per_sample = calls;
    return STATUS_OK;
}

static Status take_sample(Turn *turn) {
    const Figure *figure = turn->figure;
    double ns = 0, warm_ns = 0;
    BenchContender *contender = turn->contender;
    TRY(contender->backend.open(contender->threads)); /* the thread count is the process's */
    if (turn->sample_count == 0 || turn->samples[0] < LONG_CALL_NS) {
        TRY(time_calls(turn, 1, &warm_ns));
    }
    TRY(time_calls(turn, figure->calls_per_sample, &ns));
    turn->samples[turn->sample_count++] = ns / (double)figure->calls_per_sample;
    return STATUS_OK;
}

static bool has_enough(const Turn *turn, const BenchSettings *settings) {
    if (settings->samples > 0) {
        return turn->sample_count >= settings->samples;
    }
    double limit_ns = settings->seconds * 1e9;
    int least =
        turn->sample_count > 0 && turn->samples[0] > limit_ns ? LONG_SAMPLES : BENCH_MIN_SAMPLES;
    return turn->sample_count >= BENCH_MAX_SAMPLES ||
           (turn->sample_count >= least && turn->spent_ns >= limit_ns);
}

/* Round after round, everyone takes one sample; a later round starts with a later contender. */
static void take_turns(Turn *turns, int count, const BenchSettings *settings) {
    bool busy = true;
    for (int round = 0; busy; round++) {
        busy = false;
        for (int i = 0; i < count; i++) {
            Turn *turn = &turns[(i + round) % count];
            if (turn->done) {
                continue;
            }
            uint64_t start = clock_now_ns();
            if (count > 1) {
                settle(0, SETTLE_LIMIT_MS);
            }
            if (take_sample(turn) != STATUS_OK) {
                strike(turn);
            }
            turn->spent_ns += (double)(clock_now_ns() - start);
            turn->done = turn->done || has_enough(turn, settings);
            busy = busy || !turn->done;
        }
    }
}

/* ---- right results ------------------------------------------------------------------------- */

/* Another kernel's result on the same arrays. */
typedef struct Witness {
    Backend backend;
    Operands result; /* host arrays */
    bool present;
} Witness;

enum { WITNESS_COUNT = 3 };
static const char *const witness_names[WITNESS_COUNT] = {"serial", "openblas", "openmp"};

static Status hear_witness(Witness *witness, const char *name, const Operands *host,
                           const BenchSettings *settings) {
    Operands device;
    *witness = (Witness){0};
    if (backend_get(&witness->backend, name) != STATUS_OK) {
        return STATUS_OK; /* not here: the others must do */
    }
    const Backend *be = &witness->backend;
    TRY(operands_make(&witness->result, &host->call, settings->seed));
    witness->present = true;
    TRY(be->open(1));
    TRY(operands_upload(&device, host, be));
    Status status = device.call.spec->call(be, &device.call);
    if (status == STATUS_OK) {
        status = operands_download(&witness->result, &device, be);
    }
    operands_release(&device, be);
    return status;
}

/* The first witness that ran another function than the contender. */
static const Witness *choose_witness(const Witness *witnesses, const Backend *be, OpId op) {
    for (int i = 0; i < WITNESS_COUNT; i++) {
        if (witnesses[i].present && witnesses[i].backend.ops.slot[op] != be->ops.slot[op]) {
            return &witnesses[i];
        }
    }
    return NULL;
}

static Status check_result(Turn *turn, const Operands *got, const Witness *witnesses) {
    OpId op = got->call.spec->op;
    const Witness *witness = choose_witness(witnesses, &turn->contender->backend, op);
    if (witness == NULL) {
        return STATUS_OK;
    }
    TRY(operands_compare(got, &witness->result));
    snprintf(turn->figure->checked_against, sizeof turn->figure->checked_against, "%s/%s",
             witness->backend.name, witness->backend.chosen[op]->name);
    return STATUS_OK;
}

/* ---- one contender's first call and last look ------------------------------------------------ */

/* The cold call: counted, timed, and its result checked. */
static Status first_call(Turn *turn, Operands *scratch, const Witness *witnesses) {
    OpCost costs[OP_COUNT] = {0};
    Backend *be = &turn->contender->backend;
    OpId op = scratch->call.spec->op;
    be->costs = costs;
    Status status = time_calls(turn, 1, &turn->figure->cold_ns);
    be->costs = NULL;
    TRY(status);
    turn->cost = costs[op];
    TRY(operands_download(scratch, &turn->device, be));
    return check_result(turn, scratch, witnesses);
}

/* After the timed calls, which started from poisoned outputs: did they write the right result? An
 * operation that updates its input in place has moved on by then and is not looked at again. */
static Status last_look(Turn *turn, Operands *scratch, const Witness *witnesses) {
    if (!operands_repeatable(&scratch->call)) {
        return STATUS_OK;
    }
    TRY(operands_download(scratch, &turn->device, &turn->contender->backend));
    return check_result(turn, scratch, witnesses);
}

static void describe(Turn *turn, BenchContender *contender, Figure *figure, const Operands *host) {
    const Backend *be = &contender->backend;
    const Kernel *kernel = be->chosen[host->call.spec->op];
    *figure = (Figure){
        .backend = be->name,
        .kernel = kernel == NULL ? "" : kernel->name,
        .precision = "fp32",
        .threads = contender->threads,
        .emulated = be->emulated,
    };
    turn->contender = contender;
    turn->figure = figure;
}

/* Everything before the clock counts. Only a lack of memory fails; a bad kernel is struck out. */
static Status prepare(Turn *turn, const Operands *host, Operands *scratch, const Witness *witnesses,
                      const BenchSettings *settings) {
    BenchContender *contender = turn->contender;
    int samples = settings->samples > 0 ? settings->samples : BENCH_MAX_SAMPLES;
    double target_ns = fmin(fmax(settings->seconds * 1e9 / 50, BATCH_MIN_NS), BATCH_MAX_NS);
    TRY(contender->backend.open(contender->threads));
    turn->figure->device = contender->backend.device();
    turn->samples = memory_alloc((size_t)samples * sizeof *turn->samples);
    if (turn->samples == NULL) {
        return fail("no memory for %d samples", samples);
    }
    TRY(operands_upload(&turn->device, host, &contender->backend));
    settle(0, SETTLE_LIMIT_MS);
    if (first_call(turn, scratch, witnesses) != STATUS_OK ||
        operands_refresh(&turn->device, host, &contender->backend) != STATUS_OK ||
        choose_batch(turn, target_ns) != STATUS_OK) {
        strike(turn);
    }
    turn->figure->work = (PeakWork){
        .flops = turn->cost.flops,
        .bytes = turn->cost.bytes,
        .working_set_bytes = operands_bytes(host),
        .writes_only = operands_writes_only(&host->call),
    };
    return STATUS_OK;
}

/* Samples to a figure, held against the peaks. */
static Status conclude(Turn *turn, Operands *scratch, const Witness *witnesses) {
    Figure *figure = turn->figure;
    Peaks *peaks = turn->contender->peaks;
    if (figure->refused[0] == '\0' && last_look(turn, scratch, witnesses) != STATUS_OK) {
        strike(turn);
    }
    if (figure->refused[0] != '\0') {
        return STATUS_OK;
    }
    figure->ns = stats_of(turn->samples, turn->sample_count);
    figure_rate(figure, peaks);
    if (figure_beats_peak(figure) && !peaks->stated) {
        TRY(peak_measure(peaks, peaks->threads, true));
        figure_rate(figure, peaks);
    }
    if (figure_beats_peak(figure)) {
        figure_refuse_above_peak(figure, peaks);
    }
    return STATUS_OK;
}

static Status run_bench(Turn *turns, int count, const Operands *host, Operands *scratch,
                        Witness *witnesses, const BenchSettings *settings) {
    for (int i = 0; i < WITNESS_COUNT; i++) {
        TRY(hear_witness(&witnesses[i], witness_names[i], host, settings));
    }
    for (int i = 0; i < count; i++) {
        TRY(prepare(&turns[i], host, scratch, witnesses, settings));
    }
    take_turns(turns, count, settings);
    for (int i = 0; i < count; i++) {
        TRY(conclude(&turns[i], scratch, witnesses));
    }
    return STATUS_OK;
}

/* All copies of the arrays that are alive at once: the contenders', the witnesses', the host's. */
static Status check_memory(const Operands *host, int count) {
    double needed = (double)operands_bytes(host) * (count + WITNESS_COUNT + 2);
    double available = 0.8 * (double)memory_available_bytes();
    if (needed > available) {
        return fail("%s: %d kernels side by side need %.0f MiB, and %.0f MiB are free; choose "
                    "smaller --sizes or fewer --backends and --kernels",
                    op_name(host->call.spec->op), count, needed / 1048576, available / 1048576);
    }
    return STATUS_OK;
}

Status bench_measure(Figure *figures, BenchContender *contenders, int count, const OpCall *call,
                     const BenchSettings *settings) {
    Turn turns[BENCH_MAX_CONTENDERS] = {0};
    Witness witnesses[WITNESS_COUNT] = {0};
    Operands host = {0}, scratch = {0};
    if (count > BENCH_MAX_CONTENDERS) {
        return fail("%d kernels at once; the bench takes %d", count, BENCH_MAX_CONTENDERS);
    }
    Status status = operands_make(&host, call, settings->seed);
    if (status == STATUS_OK) {
        status = check_memory(&host, count);
    }
    if (status == STATUS_OK) {
        status = operands_make(&scratch, call, settings->seed);
    }
    for (int i = 0; i < count && status == STATUS_OK; i++) {
        describe(&turns[i], &contenders[i], &figures[i], &host);
    }
    if (status == STATUS_OK) {
        status = run_bench(turns, count, &host, &scratch, witnesses, settings);
    }
    for (int i = 0; i < count; i++) {
        operands_release(&turns[i].device, &contenders[i].backend);
        memory_free(turns[i].samples);
    }
    for (int i = 0; i < WITNESS_COUNT; i++) {
        operands_release_host(&witnesses[i].result);
    }
    operands_release_host(&host);
    operands_release_host(&scratch);
    return status;
}

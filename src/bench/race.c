#include "bench/race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/stopwatch.h"

/* The whole time is at least this many times that of the evaluations, and of the checks that are
 * not at the steps 1, 2, 4, 8, ... */
enum { EVALUATION_PART = 5, CHECK_PART = 10 };

/* A step longer than this many medians was disturbed. */
static const double USUAL_FACTOR = 1.5;

typedef struct Runner {
    Backend backend;
    bool is_open;
    Run *run;
    Stopwatch watch;
    double usual_ms;   /* an undisturbed step; 0 before it is known */
    uint64_t usual_ns; /* the sum of all steps behind costs */
    OpCost costs[OP_COUNT];
    double accuracy;
    RaceCurve curve;
} Runner;

struct Race {
    RaceOptions options;
    int count;
    Runner runners[RACE_MAX_RUNNERS];
    double losses[RACE_MAX_RUNNERS]; /* running */
    Agree *agree;
    int64_t rounds, evaluated_round;
    uint64_t start_ns, end_ns; /* end_ns: 0 while it runs */
    uint64_t evaluation_ns, agreement_ns;
    uint64_t last_evaluation_ns; /* how long it took */
};

/* ---- making ---------------------------------------------------------------------------------- */

/* The backends whose hardware is the processor; the others have to beat the best of them. */
static bool is_cpu(const Backend *backend) {
    return !backend->emulated && strcmp(backend->name, "cuda") != 0;
}

/* The registry's order is that of growing speed, as a rule; the fastest twin costs least. */
static int choose_referee(const Race *race) {
    int referee = 0, best_rank = -1;
    for (int i = 0; i < race->count; i++) {
        for (int rank = 0; rank < backend_count(); rank++) {
            const Backend *backend = &race->runners[i].backend;
            if (is_cpu(backend) && strcmp(backend_at(rank)->name, backend->name) == 0 &&
                rank > best_rank) {
                referee = i;
                best_rank = rank;
            }
        }
    }
    return referee;
}

static Status make_runner(Race *race, int index) {
    Runner *runner = &race->runners[index];
    const RaceOptions *options = &race->options;
    runner->backend = options->backends[index];
    runner->accuracy = (double)NAN;
    for (int i = 0; i < index; i++) {
        if (strcmp(race->runners[i].backend.name, runner->backend.name) == 0) {
            return fail("backend %s is in the race twice", runner->backend.name);
        }
    }
    TRY(runner->backend.open(options->threads.threads));
    runner->is_open = true;
    TRY(stopwatch_init(&runner->watch));
    TRY(run_create(&runner->run, options->model, options->data, &runner->backend, &options->train));
    return run_start(runner->run);
}

static Status make_all(Race *race) {
    Run *runs[RACE_MAX_RUNNERS];
    for (int i = 0; i < race->count; i++) {
        Status status = make_runner(race, i);
        if (status != STATUS_OK) {
            return fail_at(status, "race, %s", race->options.backends[i].name);
        }
        runs[i] = race->runners[i].run;
    }
    TRY(agree_create(&race->agree, runs, race->count, choose_referee(race)));
    race->start_ns = clock_now_ns();
    return STATUS_OK;
}

Status race_create(Race **race, const RaceOptions *options) {
    Race *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return fail("out of memory for a race");
    }
    made->options = *options;
    made->count = options->backend_count;
    Status status = make_all(made);
    if (status != STATUS_OK) {
        race_destroy(made);
        return status;
    }
    *race = made;
    return STATUS_OK;
}

void race_destroy(Race *race) {
    if (race == NULL) {
        return;
    }
    agree_destroy(race->agree);
    for (int i = 0; i < race->count; i++) {
        Runner *runner = &race->runners[i];
        run_destroy(runner->run);
        stopwatch_free(&runner->watch);
        if (runner->is_open) {
            runner->backend.close();
        }
    }
    free(race);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Who is k-th in a round: the start moves on, every other round goes backwards. */
static int runner_in_turn(const Race *race, int k) {
    int first = (int)(race->rounds % race->count);
    int step = race->rounds % 2 == 0 ? k : race->count - k;
    return (first + step) % race->count;
}

/* Adds up where the time of a step went, if it was an undisturbed one after the warm-up: where
 * another program took the processor, the operation that happened to run gets the blame. */
static void add_costs(Runner *runner, uint64_t ns) {
    const Stopwatch *watch = &runner->watch;
    int count = watch->sample_count;
    if ((count & (count - 1)) == 0) { /* 0, 1, 2, 4, 8, ...: often enough to know the median */
        runner->usual_ms = USUAL_FACTOR * stopwatch_stats(watch).median;
    }
    bool usual = count > 0 && (double)ns * 1e-6 <= runner->usual_ms;
    for (int op = 0; op < OP_COUNT; op++) {
        runner->costs[op].ns += usual ? runner->run->costs[op].ns : 0;
        runner->run->costs[op] = (OpCost){0};
    }
    runner->usual_ns += usual ? ns : 0;
}

static Status take_step(Race *race, int index) {
    Runner *runner = &race->runners[index];
    Run *run = runner->run;
    int left = run->data->train.count - run->position;
    float loss;
    uint64_t start_ns = run->backend.now_ns();
    Status status = run_step(run, &loss);
    uint64_t ns = run->backend.now_ns() - start_ns;
    if (status != STATUS_OK) {
        return fail_at(status, "%s", runner->backend.name);
    }
    stopwatch_add(&runner->watch, ns, left >= run->options.batch);
    race->losses[index] = agree_running_loss(race->losses[index], (double)loss, run->step);
    add_costs(runner, ns);
    return STATUS_OK;
}

static Status evaluate(Race *race) {
    uint64_t start_ns = clock_now_ns();
    for (int i = 0; i < race->count; i++) {
        Runner *runner = &race->runners[i];
        double loss;
        Status status =
            run_evaluate(runner->run, &race->options.data->test, &loss, &runner->accuracy);
        if (status != STATUS_OK) {
            return fail_at(status, "%s, evaluation", runner->backend.name);
        }
        race_curve_add(&runner->curve,
                       (RacePoint){runner->run->step, (double)runner->watch.total_ns * 1e-9,
                                   runner->accuracy});
    }
    race->last_evaluation_ns = clock_now_ns() - start_ns;
    race->evaluation_ns += race->last_evaluation_ns;
    race->evaluated_round = race->rounds;
    return STATUS_OK;
}

static bool evaluation_is_due(const Race *race) {
    uint64_t expected_ns = race->evaluation_ns + race->last_evaluation_ns;
    bool affordable = EVALUATION_PART * expected_ns <= clock_now_ns() - race->start_ns;
    return race->rounds >= STOPWATCH_WARMUP && affordable;
}

static bool check_is_due(const Race *race, bool evaluated) {
    bool affordable = CHECK_PART * race->agreement_ns <= clock_now_ns() - race->start_ns;
    return (race->rounds & (race->rounds - 1)) == 0 || (evaluated && affordable);
}

static Status check(Race *race) {
    uint64_t start_ns = clock_now_ns();
    TRY(agree_check_course(race->agree));
    TRY(agree_check_step(race->agree));
    race->agreement_ns += clock_now_ns() - start_ns;
    return STATUS_OK;
}

Status race_round(Race *race) {
    for (int k = 0; k < race->count; k++) {
        TRY(take_step(race, runner_in_turn(race, k)));
    }
    race->rounds++;
    uint64_t start_ns = clock_now_ns();
    TRY(agree_round(race->agree, race->losses));
    race->agreement_ns += clock_now_ns() - start_ns;
    bool evaluates = evaluation_is_due(race);
    if (evaluates) {
        TRY(evaluate(race));
    }
    return check_is_due(race, evaluates) ? check(race) : STATUS_OK;
}

static double wall_s(const Race *race) {
    uint64_t end_ns = race->end_ns == 0 ? clock_now_ns() : race->end_ns;
    return (double)(end_ns - race->start_ns) * 1e-9;
}

bool race_is_over(const Race *race) {
    const RaceOptions *options = &race->options;
    double last_s = (double)race->last_evaluation_ns * 1e-9;
    return (options->step_limit > 0 && race->rounds >= options->step_limit) ||
           (options->wall_limit_s > 0.0 && wall_s(race) + last_s >= options->wall_limit_s);
}

Status race_finish(Race *race) {
    if (race->evaluated_round != race->rounds || race->rounds == 0) {
        TRY(evaluate(race));
        TRY(check(race));
    }
    race->end_ns = clock_now_ns();
    return STATUS_OK;
}

/* ---- report ---------------------------------------------------------------------------------- */

static void report_runner(RaceResult *result, const Race *race, int index) {
    const Runner *runner = &race->runners[index];
    const Backend *backend = &runner->backend;
    int threads = strcmp(backend->name, "serial") == 0 ? 1 : race->options.threads.threads;
    *result = (RaceResult){
        .backend = backend->name,
        .emulated = backend->emulated,
        .is_cpu = is_cpu(backend),
        .threads = is_cpu(backend) || backend->emulated ? threads : 0,
        .steps = runner->watch.steps,
        .own_s = (double)runner->watch.total_ns * 1e-9,
        .step_ms = stopwatch_stats(&runner->watch),
        .cold_ms = runner->watch.steps > 0 ? (double)runner->watch.cold_ns * 1e-6 : (double)NAN,
        .loss = runner->watch.steps > 0 ? race->losses[index] : (double)NAN,
        .accuracy = runner->accuracy,
        .curve = &runner->curve,
    };
    snprintf(result->device, sizeof result->device, "%s", backend->device());
    result->images_per_s = result->step_ms.median > 0.0
                               ? race->options.train.batch / (result->step_ms.median * 1e-3)
                               : (double)NAN;
    race_result_shares(result, runner->costs, runner->usual_ns);
    for (int t = 0; t < RACE_TARGETS; t++) {
        result->time_to_s[t] = race_curve_time_to(&runner->curve, race_targets[t]);
    }
}

void race_report(RaceReport *report, const Race *race) {
    const Run *run = race->runners[0].run;
    *report = (RaceReport){
        .options = &race->options,
        .weight_count = model_param_count(race->options.model),
        .optimizer = run->optimizer->name,
        .lr = run->options.settings.lr,
        .steps = race->rounds,
        .epochs = (double)race->rounds / run_steps_per_epoch(run),
        .wall_s = wall_s(race),
        .evaluation_s = (double)race->evaluation_ns * 1e-9,
        .agreement_s = (double)race->agreement_ns * 1e-9,
        .count = race->count,
        .agreement = *agree_verdict(race->agree),
    };
    passport_fill(&report->passport, &race->options.threads);
    for (int i = 0; i < race->count; i++) {
        report_runner(&report->results[i], race, i);
    }
    race_results_compare(report->results, report->count);
}

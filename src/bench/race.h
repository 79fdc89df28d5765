/* A race: the same model, seed and batches on several backends, one step each in turn. Each is
 * alone on the machine during its step and has a clock of its own, which runs only then:
 * evaluations, checks and drawing are on nobody's clock.
 *
 * The order changes from round to round: who goes first moves on, and every other round goes
 * backwards, so nobody always follows the same other. The first steps (STOPWATCH_WARMUP) teach the
 * network and run on the own clock, but are no samples of the step time; nor is the smaller last
 * batch of an epoch.
 *
 * Idle workers. The threads of OpenMP and OpenBLAS spin for a while after their work (measured: a
 * few ms, and more than 60 ms). Letting them fall asleep between steps was tried: spinning workers
 * yield the processor at once and left the next backend's step time where it was, while a step
 * after a pause was slower, since its threads had to be woken. So a race does not wait. */
#ifndef LOCKSTEP_RACE_H
#define LOCKSTEP_RACE_H

#include "base/passport.h"
#include "bench/agree.h"
#include "bench/race_result.h"

typedef struct RaceOptions {
    const Model *model; /* outlives the race, as does the data */
    const Dataset *data;
    TrainOptions train;
    ThreadPlan threads;
    int backend_count; /* 1 to RACE_MAX_RUNNERS */
    Backend
        backends[RACE_MAX_RUNNERS]; /* with the kernels chosen; the race opens and closes them */
    int64_t step_limit;             /* 0: none */
    double wall_limit_s;            /* of the whole race; 0: none. At least one limit */
} RaceOptions;

/* Everything there is to say about a race, at any moment of it. Valid as long as the race lives. */
typedef struct RaceReport {
    const RaceOptions *options;
    Passport passport;
    size_t weight_count;
    const char *optimizer;
    double lr;
    int64_t steps;
    double epochs;
    double wall_s, evaluation_s, agreement_s; /* the last two are parts of the first */
    bool interrupted;                         /* for the caller to set */
    int count;
    RaceResult results[RACE_MAX_RUNNERS];
    Agreement agreement;
} RaceReport;

typedef struct Race Race;

/* Opens the backends and allocates everything. options are copied. Free with race_destroy. */
Status race_create(Race **race, const RaceOptions *options);

/* One step on each backend, then what is due: an evaluation (these take at most a fifth of the
 * time) and the agreement checks (after 1, 2, 4, 8, ... steps and with evaluations). A loss that is
 * not finite fails with STATUS_NO, naming backend, operation and step. */
Status race_round(Race *race);

/* True when the limit is reached, the last evaluation's time included. */
bool race_is_over(const Race *race);

/* The last evaluation and check, whatever is missing; also after an early end. */
Status race_finish(Race *race);

void race_report(RaceReport *report, const Race *race);

void race_destroy(Race *race); /* NULL is fine */

#endif

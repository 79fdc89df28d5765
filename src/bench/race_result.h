/* What a race found, as plain figures: for the table, the summary and JSON alike. */
#ifndef LOCKSTEP_RACE_RESULT_H
#define LOCKSTEP_RACE_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/stats.h"
#include "ops/backend.h"

enum {
    RACE_MAX_RUNNERS = 8,
    RACE_MAX_POINTS = 512,
    RACE_TARGETS = 4,
    RACE_DEVICE_BYTES = 256,
};

/* The accuracies whose times are given: 80, 90, 95, 97 %. */
extern const double race_targets[RACE_TARGETS];

/* One evaluation. Figures that do not exist are NAN, here and below. */
typedef struct RacePoint {
    int64_t steps;   /* done by then */
    double own_s;    /* on the runner's own clock */
    double accuracy; /* on the test set, 0 to 1 */
} RacePoint;

/* Evaluations in order of time. */
typedef struct RaceCurve {
    int count;
    int64_t stride, offered; /* when full, every other point goes, as in Stopwatch */
    bool provisional;        /* the last point lies between strides: the next one takes its place */
    RacePoint points[RACE_MAX_POINTS];
} RaceCurve;

typedef struct RaceShare {
    OpId op;      /* OP_COUNT: what is left: gathering the batch, the loop itself */
    double share; /* of the time of all undisturbed steps, 0 to 1 */
    double ms;    /* that share of the median step */
} RaceShare;

typedef struct RaceResult {
    const char *backend;
    char device[RACE_DEVICE_BYTES];
    bool emulated; /* its times are those of an interpreter */
    bool is_cpu;   /* may be the baseline that a GPU has to beat */
    int threads;   /* CPU threads; 0 on a device that has none */
    int64_t steps;
    double own_s;
    Stats step_ms; /* whole batches after the warm-up */
    double cold_ms;
    double images_per_s; /* batch / median step */
    double speedup_serial, speedup_best_cpu;
    double loss; /* running */
    double accuracy;
    RaceShare shares[OP_COUNT + 1]; /* largest first, OP_COUNT last; together 1 */
    int share_count;
    double time_to_s[RACE_TARGETS]; /* own clock at the first evaluation that reached the target */
    RacePoint equal_time;           /* where it stood when the fastest had finished */
    const RaceCurve *curve;
} RaceResult;

void race_curve_add(RaceCurve *curve, RacePoint point);

/* Own clock of the first point that reaches `accuracy`; NAN when none does. */
double race_curve_time_to(const RaceCurve *curve, double accuracy);

/* Where a curve stands at own_s: steps by interpolation, accuracy of the last evaluation by then.
 */
RacePoint race_curve_at(const RaceCurve *curve, double own_s);

/* Fills the shares from what the fronts added up during steps of total_ns. */
void race_result_shares(RaceResult *result, const OpCost costs[OP_COUNT], uint64_t total_ns);

/* Fills in what takes all runners to say: both speedups (of medians; none for emulated times, none
 * where the baseline did not run) and the accuracy in equal time, the shortest own clock. */
void race_results_compare(RaceResult *results, int count);

#endif

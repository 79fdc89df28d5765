#include "bench/race_result.h"

#include <math.h>
#include <string.h>

const double race_targets[RACE_TARGETS] = {0.80, 0.90, 0.95, 0.97};

void race_curve_add(RaceCurve *curve, RacePoint point) {
    if (curve->provisional) {
        curve->count--;
    }
    if (curve->count == RACE_MAX_POINTS) {
        for (int i = 0; i < RACE_MAX_POINTS / 2; i++) {
            curve->points[i] = curve->points[2 * i];
        }
        curve->count = RACE_MAX_POINTS / 2;
        curve->stride *= 2;
    }
    curve->stride = curve->stride == 0 ? 1 : curve->stride;
    curve->provisional = curve->offered++ % curve->stride != 0;
    curve->points[curve->count++] = point;
}

double race_curve_time_to(const RaceCurve *curve, double accuracy) {
    for (int i = 0; i < curve->count; i++) {
        if (curve->points[i].accuracy >= accuracy) {
            return curve->points[i].own_s;
        }
    }
    return (double)NAN;
}

RacePoint race_curve_at(const RaceCurve *curve, double own_s) {
    RacePoint at = {0, own_s, (double)NAN};
    for (int i = 0; i < curve->count; i++) {
        const RacePoint *point = &curve->points[i];
        if (point->own_s > own_s) {
            const RacePoint *last = i > 0 ? point - 1 : &(RacePoint){0};
            double part = (own_s - last->own_s) / (point->own_s - last->own_s);
            at.steps = last->steps + (int64_t)(part * (double)(point->steps - last->steps));
            return at;
        }
        at.steps = point->steps;
        at.accuracy = point->accuracy;
    }
    return at;
}

/* ---- where the time goes --------------------------------------------------------------------- */

static void insert_share(RaceResult *result, RaceShare share) {
    int i = result->share_count++;
    for (; i > 0 && result->shares[i - 1].share < share.share; i--) {
        result->shares[i] = result->shares[i - 1];
    }
    result->shares[i] = share;
}

void race_result_shares(RaceResult *result, const OpCost costs[OP_COUNT], uint64_t total_ns) {
    double rest = 1.0;
    result->share_count = 0;
    for (int op = 0; op < OP_COUNT && total_ns > 0; op++) {
        if (costs[op].ns > 0) {
            double share = (double)costs[op].ns / (double)total_ns;
            insert_share(result, (RaceShare){(OpId)op, share, share * result->step_ms.median});
            rest -= share;
        }
    }
    rest = rest > 0.0 ? rest : 0.0;
    result->shares[result->share_count++] =
        (RaceShare){OP_COUNT, rest, rest * result->step_ms.median};
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool is_baseline(const RaceResult *result) {
    return result->is_cpu && !result->emulated && result->step_ms.count > 0;
}

static double speedup(double baseline_ms, const RaceResult *result) {
    bool known = !result->emulated && result->step_ms.median > 0.0;
    return known ? baseline_ms / result->step_ms.median : (double)NAN;
}

void race_results_compare(RaceResult *results, int count) {
    double serial_ms = (double)NAN, best_ms = (double)NAN, shortest_s = INFINITY;
    for (int i = 0; i < count; i++) {
        const RaceResult *result = &results[i];
        if (is_baseline(result)) {
            serial_ms = strcmp(result->backend, "serial") == 0 ? result->step_ms.median : serial_ms;
            best_ms = fmin(best_ms, result->step_ms.median); /* passes over NAN */
        }
        shortest_s = result->emulated ? shortest_s : fmin(shortest_s, result->own_s);
    }
    for (int i = 0; i < count; i++) {
        results[i].speedup_serial = speedup(serial_ms, &results[i]);
        results[i].speedup_best_cpu = speedup(best_ms, &results[i]);
        results[i].equal_time = (RacePoint){0, (double)NAN, (double)NAN};
        if (!results[i].emulated && results[i].curve != NULL) {
            results[i].equal_time = race_curve_at(results[i].curve, shortest_s);
        }
    }
}

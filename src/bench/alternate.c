#include "bench/alternate.h"

#include <math.h>

#include "base/clock.h"
#include "bench/settle.h"

enum { SETTLE_LIMIT_MS = 400, SLICE_MIN_NS = 20000000, SLICE_MAX_NS = 200000000 };

/* One slice: silence, a warm-up, the counted work; *ns of one piece. */
static Status run_slice(const Side *side, const Side *other, long count, double *ns) {
    double warm_ns;
    settle(other->process, SETTLE_LIMIT_MS);
    TRY(side->run(side->self, 1, &warm_ns));
    TRY(side->run(side->self, count, ns));
    *ns /= (double)count;
    return *ns > 0 ? STATUS_OK : fail_no("%s: the clock did not move", side->name);
}

/* How many pieces of work fill a slice. */
static Status choose_count(const Side *side, double slice_ns, long *count) {
    double ns = 0;
    *count = 1;
    TRY(side->run(side->self, 3, &ns)); /* warm-up, apart */
    TRY(side->run(side->self, *count, &ns));
    while (ns < slice_ns / 8 && *count < 1 << 24) {
        *count *= 2;
        TRY(side->run(side->self, *count, &ns));
    }
    double fitting = slice_ns / (ns / (double)*count);
    *count = fitting < 1 ? 1 : (long)fitting;
    return STATUS_OK;
}

Status alternate(Alternation *result, const Side sides[2], double seconds, int rounds) {
    double samples[2][ALTERNATE_MAX_ROUNDS], ratios[ALTERNATE_MAX_ROUNDS];
    double slice_ns = fmin(fmax(seconds * 1e9 / 50, SLICE_MIN_NS), SLICE_MAX_NS);
    int least = rounds > 0 ? rounds : ALTERNATE_MIN_ROUNDS;
    *result = (Alternation){0};
    if (rounds > ALTERNATE_MAX_ROUNDS) {
        return fail("%d alternations; at most %d", rounds, ALTERNATE_MAX_ROUNDS);
    }
    for (int s = 0; s < 2; s++) {
        settle(sides[1 - s].process, SETTLE_LIMIT_MS);
        TRY(choose_count(&sides[s], slice_ns, &result->counts[s]));
    }
    uint64_t start = clock_now_ns();
    int done = 0;
    while (done < least || (rounds == 0 && done < ALTERNATE_MAX_ROUNDS &&
                            (double)(clock_now_ns() - start) < seconds * 1e9)) {
        for (int turn = 0; turn < 2; turn++) {
            int s = (turn + done) % 2;
            TRY(run_slice(&sides[s], &sides[1 - s], result->counts[s], &samples[s][done]));
        }
        ratios[done] = samples[1][done] / samples[0][done];
        result->wins += ratios[done] > 1;
        done++;
    }
    result->rounds = done;
    result->ns[0] = stats_of(samples[0], done);
    result->ns[1] = stats_of(samples[1], done);
    result->ratio = stats_of(ratios, done);
    return STATUS_OK;
}

/* The bench: one operation and shape, several contenders (a backend with a chosen kernel). Each
 * has its result checked first; then they take turns, one batch of calls each, until the time is
 * spent, so that whatever disturbs the machine disturbs all alike. */
#ifndef LOCKSTEP_BENCH_H
#define LOCKSTEP_BENCH_H

#include "bench/figure.h"
#include "ops/spec.h"

enum { BENCH_MIN_SAMPLES = 5, BENCH_MAX_SAMPLES = 1001, BENCH_MAX_CONTENDERS = 64 };

typedef struct BenchContender {
    Backend backend; /* with the kernel chosen */
    int threads;
    Peaks *peaks; /* of this backend with so many threads; NULL: unknown */
} BenchContender;

typedef struct BenchSettings {
    double seconds; /* for each contender, turns and pauses included */
    int samples;    /* of each contender; 0: as many as fit, BENCH_MIN_SAMPLES at least */
    uint64_t seed;
} BenchSettings;

/* Measures the call (its sizes and options; arguments are made here) on every contender and fills
 * figures[count]. A contender that gives a wrong result, does not wait for its work or beats its
 * peak gets a refused figure, and that is no failure; peaks that were measured on this machine are
 * measured again before they are held against anyone. */
Status bench_measure(Figure *figures, BenchContender *contenders, int count, const OpCall *call,
                     const BenchSettings *settings);

#endif

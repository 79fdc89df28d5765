/* One runner's own clock: the times of its steps and nothing else, with a bounded memory. */
#ifndef LOCKSTEP_STOPWATCH_H
#define LOCKSTEP_STOPWATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "bench/stats.h"

enum {
    STOPWATCH_WARMUP = 3,      /* steps whose times are no samples */
    STOPWATCH_SAMPLES = 16384, /* most that are kept; a power of two */
};

typedef struct Stopwatch {
    uint64_t total_ns; /* of every step, the warm-up's too */
    int64_t steps;
    uint64_t cold_ns;  /* of the first step */
    double *sample_ms; /* (STOPWATCH_SAMPLES) steps after the warm-up */
    int sample_count;
    int64_t stride; /* every stride-th step is kept; doubled whenever the memory is full */
    int64_t offered;
} Stopwatch;

/* Memory for the samples. After a failure there is nothing to free. */
Status stopwatch_init(Stopwatch *watch);
void stopwatch_free(Stopwatch *watch); /* a zeroed one is fine */

/* Adds a step. Only typical ones become samples: the last, smaller batch of an epoch is not. */
void stopwatch_add(Stopwatch *watch, uint64_t ns, bool typical);

/* The samples' statistics, in milliseconds. Changes nothing, and needs memory for a moment. */
Stats stopwatch_stats(const Stopwatch *watch);

#endif

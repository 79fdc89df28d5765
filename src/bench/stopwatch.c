#include "bench/stopwatch.h"

#include <stdlib.h>
#include <string.h>

Status stopwatch_init(Stopwatch *watch) {
    *watch = (Stopwatch){.stride = 1};
    watch->sample_ms = malloc(STOPWATCH_SAMPLES * sizeof *watch->sample_ms);
    return watch->sample_ms == NULL ? fail("out of memory for %d step times", STOPWATCH_SAMPLES)
                                    : STATUS_OK;
}

void stopwatch_free(Stopwatch *watch) {
    free(watch->sample_ms);
    *watch = (Stopwatch){0};
}

/* Keeps every other sample. They stay evenly spaced, so a long race is described as fairly as a
 * short one. */
static void thin_out(Stopwatch *watch) {
    for (int i = 0; i < watch->sample_count / 2; i++) {
        watch->sample_ms[i] = watch->sample_ms[2 * i];
    }
    watch->sample_count /= 2;
    watch->stride *= 2;
}

void stopwatch_add(Stopwatch *watch, uint64_t ns, bool typical) {
    if (watch->steps == 0) {
        watch->cold_ns = ns;
    }
    watch->steps++;
    watch->total_ns += ns;
    if (watch->steps <= STOPWATCH_WARMUP || !typical || watch->offered++ % watch->stride != 0) {
        return;
    }
    if (watch->sample_count == STOPWATCH_SAMPLES) {
        thin_out(watch);
    }
    watch->sample_ms[watch->sample_count++] = (double)ns * 1e-6;
}

Stats stopwatch_stats(const Stopwatch *watch) {
    size_t bytes = (size_t)watch->sample_count * sizeof *watch->sample_ms;
    double *copy = bytes == 0 ? NULL : malloc(bytes);
    Stats stats = {0};
    if (copy != NULL) {
        memcpy(copy, watch->sample_ms, bytes);
        stats = stats_of(copy, watch->sample_count);
        free(copy);
    }
    return stats;
}

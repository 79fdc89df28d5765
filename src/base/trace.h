/* Trace events: what ran when, on which CPU thread. Each thread writes into its own ring without a
 * lock; the profiler, the Perfetto export and the visualizer are readers. Recording is off until
 * trace_start, and then costs two clock reads and one store per span (trace_overhead_ns measures
 * it on this machine). A ring that is full overwrites its oldest spans and counts them. */
#ifndef LOCKSTEP_TRACE_H
#define LOCKSTEP_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TraceKind {
    TRACE_STEP,  /* one batch through the model */
    TRACE_OP,    /* one operation, written by the thread that called it */
    TRACE_SHARE, /* one thread's share of an operation, without its wait at the barrier */
    TRACE_COPY,  /* bytes between host and device */
    TRACE_KIND_COUNT
} TraceKind;

typedef struct TraceSpan {
    uint64_t start_ns, end_ns; /* clock_now_ns */
    const char *name;          /* of static storage */
    const char *backend;       /* of static storage, or NULL */
    TraceKind kind;
} TraceSpan;

extern bool trace_enabled; /* read-only outside trace.c: changed by trace_start and trace_stop */

/* Starts recording with rings of spans_per_thread spans (0: 65,536). Forgets earlier spans. */
Status trace_start(size_t spans_per_thread);
void trace_stop(void);

/* Records one span of the calling thread. Call it only where trace_enabled is true. */
void trace_record(TraceKind kind, const char *name, const char *backend, uint64_t start_ns,
                  uint64_t end_ns);

/* Median cost of one recorded span in nanoseconds, measured now, on this thread. */
double trace_overhead_ns(void);

/* Reading; only while recording is stopped. Threads are numbered in order of their first span. */
int trace_thread_count(void);
size_t trace_span_count(int thread);                   /* spans that are still in the ring */
size_t trace_lost_count(int thread);                   /* spans that were overwritten */
const TraceSpan *trace_span(int thread, size_t index); /* index 0 is the oldest */

/* A span from here to the end of the enclosing block: put it first in the block.
 *     #pragma omp parallel
 *     {
 *         TRACE_SHARE_OF("relu_forward");
 *         #pragma omp for nowait                     nowait, so that waiting is not counted as work
 */
typedef struct TraceScope {
    const char *name;
    uint64_t start_ns; /* 0 when recording was off */
} TraceScope;

static inline TraceScope trace_scope_begin(const char *name) {
    TraceScope scope = {name, trace_enabled ? clock_now_ns() : 0};
    return scope;
}

static inline void trace_scope_end(TraceScope *scope) {
    if (scope->start_ns != 0 && trace_enabled) {
        trace_record(TRACE_SHARE, scope->name, NULL, scope->start_ns, clock_now_ns());
    }
}

#define TRACE_SHARE_OF(name)                                                                       \
    TraceScope trace_scope __attribute__((cleanup(trace_scope_end), unused)) =                     \
        trace_scope_begin(name)

#ifdef __cplusplus
}
#endif
#endif

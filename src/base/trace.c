/* Trace rings. A ring belongs to one thread, which alone writes it; it is entered in the list of
 * rings once, by an atomic counter. Rings outlive their threads, so that readers find them. */
#include "base/trace.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { MAX_THREADS = 1024, DEFAULT_SPANS = 65536, OVERHEAD_BATCHES = 15, OVERHEAD_SPANS = 2000 };

typedef struct Ring {
    size_t capacity;
    size_t written; /* since trace_start; the ring holds the last min(written, capacity) */
    TraceSpan *spans;
} Ring;

bool trace_enabled;

static Ring *rings[MAX_THREADS];
static atomic_int ring_count;
static size_t spans_per_ring = DEFAULT_SPANS;
static _Thread_local Ring *own_ring;

static Ring *ring_create(size_t capacity) {
    Ring *ring = calloc(1, sizeof *ring);
    TraceSpan *spans = calloc(capacity, sizeof *spans);
    if (ring == NULL || spans == NULL) {
        free(ring);
        free(spans);
        return NULL;
    }
    *ring = (Ring){.capacity = capacity, .spans = spans};
    return ring;
}

static void ring_free(Ring *ring) {
    free(ring->spans);
    free(ring);
}

/* This thread's ring, made at its first span; NULL when there are too many threads or no memory:
 * a trace that lacks a thread is better than a run that dies of its trace. */
static Ring *ring_of_this_thread(void) {
    if (own_ring == NULL) {
        Ring *ring = ring_create(spans_per_ring);
        int index = ring == NULL ? MAX_THREADS : atomic_fetch_add(&ring_count, 1);
        if (index >= MAX_THREADS) {
            if (ring != NULL) {
                atomic_fetch_sub(&ring_count, 1);
                ring_free(ring);
            }
            return NULL;
        }
        rings[index] = ring;
        own_ring = ring;
    }
    return own_ring;
}

static void ring_write(Ring *ring, TraceSpan span) {
    ring->spans[ring->written++ % ring->capacity] = span;
}

Status trace_start(size_t spans_per_thread) {
    trace_enabled = false;
    spans_per_ring = spans_per_thread == 0 ? DEFAULT_SPANS : spans_per_thread;
    for (int i = 0; i < trace_thread_count(); i++) {
        if (rings[i]->capacity != spans_per_ring) {
            TraceSpan *spans = calloc(spans_per_ring, sizeof *spans);
            if (spans == NULL) {
                return fail("trace: no memory for %zu spans a thread; ask for fewer",
                            spans_per_ring);
            }
            free(rings[i]->spans);
            rings[i]->spans = spans;
            rings[i]->capacity = spans_per_ring;
        }
        rings[i]->written = 0;
    }
    trace_enabled = true;
    return STATUS_OK;
}

void trace_stop(void) {
    trace_enabled = false;
}

void trace_record(TraceKind kind, const char *name, const char *backend, uint64_t start_ns,
                  uint64_t end_ns) {
    Ring *ring = ring_of_this_thread();
    if (ring != NULL) {
        ring_write(ring, (TraceSpan){start_ns, end_ns, name, backend, kind});
    }
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double trace_overhead_ns(void) {
    double cost_ns[OVERHEAD_BATCHES];
    Ring *scratch = ring_create(OVERHEAD_SPANS), *kept = own_ring;
    if (scratch == NULL) {
        return 0.0;
    }
    own_ring = scratch; /* the spans of the measurement must not push out real ones */
    for (int batch = 0; batch < OVERHEAD_BATCHES; batch++) {
        uint64_t start_ns = clock_now_ns();
        for (int i = 0; i < OVERHEAD_SPANS; i++) {
            uint64_t span_start_ns = clock_now_ns();
            trace_record(TRACE_OP, "overhead", NULL, span_start_ns, clock_now_ns());
        }
        cost_ns[batch] = (double)(clock_now_ns() - start_ns) / OVERHEAD_SPANS;
    }
    own_ring = kept;
    ring_free(scratch);
    qsort(cost_ns, OVERHEAD_BATCHES, sizeof cost_ns[0], compare_doubles);
    return cost_ns[OVERHEAD_BATCHES / 2];
}

int trace_thread_count(void) {
    return atomic_load(&ring_count);
}

size_t trace_span_count(int thread) {
    const Ring *ring = rings[thread];
    return ring->written < ring->capacity ? ring->written : ring->capacity;
}

size_t trace_lost_count(int thread) {
    return rings[thread]->written - trace_span_count(thread);
}

const TraceSpan *trace_span(int thread, size_t index) {
    const Ring *ring = rings[thread];
    return &ring->spans[(trace_lost_count(thread) + index) % ring->capacity];
}

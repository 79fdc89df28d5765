/* Measures the ceilings. Every thread works on memory of its own that it touched first; a try is
 * timed from the first thread's start to the last one's end. */
#include "bench/peak.h"

#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/peak_loops.h"
#include "bench/pin.h"

enum {
    TRIES = 15,
    TRY_NS = 1500000,                /* long against the clock, short against a neighbour's slice */
    PAD_FLOATS = 5 * PEAK_BLOCK / 4, /* keeps the arrays of one loop off the same cache sets */
};
static const size_t MEMORY_MIN_BYTES = (size_t)64 << 20, MEMORY_MAX_BYTES = (size_t)512 << 20;

static const struct {
    const char *name;
    int arrays;    /* side by side in the thread's block */
    int transfers; /* arrays read or written, in place counted twice */
} patterns[PEAK_PATTERN_COUNT] = {
    [PEAK_READ] = {"read", 1, 1},     [PEAK_FILL] = {"fill", 1, 1},
    [PEAK_COPY] = {"copy", 2, 2},     [PEAK_TRIAD] = {"triad", 3, 3},
    [PEAK_UPDATE] = {"update", 2, 3}, [PEAK_SCALE] = {"scale", 1, 2},
};

const char *peak_pattern_name(PeakPattern pattern) {
    return patterns[pattern].name;
}

/* Who measures: the threads, their memory, their processors, their loops. */
typedef struct Crew {
    int threads;
    float **blocks; /* one for each thread */
    PinOrder order;
    const PeakLoops *loops;
} Crew;

/* What each thread does: `passes` times the loop, over n floats an array. */
typedef struct Work {
    bool arithmetic; /* fused multiply-adds, of which passes are the steps; otherwise: */
    PeakPattern pattern;
    bool by_library; /* PEAK_COPY: memcpy, which may stream past the caches */
    size_t n, passes;
} Work;

static float run_work(const Work *work, const PeakLoops *loops, float *block) {
    float *a = block, *b = a + work->n + PAD_FLOATS, *c = b + work->n + PAD_FLOATS;
    float sum = work->arithmetic ? loops->fma(work->passes) : 0.0f;
    for (size_t pass = 0; pass < work->passes && !work->arithmetic; pass++) {
        if (work->pattern == PEAK_READ) {
            sum += loops->read(a, work->n);
        } else if (work->pattern == PEAK_FILL) {
            memset(a, (int)(pass & 1), work->n * sizeof *a);
        } else if (work->pattern == PEAK_COPY && work->by_library) {
            memcpy(b, a, work->n * sizeof *a);
        } else if (work->pattern == PEAK_COPY) {
            loops->copy(b, a, work->n);
        } else if (work->pattern == PEAK_TRIAD) {
            loops->triad(c, a, b, work->n);
        } else if (work->pattern == PEAK_UPDATE) {
            loops->update(a, b, work->n);
        } else {
            loops->scale(a, work->n);
        }
    }
    return sum;
}

/* Waits until `threads` threads have come here. It gives the processor away while it waits, where
 * OpenMP's own barrier spins: on a busy machine two of our threads may share a core for a while,
 * and one that spins keeps the other from working. */
static void meet(atomic_int *arrived, int threads) {
    atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < threads) {
        sched_yield();
    }
}

/* Nanoseconds from the first start to the last end on all threads. */
static double time_work(const Crew *crew, const Work *work) {
    atomic_int started = 0, ended = 0;
    uint64_t first = UINT64_MAX, last = 0;
    float sink = 0.0f;
#pragma omp parallel num_threads(crew->threads) reduction(min : first) reduction(max : last)       \
    reduction(+ : sink)
    {
        int thread = omp_get_thread_num();
        PinScope scope = pin_thread(&crew->order, thread);
        meet(&started, omp_get_num_threads());
        first = clock_now_ns();
        sink += run_work(work, crew->loops, crew->blocks[thread]);
        last = clock_now_ns();
        meet(&ended, omp_get_num_threads());
        pin_restore(&scope);
    }
    volatile float used = sink; /* the loops' results count as used */
    (void)used;
    return last > first ? (double)(last - first) : 1.0;
}

/* The best nanoseconds a pass of TRIES tries, each of about TRY_NS or more. */
static double best_pass_ns(const Crew *crew, Work *work) {
    double best = HUGE_VAL;
    int tries = TRIES;
    work->passes = work->arithmetic ? 10000 : 1;
    time_work(crew, work); /* warm-up: threads awake, caches filled */
    for (int i = 0; i < tries; i++) {
        double ns = time_work(crew, work);
        double pass_ns = ns / (double)work->passes;
        best = pass_ns < best ? pass_ns : best;
        if (best * (double)work->passes < TRY_NS) { /* too short to tell: not counted as a try */
            work->passes *= 2;
            i = -1;
        } else if (ns > 4.0 * TRY_NS) { /* long enough to need fewer */
            tries = TRIES / 3;
        }
    }
    return best;
}

static void raise_to(double *peak, double measured) {
    *peak = measured > *peak ? measured : *peak;
}

static void measure_arithmetic(Peaks *peaks, const Crew *crew) {
    Work work = {.arithmetic = true};
    double flops = 2.0 * PEAK_CHAINS * crew->loops->lanes * crew->threads;
    raise_to(&peaks->gflops, flops / best_pass_ns(crew, &work));
}

/* thread_bytes: what one thread keeps busy. */
static void measure_level(PeakLevel *level, const Crew *crew, size_t thread_bytes) {
    for (PeakPattern pattern = 0; pattern < PEAK_PATTERN_COUNT; pattern++) {
        int arrays = patterns[pattern].arrays;
        Work work = {.pattern = pattern};
        work.n = thread_bytes / sizeof(float) / (size_t)arrays / PEAK_BLOCK * PEAK_BLOCK;
        work.n = work.n > 0 ? work.n : PEAK_BLOCK;
        double bytes = (double)work.n * sizeof(float) * patterns[pattern].transfers * crew->threads;
        int ways = pattern == PEAK_COPY ? 2 : 1;
        for (int way = 0; way < ways; way++) {
            work.by_library = way == 1;
            raise_to(&level->gbytes_per_s[pattern], bytes / best_pass_ns(crew, &work));
        }
    }
}

/* Names and capacities of the levels; returns the bytes of the working set that reaches memory. */
static size_t describe_levels(Peaks *peaks) {
    CacheLevel caches[CACHE_MAX_LEVELS];
    int processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    int count = cache_levels(caches, "/sys/devices/system/cpu/cpu0/cache");
    size_t last = 0;
    for (int i = 0; i < count; i++) {
        PeakLevel *level = &peaks->levels[i];
        snprintf(level->name, sizeof level->name, "L%d", caches[i].level % 10);
        last = level->capacity_bytes = cache_capacity(&caches[i], peaks->threads, processors);
    }
    PeakLevel *memory = &peaks->levels[count];
    snprintf(memory->name, sizeof memory->name, "memory");
    memory->capacity_bytes = SIZE_MAX;
    peaks->level_count = count + 1;
    size_t bytes = 4 * last, most = memory_available_bytes() / 4;
    most = most < MEMORY_MAX_BYTES ? most : MEMORY_MAX_BYTES;
    bytes = bytes > MEMORY_MIN_BYTES ? bytes : MEMORY_MIN_BYTES;
    return bytes < most ? bytes : most;
}

static void dismiss(Crew *crew) {
    for (int t = 0; t < crew->threads && crew->blocks != NULL; t++) {
        memory_free(crew->blocks[t]);
    }
    memory_free(crew->blocks);
}

/* Gives each thread a block of memory that it touches first. */
static Status assemble(Crew *crew, int threads, size_t block_bytes) {
    *crew = (Crew){.threads = threads, .loops = peak_loops()};
    crew->blocks = memory_alloc((size_t)threads * sizeof *crew->blocks);
    bool failed = crew->blocks == NULL;
    for (int t = 0; t < threads && !failed; t++) {
        crew->blocks[t] = memory_alloc(block_bytes);
        failed = crew->blocks[t] == NULL;
        crew->threads = failed ? t : threads; /* what dismiss will free */
    }
    if (failed) {
        dismiss(crew);
        return fail("no memory to measure this machine's bandwidth: %zu MiB are needed",
                    block_bytes * (size_t)threads >> 20);
    }
    if (threads > 1) { /* one thread alone finds a free processor by itself */
        pin_order(&crew->order);
    }
#pragma omp parallel num_threads(threads)
    memset(crew->blocks[omp_get_thread_num()], 0, block_bytes);
    return STATUS_OK;
}

/* What all threads together keep busy to measure a level: half of it, and no more than 8 times the
 * level before, which such a set leaves hardly anything of: a big cache is often shared with
 * neighbours that we cannot see. */
static size_t busy_bytes(const Peaks *peaks, int level, size_t memory_bytes) {
    if (level == peaks->level_count - 1) {
        return memory_bytes;
    }
    size_t busy = peaks->levels[level].capacity_bytes / 2;
    size_t most = level > 0 ? 8 * peaks->levels[level - 1].capacity_bytes : busy;
    busy = busy < most ? busy : most;
    return busy < memory_bytes ? busy : memory_bytes;
}

Status peak_measure(Peaks *peaks, int threads, bool again) {
    Crew crew;
    if (!again) {
        *peaks = (Peaks){.threads = threads, .vectors = peak_loops()->vectors};
    }
    size_t memory_bytes = describe_levels(peaks);
    size_t pad_bytes = 4 * (PAD_FLOATS + PEAK_BLOCK) * sizeof(float);
    TRY(assemble(&crew, threads, memory_bytes / (size_t)threads + pad_bytes));
    measure_arithmetic(peaks, &crew);
    for (int i = 0; i < peaks->level_count; i++) {
        size_t busy = busy_bytes(peaks, i, memory_bytes);
        measure_level(&peaks->levels[i], &crew, busy / (size_t)threads);
    }
    dismiss(&crew);
    return STATUS_OK;
}

double peak_bandwidth(const PeakLevel *level, bool writes_only, PeakPattern *pattern) {
    PeakPattern best = writes_only ? PEAK_FILL : PEAK_READ;
    for (PeakPattern p = 0; p < PEAK_PATTERN_COUNT; p++) {
        bool comparable = (p == PEAK_FILL) == writes_only;
        best = comparable && level->gbytes_per_s[p] > level->gbytes_per_s[best] ? p : best;
    }
    if (pattern != NULL) {
        *pattern = best;
    }
    return level->gbytes_per_s[best];
}

PeakFloor peak_floor(const Peaks *peaks, const PeakWork *work) {
    PeakFloor floor = {0, true, "arithmetic"};
    size_t held = 0, set = work->working_set_bytes;
    double bytes_ns = 0;
    const char *level_name = "";
    if (peaks->gflops > 0) {
        floor.ns = work->flops / peaks->gflops;
    }
    for (int i = 0; i < peaks->level_count && held < set; i++) {
        const PeakLevel *level = &peaks->levels[i];
        size_t up_to = level->capacity_bytes < set ? level->capacity_bytes : set;
        double share = up_to > held ? (double)(up_to - held) / (double)set : 0;
        double bandwidth = peak_bandwidth(level, work->writes_only, NULL);
        bytes_ns += bandwidth > 0 ? share * work->bytes / bandwidth : 0;
        held = up_to > held ? up_to : held;
        level_name = level->name;
    }
    if (bytes_ns > floor.ns) {
        floor = (PeakFloor){bytes_ns, false, level_name};
    }
    return floor;
}

/* This machine's ceilings, measured: the rate of fused multiply-adds in registers, and the
 * bandwidth of every level of its memory. A figure is given as a percentage of the ceiling that
 * binds it, and one above it is refused.
 *
 * Bytes are counted as an operation needs them: each input read once, each output written once.
 * The line that a cache fetches before it is overwritten (write-allocate) is not counted, as in
 * STREAM (McCalpin 1995), neither here nor in the figures. */
#ifndef LOCKSTEP_PEAK_H
#define LOCKSTEP_PEAK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "bench/cache.h"

typedef enum PeakPattern {
    PEAK_READ,   /* 1 read */
    PEAK_FILL,   /* 1 write, by memset */
    PEAK_COPY,   /* 1 read, 1 write: the faster of a vector loop and memcpy */
    PEAK_TRIAD,  /* 2 reads, 1 write: out = a + s b */
    PEAK_UPDATE, /* 2 reads, 1 write in place: out = s out + a; nothing is fetched to be overwritten
                  */
    PEAK_SCALE,  /* 1 read, 1 write in place: out = s out + s */
    PEAK_PATTERN_COUNT
} PeakPattern;

const char *peak_pattern_name(PeakPattern pattern);

typedef struct PeakLevel {
    char name[8];          /* "L1", "memory" */
    size_t capacity_bytes; /* what all threads hold there together; memory: SIZE_MAX */
    double gbytes_per_s[PEAK_PATTERN_COUNT];
} PeakLevel;

typedef struct Peaks {
    int threads;
    bool stated;         /* known from elsewhere, not measured here: never measured again */
    const char *vectors; /* "AVX2 + FMA" */
    double gflops;       /* fp32, all threads together */
    int level_count;     /* caches, closest first, then memory */
    PeakLevel levels[CACHE_MAX_LEVELS + 1];
} Peaks;

/* Measures the peaks of `threads` CPU threads that run at once; the best of several tries each,
 * since a disturbed try is never too fast. Takes a second or two. With *peaks from an earlier
 * call (again = true) each entry only ever rises. */
Status peak_measure(Peaks *peaks, int threads, bool again);

/* The level's best pattern: what nothing that lives there can pass. Filling stands apart, since
 * stores alone may go past the caches at twice the rate of anything that also reads. */
double peak_bandwidth(const PeakLevel *level, bool writes_only, PeakPattern *pattern);

/* The shortest time that the peaks allow for work of so many flops and bytes. */
typedef struct PeakFloor {
    double ns;           /* 0: no peak is known */
    bool by_arithmetic;  /* what binds: the arithmetic or the bandwidth */
    const char *ceiling; /* "arithmetic", or the level that the working set fits in: "L2" */
} PeakFloor;

/* One call's work. */
typedef struct PeakWork {
    double flops, bytes;
    size_t working_set_bytes; /* what it touches */
    bool writes_only;
} PeakWork;

/* What of the working set a cache could hold is taken to come from
 * that cache, the fastest first; so the floor is a bound, and streaming code over more than one
 * level stays below it. */
PeakFloor peak_floor(const Peaks *peaks, const PeakWork *work);

#endif

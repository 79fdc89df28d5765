/* One row of the bench: what ran, how fast, and whether that can be true. */
#ifndef LOCKSTEP_FIGURE_H
#define LOCKSTEP_FIGURE_H

#include "bench/peak.h"
#include "bench/stats.h"

/* How far above a measured peak a figure may be before it is refused: both were measured, and
 * clock rates drift. */
#define FIGURE_TOLERANCE 0.10

typedef struct Figure {
    const char *backend, *kernel, *device, *precision;
    int threads;
    bool emulated;  /* its time says nothing about the hardware it imitates: no rates, no peak */
    PeakWork work;  /* of one call */
    double cold_ns; /* the first call: threads asleep, code not in the caches */
    Stats ns;       /* one call, from batches of calls_per_sample */
    long calls_per_sample;       /* between two looks at the clock */
    double gflops, gbytes_per_s; /* from the median */
    PeakFloor floor;
    double percent_of_ceiling; /* 0: no peak is known */
    char checked_against[64];  /* the kernel whose result this one's was compared with; or "" */
    char refused[320];         /* why there is no figure; "" where it stands */
} Figure;

/* Works out rates and percentage from work, ns and peaks. Peaks of NULL are unknown. */
void figure_rate(Figure *figure, const Peaks *peaks);

/* Is the median shorter than the peaks allow, tolerance included? After figure_rate. */
bool figure_beats_peak(const Figure *figure);

/* Strikes the figure: its times and rates become 0, and the reason stands instead. The first
 * reason stays. */
void figure_refuse(Figure *figure, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Refuses a figure that beats its peak, with both in numbers:
 * "5.95 PFLOP/s is above the measured peak of 205 GFLOP/s ..." */
void figure_refuse_above_peak(Figure *figure, const Peaks *peaks);

/* "5.95 PFLOP/s", "23.4 GB/s". Returns text. */
char *rate_text(char *text, size_t text_bytes, double per_second, const char *unit);

/* "23.1 us", "5.02 s". Returns text. */
char *duration_text(char *text, size_t text_bytes, double ns);

#endif

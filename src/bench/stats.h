/* A figure is a median with its spread, never one number alone. */
#ifndef LOCKSTEP_STATS_H
#define LOCKSTEP_STATS_H

/* Five numbers that describe a set of samples, in the samples' own unit. */
typedef struct Stats {
    int count;
    double low, quartile1, median, quartile3, high;
} Stats;

/* Sorts values in place and describes them. Quartiles interpolate linearly between order
 * statistics (Hyndman, Fan 1996, type 7, as numpy does). count = 0 gives zeros; values must not be
 * NaN. */
Stats stats_of(double *values, int count);

/* quartile3 - quartile1: the width of the middle half. */
double stats_iqr(const Stats *stats);

#endif

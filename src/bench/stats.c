#include "bench/stats.h"

#include <stdlib.h>

static int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The value at fraction q of sorted values: position q * (count - 1), interpolated. */
static double quantile(const double *sorted, int count, double q) {
    double position = q * (count - 1);
    int below = (int)position;
    int above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

Stats stats_of(double *values, int count) {
    if (count < 1) {
        return (Stats){0};
    }
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return (Stats){
        .count = count,
        .low = values[0],
        .quartile1 = quantile(values, count, 0.25),
        .median = quantile(values, count, 0.5),
        .quartile3 = quantile(values, count, 0.75),
        .high = values[count - 1],
    };
}

double stats_iqr(const Stats *stats) {
    return stats->quartile3 - stats->quartile1;
}

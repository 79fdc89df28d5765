#include "bench/figure.h"

#include <stdarg.h>
#include <stdio.h>

void figure_rate(Figure *figure, const Peaks *peaks) {
    double ns = figure->ns.median;
    if (!(ns > 0) || figure->emulated) {
        return;
    }
    figure->gflops = figure->work.flops / ns;
    figure->gbytes_per_s = figure->work.bytes / ns;
    if (peaks != NULL) {
        figure->floor = peak_floor(peaks, &figure->work);
        figure->percent_of_ceiling = 100.0 * figure->floor.ns / ns;
    }
}

bool figure_beats_peak(const Figure *figure) {
    return figure->percent_of_ceiling > 100.0 * (1.0 + FIGURE_TOLERANCE);
}

void figure_refuse(Figure *figure, const char *format, ...) {
    va_list args;
    if (figure->refused[0] == '\0') {
        va_start(args, format);
        vsnprintf(figure->refused, sizeof figure->refused, format, args);
        va_end(args);
    }
    figure->ns = (Stats){0};
    figure->cold_ns = figure->gflops = figure->gbytes_per_s = figure->percent_of_ceiling = 0;
}

void figure_refuse_above_peak(Figure *figure, const Peaks *peaks) {
    char rate[32], peak[32], time[32], least[32];
    double seconds = figure->ns.median * 1e-9;
    const char *unit = figure->floor.by_arithmetic ? "FLOP/s" : "B/s";
    double amount = figure->floor.by_arithmetic ? figure->work.flops : figure->work.bytes;
    double most = amount / (figure->floor.ns * 1e-9);
    figure_refuse(figure,
                  "%s in %s is above the measured peak of %s (%s, %d thread%s, tolerance %.0f %%): "
                  "it needs at least %s",
                  rate_text(rate, sizeof rate, amount / seconds, unit),
                  duration_text(time, sizeof time, seconds * 1e9),
                  rate_text(peak, sizeof peak, most, unit), figure->floor.ceiling, peaks->threads,
                  peaks->threads == 1 ? "" : "s", 100.0 * FIGURE_TOLERANCE,
                  duration_text(least, sizeof least, figure->floor.ns));
}

char *rate_text(char *text, size_t text_bytes, double per_second, const char *unit) {
    static const char prefixes[] = {' ', 'k', 'M', 'G', 'T', 'P', 'E'};
    size_t p = 0;
    while (per_second >= 999.5 && p + 1 < sizeof prefixes) {
        per_second /= 1000;
        p++;
    }
    snprintf(text, text_bytes, "%.3g %.*s%s", per_second, p > 0, &prefixes[p], unit);
    return text;
}

char *duration_text(char *text, size_t text_bytes, double ns) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int u = 0;
    while (ns >= 999.5 && u < 3) {
        ns /= 1000;
        u++;
    }
    int decimals = ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0;
    snprintf(text, text_bytes, "%.*f %s", decimals, ns, units[u]);
    return text;
}

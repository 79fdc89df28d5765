#include "cli/bench_report.h"

#include <stdio.h>
#include <string.h>

#include "cli/wrap.h"

enum { REASON_COLUMN = 30 }; /* behind backend, kernel and threads */

static const char columns[] = "  backend  kernel         thr   median   IQR    n          rate  "
                              "of ceiling  x serial x OpenBLAS     cold\n";

char *bench_shape_text(char *text, size_t text_bytes, const OpCall *call) {
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; call->spec->dims[i] != NULL && used < text_bytes; i++) {
        used += (size_t)snprintf(text + used, text_bytes - used, "%s%s=%zu", i > 0 ? " " : "",
                                 call->spec->dims[i], call->dim[i]);
    }
    return text;
}

static bool stands(const Figure *figure) {
    return figure->refused[0] == '\0';
}

/* The default kernel of the named backend; NULL when it is not among the figures or was refused. */
static const Figure *find_default(const OpCall *call, const Figure *figures, int count,
                                  const char *backend) {
    for (int i = 0; i < count; i++) {
        if (strcmp(figures[i].backend, backend) != 0 || !stands(&figures[i])) {
            continue;
        }
        Backend be;
        if (backend_get(&be, backend) == STATUS_OK && be.chosen[call->spec->op] != NULL &&
            strcmp(be.chosen[call->spec->op]->name, figures[i].kernel) == 0) {
            return &figures[i];
        }
    }
    return NULL;
}

/* How many times as fast as `base`; 0 where that says nothing. */
static double speedup(const Figure *figure, const Figure *base) {
    bool meaningful = base != NULL && stands(figure) && !figure->emulated && !base->emulated;
    return meaningful ? base->ns.median / figure->ns.median : 0;
}

static const Figure *fastest(const Figure *figures, int count, const Figure *except) {
    const Figure *best = NULL;
    for (int i = 0; i < count; i++) {
        if (&figures[i] != except && stands(&figures[i]) && !figures[i].emulated &&
            (best == NULL || figures[i].ns.median < best->ns.median)) {
            best = &figures[i];
        }
    }
    return best;
}

/* ---- the table ------------------------------------------------------------------------------ */

static char *ratio_text(char *text, size_t text_bytes, double ratio) {
    snprintf(text, text_bytes, ratio == 0 ? "-" : ratio < 10 ? "%.2f" : "%.0f", ratio);
    return text;
}

static void print_row(const Figure *figure, const Figure *serial, const Figure *openblas) {
    char median[32], cold[32], rate[32] = "EMULATED", ceiling[32] = "-", a[16], b[16];
    printf("  %-8s %-14s %3d ", figure->backend, figure->kernel, figure->threads);
    if (!stands(figure)) {
        wrap_print(REASON_COLUMN, figure->refused);
        return;
    }
    if (!figure->emulated && figure->floor.by_arithmetic && figure->gflops > 0) {
        snprintf(rate, sizeof rate, "%.1f GFLOP/s", figure->gflops);
    } else if (!figure->emulated) {
        snprintf(rate, sizeof rate, "%.1f GB/s", figure->gbytes_per_s);
    }
    if (figure->percent_of_ceiling > 0) {
        snprintf(ceiling, sizeof ceiling, "%.0f %% %s", figure->percent_of_ceiling,
                 figure->floor.by_arithmetic ? "arith." : figure->floor.ceiling);
    }
    printf("%8s %3.0f %% %4d %13s %11s %9s %10s %8s\n",
           duration_text(median, sizeof median, figure->ns.median),
           100.0 * stats_iqr(&figure->ns) / figure->ns.median, figure->ns.count, rate, ceiling,
           ratio_text(a, sizeof a, speedup(figure, serial)),
           ratio_text(b, sizeof b, speedup(figure, openblas)),
           duration_text(cold, sizeof cold, figure->cold_ns));
}

void bench_report_table(const OpCall *call, const Figure *figures, int count) {
    char shape[96], flops[32], bytes[32];
    const Figure *serial = find_default(call, figures, count, "serial");
    const Figure *openblas = find_default(call, figures, count, "openblas");
    const Figure *best = fastest(figures, count, NULL);
    const Figure *second = fastest(figures, count, best);
    printf("\n%s  %s  fp32", op_name(call->spec->op), bench_shape_text(shape, sizeof shape, call));
    if (best != NULL) {
        printf("  (%s, %s a call)", rate_text(flops, sizeof flops, best->work.flops, "flop"),
               rate_text(bytes, sizeof bytes, best->work.bytes, "B"));
    }
    printf("\n%s", columns);
    for (int i = 0; i < count; i++) {
        print_row(&figures[i], serial, openblas);
    }
    if (best != NULL && second != NULL) {
        printf("  fastest: %s/%s, %.2f times as fast as the next, %s/%s\n", best->backend,
               best->kernel, speedup(best, second), second->backend, second->kernel);
    }
}

void bench_report_peaks(const Peaks *peaks) {
    printf("measured peak, %d thread%s: %.1f GFLOP/s fp32 (%s); best bandwidth", peaks->threads,
           peaks->threads == 1 ? "" : "s", peaks->gflops, peaks->vectors);
    for (int i = 0; i < peaks->level_count; i++) {
        printf("%s %s %.0f", i > 0 ? "," : "", peaks->levels[i].name,
               peak_bandwidth(&peaks->levels[i], false, NULL));
    }
    printf(" GB/s\n");
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* A number, or null where there is none. */
static void add_number(cJSON *object, const char *key, bool known, double value) {
    cJSON_AddItemToObject(object, key, known ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

static void add_text(cJSON *object, const char *key, const char *text) {
    cJSON_AddItemToObject(object, key,
                          text[0] != '\0' ? cJSON_CreateString(text) : cJSON_CreateNull());
}

static void add_times(cJSON *row, const Figure *figure) {
    bool ok = stands(figure);
    add_number(row, "median_ms", ok, figure->ns.median * 1e-6);
    add_number(row, "low_ms", ok, figure->ns.low * 1e-6);
    add_number(row, "high_ms", ok, figure->ns.high * 1e-6);
    add_number(row, "iqr_ms", ok, stats_iqr(&figure->ns) * 1e-6);
    add_number(row, "cold_ms", ok && figure->cold_ns > 0, figure->cold_ns * 1e-6);
    cJSON_AddNumberToObject(row, "samples", figure->ns.count);
    cJSON_AddNumberToObject(row, "calls_per_sample", (double)figure->calls_per_sample);
    cJSON_AddBoolToObject(row, "copies_included", false);
}

static void add_rates(cJSON *row, const Figure *figure) {
    bool rated = stands(figure) && !figure->emulated;
    bool held = rated && figure->percent_of_ceiling > 0;
    cJSON_AddNumberToObject(row, "flops", figure->work.flops);
    cJSON_AddNumberToObject(row, "bytes", figure->work.bytes);
    add_number(row, "gflops", rated, figure->gflops);
    add_number(row, "gbytes_per_s", rated, figure->gbytes_per_s);
    add_number(row, "percent_of_ceiling", held, figure->percent_of_ceiling);
    add_text(row, "ceiling", held ? figure->floor.ceiling : "");
}

static cJSON *make_row(const char *op, const char *shape, const Figure *figure) {
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "op", op);
    cJSON_AddStringToObject(row, "backend", figure->backend);
    cJSON_AddStringToObject(row, "kernel", figure->kernel);
    cJSON_AddStringToObject(row, "shape", shape);
    cJSON_AddStringToObject(row, "precision", figure->precision);
    cJSON_AddStringToObject(row, "device", figure->device);
    cJSON_AddNumberToObject(row, "threads", figure->threads);
    cJSON_AddBoolToObject(row, "emulated", figure->emulated);
    add_times(row, figure);
    add_rates(row, figure);
    add_text(row, "checked_against", figure->checked_against);
    add_text(row, "refused", figure->refused);
    return row;
}

void bench_report_rows(cJSON *rows, const char *op, const char *shape, const Figure *figures,
                       int count) {
    for (int i = 0; i < count; i++) {
        cJSON_AddItemToArray(rows, make_row(op, shape, &figures[i]));
    }
}

static void add_speedup(cJSON *row, const char *key, const Figure *figure, const Figure *base) {
    double times = speedup(figure, base);
    add_number(row, key, times > 0, times);
}

void bench_report_json(cJSON *rows, const OpCall *call, const Figure *figures, int count) {
    char shape[96];
    const Figure *serial = find_default(call, figures, count, "serial");
    const Figure *openblas = find_default(call, figures, count, "openblas");
    bench_shape_text(shape, sizeof shape, call);
    for (int i = 0; i < count; i++) {
        cJSON *row = make_row(op_name(call->spec->op), shape, &figures[i]);
        add_speedup(row, "speedup_serial", &figures[i], serial);
        add_speedup(row, "speedup_openblas", &figures[i], openblas);
        add_speedup(row, "speedup_best_other", &figures[i], fastest(figures, count, &figures[i]));
        cJSON_AddItemToArray(rows, row);
    }
}

cJSON *bench_report_peaks_json(const Peaks *peaks) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "threads", peaks->threads);
    cJSON_AddStringToObject(object, "vectors", peaks->vectors);
    cJSON_AddNumberToObject(object, "gflops", peaks->gflops);
    cJSON *levels = cJSON_AddArrayToObject(object, "levels");
    for (int i = 0; i < peaks->level_count; i++) {
        const PeakLevel *level = &peaks->levels[i];
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "name", level->name);
        add_number(entry, "capacity_bytes", level->capacity_bytes != SIZE_MAX,
                   (double)level->capacity_bytes);
        cJSON *rates = cJSON_AddObjectToObject(entry, "gbytes_per_s");
        for (PeakPattern p = 0; p < PEAK_PATTERN_COUNT; p++) {
            cJSON_AddNumberToObject(rates, peak_pattern_name(p), level->gbytes_per_s[p]);
        }
        cJSON_AddItemToArray(levels, entry);
    }
    return object;
}

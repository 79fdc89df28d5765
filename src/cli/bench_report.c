#include "cli/bench_report.h"

#include <stdio.h>
#include <string.h>

#include "cli/terminal.h"
#include "cli/wrap.h"

enum { KERNEL_COLUMNS = 14, WHOLE_COLUMNS = 105 - KERNEL_COLUMNS };

/* A terminal too narrow for all columns gets the comparisons below the measurements. */
typedef struct Table {
    int kernel; /* columns of the longest kernel name */
    bool whole;
} Table;

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

static void print_name(const Table *table, const char *backend, const char *kernel) {
    printf("  %-8s %-*s", backend, table->kernel, kernel);
}

static void print_measured(const Figure *figure) {
    char median[32], rate[32] = "EMULATED", ceiling[32] = "-";
    if (!figure->emulated && figure->floor.by_arithmetic && figure->gflops > 0) {
        snprintf(rate, sizeof rate, "%.1f GFLOP/s", figure->gflops);
    } else if (!figure->emulated) {
        snprintf(rate, sizeof rate, "%.1f GB/s", figure->gbytes_per_s);
    }
    if (figure->percent_of_ceiling > 0) {
        snprintf(ceiling, sizeof ceiling, "%.0f %% %s", figure->percent_of_ceiling,
                 figure->floor.by_arithmetic ? "arith." : figure->floor.ceiling);
    }
    printf(" %3d %8s %3.0f %% %4d %13s %11s", figure->threads,
           duration_text(median, sizeof median, figure->ns.median),
           100.0 * stats_iqr(&figure->ns) / figure->ns.median, figure->ns.count, rate, ceiling);
}

static void print_compared(const Figure *figure, const Figure *serial, const Figure *openblas) {
    char cold[32], a[16], b[16];
    printf(" %9s %10s %8s", ratio_text(a, sizeof a, speedup(figure, serial)),
           ratio_text(b, sizeof b, speedup(figure, openblas)),
           duration_text(cold, sizeof cold, figure->cold_ns));
}

static const char measured[] = " thr   median   IQR    n          rate  of ceiling";
static const char compared[] = "  x serial x OpenBLAS     cold";

static void print_rows(const Table *table, const OpCall *call, const Figure *figures, int count) {
    const Figure *serial = find_default(call, figures, count, "serial");
    const Figure *openblas = find_default(call, figures, count, "openblas");
    print_name(table, "backend", "kernel");
    printf("%s%s\n", measured, table->whole ? compared : "");
    for (int i = 0; i < count; i++) {
        print_name(table, figures[i].backend, figures[i].kernel);
        if (!stands(&figures[i])) {
            printf(" %3d ", figures[i].threads);
            wrap_print(stdout, table->kernel + 16, figures[i].refused);
            continue;
        }
        print_measured(&figures[i]);
        if (table->whole) {
            print_compared(&figures[i], serial, openblas);
        }
        printf("\n");
    }
    if (table->whole) {
        return;
    }
    printf("\n");
    print_name(table, "backend", "kernel");
    printf("%s\n", compared);
    for (int i = 0; i < count; i++) {
        if (stands(&figures[i])) {
            print_name(table, figures[i].backend, figures[i].kernel);
            print_compared(&figures[i], serial, openblas);
            printf("\n");
        }
    }
}

/* How to lay it out on standard output. */
static Table table_for(const Figure *figures, int count) {
    Terminal terminal = terminal_of(stdout);
    Table table = {.kernel = (int)strlen("kernel")};
    for (int i = 0; i < count; i++) {
        int length = (int)strlen(figures[i].kernel);
        table.kernel = length > table.kernel ? length : table.kernel;
    }
    table.whole = !terminal.live || terminal.width >= WHOLE_COLUMNS + table.kernel;
    return table;
}

void bench_report_table(const OpCall *call, const Figure *figures, int count) {
    char shape[96], flops[32], bytes[32];
    const Figure *best = fastest(figures, count, NULL);
    const Figure *second = fastest(figures, count, best);
    printf("\n%s  %s  fp32", op_name(call->spec->op), bench_shape_text(shape, sizeof shape, call));
    if (best != NULL) {
        printf("  (%s, %s a call)", rate_text(flops, sizeof flops, best->work.flops, "flop"),
               rate_text(bytes, sizeof bytes, best->work.bytes, "B"));
    }
    Table table = table_for(figures, count);
    printf("\n");
    print_rows(&table, call, figures, count);
    if (best != NULL && second != NULL) {
        printf("  fastest: %s/%s, %.2f times as fast as the next, %s/%s\n", best->backend,
               best->kernel, speedup(best, second), second->backend, second->kernel);
    }
}

void bench_report_peaks(const Peaks *peaks) {
    char text[256];
    int used =
        snprintf(text, sizeof text,
                 "measured peak, %d thread%s: %.1f GFLOP/s fp32 (%s); "
                 "best bandwidth",
                 peaks->threads, peaks->threads == 1 ? "" : "s", peaks->gflops, peaks->vectors);
    for (int i = 0; i < peaks->level_count && used < (int)sizeof text; i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, "%s %s %.0f", i > 0 ? "," : "",
                         peaks->levels[i].name, peak_bandwidth(&peaks->levels[i], false, NULL));
    }
    if (used < (int)sizeof text) {
        snprintf(text + used, sizeof text - (size_t)used, " GB/s");
    }
    wrap_print(stdout, 0, text);
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

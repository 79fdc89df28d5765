/* lockstep bench: how fast operations, kernels and sizes are here, and how far from the ceiling. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/neighbours.h"
#include "cli/bench_report.h"
#include "cli/cli.h"

static const char synopsis[] =
    "bench [OP...] [--backends A,B] [--kernels all|default|NAME] [--sizes S,...]\n"
    "                      [--threads N] [--seconds S] [--samples N] [--json]";
static const char summary[] =
    "Measures operations: the contenders' results are checked, then they take turns. Shows the\n"
    "median of one call, its spread, and the percentage of this machine's measured ceiling.\n"
    "Sizes: 512 (every dimension), or one number for each in the order that `lockstep list ops`\n"
    "shows, such as 64x784x128: M x N x K for matmul, N x C x OC for matmul_forward.\n"
    "Without OP: a selection of what a training step runs.";

typedef struct Settings {
    CliList ops, backends, sizes;
    const char *kernels;
    int threads;
    bool json;
    BenchSettings bench;
} Settings;

#define BUSY_NEIGHBOUR 0.1 /* processors; from here on it is worth a line */

/* What runs when no operation is named. */
static const struct {
    OpId op;
    const char *size;
} selection[] = {
    {OP_matmul, "512"},
    {OP_matmul_forward, "64x784x128"},
    {OP_matmul_backward_input, "64x784x128"},
    {OP_matmul_backward_weight, "64x784x128"},
    {OP_relu_forward, "8192"},
    {OP_softmax_cross_entropy_forward, "64x10"},
    {OP_sgd, "100480"},
    {OP_vector_add, "16777216"},
    {OP_sum, "1x16777216"},
};
enum { SELECTION_COUNT = sizeof selection / sizeof selection[0] };

/* What an operation runs at when no size is given, by its number of dimensions. */
static const char *const default_sizes[SPEC_MAX_DIMS + 1] = {"1", "1048576", "1024", "512"};

static int dim_count(const OpSpec *spec) {
    int count = 0;
    while (spec->dims[count] != NULL) {
        count++;
    }
    return count;
}

static Status size_error(const OpSpec *spec, const char *size) {
    char names[64] = "";
    for (int i = 0; spec->dims[i] != NULL; i++) {
        strncat(names, i > 0 ? " x " : "", sizeof names - strlen(names) - 1);
        strncat(names, spec->dims[i], sizeof names - strlen(names) - 1);
    }
    return fail("--sizes '%.60s': %s takes one whole number, or %d for %s (1 to 2147483647 each)",
                size, op_name(spec->op), dim_count(spec), names);
}

/* "512" or "64x784x128" into the call's dimensions. */
static Status set_size(OpCall *call, const char *size) {
    int count = dim_count(call->spec), given = 0;
    const char *text = size;
    while (given < count) {
        char *end;
        long long value = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : 0;
        if (value < 1 || value > 2147483647 || (*end != 'x' && *end != '\0')) {
            return size_error(call->spec, size);
        }
        call->dim[given++] = (size_t)value;
        if (*end == '\0') {
            text = NULL;
            break;
        }
        text = end + 1;
    }
    if (text != NULL || (given != 1 && given != count)) {
        return size_error(call->spec, size);
    }
    for (; given < count; given++) {
        call->dim[given] = call->dim[0];
    }
    return STATUS_OK;
}

/* ---- contenders ----------------------------------------------------------------------------- */

typedef struct Field {
    BenchContender contenders[BENCH_MAX_CONTENDERS];
    int count;
    Peaks one, many; /* for serial kernels, and for all threads */
} Field;

static Status add_contender(Field *field, const Backend *be, OpId op, const Kernel *kernel,
                            int threads) {
    bool serial = strcmp(be->name, "serial") == 0;
    if (field->count == BENCH_MAX_CONTENDERS) {
        return fail("more than %d kernels at once; name fewer --backends or --kernels",
                    BENCH_MAX_CONTENDERS);
    }
    BenchContender *contender = &field->contenders[field->count++];
    *contender = (BenchContender){.backend = *be, .threads = serial ? 1 : threads};
    contender->peaks = contender->threads == 1 ? &field->one : &field->many;
    return backend_choose_kernel(&contender->backend, op, kernel->name);
}

/* The kernels of one backend that were asked for. */
static Status add_backend(Field *field, const Settings *settings, const char *name, OpId op,
                          int threads) {
    Backend be;
    const Kernel *kernel;
    TRY(backend_get(&be, name));
    for (int i = 0; (kernel = backend_kernel(&be, op, i)) != NULL; i++) {
        if (strcmp(settings->kernels, "all") == 0 ||
            (strcmp(settings->kernels, "default") == 0 && kernel->is_default) ||
            strcmp(settings->kernels, kernel->name) == 0) {
            TRY(add_contender(field, &be, op, kernel, threads));
        }
    }
    return STATUS_OK;
}

static Status gather(Field *field, const Settings *settings, OpId op, int threads) {
    field->count = 0;
    for (int i = 0; i < settings->backends.count; i++) {
        TRY(add_backend(field, settings, settings->backends.items[i], op, threads));
    }
    for (int i = 0; i < backend_count() && settings->backends.count == 0; i++) {
        if (backend_at(i)->missing == NULL) {
            TRY(add_backend(field, settings, backend_at(i)->name, op, threads));
        }
    }
    if (field->count == 0) {
        return fail("no kernel named '%.40s' for %s on these backends; `lockstep list kernels` "
                    "shows them all",
                    settings->kernels, op_name(op));
    }
    return STATUS_OK;
}

/* The peaks that this field of contenders is held against, where they are not known yet. */
static Status know_peaks(Field *field, const Settings *settings) {
    for (int i = 0; i < field->count; i++) {
        Peaks *peaks = field->contenders[i].peaks;
        if (peaks->threads != 0) {
            continue;
        }
        int threads = field->contenders[i].threads;
        fprintf(stderr, "measuring this machine's peaks with %d thread%s\n", threads,
                threads == 1 ? "" : "s");
        TRY(peak_measure(peaks, threads, false));
        if (!settings->json) {
            bench_report_peaks(peaks);
        }
    }
    return STATUS_OK;
}

/* ---- the run -------------------------------------------------------------------------------- */

/* One operation and shape. */
static Status run_shape(Field *field, const Settings *settings, const OpCall *call, int threads,
                        cJSON *rows) {
    char shape[96];
    Figure figures[BENCH_MAX_CONTENDERS];
    TRY(gather(field, settings, call->spec->op, threads));
    TRY(know_peaks(field, settings));
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "%s %s: %d kernels, about %.0f s\n", op_name(call->spec->op),
                bench_shape_text(shape, sizeof shape, call), field->count,
                settings->bench.seconds * field->count);
    }
    TRY(bench_measure(figures, field->contenders, field->count, call, &settings->bench));
    if (settings->json) {
        bench_report_json(rows, call, figures, field->count);
    } else {
        bench_report_table(call, figures, field->count);
        fflush(stdout);
    }
    return STATUS_OK;
}

static Status run_op(Field *field, const Settings *settings, OpId op, const char *selected_size,
                     int threads, cJSON *rows) {
    OpCall call;
    const CliList *sizes = &settings->sizes;
    call_init(&call, op);
    if (sizes->count == 0) {
        const char *size =
            selected_size != NULL ? selected_size : default_sizes[dim_count(call.spec)];
        TRY(set_size(&call, size));
        return run_shape(field, settings, &call, threads, rows);
    }
    for (int i = 0; i < sizes->count; i++) {
        TRY(set_size(&call, sizes->items[i]));
        TRY(run_shape(field, settings, &call, threads, rows));
    }
    return STATUS_OK;
}

static Status run_all(Field *field, const Settings *settings, int threads, cJSON *rows) {
    for (int i = 0; i < SELECTION_COUNT && settings->ops.count == 0; i++) {
        TRY(run_op(field, settings, selection[i].op, selection[i].size, threads, rows));
    }
    for (int i = 0; i < settings->ops.count; i++) {
        OpId op;
        TRY(op_find(&op, settings->ops.items[i]));
        TRY(run_op(field, settings, op, NULL, threads, rows));
    }
    return STATUS_OK;
}

/* Runs everything under one passport. */
static Status bench(const Settings *settings) {
    static Field field; /* large, and zero at the start */
    ThreadPlan plan;
    Passport passport;
    char line[512];
    Neighbours before = neighbours_now();
    TRY(threads_plan(&plan, settings->threads));
    passport_fill(&passport, &plan);
    cJSON *report = cJSON_CreateObject();
    cJSON *rows = cJSON_CreateArray();
    if (!settings->json) {
        printf("%s\n", passport_line(line, sizeof line, &passport));
    }
    Status status = run_all(&field, settings, plan.threads, rows);
    double busy = neighbours_busy(&before);
    if (status != STATUS_OK || !settings->json) {
        if (status == STATUS_OK && busy >= BUSY_NEIGHBOUR) {
            printf("\nother processes kept %.1f processors busy meanwhile: figures with all "
                   "threads suffer most\n",
                   busy);
        }
        cJSON_Delete(report);
        cJSON_Delete(rows);
        return status;
    }
    cJSON_AddItemToObject(report, "passport", cli_passport_json(&passport));
    cJSON_AddNumberToObject(report, "busy_elsewhere", busy); /* processors */
    cJSON *peaks = cJSON_AddArrayToObject(report, "peaks");
    for (const Peaks *p = &field.one; p <= &field.many; p++) {
        if (p->threads != 0) {
            cJSON_AddItemToArray(peaks, bench_report_peaks_json(p));
        }
    }
    cJSON_AddItemToObject(report, "rows", rows);
    cli_print_json(report);
    return STATUS_OK;
}

Status cli_bench(int argc, char **argv) {
    Settings settings = {.kernels = "default", .bench = {.seconds = 0.5, .seed = 1}};
    const CliOption options[] = {
        {"--backends", CLI_COMMAS, &settings.backends, "A,B", "default: all that are here", 0, 0},
        {"--kernels", CLI_STRING, &settings.kernels, "all|default|NAME", "default: default", 0, 0},
        {"--sizes", CLI_COMMAS, &settings.sizes, "S,...", "default: 512, 1024x1024 or 1048576", 0,
         0},
        {"--threads", CLI_INT, &settings.threads, "N", "default: what the machine grants", 1, 1024},
        {"--seconds", CLI_FLOAT, &settings.bench.seconds, "S", "for each kernel; default 0.5",
         0.001, 3600},
        {"--samples", CLI_INT, &settings.bench.samples, "N", "exactly so many of each kernel", 1,
         100000},
        {"--json", CLI_FLAG, &settings.json, NULL, "one JSON object", 0, 0},
        {0},
    };
    TRY(cli_parse(argc, argv, synopsis, summary, options, &settings.ops));
    return bench(&settings);
}

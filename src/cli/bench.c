/* lockstep bench: how fast operations, kernels and sizes are here, and how far from the ceiling. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/neighbours.h"
#include "bench/pytorch.h"
#include "bench/size.h"
#include "cli/bench_against.h"
#include "cli/bench_report.h"
#include "cli/cli.h"
#include "cli/wrap.h"

static const char synopsis[] =
    "bench [OP...] [--backends A,B] [--kernels all|default|NAME]\n"
    "                      [--sizes S,...] [--threads N] [--seconds S] [--samples N]\n"
    "                      [--json]\n"
    "       lockstep bench OP|train_step --against pytorch [--model M,...]\n"
    "                      [--batch N] [--lr X] [--python PATH] [the same options]";
static const char summary[] =
    "Measures operations: the contenders' results are checked, then they take turns. Shows the "
    "median of one call, its spread, and the percentage of this machine's measured ceiling.\n"
    "Sizes: 512 (every dimension), or one number for each in the order that `lockstep list ops` "
    "shows, such as 64x784x128: M x N x K for matmul, N x C x OC for matmul_forward.\n"
    "Without OP: a selection of what a training step runs.\n"
    "--against pytorch: the backend (openblas if none is named) and PyTorch take turns in one run, "
    "PyTorch at its best thread setting; train_step is a whole training step of --model.";

typedef struct Settings {
    CliList ops, backends, sizes, models;
    const char *kernels, *against, *python;
    int batch;
    double lr;
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

/* ---- contenders ----------------------------------------------------------------------------- */

enum { PEAK_SETS = 2 };

/* What a run of the command holds from its first operation to its last. */
typedef struct Session {
    const Settings *settings;
    int threads;
    int allowed; /* processors: more threads than these have no higher peak */
    BenchContender contenders[BENCH_MAX_CONTENDERS]; /* of the operation at hand */
    int count;
    Peaks peaks[PEAK_SETS]; /* with one thread, and with all */
    cJSON *rows, *comparisons;
} Session;

static Peaks *peaks_of(Session *session, int threads) {
    return &session->peaks[threads > 1];
}

static Status add_contender(Session *session, const Backend *be, OpId op, const Kernel *kernel) {
    bool serial = strcmp(be->name, "serial") == 0;
    if (session->count == BENCH_MAX_CONTENDERS) {
        return fail("more than %d kernels at once; name fewer --backends or --kernels",
                    BENCH_MAX_CONTENDERS);
    }
    BenchContender *contender = &session->contenders[session->count++];
    *contender = (BenchContender){.backend = *be, .threads = serial ? 1 : session->threads};
    contender->peaks = peaks_of(session, contender->threads);
    return backend_choose_kernel(&contender->backend, op, kernel->name);
}

/* The kernels of one backend that were asked for. */
static Status add_backend(Session *session, const char *name, OpId op) {
    const Settings *settings = session->settings;
    Backend be;
    const Kernel *kernel;
    TRY(backend_get(&be, name));
    for (int i = 0; (kernel = backend_kernel(&be, op, i)) != NULL; i++) {
        if (strcmp(settings->kernels, "all") == 0 ||
            (strcmp(settings->kernels, "default") == 0 && kernel->is_default) ||
            strcmp(settings->kernels, kernel->name) == 0) {
            TRY(add_contender(session, &be, op, kernel));
        }
    }
    return STATUS_OK;
}

/* No backend has a kernel of that name: lists those of all. */
static Status unknown_kernel(const Settings *settings, OpId op) {
    const char *names[BENCH_MAX_CONTENDERS];
    char what[64];
    int count = 0;
    for (int b = 0; b < backend_count(); b++) {
        const Kernel *kernel;
        for (int i = 0; (kernel = backend_kernel(backend_at(b), op, i)) != NULL; i++) {
            bool known = count == BENCH_MAX_CONTENDERS;
            for (int n = 0; n < count; n++) {
                known = known || strcmp(names[n], kernel->name) == 0;
            }
            if (!known) {
                names[count++] = kernel->name;
            }
        }
    }
    snprintf(what, sizeof what, "kernel of %s", op_name(op));
    return fail_unknown(what, settings->kernels, names, count);
}

static Status gather(Session *session, OpId op) {
    const Settings *settings = session->settings;
    session->count = 0;
    for (int i = 0; i < settings->backends.count; i++) {
        TRY(add_backend(session, settings->backends.items[i], op));
    }
    for (int i = 0; i < backend_count() && settings->backends.count == 0; i++) {
        if (backend_runs_unnamed(backend_at(i))) {
            TRY(add_backend(session, backend_at(i)->name, op));
        }
    }
    return session->count > 0 ? STATUS_OK : unknown_kernel(settings, op);
}

/* Measures the peaks with so many threads, where they are not known yet. */
static Status know_peaks(Session *session, int threads) {
    Peaks *peaks = peaks_of(session, threads);
    if (peaks->threads != 0) {
        return STATUS_OK;
    }
    threads = threads < session->allowed ? threads : session->allowed;
    fprintf(stderr, "measuring this machine's peaks with %d thread%s\n", threads,
            threads == 1 ? "" : "s");
    TRY(peak_measure(peaks, threads, false));
    if (!session->settings->json) {
        bench_report_peaks(peaks);
        fflush(stdout);
    }
    return STATUS_OK;
}

static AgainstSettings against_settings(Session *session) {
    const Settings *settings = session->settings;
    return (AgainstSettings){
        .python = settings->python,
        .threads = session->threads,
        .seconds = settings->bench.seconds,
        .rounds = settings->bench.samples,
        .batch = settings->batch,
        .lr = settings->lr,
        .peaks = peaks_of(session, session->threads),
        .json = settings->json,
        .rows = session->rows,
        .comparisons = session->comparisons,
    };
}

/* ---- the run -------------------------------------------------------------------------------- */

/* One operation and shape, all contenders. */
static Status run_shape(Session *session, const OpCall *call) {
    char shape[96];
    Figure figures[BENCH_MAX_CONTENDERS];
    const Settings *settings = session->settings;
    TRY(gather(session, call->spec->op));
    for (int i = 0; i < session->count; i++) {
        TRY(know_peaks(session, session->contenders[i].threads));
    }
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "%s %s: %d kernels, about %.0f s\n", op_name(call->spec->op),
                bench_shape_text(shape, sizeof shape, call), session->count,
                settings->bench.seconds * session->count);
    }
    TRY(bench_measure(figures, session->contenders, session->count, call, &settings->bench));
    if (settings->json) {
        bench_report_json(session->rows, call, figures, session->count);
    } else {
        bench_report_table(call, figures, session->count);
        fflush(stdout);
    }
    return STATUS_OK;
}

/* One operation and shape, each backend against PyTorch. */
static Status run_shape_against(Session *session, const OpCall *call) {
    const CliList *backends = &session->settings->backends;
    AgainstSettings against = against_settings(session);
    TRY(know_peaks(session, session->threads));
    for (int i = 0; i < backends->count; i++) {
        TRY(bench_against_op(&against, call, backends->items[i]));
    }
    return backends->count > 0 ? STATUS_OK : bench_against_op(&against, call, "openblas");
}

static Status run_train_step(Session *session) {
    const Settings *settings = session->settings;
    const CliList *backends = &settings->backends;
    if (settings->against == NULL) {
        return fail("train_step is measured --against pytorch; to see our backends side by side: "
                    "lockstep race");
    }
    AgainstSettings against = against_settings(session);
    TRY(know_peaks(session, session->threads));
    for (int m = 0; m < settings->models.count; m++) {
        for (int b = 0; b < backends->count; b++) {
            TRY(bench_against_train_step(&against, settings->models.items[m], backends->items[b]));
        }
        if (backends->count == 0) {
            TRY(bench_against_train_step(&against, settings->models.items[m], "openblas"));
        }
    }
    return STATUS_OK;
}

static Status run_op(Session *session, OpId op, const char *size) {
    OpCall call;
    const CliList *sizes = &session->settings->sizes;
    call_init(&call, op);
    for (int i = 0; i < sizes->count || (i == 0 && sizes->count == 0); i++) {
        TRY(size_set(&call, sizes->count > 0 ? sizes->items[i] : size));
        TRY(session->settings->against == NULL ? run_shape(session, &call)
                                               : run_shape_against(session, &call));
    }
    return STATUS_OK;
}

static Status run_all(Session *session) {
    const CliList *ops = &session->settings->ops;
    for (int i = 0; i < SELECTION_COUNT && ops->count == 0; i++) {
        TRY(run_op(session, selection[i].op, selection[i].size));
    }
    for (int i = 0; i < ops->count; i++) {
        OpId op;
        if (strcmp(ops->items[i], "train_step") == 0) {
            TRY(run_train_step(session));
        } else {
            TRY(op_find(&op, ops->items[i]));
            TRY(run_op(session, op, size_default(spec_of(op))));
        }
    }
    return STATUS_OK;
}

static void print_report(Session *session, const Passport *passport, double busy) {
    cJSON *report = cJSON_CreateObject();
    cJSON_AddItemToObject(report, "passport", cli_passport_json(passport));
    cJSON_AddNumberToObject(report, "busy_elsewhere", busy); /* processors */
    cJSON *peaks = cJSON_AddArrayToObject(report, "peaks");
    for (int i = 0; i < PEAK_SETS; i++) {
        if (session->peaks[i].threads != 0) {
            cJSON_AddItemToArray(peaks, bench_report_peaks_json(&session->peaks[i]));
        }
    }
    cJSON_AddItemToObject(report, "rows", session->rows);
    if (session->settings->against != NULL) {
        cJSON_AddItemToObject(report, "comparisons", session->comparisons);
    } else {
        cJSON_Delete(session->comparisons);
    }
    cli_print_json(report);
}

/* Runs everything under one passport. */
static Status bench(const Settings *settings) {
    Session session = {.settings = settings};
    ThreadPlan plan;
    Passport passport;
    char line[512];
    Neighbours before = neighbours_now();
    TRY(threads_plan(&plan, settings->threads));
    passport_fill(&passport, &plan);
    session.threads = plan.threads;
    session.allowed = plan.allowed;
    session.rows = cJSON_CreateArray();
    session.comparisons = cJSON_CreateArray();
    if (!settings->json) {
        wrap_print(stdout, 0, passport_line(line, sizeof line, &passport));
    }
    Status status = run_all(&session);
    double busy = neighbours_busy(&before);
    if (status == STATUS_OK && settings->json) {
        print_report(&session, &passport, busy);
        return STATUS_OK;
    }
    if (status == STATUS_OK && busy >= BUSY_NEIGHBOUR && settings->against == NULL) {
        snprintf(line, sizeof line,
                 "other processes kept %.1f processors busy meanwhile: figures with all threads "
                 "suffer most",
                 busy);
        printf("\n");
        wrap_print(stdout, 0, line);
    }
    cJSON_Delete(session.rows);
    cJSON_Delete(session.comparisons);
    return status;
}

/* Names and sizes, before anything takes time. */
static Status check_names(const Settings *settings) {
    Backend be;
    OpCall call;
    OpId op;
    for (int i = 0; i < settings->backends.count; i++) {
        TRY(backend_get(&be, settings->backends.items[i]));
    }
    for (int i = 0; i < settings->ops.count; i++) {
        if (strcmp(settings->ops.items[i], "train_step") == 0) {
            continue;
        }
        TRY(op_find(&op, settings->ops.items[i]));
        call_init(&call, op);
        for (int s = 0; s < settings->sizes.count; s++) {
            TRY(size_set(&call, settings->sizes.items[s]));
        }
    }
    return STATUS_OK;
}

/* What the options say together. */
static Status check_settings(Settings *settings) {
    TRY(check_names(settings));
    if (settings->against != NULL && strcmp(settings->against, "pytorch") != 0) {
        return fail("--against '%.40s': only pytorch can be compared with", settings->against);
    }
    if (settings->against != NULL && settings->ops.count == 0) {
        return fail("--against pytorch: name what to compare, such as train_step or matmul");
    }
    if (settings->against != NULL) {
        static char python[512];
        TRY(torch_find_python(python, sizeof python, settings->python));
        settings->python = python;
    }
    if (settings->bench.seconds == 0) {
        settings->bench.seconds = settings->against != NULL ? 10 : 0.5;
    }
    if (settings->models.count == 0) {
        settings->models = (CliList){{"mlp:784-128-10", "mlp:784-512-256-10"}, 2};
    }
    return STATUS_OK;
}

Status cli_bench(int argc, char **argv) {
    Settings settings = {
        .kernels = "default", .batch = 64, .lr = 0.01, .bench = {.seconds = 0, .seed = 1}};
    const CliOption options[] = {
        {"--backends", CLI_COMMAS, &settings.backends, "A,B",
         "default: all that are here, none emulated", 0, 0},
        {"--kernels", CLI_STRING, &settings.kernels, "all|default|NAME", "default: default", 0, 0},
        {"--sizes", CLI_COMMAS, &settings.sizes, "S,...", "default: 512, 1024x1024 or 1048576", 0,
         0},
        {"--threads", CLI_INT, &settings.threads, "N", "default: what the machine grants", 1, 1024},
        {"--seconds", CLI_FLOAT, &settings.bench.seconds, "S",
         "for each kernel; default 0.5, with --against 10 for each pair", 0.001, 3600},
        {"--samples", CLI_INT, &settings.bench.samples, "N",
         "exactly so many of each kernel, or alternations", 1, 100000},
        {"--against", CLI_STRING, &settings.against, "pytorch", "take turns with PyTorch", 0, 0},
        {"--python", CLI_STRING, &settings.python, "PATH",
         "a Python with torch; default: python3, then /usr/bin/python3", 0, 0},
        {"--model", CLI_COMMAS, &settings.models, "M,...",
         "train_step: default mlp:784-128-10,mlp:784-512-256-10", 0, 0},
        {"--batch", CLI_INT, &settings.batch, "N", "train_step: default 64", 1, 1 << 20},
        {"--lr", CLI_FLOAT, &settings.lr, "X", "train_step: default 0.01", 1e-9, 1e3},
        {"--json", CLI_FLAG, &settings.json, NULL, "one JSON object", 0, 0},
        {0},
    };
    TRY(cli_parse(argc, argv, synopsis, summary, options, &settings.ops));
    TRY(check_settings(&settings));
    return bench(&settings);
}

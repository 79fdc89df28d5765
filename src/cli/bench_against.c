#include "cli/bench_against.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/figure.h"
#include "bench/operands.h"
#include "bench/train_step.h"
#include "bench/versus.h"
#include "cli/bench_report.h"

/* Of a comparison: what was compared. */
typedef struct Subject {
    char op[48], shape[128];
    const char *backend, *kernel;
    PeakWork work;
} Subject;

/* ---- JSON ----------------------------------------------------------------------------------- */

static void add_stats(cJSON *object, const char *key, const Stats *stats, double scale) {
    cJSON *entry = cJSON_AddObjectToObject(object, key);
    cJSON_AddNumberToObject(entry, "median", stats->median * scale);
    cJSON_AddNumberToObject(entry, "low", stats->low * scale);
    cJSON_AddNumberToObject(entry, "high", stats->high * scale);
    cJSON_AddNumberToObject(entry, "iqr", stats_iqr(stats) * scale);
    cJSON_AddNumberToObject(entry, "samples", stats->count);
}

static void add_settings(cJSON *object, const Versus *versus) {
    cJSON *tried = cJSON_AddArrayToObject(object, "pytorch_settings");
    for (int i = 0; i < versus->setting_count; i++) {
        const VersusSetting *setting = &versus->settings[i];
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddNumberToObject(entry, "OMP_NUM_THREADS", setting->threads.omp);
        cJSON_AddNumberToObject(entry, "OPENBLAS_NUM_THREADS", setting->threads.blas);
        cJSON_AddNumberToObject(entry, "set_num_threads", setting->threads.torch);
        cJSON_AddBoolToObject(entry, "used", i == versus->best);
        add_stats(entry, "step_ms", &setting->ns, 1e-6);
        cJSON_AddItemToArray(tried, entry);
    }
}

static void add_comparison(cJSON *comparisons, const Subject *subject, const Versus *versus,
                           const Figure figures[2]) {
    const Alternation *turns = &versus->alternation;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "op", subject->op);
    cJSON_AddStringToObject(object, "shape", subject->shape);
    cJSON_AddStringToObject(object, "backend", subject->backend);
    cJSON_AddStringToObject(object, "pytorch", versus->version);
    cJSON_AddStringToObject(object, "pytorch_blas", versus->blas);
    cJSON_AddStringToObject(object, "pytorch_optimizer", versus->variant);
    cJSON_AddStringToObject(object, "python", versus->python);
    add_settings(object, versus);
    if (versus->check_count > 0) {
        cJSON *check = cJSON_AddObjectToObject(object, "same_work");
        cJSON_AddNumberToObject(check, "steps", versus->check_count);
        cJSON_AddNumberToObject(check, "our_loss", versus->check_loss[0]);
        cJSON_AddNumberToObject(check, "pytorch_loss", versus->check_loss[1]);
    }
    if (figures[0].refused[0] == '\0' && figures[1].refused[0] == '\0') {
        add_stats(object, "our_ms", &turns->ns[0], 1e-6);
        add_stats(object, "pytorch_ms", &turns->ns[1], 1e-6);
        add_stats(object, "ratio", &turns->ratio, 1);
        cJSON_AddNumberToObject(object, "alternations", turns->rounds);
        cJSON_AddNumberToObject(object, "ours_faster_in", turns->wins);
    }
    cJSON_AddItemToArray(comparisons, object);
}

/* ---- text ----------------------------------------------------------------------------------- */

static void print_settings(const Versus *versus) {
    char text[32];
    printf("  its thread settings, tried in turns:\n");
    for (int i = 0; i < versus->setting_count; i++) {
        const VersusSetting *setting = &versus->settings[i];
        printf("    OMP_NUM_THREADS=%d OPENBLAS_NUM_THREADS=%d set_num_threads(%d)  %8s%s\n",
               setting->threads.omp, setting->threads.blas, setting->threads.torch,
               duration_text(text, sizeof text, setting->ns.median),
               i == versus->best ? "  <- the best: used below" : "");
    }
}

static void print_side(const char *name, const Figure *figure, long count) {
    char median[32], low[32], high[32];
    if (figure->refused[0] != '\0') {
        printf("  %-26s refused: %s\n", name, figure->refused);
        return;
    }
    printf("  %-26s %9s  IQR %3.0f %%  %9s to %9s  %7.1f GFLOP/s  (%ld a slice)\n", name,
           duration_text(median, sizeof median, figure->ns.median),
           100.0 * stats_iqr(&figure->ns) / figure->ns.median,
           duration_text(low, sizeof low, figure->ns.low),
           duration_text(high, sizeof high, figure->ns.high), figure->gflops, count);
}

static void print_comparison(const Subject *subject, const Versus *versus, int threads,
                             const Figure figures[2]) {
    char ours[64], theirs[64];
    const Alternation *turns = &versus->alternation;
    printf("\n%s  %s  fp32, at most %d thread%s a side\n", subject->op, subject->shape, threads,
           threads == 1 ? "" : "s");
    printf("  PyTorch %s, %s (%s)%s%s\n", versus->version, versus->blas, versus->python,
           versus->variant[0] != '\0' ? "; fastest SGD: " : "", versus->variant);
    print_settings(versus);
    if (versus->check_count > 0) {
        printf("  same weights, same batches: after %d steps our loss is %.6g, PyTorch's %.6g\n",
               versus->check_count, versus->check_loss[0], versus->check_loss[1]);
    }
    snprintf(ours, sizeof ours, "%s%s%s", subject->backend, subject->kernel[0] ? "/" : "",
             subject->kernel);
    snprintf(theirs, sizeof theirs, "PyTorch %s", versus->version);
    print_side(ours, &figures[0], turns->counts[0]);
    print_side(theirs, &figures[1], turns->counts[1]);
    if (figures[0].refused[0] == '\0' && figures[1].refused[0] == '\0') {
        printf("  %s is %.2f times as fast (middle half %.2f to %.2f) over %d alternations; faster "
               "in %d\n",
               ours, turns->ratio.median, turns->ratio.quartile1, turns->ratio.quartile3,
               turns->rounds, turns->wins);
    }
}

/* ---- figures -------------------------------------------------------------------------------- */

/* Both sides as figures, each held against the peaks. */
static void make_figures(Figure figures[2], const Subject *subject, const Versus *versus,
                         const AgainstSettings *settings) {
    for (int s = 0; s < 2; s++) {
        figures[s] = (Figure){
            .backend = s == 0 ? subject->backend : "pytorch",
            .kernel = s == 0 ? subject->kernel : versus->variant,
            .device = s == 0 ? "" : versus->blas,
            .precision = "fp32",
            .threads = settings->threads,
            .work = subject->work,
            .ns = versus->alternation.ns[s],
            .calls_per_sample = versus->alternation.counts[s],
        };
        figure_rate(&figures[s], settings->peaks);
        if (figure_beats_peak(&figures[s])) {
            figure_refuse_above_peak(&figures[s], settings->peaks);
        }
    }
}

static void report(const AgainstSettings *settings, const Subject *subject, const Versus *versus) {
    Figure figures[2];
    make_figures(figures, subject, versus, settings);
    if (settings->json) {
        bench_report_rows(settings->rows, subject->op, subject->shape, figures, 2);
        add_comparison(settings->comparisons, subject, versus, figures);
    } else {
        print_comparison(subject, versus, settings->threads, figures);
        fflush(stdout);
    }
}

static VersusPlan make_plan(const AgainstSettings *settings) {
    return (VersusPlan){.python = settings->python,
                        .threads = settings->threads,
                        .seconds = settings->seconds,
                        .rounds = settings->rounds};
}

/* ---- a training step ------------------------------------------------------------------------- */

static Status set_train_step(Torch *torch, const void *work) {
    return torch_set_train_step(torch, work);
}

static Status our_loss(void *self, long count, double *loss) {
    double ns;
    TrainStep *step = self;
    TRY(train_step_run(step, count, &ns));
    *loss = (double)step->loss;
    return STATUS_OK;
}

/* What one step needs: the arithmetic that the fronts counted, without the bytes, which pass from
 * operation to operation through caches. */
static PeakWork step_work(const Run *run) {
    PeakWork work = {0};
    for (int op = 0; op < OP_COUNT && run->step > 0; op++) {
        work.flops += run->costs[op].flops / (double)run->step;
    }
    return work;
}

static Status compare_train_step(const AgainstSettings *settings, TrainStep *step,
                                 const char *model, FILE *file, const char *path) {
    Versus versus;
    TorchModel theirs = {step->sizes,        step->size_count, settings->batch,
                         TRAIN_STEP_BATCHES, settings->lr,     path};
    Subject subject = {.op = "train_step", .backend = step->backend.name, .kernel = ""};
    VersusPlan plan = make_plan(settings);
    plan.ours = (Side){step->backend.name, train_step_run, step, 0};
    plan.set_work = set_train_step;
    plan.work = &theirs;
    plan.our_loss = our_loss;
    plan.check_count = TRAIN_STEP_BATCHES;
    snprintf(subject.shape, sizeof subject.shape, "%.64s batch=%d sgd lr=%g", model,
             settings->batch, settings->lr);
    TRY(train_step_export(step, file));
    if (fflush(file) != 0) {
        return fail("cannot write %s; is the disk full?", path);
    }
    TRY(versus_torch(&versus, &plan));
    subject.work = step_work(step->run);
    report(settings, &subject, &versus);
    return STATUS_OK;
}

Status bench_against_train_step(const AgainstSettings *settings, const char *model,
                                const char *backend) {
    TrainStep step;
    FILE *file = tmpfile();
    char path[64];
    if (file == NULL) {
        return fail("no temporary file for the weights that PyTorch starts from");
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fileno(file));
    Status status =
        train_step_open(&step, model, backend, settings->threads, settings->batch, settings->lr);
    if (status == STATUS_OK) {
        status = compare_train_step(settings, &step, model, file, path);
    }
    train_step_close(&step);
    fclose(file);
    return status;
}

/* ---- one operation --------------------------------------------------------------------------- */

typedef struct OurOp {
    Backend backend;
    Operands device;
} OurOp;

static Status run_our_op(void *self, long count, double *ns) {
    const OurOp *op = self;
    uint64_t start = op->backend.now_ns();
    for (long i = 0; i < count; i++) {
        TRY(op->device.call.spec->call(&op->backend, &op->device.call));
    }
    TRY(op->backend.synchronize());
    *ns = (double)(op->backend.now_ns() - start);
    return STATUS_OK;
}

static Status set_op(Torch *torch, const void *work) {
    const OpCall *call = work;
    int count = 0;
    while (call->spec->dims[count] != NULL) {
        count++;
    }
    return torch_set_op(torch, op_name(call->spec->op), call->dim, count);
}

static Status compare_op(const AgainstSettings *settings, OurOp *ours) {
    Versus versus;
    double ns;
    OpCost costs[OP_COUNT] = {0};
    OpId op = ours->device.call.spec->op;
    Subject subject = {.backend = ours->backend.name, .kernel = ours->backend.chosen[op]->name};
    VersusPlan plan = make_plan(settings);
    plan.ours = (Side){ours->backend.name, run_our_op, ours, 0};
    plan.set_work = set_op;
    plan.work = &ours->device.call;
    ours->backend.costs = costs;
    TRY(run_our_op(ours, 1, &ns));
    ours->backend.costs = NULL;
    TRY(versus_torch(&versus, &plan));
    subject.work = (PeakWork){costs[op].flops, costs[op].bytes, operands_bytes(&ours->device),
                              operands_writes_only(&ours->device.call)};
    snprintf(subject.op, sizeof subject.op, "%s", op_name(op));
    bench_shape_text(subject.shape, sizeof subject.shape, &ours->device.call);
    report(settings, &subject, &versus);
    return STATUS_OK;
}

Status bench_against_op(const AgainstSettings *settings, const OpCall *call, const char *backend) {
    OurOp ours = {0};
    Operands host;
    TRY(backend_get(&ours.backend, backend));
    TRY(ours.backend.open(settings->threads));
    TRY(operands_make(&host, call, 1));
    Status status = operands_upload(&ours.device, &host, &ours.backend);
    if (status == STATUS_OK) {
        status = compare_op(settings, &ours);
        operands_release(&ours.device, &ours.backend);
    }
    operands_release_host(&host);
    return status;
}

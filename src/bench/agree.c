#include "bench/agree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bounds.h"
#include "bench/snapshot.h"

static const uint64_t NUDGE_STREAM = 1ull << 40;  /* far from the streams of weights and shuffles */
static const uint64_t NUDGE_SPACING = 1ull << 32; /* random words between one nudge and the next */

struct Agree {
    Run *runs[AGREE_MAX_RUNS];
    int count;
    double losses[AGREE_MAX_RUNS]; /* running */
    Agreement verdict;
    int longest; /* the longest reduction of a step */

    Run *twin; /* the referee's backend, with one wrong label in its first batch */
    Dataset twin_data;
    int32_t *twin_labels;
    double twin_loss;                                          /* running */
    double twin_loss_distance;                                 /* the largest so far */
    double twin_distance[MODEL_MAX_LAYERS * LAYER_MAX_PARAMS]; /* the same, by tensor */

    Snapshot start;                /* what every run takes the step from */
    Snapshot home, own;            /* the states that the referee and another run go back to */
    Snapshot after, nudged, other; /* weights after the referee's step, and of the others */
    Snapshot nudged_start;
    double sigma[MODEL_MAX_LAYERS * LAYER_MAX_PARAMS], loss, loss_sigma;
    uint64_t nudges;
};

double agree_running_loss(double before, double loss, int64_t steps) {
    enum { WINDOW = 50 };
    return steps <= 1 ? loss : before + (loss - before) / (double)(steps < WINDOW ? steps : WINDOW);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Every sum in a step runs over a tensor's inputs or outputs, or over the batch. */
static int longest_reduction(const Run *run) {
    size_t longest = (size_t)run->options.batch;
    for (int i = 0; i < run->param_count; i++) {
        const Tensor *param = run->params[i].param;
        size_t outputs = param->rank > 0 ? (size_t)param->dim[0] : 1;
        size_t inputs = outputs > 0 ? param->count / outputs : 0;
        longest = outputs > longest ? outputs : longest;
        longest = inputs > longest ? inputs : longest;
    }
    return (int)longest;
}

static Status make_twin(Agree *agree, const Run *referee) {
    int count = referee->data->train.count;
    agree->twin_data = *referee->data;
    agree->twin_labels = malloc((size_t)count * sizeof *agree->twin_labels);
    if (agree->twin_labels == NULL) {
        return fail("out of memory for %d labels", count);
    }
    memcpy(agree->twin_labels, referee->data->train.labels,
           (size_t)count * sizeof *agree->twin_labels);
    agree->twin_data.train.labels = agree->twin_labels;
    TRY(run_create(&agree->twin, referee->model, &agree->twin_data, &referee->backend,
                   &referee->options));
    return run_start(agree->twin);
}

static Status make_all(Agree *agree) {
    const Run *referee = agree->runs[agree->verdict.referee];
    Snapshot *snapshots[] = {&agree->start,  &agree->home,  &agree->own,         &agree->after,
                             &agree->nudged, &agree->other, &agree->nudged_start};
    agree->longest = longest_reduction(referee);
    for (size_t i = 0; i < sizeof snapshots / sizeof snapshots[0]; i++) {
        TRY(snapshot_init(snapshots[i], referee));
    }
    return make_twin(agree, referee);
}

Status agree_create(Agree **agree, Run *const *runs, int count, int referee) {
    Agree *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return fail("out of memory for the agreement check");
    }
    for (int i = 0; i < count; i++) {
        made->runs[i] = runs[i];
    }
    made->count = count;
    made->verdict = (Agreement){.agree = true, .referee = referee};
    Status status = count > 1 ? make_all(made) : STATUS_OK; /* alone: nothing to compare */
    if (status != STATUS_OK) {
        agree_destroy(made);
        return fail_at(status, "agreement check");
    }
    *agree = made;
    return STATUS_OK;
}

void agree_destroy(Agree *agree) {
    if (agree == NULL) {
        return;
    }
    run_destroy(agree->twin);
    free(agree->twin_labels);
    snapshot_free(&agree->start);
    snapshot_free(&agree->home);
    snapshot_free(&agree->own);
    snapshot_free(&agree->after);
    snapshot_free(&agree->nudged);
    snapshot_free(&agree->other);
    snapshot_free(&agree->nudged_start);
    free(agree);
}

const Agreement *agree_verdict(const Agree *agree) {
    return &agree->verdict;
}

static const Run *referee_of(const Agree *agree) {
    return agree->runs[agree->verdict.referee];
}

/* ---- findings -------------------------------------------------------------------------------- */

static bool passed(const AgreeFinding *finding) {
    return finding->distance <= finding->bound; /* NAN passes nothing */
}

/* How near to its bound; beyond all numbers where the distance is NAN. */
static double nearness(const AgreeFinding *finding) {
    if (!finding->any) {
        return -1.0;
    }
    if (finding->bound > 0.0) {
        double ratio = finding->distance / finding->bound;
        return isnan(ratio) ? HUGE_VAL : ratio;
    }
    return passed(finding) ? 0.0 : HUGE_VAL;
}

static void keep_nearest(AgreeFinding *nearest, const AgreeFinding *finding) {
    if (nearness(finding) > nearness(nearest)) {
        *nearest = *finding;
    }
}

static AgreeFinding finding_of(int run, int64_t step, const char *what, double distance,
                               double bound) {
    AgreeFinding finding = {
        .any = true, .step = step, .run = run, .distance = distance, .bound = bound};
    snprintf(finding.what, sizeof finding.what, "%s", what);
    return finding;
}

static void refuse(Agree *agree, const AgreeFinding *finding, bool is_step) {
    agree->verdict.agree = false;
    agree->verdict.fault = *finding;
    agree->verdict.fault_is_step = is_step;
}

/* ---- the whole course ------------------------------------------------------------------------ */

/* The twin's first batch has one label wrong: that of the first row in the shuffled order, which
 * the referee's first step has just worked out. */
static void mislabel(Agree *agree) {
    const int32_t *order = referee_of(agree)->order.data;
    int32_t *label = &agree->twin_labels[order[0]];
    *label = (*label + 1) % agree->twin_data.class_count;
}

Status agree_round(Agree *agree, const double *losses) {
    float loss;
    memcpy(agree->losses, losses, (size_t)agree->count * sizeof *losses);
    if (agree->twin == NULL || !agree->verdict.agree) {
        return STATUS_OK;
    }
    bool first = agree->twin->step == 0;
    if (first) {
        mislabel(agree);
    }
    Status status = run_step(agree->twin, &loss);
    if (status != STATUS_OK) {
        return fail_at(status, "agreement check, twin of %s", referee_of(agree)->backend.name);
    }
    double referee_loss = losses[agree->verdict.referee];
    if (first) { /* its loss says what the wrong label does to this one batch, not to the course */
        agree->twin->data = referee_of(agree)->data;
        loss = (float)referee_loss;
    }
    agree->twin_loss = agree_running_loss(agree->twin_loss, (double)loss, agree->twin->step);
    agree->twin_loss_distance =
        fmax(agree->twin_loss_distance, fabs(agree->twin_loss - referee_loss));
    return STATUS_OK;
}

static Status measure_twin(Agree *agree) {
    const Run *referee = referee_of(agree);
    const float *a = agree->after.values, *b = agree->other.values;
    TRY(snapshot_take_weights(&agree->after, referee));
    TRY(snapshot_take_weights(&agree->other, agree->twin));
    for (int i = 0; i < referee->param_count; i++) {
        size_t n = referee->params[i].param->count;
        agree->twin_distance[i] = fmax(agree->twin_distance[i], distance_l2(a, b, n));
        a += n;
        b += n;
    }
    return STATUS_OK;
}

/* Run r's weights and running loss against the referee's, which are in `after`. */
static Status compare_course(Agree *agree, int r, AgreeFinding *nearest) {
    const Run *run = agree->runs[r];
    const float *a = agree->after.values, *b = agree->other.values;
    double loss = agree->losses[agree->verdict.referee];
    double bound = bound_course_loss(agree->twin_loss_distance, loss, agree->longest);
    *nearest = finding_of(r, run->step, "loss", fabs(agree->losses[r] - loss), bound);
    TRY(snapshot_take_weights(&agree->other, run));
    for (int i = 0; i < run->param_count; i++) {
        const Tensor *param = run->params[i].param;
        bound = bound_course(agree->twin_distance[i], norm_l2(a, param->count), agree->longest);
        AgreeFinding finding =
            finding_of(r, run->step, param->name, distance_l2(a, b, param->count), bound);
        keep_nearest(nearest, &finding);
        a += param->count;
        b += param->count;
    }
    return STATUS_OK;
}

/* Not after the first step: Adam's goes by the gradient's sign alone, and a label that is wrong
 * need not have moved the twin yet. */
Status agree_check_course(Agree *agree) {
    if (agree->twin == NULL || !agree->verdict.agree || agree->twin->step < 2) {
        return STATUS_OK;
    }
    TRY(measure_twin(agree));
    agree->verdict.course_checks++;
    for (int r = 0; r < agree->count && agree->verdict.agree; r++) {
        AgreeFinding nearest = {0};
        if (r == agree->verdict.referee) {
            continue;
        }
        TRY(compare_course(agree, r, &nearest));
        keep_nearest(&agree->verdict.course, &nearest);
        if (!passed(&nearest)) {
            refuse(agree, &nearest, false);
        }
    }
    return STATUS_OK;
}

/* ---- one step from equal weights ------------------------------------------------------------- */

/* Takes a step from `from` and the weights afterwards, then puts the run back to `own`. Not on the
 * run's bill. */
static Status step_from(Run *run, const Snapshot *from, Snapshot *after, double *loss,
                        const Snapshot *own) {
    float step_loss = 0.0f;
    TRY(snapshot_put(run, from));
    run->backend.costs = NULL;
    Status status = run_step(run, &step_loss);
    run->backend.costs = run->costs;
    if (status != STATUS_OK) {
        return fail_at(status, "agreement check, %s", run->backend.name);
    }
    *loss = (double)step_loss;
    TRY(snapshot_take_weights(after, run));
    return snapshot_put(run, own);
}

/* to = from, all weights moved so many neighbours up or down. */
static void nudge_start(Agree *agree, Snapshot *to, const Snapshot *from, uint32_t neighbours) {
    const Run *run = referee_of(agree);
    size_t weights = snapshot_weight_count(run);
    Philox rng = {run->options.seed, NUDGE_STREAM};
    snapshot_copy(to, from, run);
    nudge_weights(to->values, weights, neighbours, rng, agree->nudges++ * NUDGE_SPACING);
}

/* The referee's step from `start`, and what a nudge of all weights changes in it: sigma. */
static Status measure_step(Agree *agree) {
    Run *referee = agree->runs[agree->verdict.referee];
    const float *start = agree->start.values, *after = agree->after.values;
    const float *nudged_start = agree->nudged_start.values, *nudged = agree->nudged.values;
    double nudged_loss = 0.0;
    TRY(step_from(referee, &agree->start, &agree->after, &agree->loss, &agree->home));
    nudge_start(agree, &agree->nudged_start, &agree->start, 1);
    TRY(step_from(referee, &agree->nudged_start, &agree->nudged, &nudged_loss, &agree->home));
    agree->loss_sigma = fabs(nudged_loss - agree->loss);
    for (int i = 0; i < referee->param_count; i++) {
        size_t n = referee->params[i].param->count;
        agree->sigma[i] = distance_of_updates(nudged, nudged_start, after, start, n);
        nudged += n;
        nudged_start += n;
        after += n;
        start += n;
    }
    return STATUS_OK;
}

/* Run r's step from `start` against the referee's. */
static Status compare_step(Agree *agree, int r, AgreeFinding *nearest) {
    Run *run = agree->runs[r];
    double loss = 0.0;
    size_t first = 0;
    TRY(snapshot_take(&agree->own, run));
    TRY(step_from(run, &agree->start, &agree->other, &loss, &agree->own));
    *nearest = finding_of(r, run->step + 1, "loss", fabs(loss - agree->loss),
                          bound_step_loss(agree->loss_sigma, agree->loss, agree->longest));
    for (int i = 0; i < run->param_count; i++) {
        const Tensor *param = run->params[i].param;
        const float *start = agree->start.values + first, *a = agree->after.values + first;
        const float *b = agree->other.values + first;
        double bound = bound_step(agree->sigma[i], distance_l2(a, start, param->count),
                                  norm_l2(a, param->count), agree->longest);
        AgreeFinding finding =
            finding_of(r, run->step + 1, param->name, distance_l2(a, b, param->count), bound);
        keep_nearest(nearest, &finding);
        first += param->count;
    }
    return STATUS_OK;
}

/* Run r failed in one step: a coincidence, or a fault? Leaves `start` moved. */
static Status look_again(Agree *agree, int r, bool *refused) {
    int failures = 0;
    agree->verdict.second_looks++;
    for (int look = 0; look < AGREE_SECOND_LOOKS; look++) {
        AgreeFinding nearest;
        nudge_start(agree, &agree->start, &agree->home, AGREE_LOOK_ULPS);
        TRY(measure_step(agree));
        TRY(compare_step(agree, r, &nearest));
        failures += !passed(&nearest);
    }
    *refused = failures >= AGREE_REFUSE_AT;
    return STATUS_OK;
}

static Status judge_step(Agree *agree, int r) {
    AgreeFinding nearest;
    bool refused = false;
    TRY(compare_step(agree, r, &nearest));
    if (passed(&nearest)) {
        keep_nearest(&agree->verdict.step, &nearest);
        return STATUS_OK;
    }
    TRY(look_again(agree, r, &refused));
    if (refused) {
        refuse(agree, &nearest, true);
        return STATUS_OK;
    }
    snapshot_copy(&agree->start, &agree->home, referee_of(agree)); /* for the runs to come */
    return measure_step(agree);
}

Status agree_check_step(Agree *agree) {
    if (agree->twin == NULL || !agree->verdict.agree) {
        return STATUS_OK;
    }
    TRY(snapshot_take(&agree->home, referee_of(agree)));
    snapshot_copy(&agree->start, &agree->home, referee_of(agree));
    TRY(measure_step(agree));
    agree->verdict.step_checks++;
    for (int r = 0; r < agree->count && agree->verdict.agree; r++) {
        if (r != agree->verdict.referee) {
            TRY(judge_step(agree, r));
        }
    }
    return STATUS_OK;
}

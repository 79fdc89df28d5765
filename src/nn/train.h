/* Training: one run of one model on one backend, step by step. */
#ifndef LOCKSTEP_TRAIN_H
#define LOCKSTEP_TRAIN_H

#include "data/dataset.h"
#include "nn/model.h"
#include "nn/optimizer.h"

typedef struct TrainOptions {
    int batch;             /* samples a step, at least 1 */
    uint64_t seed;         /* decides weights and shuffles, on every backend alike */
    const char *optimizer; /* "sgd" */
    OptimizerSettings settings;
} TrainOptions;

extern const TrainOptions train_default_options; /* batch 64, seed 1, sgd */

/* A learned tensor, its gradient and what the optimizer remembers of it. */
typedef struct RunParam {
    const Tensor *param, *grad;
    Tensor state[OPTIMIZER_MAX_STATES];
} RunParam;

typedef struct Run {
    const Model *model;
    const Dataset *data;
    Backend backend; /* a copy, whose costs are the ones below */
    TrainOptions options;
    const Optimizer *optimizer;
    LayerRun layers[MODEL_MAX_LAYERS];
    int param_count;
    RunParam params[MODEL_MAX_LAYERS * LAYER_MAX_PARAMS];

    Tensor images, labels;            /* the batch on the device: (N, input), (N) */
    Tensor probs, dlogits;            /* (N, classes) */
    Tensor losses, loss, predictions; /* (N), (1), (N) */
    Tensor host_images, host_labels;  /* the batch on its way */
    Tensor host_predictions, order;   /* order: this epoch's shuffle of the training rows */
    MemoryPlan device_plan, host_plan;

    int64_t step;           /* steps done */
    int64_t epoch;          /* whole passes over the training data done */
    int position;           /* rows of this epoch done */
    OpCost costs[OP_COUNT]; /* of training steps; evaluation is not counted */
} Run;

/* Plans a run: every tensor entered, overflow and fit checked; nothing allocated yet. The model,
 * the data and the backend (open) must outlive the run. Free with run_destroy. */
Status run_create(Run **created, const Model *model, const Dataset *data, const Backend *backend,
                  const TrainOptions *options);

/* Allocates what the plan says and fills in the first weights. */
Status run_start(Run *run);

/* One batch: forward, backward, update. *loss is the batch's mean before the update. A loss that
 * is not finite stops with STATUS_NO, naming step and operation. Allocates nothing. */
Status run_step(Run *run, float *loss);

/* Mean loss and share of right answers over a split, in its order; leaves the run as it was. */
Status run_evaluate(Run *run, const DataSplit *split, double *loss, double *accuracy);

int run_steps_per_epoch(const Run *run);

/* Makes the next step the one after `step` steps done, as if they had been: the batches that follow
 * are those of an unbroken run. Weights and optimizer state are the caller's to restore. */
void run_seek(Run *run, int64_t step);

/* Copies a tensor of the run (params[i].param, say) to host memory of tensor->bytes, or back. */
Status run_download(const Run *run, void *host, const Tensor *tensor);
Status run_upload(const Run *run, const Tensor *tensor, const void *host);

void run_destroy(Run *run); /* NULL is fine */

#endif

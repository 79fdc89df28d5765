/* A whole training step as something to measure: the training loop's own run_step, on made-up data
 * that lies in memory. */
#ifndef LOCKSTEP_TRAIN_STEP_H
#define LOCKSTEP_TRAIN_STEP_H

#include "nn/train.h"

enum { TRAIN_STEP_BATCHES = 16, TRAIN_STEP_MAX_SIZES = 16 };

typedef struct TrainStep {
    int sizes[TRAIN_STEP_MAX_SIZES]; /* features from input to classes */
    int size_count;
    Model model;
    Dataset data; /* TRAIN_STEP_BATCHES full batches of random pixels and labels */
    Backend backend;
    int threads;
    Run *run;
    float loss; /* of the latest step */
} TrainStep;

/* `model` is of the form mlp:784-128-10. Ends with train_step_close, after a failure too. */
Status train_step_open(TrainStep *step, const char *model, const char *backend, int threads,
                       int batch, double lr);

/* Writes the first weights and the data in the order of the first epoch to a file, as
 * tools/bench_pytorch.py reads them. Call it right after train_step_open: it does the first step,
 * because the order is drawn there, and starts afresh. */
Status train_step_export(TrainStep *step, FILE *file);

/* `count` steps; *ns for all together. `self` is a TrainStep: a Side of an alternation. */
Status train_step_run(void *self, long count, double *ns);

void train_step_close(TrainStep *step);

#endif

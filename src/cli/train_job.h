/* lockstep train, in four files: train.c parses and reports, train_setup.c makes everything ready
 * (from the options and from a checkpoint), train_loop.c trains, train_show.c prints. */
#ifndef LOCKSTEP_TRAIN_JOB_H
#define LOCKSTEP_TRAIN_JOB_H

#include "cli/cli.h"
#include "cli/terminal.h"
#include "cli/train_log.h"
#include "nn/checkpoint.h"

enum { LOSS_WINDOW = 100 };

/* What was asked for. NULL, 0 and -1 (seed) mean: not given. */
typedef struct TrainArguments {
    const char *model, *data, *backend, *optimizer, *precision;
    const char *save, *save_every, *resume, *log, *trace;
    CliList kernels;
    int epochs, steps, batch, seed, threads;
    double seconds, lr;
    bool plan, json, quiet;
} TrainArguments;

typedef struct Evaluation {
    int64_t step; /* when it was made; -1: never */
    double loss, accuracy;
} Evaluation;

typedef struct TrainJob {
    TrainArguments asked;
    Checkpoint *checkpoint;   /* what is resumed, or NULL */
    CheckpointState state;    /* what the next checkpoint says */
    int64_t save_every_steps; /* 0: by time */
    uint64_t save_every_ns;
    Dataset data;
    Model model;
    Backend backend;
    bool backend_open;
    ThreadPlan threads;
    Passport passport;
    Run *run;
    TrainLog log;
    Terminal terminal;
    FILE *out; /* for people: standard output, or standard error beside --json */

    int64_t first_step; /* steps done before this process */
    double first_seconds;
    uint64_t train_ns, evaluate_ns, save_ns, start_ns, last_save_ns, last_shown_ns;
    uint64_t image_count;      /* through training steps of this process */
    float losses[LOSS_WINDOW]; /* the latest, in a ring */
    int loss_count;
    Evaluation test;
    int64_t saved_step; /* of the file at --save; -1: none of this process */
    bool interrupted;
} TrainJob;

/* Everything that can fail before the first step does so here. */
Status train_setup(TrainJob *job);
void train_cleanup(TrainJob *job);

/* Steps, evaluations, log, checkpoints, until the goal is reached or Ctrl-C comes. */
Status train_loop(TrainJob *job);

double train_seconds(const TrainJob *job);      /* of all steps, earlier processes included */
double train_images_per_s(const TrainJob *job); /* of this process */
double train_loss(const TrainJob *job);         /* mean of the latest LOSS_WINDOW steps; or NAN */

void train_show_start(const TrainJob *job);
void train_show_step(TrainJob *job, float loss);
void train_show_evaluation(TrainJob *job);
void train_show_end(TrainJob *job);
void train_show_json(const TrainJob *job);
/* One line beside the progress, on standard error. */
void train_note(TrainJob *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

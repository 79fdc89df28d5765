/* The file of --log: one JSON object a line, in order of steps, flushed line by line. */
#ifndef LOCKSTEP_TRAIN_LOG_H
#define LOCKSTEP_TRAIN_LOG_H

#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

typedef struct TrainLog {
    const char *path;
    FILE *file; /* NULL: no log is kept */
} TrainLog;

/* Begins a new log, or goes on with one behind the line of step `resumed` (0: a new run). Lines of
 * later steps and a last line without an end go: the run repeats those steps. Fails, and changes
 * nothing, when a line to be kept is none of a log. */
Status train_log_open(TrainLog *log, const char *path, int64_t resumed);

Status train_log_step(TrainLog *log, int64_t step, int64_t epoch, double loss, double images_per_s,
                      double seconds);
Status train_log_evaluation(TrainLog *log, int64_t step, int64_t epoch, double loss,
                            double test_loss, double accuracy, double seconds);

Status train_log_close(TrainLog *log); /* a zeroed log is fine */

#endif

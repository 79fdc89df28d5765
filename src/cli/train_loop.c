/* The steps of lockstep train, and what happens between them. The arithmetic is in src/nn/. */
#include <math.h>

#include "base/clock.h"
#include "base/trace.h"
#include "cli/train_job.h"
#include "nn/safetensors.h"
#include "trace/perfetto.h"

enum { LOGGED_ALONE = 10, LOG_EVERY = 10 }; /* the first ten steps, then every tenth */

double train_seconds(const TrainJob *job) {
    return job->first_seconds + (double)job->train_ns / 1e9;
}

double train_images_per_s(const TrainJob *job) {
    return job->train_ns > 0 ? (double)job->image_count * 1e9 / (double)job->train_ns : 0.0;
}

double train_loss(const TrainJob *job) {
    int count = job->loss_count < LOSS_WINDOW ? job->loss_count : LOSS_WINDOW;
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        sum += (double)job->losses[i];
    }
    return count > 0 ? sum / count : (double)NAN;
}

static bool goal_reached(const TrainJob *job) {
    const TrainGoal *goal = &job->state.goal;
    if (goal->steps > 0) {
        return job->run->step >= goal->steps;
    }
    if (goal->seconds > 0.0) {
        return train_seconds(job) >= goal->seconds;
    }
    return job->run->epoch >= goal->epochs;
}

/* The epoch that the latest step belongs to, from 1. */
static int64_t epoch_number(const Run *run) {
    return run->position == 0 ? run->epoch : run->epoch + 1;
}

static Status step(TrainJob *job, float *loss) {
    Run *run = job->run;
    int64_t epoch = run->epoch;
    int position = run->position;
    uint64_t start_ns = clock_now_ns();
    TRY(run_step(run, loss));
    job->train_ns += clock_now_ns() - start_ns;
    job->image_count +=
        (uint64_t)((run->epoch - epoch) * job->data.train.count + run->position - position);
    job->losses[job->loss_count++ % LOSS_WINDOW] = *loss;
    if (job->loss_count == 2 * LOSS_WINDOW) {
        job->loss_count = LOSS_WINDOW; /* full, and back at the ring's start */
    }
    if (run->step > LOGGED_ALONE && run->step % LOG_EVERY != 0) {
        return STATUS_OK;
    }
    return train_log_step(&job->log, run->step, epoch_number(run), (double)*loss,
                          train_images_per_s(job), train_seconds(job));
}

static Status evaluate(TrainJob *job) {
    Run *run = job->run;
    uint64_t start_ns = clock_now_ns();
    TRY(run_evaluate(run, &job->data.test, &job->test.loss, &job->test.accuracy));
    job->evaluate_ns += clock_now_ns() - start_ns;
    job->test.step = run->step;
    if (run->step == job->first_step) {
        return STATUS_OK; /* no step was made, and the log has this line already */
    }
    TRY(train_log_evaluation(&job->log, run->step, epoch_number(run), train_loss(job),
                             job->test.loss, job->test.accuracy, train_seconds(job)));
    train_show_evaluation(job);
    return STATUS_OK;
}

static Status save(TrainJob *job) {
    const char *path = job->asked.save;
    uint64_t start_ns = clock_now_ns();
    job->state.seconds = train_seconds(job);
    Status status = safetensors_is(path) ? safetensors_save(path, job->run)
                                         : checkpoint_save(path, job->run, &job->state);
    job->last_save_ns = clock_now_ns();
    job->save_ns += job->last_save_ns - start_ns;
    if (status == STATUS_OK) {
        job->saved_step = job->run->step;
    }
    return status;
}

/* A save in the middle that fails for want of room is no reason to lose the run: the next may do
 * better, and the last must. */
static Status save_if_due(TrainJob *job) {
    int64_t every = job->save_every_steps;
    bool due = every > 0 ? job->run->step % every == 0
                         : clock_now_ns() - job->last_save_ns >= job->save_every_ns;
    if (job->asked.save == NULL || !due) {
        return STATUS_OK;
    }
    Status status = save(job);
    if (status == STATUS_BAD) {
        train_note(job, "not saved at step %lld: %s", (long long)job->run->step, status_message());
        return STATUS_OK;
    }
    return status;
}

static Status train(TrainJob *job) {
    while (!goal_reached(job)) {
        float loss;
        if (terminal_stopped()) {
            job->interrupted = true;
            return STATUS_OK;
        }
        TRY(step(job, &loss));
        train_show_step(job, loss);
        if (job->run->position == 0) {
            TRY(evaluate(job));
        }
        TRY(save_if_due(job));
    }
    return STATUS_OK;
}

/* A diverged run (STATUS_NO) keeps its last good checkpoint; any other end is saved. */
static Status finish(TrainJob *job, Status status) {
    bool unsaved = job->asked.save != NULL && job->saved_step != job->run->step;
    if (status != STATUS_NO && unsaved) {
        Status saved = save(job);
        status = saved != STATUS_OK ? saved : status;
    }
    TRY(status);
    return job->test.step == job->run->step ? STATUS_OK : evaluate(job);
}

Status train_loop(TrainJob *job) {
    if (job->asked.trace != NULL) {
        TRY(trace_start(0));
    }
    terminal_catch_signals(&job->terminal);
    job->start_ns = job->last_save_ns = clock_now_ns();
    Status status = finish(job, train(job));
    terminal_clear(&job->terminal);
    terminal_restore_signals();
    trace_stop();
    TRY(status);
    TRY(train_log_close(&job->log));
    return job->asked.trace != NULL ? perfetto_write(job->asked.trace) : STATUS_OK;
}

/* From options, and a checkpoint if there is one, to a run that is ready for its next step. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"
#include "cli/train_job.h"
#include "nn/safetensors.h"

enum { DEFAULT_EPOCHS = 5, DEFAULT_SAVE_SECONDS = 60 };

/* ---- options on their own ------------------------------------------------------------------- */

static Status check_precision(const char *precision) {
    static const char *const names[] = {"fp32", "tf32", "bf16", "fp16"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(precision, names[i]) == 0) {
            return i == 0 ? STATUS_OK
                          : fail_missing("--precision %s: this version trains in fp32 only",
                                         precision);
        }
    }
    return fail_unknown("precision", precision, names, 4);
}

/* "200": steps; "30s": seconds. */
static Status parse_save_every(TrainJob *job) {
    const char *text = job->asked.save_every;
    char *end;
    if (text == NULL) {
        job->save_every_ns = DEFAULT_SAVE_SECONDS * 1000000000ull;
        return STATUS_OK;
    }
    double value = strtod(text, &end);
    bool seconds = strcmp(end, "s") == 0;
    if (end == text || (!seconds && *end != '\0') || !(value > 0.0) || value > 1e9 ||
        (!seconds && value != floor(value))) {
        return fail("--save-every %s: expected steps, such as 200, or seconds, such as 30s", text);
    }
    if (seconds) {
        job->save_every_ns = (uint64_t)(value * 1e9);
    } else {
        job->save_every_steps = (int64_t)value;
    }
    return job->asked.save != NULL
               ? STATUS_OK
               : fail("--save-every %s: needs --save F, the file to write", text);
}

/* A file cannot be two things: one would destroy the other. Only --save may replace --resume. */
static Status check_files(const TrainArguments *asked) {
    const char *const options[] = {"--resume", "--save", "--log", "--trace"};
    const char *const paths[] = {asked->resume, asked->save, asked->log, asked->trace};
    for (int i = 2; i < 4; i++) {
        for (int j = 0; j < i; j++) {
            if (paths[i] != NULL && paths[j] != NULL && outfile_same(paths[i], paths[j])) {
                return fail("%s %s: is the file of %s as well; give each a file of its own",
                            options[i], paths[i], options[j]);
            }
        }
    }
    return STATUS_OK;
}

static Status check_arguments(TrainJob *job) {
    const TrainArguments *asked = &job->asked;
    TRY(check_files(asked));
    if ((asked->epochs > 0) + (asked->steps > 0) + (asked->seconds > 0.0) > 1) {
        return fail("--epochs, --steps, --seconds: give one of them; each says when to end");
    }
    if (asked->kernels.count > CHECKPOINT_MAX_KERNELS) {
        return fail("--kernel: at most %d times", CHECKPOINT_MAX_KERNELS);
    }
    TRY(check_precision(asked->precision));
    TRY(parse_save_every(job));
    if (asked->save != NULL) {
        TRY(outfile_probe(asked->save));
    }
    return asked->trace != NULL ? outfile_probe(asked->trace) : STATUS_OK;
}

/* ---- options beside a checkpoint's ---------------------------------------------------------- */

static Status differs(const TrainJob *job, const char *option, const char *now, const char *then) {
    return fail("%s %s: the run in %s has %s; leave the option out, or start a new run", option,
                now, job->asked.resume, then);
}

/* What decides the numbers of a run cannot change in its middle. The learning rate may: people
 * lower it. */
static Status check_options(const TrainJob *job) {
    const TrainArguments *asked = &job->asked;
    const TrainOptions *options = &job->state.options;
    char now[32], then[32];
    if (asked->batch != 0 && asked->batch != options->batch) {
        snprintf(now, sizeof now, "%d", asked->batch);
        snprintf(then, sizeof then, "batches of %d", options->batch);
        return differs(job, "--batch", now, then);
    }
    if (asked->seed != -1 && (uint64_t)asked->seed != options->seed) {
        snprintf(now, sizeof now, "%d", asked->seed);
        snprintf(then, sizeof then, "seed %" PRIu64, options->seed);
        return differs(job, "--seed", now, then);
    }
    if (asked->optimizer != NULL && strcmp(asked->optimizer, options->optimizer) != 0) {
        return differs(job, "--optimizer", asked->optimizer, options->optimizer);
    }
    return STATUS_OK;
}

static void fill_options(TrainJob *job) {
    const TrainArguments *asked = &job->asked;
    TrainOptions *options = &job->state.options;
    if (asked->batch != 0) {
        options->batch = asked->batch;
    }
    if (asked->seed != -1) {
        options->seed = (uint64_t)asked->seed;
    }
    if (asked->optimizer != NULL) {
        options->optimizer = asked->optimizer;
    }
    if (asked->lr != 0.0) {
        options->settings.lr = asked->lr;
    }
    if (asked->epochs > 0 || asked->steps > 0 || asked->seconds > 0.0) {
        job->state.goal = (TrainGoal){asked->epochs, asked->steps, asked->seconds};
    }
}

/* Starts from the defaults, or from the checkpoint's state. */
static Status load_state(TrainJob *job) {
    CheckpointState *state = &job->state;
    const char *resume = job->asked.resume;
    *state = (CheckpointState){.options = train_default_options, .goal.epochs = DEFAULT_EPOCHS};
    snprintf(state->model_name, sizeof state->model_name, "mlp");
    snprintf(state->data_name, sizeof state->data_name, "mnist-small");
    snprintf(state->backend, sizeof state->backend, "openblas"); /* the fastest on a CPU */
    if (resume != NULL && !safetensors_is(resume)) {
        TRY(checkpoint_load(&job->checkpoint, resume));
        *state = *checkpoint_state(job->checkpoint);
        TRY(check_options(job));
    }
    fill_options(job);
    return STATUS_OK;
}

/* ---- data, model, backend ------------------------------------------------------------------- */

static Status load_data(TrainJob *job) {
    CheckpointState *state = &job->state;
    char print[sizeof state->data_print];
    if (job->asked.data != NULL) {
        snprintf(state->data_name, sizeof state->data_name, "%s", job->asked.data);
    }
    TRY(dataset_load(&job->data, job->asked.data != NULL ? job->asked.data : state->data_name));
    if (job->checkpoint == NULL && job->asked.save == NULL) {
        return STATUS_OK; /* nobody will compare */
    }
    data_fingerprint(print, sizeof print, &job->data);
    if (job->checkpoint != NULL && strcmp(print, state->data_print) != 0) {
        return fail("%s: was trained on other data than %s now is: it had %s, here is %s; give its "
                    "own with --data",
                    job->asked.resume, state->data_name, state->data_print, print);
    }
    memcpy(state->data_print, print, sizeof print);
    return STATUS_OK;
}

static Status load_model(TrainJob *job) {
    CheckpointState *state = &job->state;
    const Dataset *data = &job->data;
    Shape input = {3, {data->channels, data->height, data->width}};
    char text[CHECKPOINT_MODEL_BYTES];
    if (job->checkpoint == NULL || job->asked.model != NULL) {
        const char *name = job->asked.model != NULL ? job->asked.model : state->model_name;
        TRY(model_load(&job->model, name, input, data->class_count));
    } else {
        TRY(model_parse(&job->model, job->asked.resume, state->model_text, input,
                        data->class_count));
        snprintf(job->model.name, sizeof job->model.name, "%s", state->model_name);
    }
    model_text(text, sizeof text, &job->model);
    if (job->checkpoint != NULL && strcmp(text, state->model_text) != 0) {
        return fail("--model %s: is not the model of %s (%s); leave the option out, or start a "
                    "new run",
                    job->model.name, job->asked.resume, state->model_name);
    }
    memcpy(state->model_text, text, sizeof text);
    snprintf(state->model_name, sizeof state->model_name, "%s", job->model.name);
    return STATUS_OK;
}

/* The kernels asked for; those of the checkpoint where nothing is asked and the backend is its. */
static Status choose_kernels(TrainJob *job, bool same_backend) {
    CheckpointState *state = &job->state;
    const CliList *asked = &job->asked.kernels;
    if (asked->count > 0 || !same_backend) {
        state->kernel_count = asked->count;
        for (int i = 0; i < asked->count; i++) {
            snprintf(state->kernels[i], sizeof state->kernels[i], "%s", asked->items[i]);
        }
    }
    for (int i = 0; i < state->kernel_count; i++) {
        TRY(backend_choose_assignment(&job->backend, state->kernels[i]));
    }
    return STATUS_OK;
}

/* Says what keeps a resumed run from going on to the bit. */
static void note_changes(TrainJob *job, const CheckpointState *then) {
    const CheckpointState *now = &job->state;
    const char *why = "so sums may round differently and the weights will not be those of an "
                      "unbroken run to the bit";
    if (strcmp(now->backend, then->backend) != 0) {
        train_note(job, "resumed on %s, begun on %s, %s", now->backend, then->backend, why);
    } else if (now->threads != then->threads) {
        train_note(job, "resumed with %d threads, begun with %d, %s", now->threads, then->threads,
                   why);
    } else if (strcmp(now->version, then->version) != 0) {
        train_note(job, "resumed by Lockstep %s, begun by %s, %s", now->version, then->version,
                   why);
    }
}

static Status open_backend(TrainJob *job) {
    CheckpointState *state = &job->state;
    const CheckpointState *then =
        job->checkpoint != NULL ? checkpoint_state(job->checkpoint) : NULL;
    if (job->asked.backend != NULL) {
        snprintf(state->backend, sizeof state->backend, "%s", job->asked.backend);
    }
    TRY(backend_get(&job->backend, state->backend));
    TRY(choose_kernels(job, then != NULL && strcmp(state->backend, then->backend) == 0));
    TRY(threads_plan(&job->threads, job->asked.threads != 0 ? job->asked.threads
                                    : then != NULL          ? then->threads
                                                            : 0));
    TRY(job->backend.open(job->threads.threads));
    job->backend_open = true;
    passport_fill(&job->passport, &job->threads);
    state->threads = job->threads.threads;
    snprintf(state->version, sizeof state->version, "%s", job->passport.version);
    if (then != NULL) {
        note_changes(job, then);
    }
    return STATUS_OK;
}

/* ---- the run -------------------------------------------------------------------------------- */

static Status start_run(TrainJob *job) {
    TRY(run_start(job->run));
    if (job->checkpoint != NULL) {
        TRY(checkpoint_restore(job->checkpoint, job->run));
    } else if (job->asked.resume != NULL) {
        TRY(safetensors_load(job->asked.resume, job->run));
        train_note(job, "%s holds weights alone: the run begins at step 1 with them",
                   job->asked.resume);
    }
    job->first_step = job->run->step;
    job->first_seconds = job->state.seconds;
    job->test.step = -1;
    job->saved_step = -1;
    checkpoint_free(job->checkpoint);
    job->checkpoint = NULL;
    return STATUS_OK;
}

Status train_setup(TrainJob *job) {
    job->out = job->asked.json ? stderr : stdout;
    job->terminal = terminal_of(job->out);
    TRY(check_arguments(job));
    TRY(load_state(job));
    TRY(load_data(job));
    TRY(load_model(job));
    TRY(open_backend(job));
    TRY(run_create(&job->run, &job->model, &job->data, &job->backend, &job->state.options));
    train_show_start(job);
    TRY(start_run(job));
    if (job->asked.log != NULL) {
        TRY(train_log_open(&job->log, job->asked.log, job->first_step));
    }
    return STATUS_OK;
}

void train_cleanup(TrainJob *job) {
    checkpoint_free(job->checkpoint);
    run_destroy(job->run);
    if (job->backend_open) {
        job->backend.close();
    }
    dataset_free(&job->data);
}

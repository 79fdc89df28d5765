/* What lockstep train shows: lines for people, one live line on a terminal, or JSON at the end. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "cli/train_job.h"
#include "cli/wrap.h"
#include "nn/safetensors.h"

enum { LABEL_COLUMNS = 10, MIN_BAR = 6, MAX_BAR = 20, TEXT_COLUMNS = 74 }; /* beside the bar */
static const uint64_t FRAME_NS = 100000000;                                /* ten frames a second */
static const uint64_t LINE_NS = 10000000000u; /* elsewhere, a line at least every ten seconds */

/* Progress goes to a terminal or to people's standard output; beside --json to a terminal only. */
static bool is_silent(const TrainJob *job) {
    return job->asked.quiet || (job->asked.json && !job->terminal.live);
}

void train_note(TrainJob *job, const char *format, ...) {
    va_list args;
    if (job->terminal.live && job->terminal.drawn > 0) {
        terminal_clear(&job->terminal);
    }
    fputs("lockstep: note: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* 101770 as "101,770". Returns text. */
static char *count_text(char *text, size_t text_bytes, double count) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%.0f", count);
    size_t used = 0;
    for (int i = 0; i < length && used + 2 < text_bytes; i++) {
        text[used++] = digits[i];
        if ((length - i - 1) % 3 == 0 && i + 1 < length) {
            text[used++] = ',';
        }
    }
    text[used] = '\0';
    return text;
}

static char *goal_text(char *text, size_t text_bytes, const TrainJob *job) {
    const TrainGoal *goal = &job->state.goal;
    if (goal->steps > 0) {
        snprintf(text, text_bytes, "%" PRId64 " steps", goal->steps);
    } else if (goal->seconds > 0.0) {
        snprintf(text, text_bytes, "%g s", goal->seconds);
    } else {
        snprintf(text, text_bytes, "%" PRId64 " epochs = %" PRId64 " steps", goal->epochs,
                 goal->epochs * run_steps_per_epoch(job->run));
    }
    return text;
}

/* "data      mnist-small: ...": one fact, its later lines under the first. */
__attribute__((format(printf, 3, 4))) static void show_fact(const TrainJob *job, const char *label,
                                                            const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(job->out, "%-9s ", label);
    wrap_print(job->out, LABEL_COLUMNS, text);
}

void train_show_start(const TrainJob *job) {
    const Dataset *data = &job->data;
    const TrainOptions *options = &job->run->options;
    const MemoryPlan *plan = &job->run->device_plan;
    char line[1024], count[32], size[32], goal[64];
    if (is_silent(job)) {
        return;
    }
    show_fact(job, "passport", "%s", passport_line(line, sizeof line, &job->passport));
    show_fact(job, "model", "%s: %s weights", job->model.name,
              count_text(count, sizeof count, (double)model_param_count(&job->model)));
    show_fact(job, "data", "%s: %d images of %dx%dx%d to train on, %d to test, %d classes",
              data->name, data->train.count, data->channels, data->height, data->width,
              data->test.count, data->class_count);
    if (job->asked.plan) {
        fprintf(job->out, "memory, tensor by tensor\n");
        memory_plan_print(plan, job->out);
    } else {
        fprintf(job->out, "memory    %s in %d tensors (--plan shows each)\n",
                bytes_text(size, sizeof size, plan->total_bytes), plan->entry_count);
    }
    show_fact(job, "backend", "%s on %s, fp32", job->backend.name, job->backend.device());
    show_fact(job, "training", "%s, lr %g, batches of %d, seed %" PRIu64 ", %s", options->optimizer,
              options->settings.lr, options->batch, options->seed,
              goal_text(goal, sizeof goal, job));
    if (job->state.step > 0) {
        show_fact(job, "resumed", "from %s at step %" PRId64, job->asked.resume, job->state.step);
    }
    fflush(job->out);
}

/* The share of the goal that is reached, 0 to 1. */
static double share_done(const TrainJob *job) {
    const TrainGoal *goal = &job->state.goal;
    if (goal->seconds > 0.0 && goal->steps == 0) {
        return train_seconds(job) / goal->seconds;
    }
    double steps = goal->steps > 0 ? (double)goal->steps
                                   : (double)goal->epochs * run_steps_per_epoch(job->run);
    return (double)job->run->step / steps;
}

/* Seconds to go, from how long this process took for its part. */
static double eta_seconds(const TrainJob *job) {
    double share = share_done(job), begun = 0.0;
    if (job->run->step > 0 && job->state.goal.seconds > 0.0 && job->state.goal.steps == 0) {
        begun = job->first_seconds / job->state.goal.seconds;
    } else if (job->run->step > 0) {
        begun = share * (double)job->first_step / (double)job->run->step;
    }
    double elapsed = (double)(clock_now_ns() - job->start_ns) / 1e9;
    return share > begun ? elapsed * (1.0 - share) / (share - begun) : 0.0;
}

static void draw(TrainJob *job) {
    Frame frame = {.terminal = &job->terminal};
    int room = job->terminal.width - TEXT_COLUMNS;
    int bar = room < MIN_BAR ? MIN_BAR : room > MAX_BAR ? MAX_BAR : room;
    char count[32];
    frame_print(&frame, "[");
    frame_bar(&frame, STYLE_GOOD, share_done(job), bar);
    frame_print(&frame, "] %3.0f %%, %.0f s left  step %" PRId64 "  loss %.4f",
                100.0 * share_done(job), eta_seconds(job), job->run->step, train_loss(job));
    if (job->test.step >= 0) {
        frame_print(&frame, "  test %.2f %%", 100.0 * job->test.accuracy);
    }
    frame_print(&frame, "  %s images/s\n",
                count_text(count, sizeof count, train_images_per_s(job)));
    terminal_draw(&job->terminal, &frame);
    frame_free(&frame);
}

/* Early numbers soon: the first step, the tenth, the hundredth; then by the clock. */
void train_show_step(TrainJob *job, float loss) {
    uint64_t now_ns = clock_now_ns(), since_ns = now_ns - job->last_shown_ns;
    int64_t done = job->run->step - job->first_step;
    bool early = done == 1 || done == 10 || done == 100;
    char count[32];
    if (is_silent(job) || !(early || since_ns >= (job->terminal.live ? FRAME_NS : LINE_NS))) {
        return;
    }
    job->last_shown_ns = now_ns;
    if (job->terminal.live) {
        draw(job);
        return;
    }
    fprintf(job->out, "step %" PRId64 ": loss %.4f, %s images/s, about %.0f s left\n",
            job->run->step, (double)loss, count_text(count, sizeof count, train_images_per_s(job)),
            eta_seconds(job));
    fflush(job->out);
}

void train_show_evaluation(TrainJob *job) {
    char count[32], label[32];
    if (is_silent(job)) {
        return;
    }
    job->last_shown_ns = clock_now_ns();
    terminal_clear(&job->terminal);
    snprintf(label, sizeof label, "epoch %" PRId64, job->run->epoch);
    show_fact(job, label,
              "step %" PRId64 ": loss %.4f, on the test set loss %.4f, accuracy %.2f %%; "
              "%s images/s, %.2f s",
              job->run->step, train_loss(job), job->test.loss, 100.0 * job->test.accuracy,
              count_text(count, sizeof count, train_images_per_s(job)), train_seconds(job));
    fflush(job->out);
    if (job->terminal.live) {
        draw(job);
    }
}

void train_show_end(TrainJob *job) {
    char count[32];
    const Run *run = job->run;
    if (job->asked.json) {
        train_show_json(job);
        return;
    }
    if (run->step == job->first_step) {
        printf("nothing left to do: step %" PRId64 " is the goal already\n", run->step);
    }
    show_fact(job, job->interrupted ? "stopped" : "done",
              "%" PRId64 " steps in %.2f s of training: accuracy %.2f %%, test loss %.4f; %s "
              "images/s",
              run->step, train_seconds(job), 100.0 * job->test.accuracy, job->test.loss,
              count_text(count, sizeof count, train_images_per_s(job)));
    if (job->saved_step >= 0 && safetensors_is(job->asked.save)) {
        show_fact(job, "saved",
                  "%s, the weights alone; lockstep train --model %s --resume %s begins with them",
                  job->asked.save, job->model.name, job->asked.save);
    } else if (job->saved_step >= 0) {
        show_fact(job, "saved", "%s; lockstep train --resume %s goes on from it", job->asked.save,
                  job->asked.save);
    }
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void add_number(cJSON *object, const char *key, double value) {
    if (isfinite(value)) {
        cJSON_AddNumberToObject(object, key, value);
    } else {
        cJSON_AddNullToObject(object, key);
    }
}

static void add_memory(cJSON *json, const TrainJob *job) {
    const MemoryPlan *plan = &job->run->device_plan;
    cJSON *memory = cJSON_AddObjectToObject(json, "memory");
    cJSON_AddNumberToObject(memory, "total_bytes", (double)plan->total_bytes);
    cJSON *groups = cJSON_AddArrayToObject(memory, "groups");
    for (int i = 0; i < plan->group_count; i++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "name", plan->groups[i].group);
        cJSON_AddNumberToObject(item, "bytes", (double)plan->groups[i].bytes);
        cJSON_AddItemToArray(groups, item);
    }
    cJSON *tensors = job->asked.plan ? cJSON_AddArrayToObject(memory, "tensors") : NULL;
    for (int i = 0; tensors != NULL && i < plan->entry_count; i++) {
        const Tensor *tensor = plan->entries[i].tensor;
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "group", plan->entries[i].group);
        cJSON_AddStringToObject(item, "name", tensor->name);
        cJSON_AddItemToObject(item, "shape", cJSON_CreateIntArray(tensor->dim, tensor->rank));
        cJSON_AddNumberToObject(item, "bytes", (double)tensor->bytes);
        cJSON_AddItemToArray(tensors, item);
    }
}

/* Where the time of the training steps went, by operation. */
static void add_operations(cJSON *json, const TrainJob *job) {
    cJSON *list = cJSON_AddArrayToObject(json, "operations");
    for (int op = 0; op < OP_COUNT; op++) {
        const OpCost *cost = &job->run->costs[op];
        if (cost->calls == 0) {
            continue;
        }
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "op", op_name((OpId)op));
        cJSON_AddStringToObject(item, "kernel", job->backend.chosen[op]->name);
        cJSON_AddNumberToObject(item, "calls", (double)cost->calls);
        cJSON_AddNumberToObject(item, "ms", (double)cost->ns / 1e6);
        add_number(item, "share", (double)cost->ns / (double)job->train_ns);
        cJSON_AddItemToArray(list, item);
    }
}

static void add_settings(cJSON *json, const TrainJob *job) {
    const TrainOptions *options = &job->run->options;
    bool serial = strcmp(job->backend.name, "serial") == 0;
    cJSON_AddStringToObject(json, "model", job->model.name);
    cJSON_AddNumberToObject(json, "weights", (double)model_param_count(&job->model));
    cJSON_AddStringToObject(json, "data", job->data.name);
    cJSON_AddStringToObject(json, "backend", job->backend.name);
    cJSON_AddStringToObject(json, "device", job->backend.device());
    cJSON_AddBoolToObject(json, "emulated", job->backend.emulated);
    cJSON_AddStringToObject(json, "precision", "fp32");
    cJSON_AddNumberToObject(json, "threads", serial ? 1 : job->threads.threads);
    cJSON_AddStringToObject(json, "optimizer", options->optimizer);
    cJSON_AddNumberToObject(json, "lr", options->settings.lr);
    cJSON_AddNumberToObject(json, "weight_decay", options->settings.weight_decay);
    cJSON_AddNumberToObject(json, "batch", options->batch);
    cJSON_AddNumberToObject(json, "seed", (double)options->seed);
}

void train_show_json(const TrainJob *job) {
    const Run *run = job->run;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToObject(json, "passport", cli_passport_json(&job->passport));
    add_settings(json, job);
    cJSON_AddNumberToObject(json, "steps", (double)run->step);
    cJSON_AddNumberToObject(json, "first_step", (double)job->first_step);
    cJSON_AddNumberToObject(json, "epochs", (double)run->step / (double)run_steps_per_epoch(run));
    cJSON_AddNumberToObject(json, "seconds", train_seconds(job));
    cJSON_AddNumberToObject(json, "evaluation_seconds", (double)job->evaluate_ns / 1e9);
    cJSON_AddNumberToObject(json, "save_seconds", (double)job->save_ns / 1e9);
    cJSON_AddNumberToObject(json, "images_per_s", train_images_per_s(job));
    add_number(json, "loss", train_loss(job));
    add_number(json, "test_loss", job->test.loss);
    add_number(json, "accuracy", job->test.accuracy);
    cJSON_AddBoolToObject(json, "interrupted", job->interrupted);
    if (job->saved_step >= 0) {
        cJSON_AddStringToObject(json, "saved", job->asked.save);
    } else {
        cJSON_AddNullToObject(json, "saved");
    }
    add_memory(json, job);
    add_operations(json, job);
    cli_print_json(json);
}

#include "nn/checkpoint_header.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MAX_EXACT = 9007199254740992.0; /* 2^53: whole numbers that a double holds */

/* ---- making --------------------------------------------------------------------------------- */

static void add_tensor(cJSON *list, const Tensor *tensor) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", tensor->name);
    cJSON_AddStringToObject(item, "dtype", dtype_name(tensor->dtype));
    cJSON_AddItemToObject(item, "shape", cJSON_CreateIntArray(tensor->dim, tensor->rank));
    cJSON_AddItemToArray(list, item);
}

/* All 17 digits: cJSON's own printing drops what it thinks is noise, and a resumed run would have
 * another learning rate. */
static void add_exact(cJSON *object, const char *key, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    cJSON_AddRawToObject(object, key, text);
}

static void add_optimizer(cJSON *header, const Run *run) {
    const OptimizerSettings *settings = &run->options.settings;
    cJSON *json = cJSON_AddObjectToObject(header, "optimizer");
    cJSON_AddStringToObject(json, "name", run->optimizer->name);
    add_exact(json, "lr", settings->lr);
    add_exact(json, "weight_decay", settings->weight_decay);
    add_exact(json, "momentum", settings->momentum);
    add_exact(json, "beta1", settings->beta1);
    add_exact(json, "beta2", settings->beta2);
    add_exact(json, "eps", settings->eps);
}

static void add_tensors(cJSON *header, const Run *run) {
    cJSON *list = cJSON_AddArrayToObject(header, "tensors");
    for (int i = 0; i < run->param_count; i++) {
        add_tensor(list, run->params[i].param);
        for (int s = 0; s < run->optimizer->state_count; s++) {
            add_tensor(list, &run->params[i].state[s]);
        }
    }
}

char *checkpoint_header_make(const Run *run, const CheckpointState *state) {
    char seed[32], text[CHECKPOINT_MODEL_BYTES];
    cJSON *header = cJSON_CreateObject();
    snprintf(seed, sizeof seed, "%" PRIu64, run->options.seed); /* a double has only 53 bits */
    cJSON_AddStringToObject(header, "version", state->version);
    cJSON_AddNumberToObject(header, "step", (double)run->step);
    add_exact(header, "seconds", state->seconds);
    cJSON_AddStringToObject(header, "model", state->model_name);
    cJSON_AddStringToObject(header, "model_text", model_text(text, sizeof text, run->model));
    cJSON_AddStringToObject(header, "data", state->data_name);
    cJSON_AddStringToObject(header, "data_print", state->data_print);
    cJSON_AddStringToObject(header, "backend", run->backend.name);
    cJSON_AddStringToObject(header, "precision", "fp32");
    cJSON_AddNumberToObject(header, "threads", state->threads);
    cJSON *kernels = cJSON_AddArrayToObject(header, "kernels");
    for (int i = 0; i < state->kernel_count; i++) {
        cJSON_AddItemToArray(kernels, cJSON_CreateString(state->kernels[i]));
    }
    cJSON_AddNumberToObject(header, "batch", run->options.batch);
    cJSON_AddStringToObject(header, "seed", seed);
    add_optimizer(header, run);
    cJSON *goal = cJSON_AddObjectToObject(header, "goal");
    cJSON_AddNumberToObject(goal, "epochs", (double)state->goal.epochs);
    cJSON_AddNumberToObject(goal, "steps", (double)state->goal.steps);
    add_exact(goal, "seconds", state->goal.seconds);
    add_tensors(header, run);
    char *made = cJSON_PrintUnformatted(header);
    cJSON_Delete(header);
    return made;
}

/* ---- parsing -------------------------------------------------------------------------------- */

static Status get_text(char *text, size_t text_bytes, const cJSON *object, const char *key) {
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    if (value == NULL || strlen(value) >= text_bytes) {
        return fail("header: '%s' is missing or no text of at most %zu characters", key,
                    text_bytes - 1);
    }
    memcpy(text, value, strlen(value) + 1);
    return STATUS_OK;
}

static Status get_number(double *number, const cJSON *object, const char *key, double min,
                         double max) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= min && item->valuedouble <= max)) {
        return fail("header: '%s' is missing or no number from %g to %g", key, min, max);
    }
    *number = item->valuedouble;
    return STATUS_OK;
}

static Status get_whole(int64_t *number, const cJSON *object, const char *key, double min,
                        double max) {
    double value = 0.0;
    TRY(get_number(&value, object, key, min, max));
    if (value != floor(value)) {
        return fail("header: '%s' is %g; expected a whole number", key, value);
    }
    *number = (int64_t)value;
    return STATUS_OK;
}

static Status get_int(int *number, const cJSON *object, const char *key, int min, int max) {
    int64_t value = 0;
    TRY(get_whole(&value, object, key, min, max));
    *number = (int)value;
    return STATUS_OK;
}

static Status get_seed(uint64_t *seed, const cJSON *header) {
    char text[32] = "", *end;
    TRY(get_text(text, sizeof text, header, "seed"));
    errno = 0;
    *seed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0) {
        return fail("header: seed '%s' is no whole number of 64 bits", text);
    }
    return STATUS_OK;
}

static Status get_optimizer(TrainOptions *options, const cJSON *header) {
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(header, "optimizer");
    OptimizerSettings *settings = &options->settings;
    char name[CHECKPOINT_WORD_BYTES];
    const Optimizer *optimizer;
    TRY(get_text(name, sizeof name, json, "name"));
    TRY(optimizer_find(&optimizer, name));
    options->optimizer = optimizer->name;
    TRY(get_number(&settings->lr, json, "lr", 0.0, INFINITY));
    TRY(get_number(&settings->weight_decay, json, "weight_decay", 0.0, INFINITY));
    TRY(get_number(&settings->momentum, json, "momentum", 0.0, 1.0));
    TRY(get_number(&settings->beta1, json, "beta1", 0.0, 1.0));
    TRY(get_number(&settings->beta2, json, "beta2", 0.0, 1.0));
    return get_number(&settings->eps, json, "eps", 0.0, INFINITY);
}

static Status get_kernels(CheckpointState *state, const cJSON *header) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(header, "kernels"), *item;
    cJSON_ArrayForEach(item, list) {
        const char *text = cJSON_GetStringValue(item);
        if (text == NULL || strlen(text) >= sizeof state->kernels[0] ||
            state->kernel_count == CHECKPOINT_MAX_KERNELS) {
            return fail("header: 'kernels' is no list of at most %d texts", CHECKPOINT_MAX_KERNELS);
        }
        snprintf(state->kernels[state->kernel_count++], sizeof state->kernels[0], "%s", text);
    }
    return STATUS_OK;
}

static Status get_goal(TrainGoal *goal, const cJSON *header) {
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(header, "goal");
    TRY(get_whole(&goal->epochs, json, "epochs", 0, MAX_EXACT));
    TRY(get_whole(&goal->steps, json, "steps", 0, MAX_EXACT));
    return get_number(&goal->seconds, json, "seconds", 0.0, INFINITY);
}

Status checkpoint_header_parse(CheckpointState *state, const cJSON *header) {
    *state = (CheckpointState){.options = train_default_options};
    TRY(get_text(state->version, sizeof state->version, header, "version"));
    TRY(get_whole(&state->step, header, "step", 0, INT_MAX));
    TRY(get_number(&state->seconds, header, "seconds", 0.0, INFINITY));
    TRY(get_text(state->model_name, sizeof state->model_name, header, "model"));
    TRY(get_text(state->model_text, sizeof state->model_text, header, "model_text"));
    TRY(get_text(state->data_name, sizeof state->data_name, header, "data"));
    TRY(get_text(state->data_print, sizeof state->data_print, header, "data_print"));
    TRY(get_text(state->backend, sizeof state->backend, header, "backend"));
    TRY(get_int(&state->threads, header, "threads", 1, 1024));
    TRY(get_kernels(state, header));
    TRY(get_int(&state->options.batch, header, "batch", 1, INT_MAX));
    TRY(get_seed(&state->options.seed, header));
    TRY(get_optimizer(&state->options, header));
    return get_goal(&state->goal, header);
}

Status checkpoint_header_check_tensor(const cJSON *header, int index, const Tensor *tensor) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(header, "tensors");
    const cJSON *item = cJSON_GetArrayItem(list, index);
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(item, "shape");
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
    if (name == NULL || strcmp(name, tensor->name) != 0) {
        return fail("tensor %d is %s, but the model has %s there; it is from another model", index,
                    name == NULL ? "missing" : name, tensor->name);
    }
    bool same = cJSON_GetArraySize(shape) == tensor->rank;
    for (int i = 0; same && i < tensor->rank; i++) {
        const cJSON *size = cJSON_GetArrayItem(shape, i);
        same = cJSON_IsNumber(size) && size->valuedouble == tensor->dim[i];
    }
    char text[80];
    return same ? STATUS_OK
                : fail("tensor %s has not the shape %s of the model; it is from another model",
                       name, shape_text(text, sizeof text, tensor->rank, tensor->dim));
}

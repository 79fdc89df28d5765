/* A race as one JSON object. Figures that do not exist are null. */
#include <math.h>

#include "cli/cli.h"
#include "cli/race_table.h"

static void add_number(cJSON *object, const char *key, double value) {
    cJSON_AddItemToObject(object, key,
                          isnan(value) ? cJSON_CreateNull() : cJSON_CreateNumber(value));
}

static void add_step_ms(cJSON *row, const RaceResult *result) {
    cJSON *step = cJSON_AddObjectToObject(row, "step_ms");
    bool timed = result->step_ms.count > 0;
    add_number(step, "median", timed ? result->step_ms.median : (double)NAN);
    add_number(step, "iqr", timed ? stats_iqr(&result->step_ms) : (double)NAN);
    add_number(step, "low", timed ? result->step_ms.low : (double)NAN);
    add_number(step, "high", timed ? result->step_ms.high : (double)NAN);
    add_number(step, "cold", result->cold_ms);
}

static void add_operations(cJSON *row, const RaceResult *result) {
    cJSON *list = cJSON_AddArrayToObject(row, "operations");
    for (int i = 0; i < result->share_count; i++) {
        const RaceShare *share = &result->shares[i];
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "op", share->op == OP_COUNT ? "other" : op_name(share->op));
        add_number(item, "ms", share->ms);
        add_number(item, "share", share->share);
        cJSON_AddItemToArray(list, item);
    }
}

static cJSON *point_json(const RacePoint *point) {
    cJSON *item = cJSON_CreateObject();
    add_number(item, "seconds", point->own_s);
    add_number(item, "steps", (double)point->steps);
    add_number(item, "accuracy", point->accuracy);
    return item;
}

static void add_learning(cJSON *row, const RaceResult *result) {
    cJSON *list = cJSON_AddArrayToObject(row, "time_to_accuracy");
    for (int t = 0; t < RACE_TARGETS; t++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddNumberToObject(item, "accuracy", race_targets[t]);
        add_number(item, "seconds", result->time_to_s[t]);
        cJSON_AddItemToArray(list, item);
    }
    cJSON_AddItemToObject(row, "equal_time_accuracy", point_json(&result->equal_time));
    list = cJSON_AddArrayToObject(row, "curve");
    for (int i = 0; i < result->curve->count; i++) {
        cJSON_AddItemToArray(list, point_json(&result->curve->points[i]));
    }
}

/* Kernels other than the defaults: {"matmul_forward": "naive"} */
static void add_kernels(cJSON *row, const Backend *backend) {
    cJSON *item = cJSON_AddObjectToObject(row, "kernels");
    for (int op = 0; op < OP_COUNT; op++) {
        if (backend->chosen[op] != NULL && !backend->chosen[op]->is_default) {
            cJSON_AddStringToObject(item, op_name((OpId)op), backend->chosen[op]->name);
        }
    }
}

static void add_absent(cJSON *object) {
    cJSON *list = cJSON_AddArrayToObject(object, "absent");
    for (int b = 0; b < backend_count(); b++) {
        if (backend_missing(backend_at(b)) != NULL) {
            cJSON *item = cJSON_CreateObject();
            cJSON_AddStringToObject(item, "backend", backend_at(b)->name);
            cJSON_AddStringToObject(item, "reason", backend_missing(backend_at(b)));
            cJSON_AddItemToArray(list, item);
        }
    }
}

static cJSON *result_json(const RaceResult *result) {
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "backend", result->backend);
    cJSON_AddStringToObject(row, "device", result->device);
    cJSON_AddBoolToObject(row, "emulated", result->emulated);
    cJSON_AddStringToObject(row, "precision", "fp32");
    add_number(row, "threads", result->threads > 0 ? result->threads : (double)NAN);
    add_number(row, "images_per_s", result->step_ms.count > 0 ? result->images_per_s : (double)NAN);
    add_step_ms(row, result);
    cJSON_AddNumberToObject(row, "samples", result->step_ms.count);
    add_number(row, "speedup_serial", result->speedup_serial);
    add_number(row, "speedup_best_cpu", result->speedup_best_cpu);
    add_number(row, "loss", result->loss);
    add_number(row, "accuracy", result->accuracy);
    cJSON_AddNumberToObject(row, "steps", (double)result->steps);
    cJSON_AddNumberToObject(row, "own_seconds", result->own_s);
    add_operations(row, result);
    add_learning(row, result);
    return row;
}

static cJSON *finding_json(const RaceReport *report, const AgreeFinding *finding) {
    if (!finding->any) {
        return cJSON_CreateNull();
    }
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "backend", report->results[finding->run].backend);
    cJSON_AddNumberToObject(item, "step", (double)finding->step);
    cJSON_AddStringToObject(item, "what", finding->what);
    cJSON_AddNumberToObject(item, "distance", finding->distance);
    cJSON_AddNumberToObject(item, "bound", finding->bound);
    return item;
}

static void add_agreement(cJSON *object, const RaceReport *report) {
    const Agreement *agreement = &report->agreement;
    cJSON_AddBoolToObject(object, "agree", agreement->agree);
    cJSON *item = cJSON_AddObjectToObject(object, "agreement");
    cJSON_AddStringToObject(item, "compared_with", report->results[agreement->referee].backend);
    cJSON_AddNumberToObject(item, "step_checks", agreement->step_checks);
    cJSON_AddNumberToObject(item, "course_checks", agreement->course_checks);
    cJSON_AddNumberToObject(item, "second_looks", agreement->second_looks);
    cJSON_AddItemToObject(item, "closest_step", finding_json(report, &agreement->step));
    cJSON_AddItemToObject(item, "closest_course", finding_json(report, &agreement->course));
    cJSON_AddItemToObject(item, "fault", finding_json(report, &agreement->fault));
}

cJSON *race_json(const RaceReport *report) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToObject(object, "passport", cli_passport_json(&report->passport));
    add_agreement(object, report);
    cJSON *list = cJSON_AddArrayToObject(object, "results");
    for (int i = 0; i < report->count; i++) {
        cJSON *row = result_json(&report->results[i]);
        add_kernels(row, &report->options->backends[i]);
        cJSON_AddItemToArray(list, row);
    }
    add_absent(object);
    const RaceOptions *options = report->options;
    cJSON_AddStringToObject(object, "model", options->model->name);
    cJSON_AddNumberToObject(object, "weights", (double)report->weight_count);
    cJSON_AddStringToObject(object, "data", options->data->name);
    cJSON_AddNumberToObject(object, "batch", options->train.batch);
    cJSON_AddStringToObject(object, "optimizer", report->optimizer);
    cJSON_AddNumberToObject(object, "lr", report->lr);
    cJSON_AddNumberToObject(object, "seed", (double)options->train.seed);
    cJSON_AddNumberToObject(object, "steps", (double)report->steps);
    cJSON_AddNumberToObject(object, "epochs", report->epochs);
    cJSON_AddNumberToObject(object, "seconds", report->wall_s);
    cJSON_AddNumberToObject(object, "evaluation_seconds", report->evaluation_s);
    cJSON_AddNumberToObject(object, "agreement_seconds", report->agreement_s);
    cJSON_AddBoolToObject(object, "interrupted", report->interrupted);
    return object;
}

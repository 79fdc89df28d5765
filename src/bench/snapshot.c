#include "bench/snapshot.h"

#include <string.h>

#include "base/memory.h"

size_t snapshot_weight_count(const Run *run) {
    size_t count = 0;
    for (int i = 0; i < run->param_count; i++) {
        count += run->params[i].param->count;
    }
    return count;
}

static size_t value_bytes(const Run *run) {
    size_t copies = 1 + (size_t)run->optimizer->state_count;
    return copies * snapshot_weight_count(run) * sizeof(float);
}

Status snapshot_init(Snapshot *snapshot, const Run *run) {
    size_t bytes = value_bytes(run);
    *snapshot = (Snapshot){.values = memory_alloc(bytes)};
    return snapshot->values == NULL
               ? fail("out of memory for a copy of %zu bytes of weights", bytes)
               : STATUS_OK;
}

void snapshot_free(Snapshot *snapshot) {
    memory_free(snapshot->values);
    *snapshot = (Snapshot){0};
}

Status snapshot_take_weights(Snapshot *snapshot, const Run *run) {
    float *to = snapshot->values;
    for (int i = 0; i < run->param_count; i++) {
        TRY(run_download(run, to, run->params[i].param));
        to += run->params[i].param->count;
    }
    return STATUS_OK;
}

Status snapshot_take(Snapshot *snapshot, const Run *run) {
    float *to = snapshot->values + snapshot_weight_count(run);
    TRY(snapshot_take_weights(snapshot, run));
    for (int i = 0; i < run->param_count; i++) {
        for (int s = 0; s < run->optimizer->state_count; s++) {
            TRY(run_download(run, to, &run->params[i].state[s]));
            to += run->params[i].state[s].count;
        }
    }
    snapshot->step = run->step;
    snapshot->epoch = run->epoch;
    snapshot->position = run->position;
    return STATUS_OK;
}

void snapshot_copy(Snapshot *to, const Snapshot *from, const Run *run) {
    float *values = to->values;
    memcpy(values, from->values, value_bytes(run));
    *to = *from;
    to->values = values;
}

Status snapshot_put(Run *run, const Snapshot *snapshot) {
    const float *from = snapshot->values;
    for (int i = 0; i < run->param_count; i++) {
        TRY(run_upload(run, run->params[i].param, from));
        from += run->params[i].param->count;
    }
    for (int i = 0; i < run->param_count; i++) {
        for (int s = 0; s < run->optimizer->state_count; s++) {
            TRY(run_upload(run, &run->params[i].state[s], from));
            from += run->params[i].state[s].count;
        }
    }
    run->step = snapshot->step;
    run->epoch = snapshot->epoch;
    run->position = snapshot->position;
    return STATUS_OK;
}

/* A run's memory: planned, checked, allocated once, freed once; and its first weights. */
#include <stdlib.h>

#include "nn/train.h"
#include "ops/front.h"

/* Philox streams: weights take one each from 0 on; shuffles take one an epoch, far above. */
enum { FIRST_WEIGHT_STREAM = 0 };

const TrainOptions train_default_options = {
    .batch = 64, .seed = 1, .optimizer = "sgd", .settings = OPTIMIZER_DEFAULT_SETTINGS};

/* Names a tensor, works out its size and enters it in a plan. */
static Status plan_tensor(MemoryPlan *plan, const char *group, Tensor *tensor, const char *name,
                          DType dtype, int rank, const int *dim) {
    TRY(tensor_init(tensor, name, dtype, rank, dim));
    return memory_plan_add(plan, group, tensor);
}

/* A batch of N samples of one shape. */
static Status plan_batch(Run *run, const char *group, Tensor *tensor, const char *name,
                         Shape shape) {
    int dim[TENSOR_MAX_RANK] = {run->options.batch};
    for (int i = 0; i < shape.rank; i++) {
        dim[i + 1] = shape.dim[i];
    }
    return plan_tensor(&run->device_plan, group, tensor, name, DTYPE_FP32, shape.rank + 1, dim);
}

static Status plan_param(Run *run, LayerRun *layer, int index) {
    char name[TENSOR_NAME_BYTES + 16];
    Tensor *param = &layer->param[index], *grad = &layer->grad[index];
    RunParam *entry = &run->params[run->param_count++];
    *entry = (RunParam){.param = param, .grad = grad};
    TRY(memory_plan_add(&run->device_plan, "parameters", param));
    snprintf(name, sizeof name, "d%s", param->name);
    TRY(plan_tensor(&run->device_plan, "gradients", grad, name, param->dtype, param->rank,
                    param->dim));
    for (int s = 0; s < run->optimizer->state_count; s++) {
        snprintf(name, sizeof name, "%s.%s", param->name, run->optimizer->state_names[s]);
        TRY(plan_tensor(&run->device_plan, "optimizer state", &entry->state[s], name, param->dtype,
                        param->rank, param->dim));
    }
    return STATUS_OK;
}

static Status plan_layer(Run *run, int index) {
    LayerRun *layer = &run->layers[index];
    char name[TENSOR_NAME_BYTES];
    layer->layer = &run->model->layers[index];
    if (layer->layer->kind->params != NULL) {
        TRY(layer->layer->kind->params(layer));
    }
    for (int p = 0; p < layer->param_count; p++) {
        TRY(plan_param(run, layer, p));
    }
    snprintf(name, sizeof name, "%s.out", layer->layer->name);
    TRY(plan_batch(run, "activations", &layer->out, name, layer->layer->out));
    if (index == 0) {
        return STATUS_OK; /* nothing learns from the gradient of the data */
    }
    snprintf(name, sizeof name, "%s.dinp", layer->layer->name);
    return plan_batch(run, "activation gradients", &layer->dinp, name, layer->layer->inp);
}

static Status plan_device(Run *run) {
    int N = run->options.batch, V = run->model->class_count;
    MemoryPlan *plan = &run->device_plan;
    TRY(plan_batch(run, "batch", &run->images, "images", run->model->input));
    TRY(plan_tensor(plan, "batch", &run->labels, "labels", DTYPE_INT32, 1, &N));
    for (int i = 0; i < run->model->layer_count; i++) {
        TRY(plan_layer(run, i));
    }
    TRY(plan_tensor(plan, "activations", &run->probs, "probs", DTYPE_FP32, 2, (int[]){N, V}));
    TRY(plan_tensor(plan, "activations", &run->losses, "losses", DTYPE_FP32, 1, &N));
    TRY(plan_tensor(plan, "activations", &run->loss, "loss", DTYPE_FP32, 0, NULL));
    TRY(plan_tensor(plan, "activations", &run->predictions, "predictions", DTYPE_INT32, 1, &N));
    return plan_tensor(plan, "activation gradients", &run->dlogits, "dlogits", DTYPE_FP32, 2,
                       (int[]){N, V});
}

static Status plan_host(Run *run) {
    int N = run->options.batch;
    MemoryPlan *plan = &run->host_plan;
    TRY(plan_tensor(plan, "host batch", &run->host_images, "images", DTYPE_FP32, 2,
                    (int[]){N, (int)dataset_image_size(run->data)}));
    TRY(plan_tensor(plan, "host batch", &run->host_labels, "labels", DTYPE_INT32, 1, &N));
    TRY(plan_tensor(plan, "host batch", &run->host_predictions, "predictions", DTYPE_INT32, 1, &N));
    return plan_tensor(plan, "host batch", &run->order, "order", DTYPE_INT32, 1,
                       &run->data->train.count);
}

/* The tensors must fit beside what stands on the host: batches, and the copy of a parameter that is
 * made to begin and to save. */
static Status check_fit(const Run *run) {
    size_t available = memory_available_bytes(), host = run->host_plan.total_bytes, largest = 0;
    for (int i = 0; i < run->param_count; i++) {
        size_t bytes = run->params[i].param->bytes;
        largest = bytes > largest ? bytes : largest;
    }
    host += largest; /* neither is near the end of size_t: the plans are checked */
    return memory_plan_fits(&run->device_plan, available > host ? available - host : 0,
                            "beside the batch on the host this machine");
}

static Status plan_run(Run *run) {
    if (run->options.batch < 1) {
        return fail("--batch %d: a batch has at least 1 sample", run->options.batch);
    }
    TRY(optimizer_find(&run->optimizer, run->options.optimizer));
    if (run->options.settings.lr == 0.0) {
        run->options.settings.lr = run->optimizer->default_lr;
    }
    if (run->options.settings.weight_decay < 0.0) {
        run->options.settings.weight_decay = run->optimizer->default_weight_decay;
    }
    TRY(plan_device(run));
    TRY(plan_host(run));
    return check_fit(run);
}

Status run_create(Run **created, const Model *model, const Dataset *data, const Backend *backend,
                  const TrainOptions *options) {
    Run *run = calloc(1, sizeof *run);
    if (run == NULL) {
        return fail("run: no memory for its description");
    }
    run->model = model;
    run->data = data;
    run->backend = *backend;
    run->backend.costs = run->costs;
    run->options = *options;
    Status status = plan_run(run);
    if (status != STATUS_OK) {
        run_destroy(run);
        return status;
    }
    *created = run;
    return STATUS_OK;
}

/* Weights are made on the host, whatever the backend: the same numbers everywhere. */
static Status init_params(Run *run) {
    uint64_t stream = FIRST_WEIGHT_STREAM;
    for (int i = 0; i < run->model->layer_count; i++) {
        LayerRun *layer = &run->layers[i];
        for (int p = 0; p < layer->param_count; p++, stream++) {
            float *host = memory_alloc(layer->param[p].bytes);
            if (host == NULL) {
                return fail("run: no memory to make %s", layer->param[p].name);
            }
            layer->layer->kind->init(layer, p, host, (Philox){run->options.seed, stream});
            Status status = run_upload(run, &layer->param[p], host);
            memory_free(host);
            TRY(status);
        }
    }
    return STATUS_OK;
}

static Status init_states(Run *run) {
    for (int i = 0; i < run->param_count; i++) {
        for (int s = 0; s < run->optimizer->state_count; s++) {
            Tensor *state = &run->params[i].state[s];
            TRY(op_fill(&run->backend, state->data, 0.0f, state->count));
        }
    }
    return STATUS_OK;
}

Status run_start(Run *run) {
    TRY(memory_plan_allocate(&run->host_plan, memory_alloc, memory_free));
    TRY(memory_plan_allocate(&run->device_plan, run->backend.alloc, run->backend.release));
    TRY(init_params(run));
    TRY(init_states(run));
    for (int op = 0; op < OP_COUNT; op++) {
        run->costs[op] = (OpCost){0};
    }
    return run->backend.synchronize();
}

Status run_download(const Run *run, void *host, const Tensor *tensor) {
    return run->backend.download(host, tensor->data, tensor->bytes);
}

Status run_upload(const Run *run, const Tensor *tensor, const void *host) {
    return run->backend.upload(tensor->data, host, tensor->bytes);
}

void run_destroy(Run *run) {
    if (run == NULL) {
        return;
    }
    memory_plan_release(&run->device_plan, run->backend.release);
    memory_plan_release(&run->host_plan, memory_free);
    free(run);
}

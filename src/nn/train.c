/* The training loop: gather a batch, forward, loss, backward, update. The same for every backend;
 * none is named here. */
#include "nn/train.h"

#include <math.h>

#include "base/trace.h"
#include "nn/diverge.h"
#include "ops/front.h"

/* Shuffles use streams that no weight reaches. */
static const uint64_t FIRST_SHUFFLE_STREAM = 1ull << 32;

int run_steps_per_epoch(const Run *run) {
    int count = run->data->train.count, batch = run->options.batch;
    return count / batch + (count % batch != 0);
}

/* Rows order[first] to order[first + N - 1] (order NULL: in their own order) to the device. */
static Status load_batch(Run *run, const DataSplit *split, const int *order, int first, int N) {
    float *images = run->host_images.data;
    int32_t *labels = run->host_labels.data;
    dataset_batch(images, labels, run->data, split, order, first, N);
    size_t image_bytes = dataset_image_size(run->data) * sizeof(float);
    uint64_t start_ns = trace_enabled ? clock_now_ns() : 0;
    TRY(run->backend.upload(run->images.data, images, (size_t)N * image_bytes));
    TRY(run->backend.upload(run->labels.data, labels, (size_t)N * sizeof *labels));
    if (trace_enabled) {
        trace_record(TRACE_COPY, "upload batch", run->backend.name, start_ns, clock_now_ns());
    }
    return STATUS_OK;
}

/* Images to logits to probabilities and the mean loss of N samples, which stays on the device. */
static Status forward(Run *run, int N) {
    const Backend *be = &run->backend;
    const float *inp = run->images.data;
    for (int i = 0; i < run->model->layer_count; i++) {
        const LayerRun *layer = &run->layers[i];
        TRY(layer->layer->kind->forward(layer, be, inp, N));
        inp = layer->out.data;
    }
    TRY(op_softmax_cross_entropy_forward(be, run->losses.data, run->probs.data, inp,
                                         run->labels.data, N, run->model->class_count));
    return op_mean(be, run->loss.data, run->losses.data, 1, (size_t)N);
}

/* From the loss back to every gradient. */
static Status backward(Run *run, int N) {
    const Backend *be = &run->backend;
    float *dout = run->dlogits.data;
    TRY(op_softmax_cross_entropy_backward(be, dout, run->probs.data, run->labels.data,
                                          1.0f / (float)N, N, run->model->class_count));
    for (int i = run->model->layer_count - 1; i >= 0; i--) {
        const LayerRun *layer = &run->layers[i];
        const float *inp = i == 0 ? run->images.data : run->layers[i - 1].out.data;
        TRY(layer->layer->kind->backward(layer, be, dout, inp, N));
        dout = layer->dinp.data;
    }
    return STATUS_OK;
}

static Status update(Run *run) {
    for (int i = 0; i < run->param_count; i++) {
        const RunParam *p = &run->params[i];
        TRY(run->optimizer->update(&run->backend, p->param, p->grad, p->state,
                                   &run->options.settings, (int)(run->step + 1)));
    }
    return STATUS_OK;
}

/* The order of this epoch's rows depends on seed and epoch alone. */
static void shuffle(Run *run) {
    Philox rng = {run->options.seed, FIRST_SHUFFLE_STREAM + (uint64_t)run->epoch};
    philox_shuffle(rng, run->order.data, run->data->train.count);
}

void run_seek(Run *run, int64_t step) {
    int steps_per_epoch = run_steps_per_epoch(run);
    run->step = step;
    run->epoch = step / steps_per_epoch;
    run->position = (int)(step % steps_per_epoch) * run->options.batch;
    if (run->position != 0) {
        shuffle(run);
    }
}

Status run_step(Run *run, float *loss) {
    int left = run->data->train.count - run->position;
    int N = left < run->options.batch ? left : run->options.batch;
    uint64_t start_ns = trace_enabled ? clock_now_ns() : 0;
    if (run->position == 0) {
        shuffle(run);
    }
    TRY(load_batch(run, &run->data->train, run->order.data, run->position, N));
    TRY(forward(run, N));
    TRY(backward(run, N));
    TRY(run_download(run, loss, &run->loss));
    if (!isfinite(*loss)) {
        return run_name_divergence(run, N);
    }
    TRY(update(run));
    TRY(run->backend.synchronize());
    if (trace_enabled) {
        trace_record(TRACE_STEP, "step", run->backend.name, start_ns, clock_now_ns());
    }
    run->step++;
    run->position += N;
    if (run->position == run->data->train.count) {
        run->position = 0;
        run->epoch++;
    }
    return STATUS_OK;
}

static Status evaluate_batches(Run *run, const DataSplit *split, double *loss, double *accuracy) {
    int32_t *predictions = run->host_predictions.data;
    const Tensor *logits = &run->layers[run->model->layer_count - 1].out;
    double loss_sum = 0.0;
    int right = 0;
    for (int first = 0, N; first < split->count; first += N) {
        float batch_loss;
        N = split->count - first < run->options.batch ? split->count - first : run->options.batch;
        TRY(load_batch(run, split, NULL, first, N));
        TRY(forward(run, N));
        TRY(op_argmax(&run->backend, run->predictions.data, logits->data, N,
                      run->model->class_count));
        TRY(run_download(run, &batch_loss, &run->loss));
        if (!isfinite(batch_loss)) {
            return run_name_divergence(run, N);
        }
        TRY(run->backend.download(predictions, run->predictions.data,
                                  (size_t)N * sizeof *predictions));
        loss_sum += (double)batch_loss * N;
        for (int n = 0; n < N; n++) {
            right += predictions[n] == split->labels[first + n];
        }
    }
    *loss = loss_sum / split->count;
    *accuracy = (double)right / split->count;
    return STATUS_OK;
}

Status run_evaluate(Run *run, const DataSplit *split, double *loss, double *accuracy) {
    run->backend.costs = NULL; /* the costs are those of training */
    Status status = evaluate_batches(run, split, loss, accuracy);
    run->backend.costs = run->costs;
    return status;
}

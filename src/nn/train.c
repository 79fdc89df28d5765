/* The training loop: gather a batch, forward, loss, backward, update. The same for every backend;
 * none is named here. */
#include "nn/train.h"

#include <math.h>

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
    TRY(run->backend.upload(run->images.data, images, (size_t)N * image_bytes));
    return run->backend.upload(run->labels.data, labels, (size_t)N * sizeof *labels);
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

/* STATUS_NO, naming the first tensor of the step that holds NaN or infinity. */
static Status check_finite(Run *run, const Tensor *tensor, int N, const char *maker) {
    size_t count = tensor->rank > 0 ? tensor->count / (size_t)tensor->dim[0] * (size_t)N : 1;
    float *host = memory_alloc(tensor->bytes);
    if (host == NULL) {
        return STATUS_OK;
    }
    Status status = run->backend.download(host, tensor->data, count * sizeof *host);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        if (!isfinite(host[i])) {
            status = fail_no("step %lld: %s: %s[%zu] is %g, the first that is not finite; the run "
                             "has diverged: lower --lr",
                             (long long)run->step + 1, maker, tensor->name, i, (double)host[i]);
        }
    }
    memory_free(host);
    return status;
}

static Status name_divergence(Run *run, int N) {
    char maker[80];
    TRY(check_finite(run, &run->images, N, "the data"));
    for (int i = 0; i < run->model->layer_count; i++) {
        const LayerRun *layer = &run->layers[i];
        for (int p = 0; p < layer->param_count; p++) {
            const Tensor *param = &layer->param[p];
            snprintf(maker, sizeof maker, "%s of the step before", run->optimizer->name);
            TRY(check_finite(run, param, param->dim[0], maker));
        }
        snprintf(maker, sizeof maker, "%s %s, forward", layer->layer->kind->name,
                 layer->layer->name);
        TRY(check_finite(run, &layer->out, N, maker));
    }
    TRY(check_finite(run, &run->losses, N, "softmax_cross_entropy_forward"));
    return fail_no("step %lld: mean of the losses is not finite; lower --lr",
                   (long long)run->step + 1);
}

Status run_step(Run *run, float *loss) {
    int left = run->data->train.count - run->position;
    int N = left < run->options.batch ? left : run->options.batch;
    if (run->position == 0) {
        Philox rng = {run->options.seed, FIRST_SHUFFLE_STREAM + (uint64_t)run->epoch};
        philox_shuffle(rng, run->order.data, run->data->train.count);
    }
    TRY(load_batch(run, &run->data->train, run->order.data, run->position, N));
    TRY(forward(run, N));
    TRY(backward(run, N));
    TRY(run_download(run, loss, &run->loss));
    if (!isfinite(*loss)) {
        return name_divergence(run, N);
    }
    TRY(update(run));
    TRY(run->backend.synchronize());
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

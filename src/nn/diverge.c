/* Looks through a step in the order in which it ran: data, then layer by layer the weights (which
 * the step before wrote) and the output. The first number that is not finite is where it began. */
#include "nn/diverge.h"

#include <math.h>
#include <stdio.h>

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

Status run_name_divergence(Run *run, int N) {
    char maker[80];
    TRY(check_finite(run, &run->images, N, "the data"));
    for (int i = 0; i < run->model->layer_count; i++) {
        const LayerRun *layer = &run->layers[i];
        for (int p = 0; p < layer->param_count; p++) {
            const Tensor *param = &layer->param[p];
            snprintf(maker, sizeof maker, "%s of step %lld", run->optimizer->name,
                     (long long)run->step);
            TRY(check_finite(run, param, param->dim[0], maker));
        }
        snprintf(maker, sizeof maker, "%s of layer %s", op_name(layer->layer->kind->forward_op),
                 layer->layer->name);
        TRY(check_finite(run, &layer->out, N, maker));
    }
    TRY(check_finite(run, &run->losses, N, "softmax_cross_entropy_forward"));
    return fail_no("step %lld: mean of the losses is not finite; lower --lr",
                   (long long)run->step + 1);
}

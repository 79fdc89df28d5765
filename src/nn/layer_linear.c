/* linear: out (N,OC) = inp (N,C) . weight (OC,C)^T + bias (OC). Whatever the input's shape, its
 * elements are C features in a row. */
#include <math.h>
#include <stdio.h>

#include "nn/layer.h"
#include "ops/front.h"

enum { WEIGHT, BIAS };

static int features(const Layer *layer) {
    int count = 1;
    for (int i = 0; i < layer->inp.rank; i++) {
        count *= layer->inp.dim[i];
    }
    return count;
}

static Status linear_shape(Layer *layer) {
    int count;
    TRY(shape_count(&count, layer->name, layer->inp));
    layer->out = (Shape){1, {layer->units}};
    return STATUS_OK;
}

static Status linear_params(LayerRun *run) {
    const Layer *layer = run->layer;
    char name[TENSOR_NAME_BYTES];
    run->param_count = 2;
    snprintf(name, sizeof name, "%s.weight", layer->name);
    TRY(tensor_init(&run->param[WEIGHT], name, DTYPE_FP32, 2,
                    (int[]){layer->units, features(layer)}));
    snprintf(name, sizeof name, "%s.bias", layer->name);
    return tensor_init(&run->param[BIAS], name, DTYPE_FP32, 1, (int[]){layer->units});
}

/* Weights from N(0, 2/C), which keeps the size of activations from layer to layer under ReLU (He,
 * Zhang, Ren, Sun 2015, "Delving deep into rectifiers"); biases 0. */
static void linear_init(const LayerRun *run, int index, float *host, Philox rng) {
    float scale = index == BIAS ? 0.0f : (float)sqrt(2.0 / features(run->layer));
    for (size_t i = 0; i < run->param[index].count; i++) {
        host[i] = index == BIAS ? 0.0f : scale * philox_normal(rng, i);
    }
}

static Status linear_forward(const LayerRun *run, const Backend *be, const float *inp, int N) {
    return op_matmul_forward(be, run->out.data, inp, run->param[WEIGHT].data, run->param[BIAS].data,
                             N, features(run->layer), run->layer->units);
}

static Status linear_backward(const LayerRun *run, const Backend *be, float *dout, const float *inp,
                              int N) {
    int C = features(run->layer), OC = run->layer->units;
    TRY(op_matmul_backward_weight(be, run->grad[WEIGHT].data, dout, inp, false, N, C, OC));
    TRY(op_matmul_backward_bias(be, run->grad[BIAS].data, dout, false, N, OC));
    if (run->dinp.data == NULL) {
        return STATUS_OK;
    }
    return op_matmul_backward_input(be, run->dinp.data, dout, run->param[WEIGHT].data, N, C, OC);
}

const LayerKind linear_kind = {
    .name = "linear",
    .arguments = "UNITS",
    .forward_op = OP_matmul_forward,
    .shape = linear_shape,
    .params = linear_params,
    .init = linear_init,
    .forward = linear_forward,
    .backward = linear_backward,
};

/* relu, sigmoid, tanh: element by element, nothing to learn. The gradient needs only the output. */
#include "nn/layer.h"
#include "ops/front.h"

static Status same_shape(Layer *layer) {
    int count;
    TRY(shape_count(&count, layer->name, layer->inp));
    layer->out = layer->inp;
    return STATUS_OK;
}

/* Elements of a batch of N samples. */
static size_t batch_count(const LayerRun *run, int N) {
    return run->out.count / (size_t)run->out.dim[0] * (size_t)N;
}

#define ACTIVATION(activation)                                                                     \
    static Status activation##_forward(const LayerRun *run, const Backend *be, const float *inp,   \
                                       int N) {                                                    \
        return op_##activation##_forward(be, run->out.data, inp, batch_count(run, N));             \
    }                                                                                              \
                                                                                                   \
    static Status activation##_backward(const LayerRun *run, const Backend *be, float *dout,       \
                                        const float *inp, int N) {                                 \
        (void)inp;                                                                                 \
        if (run->dinp.data == NULL) {                                                              \
            return STATUS_OK;                                                                      \
        }                                                                                          \
        return op_##activation##_backward(be, run->dinp.data, dout, run->out.data,                 \
                                          batch_count(run, N));                                    \
    }                                                                                              \
                                                                                                   \
    const LayerKind activation##_kind = {                                                          \
        .name = #activation,                                                                       \
        .arguments = "",                                                                           \
        .forward_op = OP_##activation##_forward,                                                   \
        .shape = same_shape,                                                                       \
        .forward = activation##_forward,                                                           \
        .backward = activation##_backward,                                                         \
    };

ACTIVATION(relu)
ACTIVATION(sigmoid)
ACTIVATION(tanh)

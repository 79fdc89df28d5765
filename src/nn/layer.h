/* Layers: the kinds that exist, and one layer of one model. A kind is one row of functions in a
 * file of its own; a model holds layers, a run holds their tensors. */
#ifndef LOCKSTEP_LAYER_H
#define LOCKSTEP_LAYER_H

#include "base/memory.h"
#include "base/philox.h"
#include "ops/backend.h"

enum { LAYER_MAX_PARAMS = 2, LAYER_NAME_BYTES = 32, SHAPE_MAX_RANK = 3 };

/* The shape of one sample, without the batch: (C,H,W) or (features). */
typedef struct Shape {
    int rank;
    int dim[SHAPE_MAX_RANK];
} Shape;

/* The elements of a shape; fails with what's name when they pass INT_MAX. */
Status shape_count(int *count, const char *what, Shape shape);

typedef struct LayerKind LayerKind;

/* One layer of a model: what it is, not what it has learned. */
typedef struct Layer {
    const LayerKind *kind;
    char name[LAYER_NAME_BYTES];
    int units;      /* linear: output features; 0 elsewhere */
    int line;       /* of the model file, for messages */
    Shape inp, out; /* of one sample */
} Layer;

/* The tensors of one layer in one run. Shapes hold the largest batch; N below is this batch's. */
typedef struct LayerRun {
    const Layer *layer;
    int param_count;
    Tensor param[LAYER_MAX_PARAMS]; /* "fc1.weight" (OC,C), "fc1.bias" (OC) */
    Tensor grad[LAYER_MAX_PARAMS];
    Tensor out;  /* (N, out) */
    Tensor dinp; /* (N, inp); data stays NULL for the first layer, whose input learns nothing */
} LayerRun;

struct LayerKind {
    const char *name;      /* as in model files: "linear" */
    const char *arguments; /* behind the layer's name: "UNITS", or "" */
    OpId forward_op;       /* what forward calls, for messages */
    /* layer->out from layer->inp and units; the layer's name and line are in the message already */
    Status (*shape)(Layer *layer);
    /* Gives run->param their names and shapes (and param_count); NULL: nothing to learn. */
    Status (*params)(LayerRun *run);
    /* Fills host (params[index].count) with the first weights; counter-based, so alike everywhere.
     */
    void (*init)(const LayerRun *run, int index, float *host, Philox rng);
    Status (*forward)(const LayerRun *run, const Backend *be, const float *inp, int N);
    /* Fills run->grad, and run->dinp unless its data is NULL. dout is the next layer's dinp and may
     * be overwritten. inp is what forward was given. */
    Status (*backward)(const LayerRun *run, const Backend *be, float *dout, const float *inp,
                       int N);
};

extern const LayerKind linear_kind, relu_kind, sigmoid_kind, tanh_kind;

/* Finds a kind by its name; fails with the list of all and the nearest match. */
Status layer_kind_find(const LayerKind **kind, const char *name);

#endif

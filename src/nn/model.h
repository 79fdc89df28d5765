/* Models: a list of named layers and a loss, from a preset's name, a short form or a model file. */
#ifndef LOCKSTEP_MODEL_H
#define LOCKSTEP_MODEL_H

#include "nn/layer.h"

enum { MODEL_MAX_LAYERS = 64, MODEL_NAME_BYTES = 128 };

typedef struct Model {
    char name[MODEL_NAME_BYTES]; /* as it was asked for */
    Shape input;                 /* of one sample */
    int class_count;             /* the last layer's features */
    int layer_count;
    Layer layers[MODEL_MAX_LAYERS];
} Model;

/* A preset (mlp), its short form (mlp:784-512-256-10: features from input to classes, ReLU between)
 * or the path of a model file; shaped for samples of the given shape and class_count classes.
 * Fails when the model's own input or classes differ from these, naming the layer. */
Status model_load(Model *model, const char *name_or_file, Shape input, int class_count);

/* The same from the text of a model file. `where` stands before line numbers in messages. */
Status model_parse(Model *model, const char *where, const char *text, Shape input, int class_count);

/* Writes the model as a model file's text; model_parse of it gives the same model. Returns text,
 * cut short if it does not fit. */
char *model_text(char *text, size_t text_bytes, const Model *model);

/* The presets' names and one line about each: model_preset(i, &about), NULL past the end. */
const char *model_preset(int index, const char **about);

/* Learned numbers in all layers. */
size_t model_param_count(const Model *model);

#endif

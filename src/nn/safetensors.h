/* Weights in the safetensors format (github.com/huggingface/safetensors): 8 bytes with the header's
 * length, little end first; the header, a JSON object of name -> dtype, shape, data_offsets; then
 * the values. Names and layouts are PyTorch's: "fc1.weight" (OC,C), "fc1.bias" (OC). */
#ifndef LOCKSTEP_SAFETENSORS_H
#define LOCKSTEP_SAFETENSORS_H

#include "nn/train.h"

/* Does the name end in .safetensors? */
bool safetensors_is(const char *path);

/* Writes the run's weights. Atomic: on failure the old file is untouched. STATUS_NO, and nothing
 * written, when a weight is not finite. */
Status safetensors_save(const char *path, const Run *run);

/* Fills a started run's weights. The file must hold exactly the model's tensors as F32, and its
 * values must fill it without gap or overlap; everything is checked before the first is taken. */
Status safetensors_load(const char *path, Run *run);

#endif

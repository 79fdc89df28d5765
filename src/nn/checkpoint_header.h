/* The JSON header of a checkpoint, made and parsed. */
#ifndef LOCKSTEP_CHECKPOINT_HEADER_H
#define LOCKSTEP_CHECKPOINT_HEADER_H

#include <cjson/cJSON.h>

#include "nn/checkpoint.h"

/* The header as text, to be freed with cJSON_free; NULL when there is no memory. */
char *checkpoint_header_make(const Run *run, const CheckpointState *state);

/* Fills *state; fails on keys that are missing, of the wrong type or out of range. */
Status checkpoint_header_parse(CheckpointState *state, const cJSON *header);

/* Fails unless the index-th tensor of the header has the name and shape of this one. */
Status checkpoint_header_check_tensor(const cJSON *header, int index, const Tensor *tensor);

#endif

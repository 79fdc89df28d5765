/* Checkpoints: everything that a run needs to go on as if it had never stopped.
 *
 *     bytes 0-7    "LOCKSTEP"
 *     bytes 8-11   version, 12-15 length of the header; 32 bits, little end first
 *     header       JSON: model, data, options, step, and the tensors' names and shapes
 *     tensors      fp32, little end first, in the header's order: each parameter, then its
 *                  optimizer state
 *     last 4       CRC-32 of everything before
 *
 * Shuffles depend on seed and epoch alone, so weights, optimizer state and the step's number are
 * all that a run is. */
#ifndef LOCKSTEP_CHECKPOINT_H
#define LOCKSTEP_CHECKPOINT_H

#include "base/outfile.h"
#include "nn/train.h"

enum {
    CHECKPOINT_VERSION = 1,
    CHECKPOINT_MODEL_BYTES = 8192,
    CHECKPOINT_WORD_BYTES = 64,
    CHECKPOINT_MAX_KERNELS = 16,
};

/* When a run is over; the one that is not 0 decides. */
typedef struct TrainGoal {
    int64_t epochs, steps;
    double seconds; /* of training steps; evaluation and saving are not counted */
} TrainGoal;

/* What a checkpoint says beside its tensors. */
typedef struct CheckpointState {
    char model_name[MODEL_NAME_BYTES], model_text[CHECKPOINT_MODEL_BYTES];
    char data_name[DATASET_NAME_BYTES];
    char data_print[CHECKPOINT_WORD_BYTES * 2]; /* data_fingerprint */
    char backend[CHECKPOINT_WORD_BYTES], version[CHECKPOINT_WORD_BYTES];
    char kernels[CHECKPOINT_MAX_KERNELS][CHECKPOINT_WORD_BYTES * 2]; /* "op=name", as chosen */
    int kernel_count;
    int threads;
    TrainOptions options;
    TrainGoal goal;
    int64_t step;
    double seconds;
} CheckpointState;

typedef struct Checkpoint Checkpoint;

/* Writes the run's tensors with state, whose step, model_text and options are taken from the run.
 * Atomic: on failure the old file is untouched. STATUS_NO, and nothing written, when a weight is
 * not finite: a diverged run must not replace a good checkpoint. */
Status checkpoint_save(const char *path, const Run *run, const CheckpointState *state);

/* Appends a tensor of the run, by way of host, which holds at least as much. STATUS_NO as above. */
Status checkpoint_write_tensor(OutFile *out, const Run *run, const Tensor *tensor, float *host);

/* Does the file begin as a checkpoint does? */
bool checkpoint_is(const char *path);

/* Reads and checks a whole file: mark, version, length, checksum, header. Free with
 * checkpoint_free. */
Status checkpoint_load(Checkpoint **checkpoint, const char *path);
const CheckpointState *checkpoint_state(const Checkpoint *checkpoint);

/* Fills a started run's tensors and makes its next step the one after the checkpoint's. Fails,
 * naming the tensor, when the run's tensors are not those of the file. */
Status checkpoint_restore(const Checkpoint *checkpoint, Run *run);

void checkpoint_free(Checkpoint *checkpoint); /* NULL is fine */

/* text = sizes and checksums of both splits: equal texts mean equal data. Returns text. */
char *data_fingerprint(char *text, size_t text_bytes, const Dataset *data);

#endif

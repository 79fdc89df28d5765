/* A run's whole state in host memory: weights, what the optimizer remembers, and where it stands in
 * the data. Put into another run of the same model, it makes that run go on from here. */
#ifndef LOCKSTEP_SNAPSHOT_H
#define LOCKSTEP_SNAPSHOT_H

#include "nn/train.h"

typedef struct Snapshot {
    float *values; /* the weights of all tensors, in the run's order; then the optimizer's state */
    int64_t step, epoch;
    int position;
} Snapshot;

size_t snapshot_weight_count(const Run *run); /* of the first part of values */

/* Memory for a snapshot of this run or one like it. After a failure there is nothing to free. */
Status snapshot_init(Snapshot *snapshot, const Run *run);
void snapshot_free(Snapshot *snapshot); /* a zeroed one is fine */

Status snapshot_take(Snapshot *snapshot, const Run *run);
Status snapshot_take_weights(Snapshot *snapshot, const Run *run);       /* the weights alone */
void snapshot_copy(Snapshot *to, const Snapshot *from, const Run *run); /* both of runs like it */
Status snapshot_put(Run *run, const Snapshot *snapshot);

#endif

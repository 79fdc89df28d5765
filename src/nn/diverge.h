/* What to say when a loss is not finite. */
#ifndef LOCKSTEP_DIVERGE_H
#define LOCKSTEP_DIVERGE_H

#include "nn/train.h"

/* STATUS_NO, naming step, operation and element of the first NaN or infinity of the forward pass
 * over N samples whose tensors the run still holds, weights not yet updated. */
Status run_name_divergence(Run *run, int N);

#endif

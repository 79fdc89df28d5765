/* Do all backends learn the same? (see agree.c for how the bounds are derived) */
#ifndef LOCKSTEP_AGREE_H
#define LOCKSTEP_AGREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/tensor.h"

/* One comparison, of one tensor or the loss: distance is ||a - b|| (L2, in double). */
typedef struct AgreeFinding {
    bool any;                     /* false: nothing was compared yet */
    int64_t step;                 /* the step whose result was compared, from 1 */
    int runner;                   /* which runner, against the referee */
    char what[TENSOR_NAME_BYTES]; /* "fc1.weight", or "loss" */
    double distance, bound;
} AgreeFinding;

typedef struct Agreement {
    bool agree;
    int referee; /* the runner the others are compared with; no truth, only a fixed point */
    int step_checks, course_checks;
    int second_looks;          /* checks of a step that took more than one batch to decide */
    AgreeFinding step, course; /* the comparisons that came closest to their bounds */
    AgreeFinding fault;        /* the first that passed its bound */
    bool fault_is_step;        /* from one step of equal weights; otherwise from the whole course */
} Agreement;

#endif

/* Do all backends of a race learn the same? Two checks, with bounds measured in the race itself
 * (bounds.h says how and why): one step from equal weights, sharp; and the whole course, loose. */
#ifndef LOCKSTEP_AGREE_H
#define LOCKSTEP_AGREE_H

#include <stdbool.h>
#include <stdint.h>

#include "nn/train.h"

enum { AGREE_MAX_RUNS = 8 };

/* One comparison of a run with the referee. */
typedef struct AgreeFinding {
    bool any;     /* false: nothing was compared yet */
    int64_t step; /* the step whose result was compared, from 1 */
    int run;
    char what[TENSOR_NAME_BYTES]; /* "fc1.weight", or "loss" */
    double distance, bound;       /* L2 norms */
} AgreeFinding;

typedef struct Agreement {
    bool agree;
    int referee; /* the run the others are compared with: no truth, only a fixed point */
    int step_checks, course_checks;
    int second_looks;          /* times that a step took more than one batch to judge */
    AgreeFinding step, course; /* the comparisons that came nearest to their bounds */
    AgreeFinding fault;        /* the first that passed its bound */
    bool fault_is_step;        /* of one step from equal weights; else of the whole course */
} Agreement;

typedef struct Agree Agree;

/* runs[0..count-1], all started and at step 0, outlive the judge. It makes one more run on the
 * referee's backend, the twin. Free with agree_destroy. */
Status agree_create(Agree **agree, Run *const *runs, int count, int referee);

/* After every round of one step each: the twin's step, on nobody's clock. losses[i] is run i's
 * running loss. */
Status agree_round(Agree *agree, const double *losses);

/* The checks, between rounds; of the course from step 2 on. They leave the runs as they were, costs
 * included. What they find is in the verdict; they fail only when a step fails. After a fault they
 * do nothing. */
Status agree_check_step(Agree *agree);
Status agree_check_course(Agree *agree);

const Agreement *agree_verdict(const Agree *agree);

void agree_destroy(Agree *agree); /* NULL is fine */

/* The mean of about the latest 50 losses, taken forward by one. steps: done with this one. */
double agree_running_loss(double before, double loss, int64_t steps);

#endif

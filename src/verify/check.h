/* The checker: runs one call on one backend between canaries, on poisoned outputs, and judges every
 * element against the reference and its bound. What it must reject is listed in mutants.h. */
#ifndef LOCKSTEP_CHECK_H
#define LOCKSTEP_CHECK_H

#include "verify/reference.h"

typedef enum CheckFault {
    CHECK_OK,
    CHECK_REFUSED,       /* the front or synchronize failed; message says how */
    CHECK_OVERRUN,       /* a canary before or after an array was overwritten */
    CHECK_INPUT_CHANGED, /* an input differs after the call */
    CHECK_GAP_CHANGED,   /* an element between a row's end and the next row was written */
    CHECK_UNWRITTEN,     /* an output still holds the poison */
    CHECK_NAN,           /* NaN or infinity where the reference has a number */
    CHECK_OUT_OF_BOUND,  /* the error is larger than the bound */
    CHECK_NO_BOUND,      /* the data are so ill-conditioned that nothing can be said */
    CHECK_UNSTEADY,      /* two runs differ in some bit */
    CHECK_FAULT_COUNT
} CheckFault;

/* "out of bound" */
const char *check_fault_name(CheckFault fault);

typedef struct CheckResult {
    CheckFault fault;
    const char *arg;              /* name of the argument at fault, or with the worst element */
    size_t index;                 /* of the element there, row-major without gaps */
    double got, expected, bound;  /* of that element */
    double headroom;              /* largest error / bound of all elements; 0: exact */
    size_t wrong_count, wrong_of; /* elements at fault, elements of the argument */
    char message[256];            /* one line: where and what; "" when all is well */
} CheckResult;

/* Judges one element: the error must be <= the bound, and every comparison with NaN is a no.
 * *headroom = error / bound. Where the reference has NaN or infinity the result must have it too; a
 * value that overflows fp32 itself may be infinite. */
CheckFault check_element(double got, Approx expected, double *headroom);

/* Runs call on the opened backend and fills *result. The call's inputs lie in host memory (outputs
 * are not looked at and may be NULL, except that an output with an input's address runs in place).
 * Between rows (leading dimensions) the checker puts NaNs of its own. With twice, the call runs a
 * second time on the same inputs and must give the same bits. Fails only when the check itself
 * could not be made (memory, transfers); a wrong kernel is a result. */
Status check_call(CheckResult *result, const Backend *backend, const OpCall *call,
                  const Reference *reference, bool twice);

#endif

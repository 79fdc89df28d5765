/* The reference: for every operation the true value of each output element, in double from the fp32
 * inputs, and a bound on how far an fp32 kernel may be from it. The bound is componentwise and
 * derived from the operation, the length of its reductions and the data; nobody sets a tolerance by
 * hand. An error of 0 means that the result is exact: fill, copy, transpose, max, argmax, relu. */
#ifndef LOCKSTEP_REFERENCE_H
#define LOCKSTEP_REFERENCE_H

#include "ops/spec.h"
#include "verify/approx.h"

typedef struct Reference {
    const OpSpec *spec;
    Approx *expected[SPEC_MAX_ARGS]; /* of each output, row-major without gaps; NULL for inputs */
    size_t count[SPEC_MAX_ARGS];     /* its elements */
} Reference;

/* Computes what the call should give. The call's arguments lie in host memory and hold the inputs;
 * nothing there is changed, and outputs are not read. Labels must be in range. Fails when there is
 * no memory. The caller releases. */
Status reference_compute(Reference *reference, const OpCall *call);
void reference_release(Reference *reference);

/* ---- for the files reference_*.c ------------------------------------------------------------- */

/* One per operation: fills the outputs of *reference, which are allocated. */
typedef void reference_fn(const OpCall *call, const Reference *reference);
#define REFERENCE_DECLARATION(op) reference_fn reference_##op;
OPERATIONS(REFERENCE_DECLARATION)
#undef REFERENCE_DECLARATION

/* Arguments, sizes and options by their names in the specification, which must exist. */
const float *reference_in(const OpCall *call, const char *name);
const int32_t *reference_labels(const OpCall *call, const char *name);
Approx *reference_out(const Reference *reference, const char *name);
size_t reference_size(const OpCall *call, const char *name);
/* The fp32 that the kernel is given. */
double reference_option(const OpCall *call, const char *name);

#endif

/* Test cases for an operation: shapes at the edges, and inputs and options made from a seed. The
 * same operation, shape and seed give the same case on every machine. */
#ifndef LOCKSTEP_VERIFY_CASES_H
#define LOCKSTEP_VERIFY_CASES_H

#include "ops/spec.h"

enum { CASE_TEXT_BYTES = 192 };

typedef struct Case {
    OpCall call; /* inputs in host memory; outputs NULL, or an input's address: in place */
    uint64_t seed;
    const char *data; /* the distribution's name: "normal", "wide", "denormal", ... */
    size_t elements;  /* of all arguments together */
    void *owned[SPEC_MAX_ARGS];
} Case;

/* The index-th shape to try: first the listed edges (0, 1, primes, tile sizes and their neighbours,
 * wide, tall, large), then random ones. */
void case_shape(size_t dim[SPEC_MAX_DIMS], OpId op, int index, uint64_t seed);

/* Makes the case of this shape and seed; the caller releases. Fails when there is no memory. */
Status case_make(Case *c, OpId op, const size_t dim[SPEC_MAX_DIMS], uint64_t seed);
void case_release(Case *c);

/* "65x129x127" */
char *case_shape_text(char text[CASE_TEXT_BYTES], const OpCall *call);
/* "normal data, alpha=2.25 trans_a=1, out in place of a" */
char *case_text(char text[CASE_TEXT_BYTES], const Case *c);

/* "65x129x127" to sizes. Fails when it is not as many numbers as the operation has dimensions. */
Status case_parse_shape(size_t dim[SPEC_MAX_DIMS], OpId op, const char *text);

#endif

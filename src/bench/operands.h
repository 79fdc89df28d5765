/* The arrays of one call of an operation: made once on the host, copied to each backend. */
#ifndef LOCKSTEP_OPERANDS_H
#define LOCKSTEP_OPERANDS_H

#include "bench/peak.h"
#include "ops/spec.h"

typedef struct Operands {
    OpCall call; /* arguments on the host or on a backend's device */
    size_t count[SPEC_MAX_ARGS];
    size_t bytes[SPEC_MAX_ARGS];
} Operands;

/* Host arrays for a call whose sizes and options are set: uniform in [-1, 1), [0, 1) where the
 * argument is never negative, labels below their dimension; outputs are poisoned (NaN, INT32_MIN).
 * Values repeat after 65,521 elements, a prime, so that no row equals the one before. Fails when
 * memory is short, with what is needed. Freed by operands_release_host. */
Status operands_make(Operands *host, const OpCall *call, uint64_t seed);
void operands_release_host(Operands *host);

/* Copies of the host's arrays on the backend's device; freed by operands_release. */
Status operands_upload(Operands *device, const Operands *host, const Backend *be);
/* Writes the host's values over those that are there, outputs' poison included. */
Status operands_refresh(Operands *device, const Operands *host, const Backend *be);
/* Copies the written arguments back into host arrays of the same call. */
Status operands_download(Operands *host, const Operands *device, const Backend *be);
void operands_release(Operands *device, const Backend *be);

/* Bytes of all arguments. */
size_t operands_bytes(const Operands *operands);

/* Is there nothing to read? */
bool operands_writes_only(const OpCall *call);

/* Does the call give the same again when it is repeated? Not when it reads what it wrote. */
bool operands_repeatable(const OpCall *call);

/* STATUS_NO with argument, index and both values where an output of `got` differs from `expected`
 * by more than 1e-4 of its largest magnitude, or is not a number there and a number here. Integers
 * must be equal. A coarse sieve for wrong results; `lockstep verify` is the judge. */
Status operands_compare(const Operands *got, const Operands *expected);

#endif

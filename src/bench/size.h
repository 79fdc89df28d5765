/* Sizes as they are typed: 512 (every dimension) or one number for each, 64x784x128. */
#ifndef LOCKSTEP_SIZE_H
#define LOCKSTEP_SIZE_H

#include "ops/spec.h"

/* Sets the call's dimensions. STATUS_BAD names the operation's dimensions in their order. */
Status size_set(OpCall *call, const char *size);

/* What an operation is measured at when nothing is asked for: some megabytes, or 512 cubed. */
const char *size_default(const OpSpec *spec);

#endif

/* The rows behind spec_of. */
#ifndef LOCKSTEP_SPEC_TABLE_H
#define LOCKSTEP_SPEC_TABLE_H

#include "ops/spec.h"

extern const OpSpec spec_table[OP_COUNT];

#endif

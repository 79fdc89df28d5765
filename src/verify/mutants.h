/* Mutants: wrong kernels, each with one fault that real projects shipped or easily could. The
 * checker must reject every one; a survivor is a defect of the checker or of its cases.
 *
 * Two kinds. A corruption runs the right kernel and then spoils its result in a given argument (not
 * written, a NaN, one element off, ...); it exists for every operation and argument where it is
 * truly wrong. A written mutant is a kernel in plain C with a fault of its own. */
#ifndef LOCKSTEP_MUTANTS_H
#define LOCKSTEP_MUTANTS_H

#include "ops/spec.h"

typedef struct Mutant Mutant;

/* Calls the right kernel and spoils argument mutant->arg. */
typedef Status corruption_fn(const Backend *backend, const OpCall *call, const Mutant *mutant);

struct Mutant {
    OpId op;
    const char *name; /* "last_not_written" */
    int arg;          /* the argument that a corruption spoils */
    corruption_fn *corruption;
    const Kernel *written; /* where there is no corruption */
};

/* The index-th mutant of op, false past the last. */
bool mutant_at(Mutant *mutant, OpId op, int index);

/* Makes mutant the kernel of its operation: *spec is its specification, to stand in
 * call->spec, and backend (of host memory for written ones) gets its function. spec must outlive
 * the calls. */
typedef struct MutantSpec {
    OpSpec spec; /* first, so that a pointer to it is one to the whole */
    Mutant mutant;
} MutantSpec;
void mutant_install(MutantSpec *spec, Backend *backend, const Mutant *mutant);

/* The written mutants, one table for each family of operations; NULL ends the list. */
extern const Kernel *const mutant_tables[];
extern const Kernel mutants_vector[], mutants_matmul[], mutants_network[], mutants_optimizer[];

/* The corruptions (mutants_generic.c): the index-th of argument arg of op; false past the last. */
bool mutant_corruption(Mutant *mutant, OpId op, int arg, int index);

#endif

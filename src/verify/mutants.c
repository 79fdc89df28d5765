/* The list of all mutants: for each operation its corruptions, argument by argument, then the
 * written ones. */
#include "verify/mutants.h"

const Kernel *const mutant_tables[] = {mutants_vector, mutants_matmul, mutants_network,
                                       mutants_optimizer, NULL};

/* Steps *index down over the corruptions of op; true when the wanted one was reached. */
static bool find_corruption(Mutant *mutant, OpId op, int *index) {
    for (int arg = 0; spec_of(op)->args[arg].name != NULL; arg++) {
        for (int i = 0; mutant_corruption(mutant, op, arg, i); i++) {
            if ((*index)-- == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool find_written(Mutant *mutant, OpId op, int index) {
    for (int t = 0; mutant_tables[t] != NULL; t++) {
        for (const Kernel *kernel = mutant_tables[t]; kernel->name != NULL; kernel++) {
            if (kernel->op == op && index-- == 0) {
                *mutant = (Mutant){.op = op, .name = kernel->name, .written = kernel};
                return true;
            }
        }
    }
    return false;
}

bool mutant_at(Mutant *mutant, OpId op, int index) {
    return find_corruption(mutant, op, &index) || find_written(mutant, op, index);
}

/* The call of a corrupted operation's specification. */
static Status call_corrupted(const Backend *backend, const OpCall *call) {
    const MutantSpec *spec = (const MutantSpec *)call->spec;
    OpCall right = *call;
    right.spec = spec_of(spec->mutant.op);
    return spec->mutant.corruption(backend, &right, &spec->mutant);
}

void mutant_install(MutantSpec *spec, Backend *backend, const Mutant *mutant) {
    *spec = (MutantSpec){.spec = *spec_of(mutant->op), .mutant = *mutant};
    if (mutant->corruption != NULL) {
        spec->spec.call = call_corrupted;
    } else {
        backend->ops.slot[mutant->op] = mutant->written->function;
    }
}

/* The verifier's loops. For each operation: for each case, made and judged once, every kernel. */
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>

#include "verify/mutants.h"

/* Cases of more elements run once only. */
enum { TWICE_BELOW = 1 << 16, MOST_KERNELS = 64 };

/* One kernel under test, on an opened copy of its backend. */
typedef struct Subject {
    Backend backend;
    VerifyRow row;
} Subject;

/* The kernels of op on this backend, or the plan's. */
static Status add_subjects(Subject *subjects, int *count, const VerifyPlan *plan, OpId op,
                           Backend backend) {
    TRY(backend.open(plan->threads));
    if (plan->kernel != NULL) {
        TRY(backend_choose_kernel(&backend, op, plan->kernel));
    }
    const Kernel *kernel;
    for (int i = 0; (kernel = backend_kernel(&backend, op, i)) != NULL; i++) {
        if (*count == MOST_KERNELS || (plan->kernel != NULL && kernel != backend.chosen[op])) {
            continue;
        }
        TRY(backend_choose_kernel(&backend, op, kernel->name));
        subjects[(*count)++] = (Subject){
            .backend = backend,
            .row = {.op = op, .backend = backend.name, .kernel = kernel},
        };
    }
    return STATUS_OK;
}

/* Every backend of the plan that has the kernel of the plan; it must be found somewhere. */
static Status find_subjects(Subject *subjects, int *count, const VerifyPlan *plan, OpId op) {
    Status latest = STATUS_OK;
    Backend backend;
    *count = 0;
    if (plan->instead != NULL) {
        return add_subjects(subjects, count, plan, op, *plan->instead);
    }
    if (plan->backend != NULL) {
        TRY(backend_get(&backend, plan->backend));
        return add_subjects(subjects, count, plan, op, backend);
    }
    for (int b = 0; b < backend_count(); b++) {
        if (backend_runs_unnamed(backend_at(b))) {
            TRY(backend_get(&backend, backend_at(b)->name));
            Status status = add_subjects(subjects, count, plan, op, backend);
            latest = status != STATUS_OK ? status : latest;
        }
    }
    return *count == 0 ? latest : STATUS_OK;
}

static void note_failure(VerifyReport *report, const VerifyRow *row, const Case *c,
                         const CheckResult *result) {
    if (report->listed == VERIFY_LISTED) {
        return;
    }
    VerifyFailure *failure = &report->failures[report->listed++];
    *failure = (VerifyFailure){
        .op = row->op,
        .backend = row->backend,
        .kernel = row->kernel->name,
        .seed = c->seed,
        .result = *result,
    };
    case_shape_text(failure->shape, &c->call);
    case_text(failure->text, c);
}

static Status check_subject(VerifyReport *report, Subject *subject, const Case *c,
                            const Reference *reference) {
    VerifyRow *row = &subject->row;
    bool twice = row->kernel->deterministic && c->elements < TWICE_BELOW;
    CheckResult result;
    TRY(check_call(&result, &subject->backend, &c->call, reference, twice));
    row->checked++;
    report->checked++;
    row->headroom = fmax(row->headroom, result.headroom);
    if (result.fault != CHECK_OK) {
        row->failed++;
        report->failed++;
        note_failure(report, row, c, &result);
    }
    return STATUS_OK;
}

/* The index-th case of op under the plan, and its reference. */
static Status make_case(Case *c, Reference *reference, const VerifyPlan *plan, OpId op, int index) {
    size_t dim[SPEC_MAX_DIMS] = {0};
    uint64_t seed = plan->seed + (uint64_t)index;
    if (plan->shape != NULL) {
        TRY(case_parse_shape(dim, op, plan->shape));
    } else {
        case_shape(dim, op, index, seed);
    }
    TRY(case_make(c, op, dim, seed));
    Status status = reference_compute(reference, &c->call);
    if (status != STATUS_OK) {
        case_release(c);
    }
    return status;
}

static Status verify_case(VerifyReport *report, const VerifyPlan *plan, OpId op, int index,
                          Subject *subjects, int count) {
    Case c;
    Reference reference;
    TRY(make_case(&c, &reference, plan, op, index));
    Status status = STATUS_OK;
    for (int s = 0; s < count && status == STATUS_OK; s++) {
        status = check_subject(report, &subjects[s], &c, &reference);
    }
    reference_release(&reference);
    case_release(&c);
    return status;
}

static Status add_rows(VerifyReport *report, const Subject *subjects, int count,
                       verify_row_fn *row_done) {
    VerifyRow *rows =
        realloc(report->rows, (size_t)(report->row_count + count) * sizeof report->rows[0]);
    if (rows == NULL) {
        return fail("verify: out of memory");
    }
    report->rows = rows;
    for (int s = 0; s < count; s++) {
        rows[report->row_count++] = subjects[s].row;
        if (row_done != NULL) {
            row_done(&subjects[s].row);
        }
    }
    return STATUS_OK;
}

static Status verify_op(VerifyReport *report, const VerifyPlan *plan, OpId op,
                        verify_row_fn *row_done) {
    Subject subjects[MOST_KERNELS];
    int count = 0;
    TRY(find_subjects(subjects, &count, plan, op));
    for (int i = 0; i < plan->cases; i++) {
        TRY(verify_case(report, plan, op, i, subjects, count));
    }
    return add_rows(report, subjects, count, row_done);
}

static Status check_plan(const VerifyPlan *plan) {
    if (plan->op == VERIFY_ALL_OPS && (plan->kernel != NULL || plan->shape != NULL)) {
        return fail("%s needs --op: kernels and shapes belong to one operation",
                    plan->kernel != NULL ? "--kernel" : "--shape");
    }
    if (plan->backend != NULL) {
        Backend backend;
        TRY(backend_get(&backend, plan->backend));
    }
    return STATUS_OK;
}

Status verify_run(VerifyReport *report, const VerifyPlan *plan, verify_row_fn *row_done) {
    TRY(check_plan(plan));
    for (int op = 0; op < OP_COUNT; op++) {
        if (plan->op == VERIFY_ALL_OPS || plan->op == op) {
            TRY(verify_op(report, plan, (OpId)op, row_done));
        }
    }
    return STATUS_OK;
}

/* ---- mutants -------------------------------------------------------------------------------- */

enum { MOST_MUTANTS = 128 };

typedef struct Suspect {
    MutantSpec spec;
    Backend backend;
    bool killed;
} Suspect;

/* All mutants of op, each on a copy of its backend. */
static int find_suspects(Suspect *suspects, OpId op, const Backend *chosen, const Backend *serial) {
    Mutant mutant;
    int count = 0;
    while (count < MOST_MUTANTS && mutant_at(&mutant, op, count)) {
        Suspect *suspect = &suspects[count++];
        *suspect = (Suspect){.backend = mutant.corruption != NULL ? *chosen : *serial};
        mutant_install(&suspect->spec, &suspect->backend, &mutant);
    }
    return count;
}

static Status try_case(Suspect *suspects, int count, int *alive, const Case *c,
                       const Reference *reference) {
    bool twice = c->elements < TWICE_BELOW;
    for (int s = 0; s < count; s++) {
        CheckResult result;
        OpCall call = c->call;
        call.spec = &suspects[s].spec.spec;
        if (suspects[s].killed) {
            continue;
        }
        TRY(check_call(&result, &suspects[s].backend, &call, reference, twice));
        if (result.fault != CHECK_OK) {
            suspects[s].killed = true;
            --*alive;
        }
    }
    return STATUS_OK;
}

static void count_suspects(VerifyReport *report, const Suspect *suspects, int count) {
    for (int s = 0; s < count; s++) {
        const Mutant *mutant = &suspects[s].spec.mutant;
        report->mutants_made++;
        report->mutants_killed += suspects[s].killed;
        if (!suspects[s].killed && report->survivor_count < VERIFY_LISTED) {
            snprintf(report->survivors[report->survivor_count++], sizeof report->survivors[0],
                     "%s %s%s%s", op_name(mutant->op), mutant->name,
                     mutant->corruption != NULL ? " " : "",
                     mutant->corruption != NULL ? spec_of(mutant->op)->args[mutant->arg].name : "");
        }
    }
}

/* The cases are those of the plan, until no mutant is left. */
static Status verify_mutants_of(VerifyReport *report, const VerifyPlan *plan, OpId op,
                                Suspect *suspects, const Backend *chosen, const Backend *serial) {
    int count = find_suspects(suspects, op, chosen, serial), alive = count;
    for (int i = 0; i < plan->cases && alive > 0; i++) {
        Case c;
        Reference reference;
        TRY(make_case(&c, &reference, plan, op, i));
        Status status = try_case(suspects, count, &alive, &c, &reference);
        reference_release(&reference);
        case_release(&c);
        TRY(status);
    }
    count_suspects(report, suspects, count);
    return STATUS_OK;
}

Status verify_mutants(VerifyReport *report, const VerifyPlan *plan) {
    Backend serial, chosen;
    TRY(check_plan(plan));
    TRY(backend_get(&serial, "serial"));
    TRY(serial.open(1));
    TRY(backend_get(&chosen, plan->backend != NULL ? plan->backend : "serial"));
    TRY(chosen.open(plan->threads));
    Suspect *suspects = malloc(MOST_MUTANTS * sizeof suspects[0]);
    if (suspects == NULL) {
        return fail("verify: out of memory");
    }
    Status status = STATUS_OK;
    for (int op = 0; op < OP_COUNT && status == STATUS_OK; op++) {
        if (plan->op == VERIFY_ALL_OPS || plan->op == op) {
            status = verify_mutants_of(report, plan, (OpId)op, suspects, &chosen, &serial);
        }
    }
    free(suspects);
    return status;
}

void verify_report_release(VerifyReport *report) {
    free(report->rows);
    report->rows = NULL;
}

char *verify_command(char text[512], const VerifyFailure *failure) {
    snprintf(text, 512,
             "lockstep verify --op %s --kernel %s --backend %s --shape %s --seed %llu --cases 1",
             op_name(failure->op), failure->kernel, failure->backend, failure->shape,
             (unsigned long long)failure->seed);
    return text;
}

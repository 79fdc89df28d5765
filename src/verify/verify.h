/* The verifier: every chosen operation, backend and kernel over many cases, judged by the checker;
 * and the checker itself, on wrong kernels that it must reject. */
#ifndef LOCKSTEP_VERIFY_H
#define LOCKSTEP_VERIFY_H

#include "verify/cases.h"
#include "verify/check.h"

enum { VERIFY_ALL_OPS = -1, VERIFY_CASES = 64, VERIFY_LISTED = 64 };

/* What to verify. */
typedef struct VerifyPlan {
    int op;                 /* an OpId, or VERIFY_ALL_OPS */
    const char *backend;    /* NULL: every one that can run here and is not emulated */
    const Backend *instead; /* NULL, or one that the registry lacks: a test's, full of faults */
    const char *kernel;     /* NULL: every one; otherwise op must be given */
    const char *shape; /* "MxNxK", NULL: the edges and random ones; otherwise op must be given */
    uint64_t seed;
    int cases;   /* for each operation */
    int threads; /* for the backends */
} VerifyPlan;

/* One kernel's result. */
typedef struct VerifyRow {
    OpId op;
    const char *backend;
    const Kernel *kernel;
    int checked, failed;
    double headroom; /* the largest error / bound of all its cases */
} VerifyRow;

typedef struct VerifyFailure {
    OpId op;
    const char *backend, *kernel;
    uint64_t seed; /* of the case: verify --shape --seed --cases 1 repeats it */
    char shape[CASE_TEXT_BYTES];
    char text[CASE_TEXT_BYTES]; /* what else is special about the case */
    CheckResult result;
} VerifyFailure;

typedef struct VerifyReport {
    VerifyRow *rows;
    int row_count;
    VerifyFailure failures[VERIFY_LISTED]; /* the first ones */
    int listed;
    int checked, failed; /* cases */
    int mutants_made, mutants_killed;
    char survivors[VERIFY_LISTED][96]; /* "softmax_cross_entropy_forward no_max" */
    int survivor_count;
} VerifyReport;

/* Called as each kernel of an operation, or a mutant, is done; may be NULL. */
typedef void verify_row_fn(const VerifyRow *row);

/* Runs the plan into *report (from zero: VerifyReport report = {0}), released by the caller.
 * STATUS_OK when it ran, whatever it found; fails on unknown names, missing backends, memory. */
Status verify_run(VerifyReport *report, const VerifyPlan *plan, verify_row_fn *row_done);

/* Lets the checker judge every mutant of the plan's operations (mutants.h): the generic ones on the
 * plan's backend (NULL: serial), the written ones on serial. Adds to *report. */
Status verify_mutants(VerifyReport *report, const VerifyPlan *plan);

void verify_report_release(VerifyReport *report);

/* The command that repeats a failure. */
char *verify_command(char text[512], const VerifyFailure *failure);

#endif

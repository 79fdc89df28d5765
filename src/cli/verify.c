/* lockstep verify: every operation, backend and kernel against the double-precision reference; with
 * --mutants, the checker against wrong kernels. */
#include <math.h>
#include <stdio.h>

#include "base/threads.h"
#include "cli/cli.h"
#include "verify/verify.h"

enum { DEFAULT_SEED = 20260101 };

/* The worst error as a percentage of its bound. The heading comes with the first row. */
static void print_row(const VerifyRow *row) {
    static bool begun;
    if (!begun) {
        printf("%-30s %-8s %-18s cases  error/bound\n", "operation", "backend", "kernel");
        begun = true;
    }
    printf("%-30s %-8s %-18s %5d  ", op_name(row->op), row->backend, row->kernel->name,
           row->checked);
    if (row->failed > 0) {
        printf("%d FAILED\n", row->failed);
    } else {
        printf("%.1f %%\n", 100.0 * row->headroom);
    }
    fflush(stdout);
}

static void print_failure(const VerifyFailure *failure) {
    char command[512];
    printf("\n%s: %s/%s, %s: %s\n  %s\n  %s\n", op_name(failure->op), failure->backend,
           failure->kernel, failure->shape, check_fault_name(failure->result.fault),
           failure->result.message, failure->text);
    printf("  repeat: %s\n", verify_command(command, failure));
}

static void print_report(const VerifyReport *report, const VerifyPlan *plan, bool mutants) {
    for (int i = 0; i < report->listed; i++) {
        print_failure(&report->failures[i]);
    }
    if (report->failed > report->listed) {
        printf("\n... and %d more failures\n", report->failed - report->listed);
    }
    if (mutants) {
        for (int i = 0; i < report->survivor_count; i++) {
            printf("mutant survived: %s\n", report->survivors[i]);
        }
        printf("mutants: %d made, %d killed\n", report->mutants_made, report->mutants_killed);
    }
    printf("%d of %d cases within their bounds (seed %llu)\n", report->checked - report->failed,
           report->checked, (unsigned long long)plan->seed);
}

/* JSON has no infinity and no NaN. */
static void add_number(cJSON *object, const char *name, double value) {
    if (isfinite(value)) {
        cJSON_AddNumberToObject(object, name, value);
    } else {
        cJSON_AddNullToObject(object, name);
    }
}

static cJSON *failure_json(const VerifyFailure *failure) {
    char command[512];
    const CheckResult *result = &failure->result;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "op", op_name(failure->op));
    cJSON_AddStringToObject(json, "kernel", failure->kernel);
    cJSON_AddStringToObject(json, "backend", failure->backend);
    cJSON_AddStringToObject(json, "shape", failure->shape);
    add_number(json, "worst", fabs(result->got - result->expected));
    add_number(json, "bound", result->bound);
    cJSON_AddNumberToObject(json, "index", (double)result->index);
    cJSON_AddStringToObject(json, "kind", check_fault_name(result->fault));
    cJSON_AddStringToObject(json, "argument", result->arg != NULL ? result->arg : "");
    add_number(json, "got", result->got);
    add_number(json, "expected", result->expected);
    cJSON_AddStringToObject(json, "message", result->message);
    cJSON_AddStringToObject(json, "case", failure->text);
    cJSON_AddNumberToObject(json, "seed", (double)failure->seed);
    cJSON_AddStringToObject(json, "command", verify_command(command, failure));
    return json;
}

static cJSON *row_json(const VerifyRow *row) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "op", op_name(row->op));
    cJSON_AddStringToObject(json, "kernel", row->kernel->name);
    cJSON_AddStringToObject(json, "backend", row->backend);
    cJSON_AddNumberToObject(json, "checked", row->checked);
    cJSON_AddNumberToObject(json, "failed", row->failed);
    add_number(json, "headroom", row->headroom);
    return json;
}

static cJSON *report_json(const VerifyReport *report, const VerifyPlan *plan) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "checked", report->checked);
    cJSON_AddNumberToObject(json, "failed", report->failed);
    cJSON_AddNumberToObject(json, "seed", (double)plan->seed);
    cJSON *failures = cJSON_AddArrayToObject(json, "failures");
    for (int i = 0; i < report->listed; i++) {
        cJSON_AddItemToArray(failures, failure_json(&report->failures[i]));
    }
    cJSON *kernels = cJSON_AddArrayToObject(json, "kernels");
    for (int i = 0; i < report->row_count; i++) {
        cJSON_AddItemToArray(kernels, row_json(&report->rows[i]));
    }
    cJSON *mutants = cJSON_AddObjectToObject(json, "mutants");
    cJSON_AddNumberToObject(mutants, "made", report->mutants_made);
    cJSON_AddNumberToObject(mutants, "killed", report->mutants_killed);
    cJSON *survivors = cJSON_AddArrayToObject(mutants, "survivors");
    for (int i = 0; i < report->survivor_count; i++) {
        cJSON_AddItemToArray(survivors, cJSON_CreateString(report->survivors[i]));
    }
    return json;
}

static Status verdict(const VerifyReport *report) {
    if (report->failed > 0) {
        return fail_no("verify: %d of %d cases failed; first: %s on %s/%s", report->failed,
                       report->checked, op_name(report->failures[0].op),
                       report->failures[0].backend, report->failures[0].kernel);
    }
    if (report->mutants_killed < report->mutants_made) {
        return fail_no("verify: %d of %d mutants survived; first: %s",
                       report->mutants_made - report->mutants_killed, report->mutants_made,
                       report->survivors[0]);
    }
    return STATUS_OK;
}

static Status run_plan(const VerifyPlan *plan, bool mutants, bool json) {
    VerifyReport report = {0};
    Status status = verify_run(&report, plan, json ? NULL : print_row);
    if (status == STATUS_OK && mutants) {
        status = verify_mutants(&report, plan);
    }
    if (status == STATUS_OK) {
        if (json) {
            cli_print_json(report_json(&report, plan));
        } else {
            print_report(&report, plan, mutants);
        }
        status = verdict(&report);
    }
    verify_report_release(&report);
    return status;
}

Status cli_verify(int argc, char **argv) {
    VerifyPlan plan = {.op = VERIFY_ALL_OPS, .cases = VERIFY_CASES};
    const char *op = NULL;
    bool mutants = false, json = false;
    int threads = 0;
    double seed = DEFAULT_SEED;
    const CliOption options[] = {
        {"--op", CLI_STRING, &op, "O", "one operation; default: all", 0, 0},
        {"--backend", CLI_STRING, &plan.backend, "B", "default: all that run here, none emulated",
         0, 0},
        {"--kernel", CLI_STRING, &plan.kernel, "K", "one kernel of --op; default: all", 0, 0},
        {"--shape", CLI_STRING, &plan.shape, "MxNxK", "one shape of --op; default: edges, random",
         0, 0},
        {"--seed", CLI_FLOAT, &seed, "N", "of the first case; default 20260101", 0, 0x1p53},
        {"--cases", CLI_INT, &plan.cases, "N", "for each operation; default 64", 1, 1000000},
        {"--threads", CLI_INT, &threads, "N", "CPU threads; default: the plan", 1, 1024},
        {"--mutants", CLI_FLAG, &mutants, NULL, "also judge the checker by wrong kernels", 0, 0},
        {"--json", CLI_FLAG, &json, NULL, "one JSON object", 0, 0},
        {0},
    };
    TRY(cli_parse(argc, argv,
                  "verify [--op O] [--backend B] [--kernel K] [--shape MxNxK]\n"
                  "                       [--seed N] [--cases N] [--threads N] [--mutants]\n"
                  "                       [--json]",
                  "Judges every kernel against a double-precision reference, with error bounds "
                  "derived from the operation and the data. Exit code 1: something is wrong.",
                  options, NULL));
    if (op != NULL) {
        OpId id = OP_COUNT;
        TRY(op_find(&id, op));
        plan.op = (int)id;
    }
    if (seed != floor(seed)) {
        return fail("--seed %g: expected a whole number", seed);
    }
    ThreadPlan thread_plan;
    TRY(threads_plan(&thread_plan, threads));
    plan.threads = thread_plan.threads;
    plan.seed = (uint64_t)seed;
    return run_plan(&plan, mutants, json);
}

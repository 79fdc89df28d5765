/* lockstep run: one operation on arrays of the user's own. Sizes come from the arrays' shapes and
 * the names in the operation's specification (run_load.c); then the call is made and saved. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "cli/run.h"
#include "data/npy.h"
#include "verify/check.h"

/* ---- running -------------------------------------------------------------------------------- */

/* Host and device memory of argument i: the input's values, or zeros. */
static Status prepare(Run *run, int i, size_t *bytes) {
    const OpArg *a = &run->call.spec->args[i];
    size_t count = 0;
    TRY(call_storage(&run->call, i, &count));
    *bytes = count * dtype_bytes(a->dtype);
    if (run->in[i].data != NULL && run->in[i].count != count) {
        return fail("%s: %s has %zu elements; expected %zu", op_name(run->call.spec->op), a->name,
                    run->in[i].count, count);
    }
    run->host[i] = memory_alloc(*bytes > 0 ? *bytes : 1);
    run->device[i] = run->backend.alloc(*bytes > 0 ? *bytes : 1);
    if (run->host[i] == NULL || run->device[i] == NULL) {
        return fail("%s: out of memory for %zu bytes of %s", op_name(run->call.spec->op), *bytes,
                    a->name);
    }
    memset(run->host[i], 0, *bytes);
    if (run->in[i].data != NULL) {
        memcpy(run->host[i], run->in[i].data, *bytes);
    }
    run->call.arg[i] = run->in[i].data;
    return run->backend.upload(run->device[i], run->host[i], *bytes);
}

/* Arrays on host and device, and what --check needs beside them: images before and after and on the
 * device, and the reference's pairs of double. */
static Status check_memory(const Run *run, bool checks) {
    const OpSpec *spec = run->call.spec;
    char need[32], have[32];
    double bytes = 0.0;
    size_t available = memory_available_bytes();
    for (int i = 0; spec->args[i].name != NULL; i++) {
        size_t count = 0;
        TRY(call_storage(&run->call, i, &count));
        double array = (double)count * (double)dtype_bytes(spec->args[i].dtype);
        bool judged = checks && spec->args[i].role != ARG_IN;
        bytes +=
            (checks ? 5.0 : 2.0) * array + (judged ? (double)sizeof(Approx) * (double)count : 0.0);
    }
    return bytes <= (double)available
               ? STATUS_OK
               : fail("%s: needs %s, but %s are free; use smaller arrays", op_name(spec->op),
                      bytes_text(need, sizeof need, (size_t)fmin(bytes, 0x1p63)),
                      bytes_text(have, sizeof have, available));
}

static Status execute(Run *run) {
    const OpSpec *spec = run->call.spec;
    size_t bytes[SPEC_MAX_ARGS] = {0};
    OpCall on_device = run->call;
    for (int i = 0; spec->args[i].name != NULL; i++) {
        if (!spec->args[i].optional || run->in[i].data != NULL) {
            TRY(prepare(run, i, &bytes[i]));
            on_device.arg[i] = run->device[i];
        }
        on_device.spec = spec;
    }
    memcpy(on_device.dim, run->call.dim, sizeof on_device.dim);
    TRY(spec->call(&run->backend, &on_device));
    TRY(run->backend.synchronize());
    for (int i = 0; spec->args[i].name != NULL; i++) {
        if (run->out_path[i] != NULL) {
            TRY(run->backend.download(run->host[i], run->device[i], bytes[i]));
        }
    }
    return STATUS_OK;
}

/* The shape that argument i is saved with: where any will do, that of the inputs. */
static Status output_tensor(Tensor *tensor, const Run *run, int i) {
    const OpArg *a = &run->call.spec->args[i];
    size_t shape[2] = {1, 1};
    int rank = call_shape(&run->call, i, shape);
    double leading = run_option(&run->call, a->leading);
    int dim[2] = {(int)shape[0], leading != 0.0 ? (int)leading : (int)shape[1]};
    for (int k = 0; strcmp(a->shape, "n") == 0 && k < SPEC_MAX_ARGS; k++) {
        if (run->in[k].data != NULL) {
            return tensor_init(tensor, a->name, a->dtype, run->in[k].rank, run->in[k].dim);
        }
    }
    return tensor_init(tensor, a->name, a->dtype, rank, dim);
}

static Status save(const Run *run, cJSON *outputs) {
    char shape[80];
    for (int i = 0; run->call.spec->args[i].name != NULL; i++) {
        Tensor tensor;
        if (run->out_path[i] == NULL) {
            continue;
        }
        TRY(output_tensor(&tensor, run, i));
        tensor.data = run->host[i];
        TRY(npy_write(run->out_path[i], &tensor));
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "name", tensor.name);
        cJSON_AddStringToObject(row, "shape",
                                shape_text(shape, sizeof shape, tensor.rank, tensor.dim));
        cJSON_AddStringToObject(row, "type", dtype_name(tensor.dtype));
        cJSON_AddStringToObject(row, "file", run->out_path[i]);
        cJSON_AddItemToArray(outputs, row);
    }
    return STATUS_OK;
}

/* The same call once more, between canaries, against the reference. */
static Status check(const Run *run, cJSON *report) {
    Reference reference;
    CheckResult result;
    TRY(reference_compute(&reference, &run->call));
    Status status = check_call(&result, &run->backend, &run->call, &reference, false);
    reference_release(&reference);
    TRY(status);
    cJSON *json = cJSON_AddObjectToObject(report, "check");
    cJSON_AddBoolToObject(json, "ok", result.fault == CHECK_OK);
    cJSON_AddStringToObject(json, "fault", check_fault_name(result.fault));
    cJSON_AddItemToObject(json, "headroom",
                          isfinite(result.headroom) ? cJSON_CreateNumber(result.headroom)
                                                    : cJSON_CreateNull());
    cJSON_AddStringToObject(json, "message", result.message);
    return result.fault == CHECK_OK
               ? STATUS_OK
               : fail_no("%s on %s: %s: %s", op_name(run->call.spec->op), run->backend.name,
                         check_fault_name(result.fault), result.message);
}

static cJSON *report_of(const Run *run) {
    cJSON *report = cJSON_CreateObject();
    cJSON_AddStringToObject(report, "op", op_name(run->call.spec->op));
    cJSON_AddStringToObject(report, "backend", run->backend.name);
    cJSON_AddStringToObject(report, "kernel", run->backend.chosen[run->call.spec->op]->name);
    cJSON_AddStringToObject(report, "device", run->backend.device());
    cJSON *sizes = cJSON_AddObjectToObject(report, "sizes");
    for (int d = 0; run->call.spec->dims[d] != NULL; d++) {
        cJSON_AddNumberToObject(sizes, run->call.spec->dims[d], (double)run->call.dim[d]);
    }
    cJSON_AddArrayToObject(report, "outputs");
    return report;
}

static void print_report(const cJSON *report) {
    const cJSON *row;
    printf("%s, %s/%s on %s\n", cJSON_GetObjectItem(report, "op")->valuestring,
           cJSON_GetObjectItem(report, "backend")->valuestring,
           cJSON_GetObjectItem(report, "kernel")->valuestring,
           cJSON_GetObjectItem(report, "device")->valuestring);
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(report, "outputs")) {
        printf("%s (%s, %s) written to %s\n", cJSON_GetObjectItem(row, "name")->valuestring,
               cJSON_GetObjectItem(row, "shape")->valuestring,
               cJSON_GetObjectItem(row, "type")->valuestring,
               cJSON_GetObjectItem(row, "file")->valuestring);
    }
    const cJSON *check = cJSON_GetObjectItem(report, "check");
    if (cJSON_IsTrue(cJSON_GetObjectItem(check, "ok"))) {
        printf("checked: worst error %.1f %% of its bound\n",
               100.0 * cJSON_GetObjectItem(check, "headroom")->valuedouble);
    }
}

static Status run_and_report(Run *run, bool checks, bool json) {
    TRY(run_load(run));
    TRY(check_memory(run, checks));
    TRY(execute(run));
    cJSON *report = report_of(run);
    Status status = save(run, cJSON_GetObjectItem(report, "outputs"));
    if (status == STATUS_OK && checks) {
        status = check(run, report);
    }
    if (status == STATUS_OK || cJSON_HasObjectItem(report, "check")) {
        if (json) {
            cli_print_json(report);
            return status;
        }
        print_report(report);
    }
    cJSON_Delete(report);
    return status;
}

static Status open_backend(Run *run, const char *backend, const char *kernel, int threads) {
    ThreadPlan plan;
    TRY(backend_get(&run->backend, backend));
    if (kernel != NULL) {
        TRY(backend_choose_kernel(&run->backend, run->call.spec->op, kernel));
    }
    TRY(threads_plan(&plan, threads));
    return run->backend.open(plan.threads);
}

Status cli_run(int argc, char **argv) {
    const char *backend = "serial", *kernel = NULL;
    CliList operands = {0}, in = {0}, out = {0}, set = {0};
    bool checks = false, json = false;
    int threads = 0;
    const CliOption options[] = {
        {"--backend", CLI_STRING, &backend, "B", "where to run; default serial", 0, 0},
        {"--kernel", CLI_STRING, &kernel, "K", "which kernel; default the backend's", 0, 0},
        {"--in", CLI_REPEAT, &in, "x=F.npy", "an input array, for each argument that is read", 0,
         0},
        {"--out", CLI_REPEAT, &out, "y=F.npy", "where to write an output", 0, 0},
        {"--set", CLI_REPEAT, &set, "eps=1e-5", "an option, or a size that no array gives", 0, 0},
        {"--threads", CLI_INT, &threads, "N", "CPU threads; default: the plan", 1, 1024},
        {"--check", CLI_FLAG, &checks, NULL, "judge the result against the reference", 0, 0},
        {"--json", CLI_FLAG, &json, NULL, "one JSON object", 0, 0},
        {0},
    };
    const char *synopsis =
        "run OP [--backend B] [--kernel K] --in x=F.npy ...\n"
        "                    [--set eps=1e-5 ...] --out y=F.npy [--check] [--json]";
    TRY(cli_parse(argc, argv, synopsis,
                  "Runs one operation on arrays of your own (.npy). lockstep list ops shows "
                  "arguments and options.",
                  options, &operands));
    if (operands.count != 1) {
        return fail("run: name one operation; usage: lockstep %s", synopsis);
    }
    OpId op = OP_COUNT;
    Run run = {.bound_by = {NOT_BOUND, NOT_BOUND, NOT_BOUND}};
    TRY(op_find(&op, operands.items[0]));
    call_init(&run.call, op);
    TRY(run_parse(&run, &set, &in, &out));
    TRY(open_backend(&run, backend, kernel, threads));
    Status status = run_and_report(&run, checks, json);
    run_release(&run);
    return status;
}

/* lockstep race as a command: its JSON, its exit codes. */
#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum { MAX_ARGUMENTS = 24 };

/* Runs the command with the words of `line`; standard output goes to a file. */
static Status run_line(const char *line, FILE *output) {
    char words[512], *argv[MAX_ARGUMENTS];
    int argc = 0;
    snprintf(words, sizeof words, "race %s", line);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    dup2(fileno(output), STDOUT_FILENO);
    Status status = cli_race(argc, argv);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    return status;
}

static char *text_of(FILE *file) {
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    cr_assert_eq(fread(text, 1, (size_t)size, file), (size_t)size);
    return text;
}

#define SMALL "--model mlp:64-16-10 --data optdigits --steps 9 "

Test(race_cli, json_is_one_object_with_the_promised_keys) {
    static const char *const keys[] = {"backend",
                                       "device",
                                       "emulated",
                                       "precision",
                                       "threads",
                                       "images_per_s",
                                       "step_ms",
                                       "samples",
                                       "speedup_serial",
                                       "speedup_best_cpu",
                                       "loss",
                                       "accuracy",
                                       "operations",
                                       "curve",
                                       "time_to_accuracy",
                                       "equal_time_accuracy"};
    FILE *output = tmpfile();
    cr_assert_eq(run_line(SMALL "--backends serial,openmp --json", output), STATUS_OK, "%s",
                 status_message());
    char *text = text_of(output);
    cJSON *object = cJSON_Parse(text);
    cr_assert_not_null(object, "%s", text);
    cr_assert(cJSON_IsObject(cJSON_GetObjectItem(object, "passport")));
    cr_assert(cJSON_IsTrue(cJSON_GetObjectItem(object, "agree")));
    const cJSON *results = cJSON_GetObjectItem(object, "results"), *row;
    cr_assert_eq(cJSON_GetArraySize(results), 2);
    cJSON_ArrayForEach(row, results) {
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            cr_assert_not_null(cJSON_GetObjectItem(row, keys[k]), "%s", keys[k]);
        }
        const cJSON *step = cJSON_GetObjectItem(row, "step_ms");
        cr_assert(cJSON_GetObjectItem(step, "median")->valuedouble > 0.0);
        cr_assert(cJSON_GetObjectItem(step, "iqr")->valuedouble >= 0.0);
        cr_assert_eq(cJSON_GetObjectItem(row, "samples")->valuedouble, 6.0, "9 less the warm-up");
        cr_assert_eq(cJSON_GetObjectItem(row, "steps")->valuedouble, 9.0);
    }
    cJSON_Delete(object);
    free(text);
    fclose(output);
}

Test(race_cli, without_serial_there_is_no_speedup_over_it) {
    FILE *output = tmpfile();
    cr_assert_eq(run_line(SMALL "--backends openmp --json", output), STATUS_OK);
    char *text = text_of(output);
    cJSON *object = cJSON_Parse(text);
    const cJSON *row = cJSON_GetArrayItem(cJSON_GetObjectItem(object, "results"), 0);
    cr_assert(cJSON_IsNull(cJSON_GetObjectItem(row, "speedup_serial")));
    cr_assert_float_eq(cJSON_GetObjectItem(row, "speedup_best_cpu")->valuedouble, 1.0, 1e-12);
    cJSON_Delete(object);
    free(text);
    fclose(output);
}

Test(race_cli, the_summary_names_who_is_absent_and_which_kernels_ran) {
    FILE *output = tmpfile();
    cr_assert_eq(run_line(SMALL "--kernel serial:matmul_forward=naive", output), STATUS_OK, "%s",
                 status_message());
    char *text = text_of(output);
    cr_assert_not_null(strstr(text, "cuda: not built here"), "%s", text);
    cr_assert_not_null(strstr(text, "serial:matmul_forward=naive"), "%s", text);
    cr_assert_not_null(strstr(text, "YES"), "%s", text);
    cr_assert_null(strchr(text, '\033'), "no colours and cursors in a file");
    free(text);
    fclose(output);
}

Test(race_cli, refuses_what_cannot_race_with_the_right_exit_code) {
    static const struct {
        const char *line;
        Status status;
        const char *message;
    } cases[] = {
        {"--view", STATUS_MISSING, "later version"},
        {"--backends cuda", STATUS_MISSING, "cuda"},
        {"--backends serial,openmp,serial", STATUS_BAD, "twice"},
        {"--backends opnmp", STATUS_BAD, "openmp"},
        {"--steps 3 --seconds 3", STATUS_BAD, "one of the two"},
        {"--model mlp:784-10 --data optdigits", STATUS_BAD, "784"},
        {"--data nowhere", STATUS_BAD, "nowhere"},
        {"--optimizer sgdd", STATUS_BAD, "sgd"},
        {"--kernel relu_forward", STATUS_BAD, "OP=K"},
        {"--kernel matmul_forward=nosuch", STATUS_BAD, "naive"},
        {"--backends serial --kernel openmp:matmul_forward=naive", STATUS_BAD, "serial"},
        {"--batch 0", STATUS_BAD, "--batch"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FILE *output = tmpfile();
        cr_expect_eq(run_line(cases[i].line, output), cases[i].status, "%s", cases[i].line);
        cr_expect_not_null(strstr(status_message(), cases[i].message), "%s: %s", cases[i].line,
                           status_message());
        char *text = text_of(output);
        cr_expect_str_empty(text, "%s: nothing on standard output", cases[i].line);
        free(text);
        fclose(output);
    }
}

/* What every command owes its caller, whatever goes wrong: one JSON object where that is asked for,
 * the design's exit code, a message, and no output in a file that it does not belong in. The built
 * program (LOCKSTEP) is run by a shell, which can close its streams. */
#include <cjson/cJSON.h>
#include <sys/wait.h>

#include "data_fixture.h"

static char output[FIXTURE_FILE_BYTES];

/* Runs "$L ..." in the test's folder and returns its exit code (128 + a signal's number);
 * output = what the shell's standard output got. */
static int shell(const char *command) {
    char line[4096], folder[4096];
    const char *program = getenv("LOCKSTEP");
    cr_assert_not_null(getcwd(folder, sizeof folder));
    snprintf(line, sizeof line, "L=$(realpath %s); cd %s; %s", program ? program : "build/lockstep",
             fixture_folder, command);
    FILE *pipe = popen(line, "r");
    cr_assert_not_null(pipe);
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void small_set(void) {
    fixture_open();
    write_small_set();
    mkdir(in_folder("empty"), 0700);
}

TestSuite(cli, .init = small_set, .fini = fixture_close);

#define TRAIN "$L train --data . --backend serial --batch 8 --quiet "

Test(cli, every_failure_under_json_is_one_object_with_the_message_and_the_exit_code) {
    static const struct {
        const char *arguments;
        int code;
    } cases[] = {
        {"nonsense --json", 2},
        {"doctor --json --bogus", 2},
        {"list --json nothing", 2},
        {"train --json --model mlp:0-0", 2},
        {"train --json --model gpt", 3},
        {"train --json --data empty", 2},
        {"train --json --data . --lr 1e30 --steps 50", 1},
        {"race --json --backends nobody", 2},
        {"verify --json --op nothing", 2},
        {"bench --json nothing", 2},
        {"run --json sum", 2},
        {"run --json sum --in x=none.npy --out out=y.npy", 2},
        {"data --json check mnist", 3},
        {"data check --json empty", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char command[256];
        const char *end;
        snprintf(command, sizeof command, "$L %s 2>err", cases[i].arguments);
        cr_assert_eq(shell(command), cases[i].code, "%s", cases[i].arguments);
        cJSON *json = cJSON_ParseWithOpts(output, &end, true);
        cr_assert(cJSON_IsObject(json), "%s: '%s'", cases[i].arguments, output);
        const char *message = cJSON_GetStringValue(cJSON_GetObjectItem(json, "error"));
        cr_assert(message != NULL && message[0] != '\0', "%s: %s", cases[i].arguments, output);
        const cJSON *code = cJSON_GetObjectItem(json, "exit_code");
        cr_assert(cJSON_IsNumber(code) && code->valueint == cases[i].code);
        cJSON_Delete(json);
    }
}

Test(cli, an_answer_of_no_keeps_its_own_object) {
    cr_assert_eq(shell("$L run fill --set n=2 --set value=1 --out x=x.npy --json"), 0);
    cJSON *json = cJSON_Parse(output);
    cr_assert(cJSON_HasObjectItem(json, "outputs"), "%s", output);
    cr_assert_not(cJSON_HasObjectItem(json, "error"));
    cJSON_Delete(json);
}

Test(cli, output_that_cannot_be_written_is_exit_code_2) {
    static const char *const commands[] = {"--help", "help", "train --help", "list ops --json",
                                           "data list"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char command[256];
        snprintf(command, sizeof command, "$L %s >/dev/full 2>err", commands[i]);
        cr_assert_eq(shell(command), 2, "%s", commands[i]);
        snprintf(command, sizeof command, "$L %s >&- 2>err", commands[i]);
        cr_assert_eq(shell(command), 2, "%s, closed", commands[i]);
    }
}

/* The next file opened would get the closed stream's number, and what is printed with it. */
Test(cli, with_closed_streams_no_output_lands_in_a_file) {
    cr_assert_eq(shell("$L train --data . --backend serial --batch 8 --steps 20 --log log "
                       "--save c --trace t <&- >&- 2>&-"),
                 2);
    cr_assert_eq(shell("grep -v '^{\"step\":' log"), 1, "in the log: %s", output);
    cr_assert_eq(shell(TRAIN "--resume c --steps 21 2>&1"), 0, "%s", output);
}

Test(cli, a_limit_on_file_sizes_is_a_message_and_leaves_no_part_of_a_file) {
    cr_assert_eq(shell("ulimit -f 2; $L run fill --set n=9999 --set value=1 --out x=x.npy 2>&1"), 2,
                 "%s", output);
    cr_assert_not_null(strstr(output, "x.npy: cannot write"), "%s", output);
    cr_assert_eq(shell("ls | grep npy"), 1, "left behind: %s", output);
    cr_assert_eq(shell("ulimit -f 1; $L list kernels --json >out"), 2);
}

Test(cli, a_reader_that_goes_away_ends_a_run_as_ctrl_c_does) {
    cr_assert_eq(shell("{ $L train --data . --backend serial --batch 8 --seconds 100 --save c; "
                       "echo $? >code; } | head -1"),
                 0);
    cr_assert_eq(shell("cat code"), 0);
    cr_assert_str_eq(output, "141\n");
    cr_assert_eq(shell(TRAIN "--resume c --steps 1 2>&1"), 0, "%s", output);
}

Test(cli, two_files_of_a_run_cannot_be_one) {
    static const char *const pairs[] = {"--save c --log c", "--save c --trace ./c",
                                        "--log empty/../c --trace c"};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char command[256];
        snprintf(command, sizeof command, TRAIN "--steps 3 %s 2>&1", pairs[i]);
        cr_assert_eq(shell(command), 2, "%s", pairs[i]);
        cr_assert_not_null(strstr(output, "a file of its own"), "%s", output);
    }
    cr_assert_eq(shell(TRAIN "--steps 3 --save w.safetensors && ln w.safetensors link"), 0);
    cr_assert_eq(shell(TRAIN "--steps 3 --resume w.safetensors --log link 2>&1"), 2, "%s", output);
    cr_assert_eq(shell(TRAIN "--steps 3 --resume w.safetensors --save w.safetensors 2>&1"), 0);
}

Test(cli, a_log_takes_the_place_of_a_log_and_of_nothing_else) {
    static const char *const others[] = {"Dear reader,\\n", "no line at all", "{}\\n",
                                         "\\000\\001"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char command[256];
        snprintf(command, sizeof command, "printf '%s' >f; cp f g; " TRAIN "--steps 3 --log f 2>&1",
                 others[i]);
        cr_assert_eq(shell(command), 2, "%s", others[i]);
        cr_assert_not_null(strstr(output, "f:1: not a line of a log"), "%s", output);
        cr_assert_eq(shell("cmp f g"), 0, "the file changed");
    }
    cr_assert_eq(shell("printf '{\"step\":1}\\n{\"st' >f; " TRAIN "--steps 3 --log f && wc -l <f"),
                 0);
    cr_assert_not_null(strstr(output, "\n4"), "three steps and an evaluation: %s", output);
    cr_assert_eq(shell(TRAIN "--steps 3 --save c && " TRAIN
                             "--resume c --steps 5 --log /dev/stdout | grep -c '^{\"step\":'"),
                 0, "a pipe as the log of a resumed run");
}

/* The environment that OpenMP has read, as the system shows it of a running program. */
Test(cli, waiting_threads_are_told_to_sleep_unless_the_user_chose) {
    shell("unset OMP_WAIT_POLICY GOMP_SPINCOUNT; " TRAIN "--epochs 1000000 > out 2>&1 & p=$!; "
          "for i in $(seq 1000); do tr '\\0' '\\n' < /proc/$p/environ | grep '^GOMP_SPINCOUNT=' "
          "&& break; kill -0 $p || break; done; kill -9 $p");
    cr_assert_str_eq(output, "GOMP_SPINCOUNT=1000\n");
    shell("export GOMP_SPINCOUNT=77; " TRAIN "--epochs 1000000 > out 2>&1 & p=$!; "
          "for i in $(seq 1000); do grep -q lockstep /proc/$p/cmdline && break; done; "
          "tr '\\0' '\\n' < /proc/$p/environ | grep '^GOMP_SPINCOUNT='; kill -9 $p");
    cr_assert_str_eq(output, "GOMP_SPINCOUNT=77\n");
}

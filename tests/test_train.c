/* lockstep train as its users meet it: the built program, run as a child. LOCKSTEP names it. */
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "data_fixture.h"

enum { MAX_ARGUMENTS = 40, OUTPUT_BYTES = 1 << 18 };

static char output[OUTPUT_BYTES], errors[OUTPUT_BYTES]; /* of the latest child */
static long file_limit = -1;                            /* bytes a child may write to a file */

/* As in_folder, but every name keeps a path of its own. */
static const char *place(const char *name) {
    enum { MAX_PLACES = 16 };
    static char names[MAX_PLACES][32], paths[MAX_PLACES][600];
    int i = 0;
    while (names[i][0] != '\0' && strcmp(names[i], name) != 0) {
        i++;
        cr_assert_lt(i, MAX_PLACES);
    }
    snprintf(names[i], sizeof names[i], "%s", name);
    snprintf(paths[i], sizeof paths[i], "%s", in_folder(name));
    return paths[i];
}

static void read_text(char *text, const char *path) {
    size_t length = read_file(text, path);
    cr_assert_lt(length, OUTPUT_BYTES);
    text[length] = '\0';
}

/* Splits at spaces; %s stand for paths in the test's folder. */
static void run_child(const char *line) {
    static char words[4096];
    char *arguments[MAX_ARGUMENTS] = {NULL};
    int count = 0;
    snprintf(words, sizeof words, "%s", line);
    const char *program = getenv("LOCKSTEP");
    arguments[count++] = (char *)(program != NULL ? program : "build/lockstep");
    arguments[count++] = "train";
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        arguments[count++] = word;
    }
    struct rlimit limit = {(rlim_t)file_limit, RLIM_INFINITY};
    if (file_limit >= 0) {
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    execv(arguments[0], arguments);
    _exit(127);
}

static pid_t start(const char *line) {
    const char *out_path = place("stdout"), *err_path = place("stderr");
    pid_t child = fork();
    if (child == 0) {
        int out = open(out_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        int err = open(err_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(out, 1);
        dup2(err, 2);
        run_child(line);
    }
    cr_assert_gt(child, 0);
    return child;
}

/* Its exit code, or 256 + the signal that ended it. */
static int finish(pid_t child) {
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    read_text(output, place("stdout"));
    read_text(errors, place("stderr"));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static int train(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int train(const char *format, ...) {
    char line[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return finish(start(line));
}

static void expect(int found, int code, const char *text) {
    cr_assert_eq(found, code, "exit code %d, expected %d; standard error: %s", found, code, errors);
    cr_assert(text == NULL || strstr(errors, text) != NULL, "'%s' is not in: %s", text, errors);
}

static double number(const cJSON *json, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    cr_assert(cJSON_IsNumber(item), "%s is no number", key);
    return item->valuedouble;
}

/* The whole standard output must be one JSON object. */
static cJSON *json_output(void) {
    const char *end;
    cJSON *json = cJSON_ParseWithOpts(output, &end, true);
    cr_assert(cJSON_IsObject(json), "not JSON: %s", output);
    return json;
}

static void small_set(void) {
    fixture_open();
    write_small_set(); /* 50 + 20 images of 3x5, ten classes */
}

TestSuite(train, .init = small_set, .fini = fixture_close);

#define ON_SMALL "--data %s --backend serial --batch 8 "

/* ---- results -------------------------------------------------------------------------------- */

Test(train, json_has_the_keys_that_scripts_rely_on_and_nothing_beside_it) {
    expect(train(ON_SMALL "--epochs 3 --json --plan --kernel relu_forward=naive", fixture_folder),
           0, NULL);
    cJSON *json = json_output();
    cr_assert(cJSON_IsObject(cJSON_GetObjectItem(json, "passport")));
    cr_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(json, "backend")), "serial");
    cr_assert_eq(number(json, "steps"), 21);
    cr_assert_eq(number(json, "epochs"), 3);
    cr_assert_gt(number(json, "seconds"), 0);
    cr_assert_gt(number(json, "images_per_s"), 0);
    cr_assert(isfinite(number(json, "loss")));
    cr_assert(number(json, "accuracy") >= 0 && number(json, "accuracy") <= 1);
    cr_assert(cJSON_IsFalse(cJSON_GetObjectItem(json, "interrupted")));
    const cJSON *memory = cJSON_GetObjectItem(json, "memory");
    cr_assert_gt(cJSON_GetArraySize(cJSON_GetObjectItem(memory, "tensors")), 10);
    cr_assert_str_empty(errors);
    cJSON_Delete(json);
}

Test(train, people_get_the_passport_early_losses_and_each_epoch) {
    expect(train(ON_SMALL "--epochs 2", fixture_folder), 0, NULL);
    static const char *const parts[] = {"passport",     "50 images of 1x3x5", "memory",
                                        "step 1: loss", "step 10: ",          "epoch 1   step 7",
                                        "accuracy",     "done      14"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        cr_assert_not_null(strstr(output, parts[i]), "'%s' is not in: %s", parts[i], output);
    }
    cr_assert_null(strchr(output, '\033'), "escape sequences in a file");
    expect(train(ON_SMALL "--epochs 2 --quiet", fixture_folder), 0, NULL);
    cr_assert_eq(strncmp(output, "done      14", 12), 0, "%s", output);
    expect(train(ON_SMALL "--steps 1 --plan", fixture_folder), 0, NULL);
    cr_assert_not_null(strstr(output, "dfc1.weight"), "%s", output);
}

/* Loss and accuracy at the end of a run with the options given, on standard output's JSON. */
static void result_of(double result[2], const char *options) {
    expect(train("--data %s --batch 8 --epochs 4 --json %s", fixture_folder, options), 0, NULL);
    cJSON *json = json_output();
    result[0] = number(json, "loss");
    result[1] = number(json, "accuracy");
    cJSON_Delete(json);
}

Test(train, the_seed_decides_and_every_backend_gives_nearly_the_same) {
    double one[2], two[2], other[2];
    result_of(one, "--backend serial --seed 7");
    result_of(two, "--backend serial --seed 7");
    result_of(other, "--backend serial --seed 8");
    cr_assert_eq(one[0], two[0]);
    cr_assert_neq(one[0], other[0]);
    result_of(two, "--backend openmp --seed 7 --threads 2");
    cr_assert_float_eq(one[0], two[0], 1e-3);
    result_of(two, "--backend openblas --seed 7 --threads 2");
    cr_assert_float_eq(one[0], two[0], 1e-3);
}

/* ---- refusals ------------------------------------------------------------------------------- */

Test(train, wrong_use_is_named_with_its_cure) {
    static const struct {
        const char *options;
        int code;
        const char *text;
    } cases[] = {
        {"--model mlpp", 2, "did you mean 'mlp'"},
        {"--model gpt", 3, "later version"},
        {"--model /", 2, "model /: cannot be read: Is a directory"},
        {"--model mlp:15-1000000000-10", 2, "the plan needs"},
        {"--model mlp:15-10-3", 2, "3 outputs, but the data has 10 classes"},
        {"--backend opnmp", 2, "did you mean 'openmp'"},
        {"--backend cuda", 3, "not built here"},
        {"--optimizer adm", 2, "did you mean 'adam'"},
        {"--precision bf16", 3, "fp32 only"},
        {"--precision fp31", 2, "unknown precision"},
        {"--kernel relu=naive", 2, "unknown operation"},
        {"--kernel relu_forward=fast", 2, "unknown kernel of relu_forward on serial"},
        {"--kernel relu_forward", 2, "op=kernel"},
        {"--epochs 2 --steps 3", 2, "give one of them"},
        {"--epochs 0", 2, "--epochs"},
        {"--batch 0", 2, "--batch"},
        {"--lr nan", 2, "--lr"},
        {"--threads 5000", 2, "--threads"},
        {"--save-every 10", 2, "needs --save"},
        {"--save x --save-every 10m", 2, "30s"},
        {"--save-every -3 --save x", 2, "--save-every"},
        {"--save /none/x", 2, "/none/x"},
        {"--save /dev/null", 2, "no regular file"},
        {"--log /none/x", 2, "/none/x"},
        {"--trace /none/x", 2, "/none/x"},
        {"--resume /none/x", 2, "/none/x"},
        {"--bogus", 2, "unknown option"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(train("--data %s --backend serial --epochs 1 %s", fixture_folder, cases[i].options),
               cases[i].code, cases[i].text);
        cr_assert_eq(strncmp(errors, "lockstep: ", 10), 0, "%s", errors);
    }
    expect(train("--data /none/folder"), 2, "/none/folder");
}

Test(train, a_run_that_diverges_says_where_and_keeps_the_last_good_checkpoint) {
    expect(train(ON_SMALL "--steps 7 --save %s", fixture_folder, place("c")), 0, NULL);
    expect(train("--resume %s --epochs 9 --lr 1e30 --save %s", place("c"), place("c")), 1,
           "lower --lr");
    cr_assert_not_null(strstr(errors, "step "), "%s", errors);
    expect(train("--resume %s --steps 7 --json", place("c")), 0, NULL);
}

/* ---- checkpoints ---------------------------------------------------------------------------- */

static void expect_same_weights(const char *a, const char *b) {
    static unsigned char x[FIXTURE_FILE_BYTES], y[FIXTURE_FILE_BYTES];
    const char *weights = place("w.safetensors");
    expect(train("--resume %s --save %s", a, weights), 0, NULL);
    size_t size = read_file(x, weights);
    expect(train("--resume %s --save %s", b, weights), 0, NULL);
    cr_assert_gt(size, 1000);
    cr_assert_eq(read_file(y, weights), size);
    cr_assert_eq(memcmp(x, y, size), 0, "the weights differ");
}

/* Killed at a random moment again and again, at any step and within any save; then to the end. */
static void kill_and_compare(const char *options, int kills) {
    enum { LONGEST_MS = 60 };
    char line[2048], begin[1024];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    unsigned seed = (unsigned)now.tv_nsec;
    snprintf(begin, sizeof begin, "--data %s --batch 8 --steps 700 --model mlp:15-40-10 %s",
             fixture_folder, options);
    expect(train("%s --save %s", begin, place("whole")), 0, NULL);
    for (int i = 0; i <= kills; i++) {
        bool resumed = exists(place("broken"));
        snprintf(line, sizeof line, "%s%s --save %s --save-every 1 --log %s",
                 resumed ? "--resume " : begin, resumed ? place("broken") : "", place("broken"),
                 place("log"));
        pid_t child = start(line);
        if (i < kills) {
            struct timespec wait = {0, (long)(rand_r(&seed) % (LONGEST_MS * 1000)) * 1000};
            nanosleep(&wait, NULL);
            kill(child, SIGKILL);
        }
        int code = finish(child);
        cr_assert(code == 0 || (i < kills && code == 256 + SIGKILL), "run %d, seed %u: %d, %s", i,
                  (unsigned)now.tv_nsec, code, errors);
    }
    expect_same_weights(place("whole"), place("broken"));
}

/* The log of a run that was killed and resumed: each step once, in order, to the end. */
static void check_log(const char *path, int last) {
    static char text[OUTPUT_BYTES];
    int steps = 0, evaluations = 0, previous = 0;
    read_text(text, path);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        cJSON *json = cJSON_Parse(line);
        cr_assert_not_null(json, "%s", line);
        int step = (int)number(json, "step");
        bool evaluation = cJSON_HasObjectItem(json, "accuracy");
        cr_assert_geq(step, previous, "%s", line);
        cr_assert(evaluation || step > previous, "twice: %s", line);
        cr_assert(isfinite(number(json, "loss")) && number(json, "seconds") >= 0);
        steps += !evaluation;
        evaluations += evaluation;
        previous = step;
        cJSON_Delete(json);
    }
    cr_assert_eq(previous, last);
    cr_assert_eq(steps, 10 + last / 10 - 1, "%d lines of steps", steps);
    cr_assert_eq(evaluations, last / 7, "%d evaluations", evaluations);
}

Test(train, killed_at_any_moment_and_resumed_it_ends_with_the_same_weights) {
    kill_and_compare("--backend serial --optimizer adam", 12);
    check_log(place("log"), 700);
}

Test(train, killed_and_resumed_on_two_threads_of_openblas_too) {
    kill_and_compare("--backend openblas --optimizer momentum --threads 2", 6);
}

Test(train, a_resumed_run_takes_its_options_from_the_checkpoint) {
    const char *path = place("c");
    expect(train(ON_SMALL "--steps 9 --optimizer adam --seed 5 --save %s --kernel "
                          "relu_forward=naive --model mlp:15-6-10",
                 fixture_folder, path),
           0, NULL);
    expect(train("--resume %s --steps 12 --json", path), 0, NULL);
    cJSON *json = json_output();
    cr_assert_eq(number(json, "first_step"), 9);
    cr_assert_eq(number(json, "steps"), 12);
    cr_assert_eq(number(json, "seed"), 5);
    cr_assert_eq(number(json, "batch"), 8);
    cr_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(json, "optimizer")), "adam");
    cr_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(json, "model")), "mlp:15-6-10");
    cr_assert_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(json, "backend")), "serial");
    cJSON_Delete(json);
    expect(train("--resume %s --json", path), 0, NULL);
    json = json_output();
    cr_assert_eq(number(json, "steps"), 9, "its own goal is reached");
    cJSON_Delete(json);
}

Test(train, a_checkpoint_of_another_run_is_refused_by_the_option_that_differs) {
    const char *path = place("c");
    expect(train(ON_SMALL "--steps 3 --save %s", fixture_folder, path), 0, NULL);
    expect(train("--resume %s --batch 9", path), 2, "--batch 9");
    expect(train("--resume %s --seed 9", path), 2, "--seed 9");
    expect(train("--resume %s --optimizer adam", path), 2, "--optimizer adam");
    expect(train("--resume %s --model mlp:15-7-10", path), 2, "--model mlp:15-7-10");
    expect(train("--resume %s --backend openmp --threads 2", path), 0, "to the bit");
    write_idx(place("t10k-labels-idx1-ubyte"), 9, 1, (uint32_t[]){20});
    expect(train("--resume %s", path), 2, "other data");
    unlink(place("t10k-labels-idx1-ubyte"));
    expect(train("--resume %s", path), 2, "t10k-labels-idx1-ubyte");
}

Test(train, a_full_disk_is_named_and_the_old_checkpoint_stays) {
    static unsigned char before[FIXTURE_FILE_BYTES], after[FIXTURE_FILE_BYTES];
    const char *path = place("c");
    expect(train(ON_SMALL "--steps 3 --save %s", fixture_folder, path), 0, NULL);
    size_t size = read_file(before, path);
    file_limit = (long)size / 2;
    expect(train("--resume %s --steps 30 --save %s --save-every 5", path, path), 2, path);
    cr_assert_not_null(strstr(errors, "not saved at step 5"), "%s", errors);
    file_limit = -1;
    cr_assert_eq(read_file(after, path), size);
    cr_assert_eq(memcmp(before, after, size), 0, "the old checkpoint changed");
    cr_assert(!exists(place("c.lockstep-tmp")));
    file_limit = 200;
    expect(train(ON_SMALL "--steps 30 --log %s", fixture_folder, place("log")), 2, "log");
    file_limit = -1;
}

Test(train, weights_go_out_and_in_as_safetensors) {
    const char *path = place("w.safetensors");
    expect(train(ON_SMALL "--epochs 2 --save %s", fixture_folder, path), 0, NULL);
    expect(train(ON_SMALL "--steps 1 --lr 1e-12 --resume %s --json", fixture_folder, path), 0,
           "weights alone");
    expect(train(ON_SMALL "--model mlp:15-7-10 --resume %s", fixture_folder, path), 2,
           "fc1.weight: the file has shape 128x15, the model 7x15");
}

/* ---- Ctrl-C, log, trace --------------------------------------------------------------------- */

static bool has_lines(const char *path, int wanted) {
    static char text[OUTPUT_BYTES];
    int lines = 0;
    if (exists(path)) {
        read_text(text, path);
        for (const char *c = text; *c != '\0'; c++) {
            lines += *c == '\n';
        }
    }
    return lines >= wanted;
}

Test(train, ctrl_c_ends_with_a_checkpoint_a_report_and_0) {
    char line[2048];
    snprintf(line, sizeof line, ON_SMALL "--seconds 100 --json --save %s --log %s", fixture_folder,
             place("c"), place("log"));
    pid_t child = start(line);
    while (!has_lines(place("log"), 3) && waitpid(child, NULL, WNOHANG) == 0) {
        usleep(1000); /* until it is training */
    }
    kill(child, SIGINT);
    expect(finish(child), 0, NULL);
    cJSON *json = json_output();
    cr_assert(cJSON_IsTrue(cJSON_GetObjectItem(json, "interrupted")));
    double steps = number(json, "steps");
    cr_assert_geq(steps, 3);
    cr_assert_geq(number(json, "accuracy"), 0);
    cJSON_Delete(json);
    expect(train("--resume %s --steps %d --json", place("c"), (int)steps), 0, NULL);
    json = json_output();
    cr_assert_eq(number(json, "first_step"), steps);
    cJSON_Delete(json);
}

Test(train, a_log_that_is_none_is_not_touched_by_a_resumed_run) {
    expect(train(ON_SMALL "--steps 3 --save %s", fixture_folder, place("c")), 0, NULL);
    write_file(place("letter"), "Dear reader,\n", 13);
    expect(train("--resume %s --steps 5 --log %s", place("c"), place("letter")), 2, "letter:1");
    cr_assert_eq(read_file(output, place("letter")), 13);
}

Test(train, a_trace_is_json_whose_operations_lie_inside_their_steps) {
    static char text[FIXTURE_FILE_BYTES];
    expect(train("--data %s --backend openmp --threads 2 --batch 8 --steps 5 --trace %s",
                 fixture_folder, place("t.json")),
           0, NULL);
    size_t length = read_file(text, place("t.json"));
    cJSON *json = cJSON_ParseWithLength(text, length);
    cr_assert_not_null(json);
    const cJSON *event, *step;
    double steps[5][2];
    int step_count = 0, operation_count = 0;
    cr_assert_eq(number(cJSON_GetObjectItem(json, "otherData"), "lost_spans"), 0);
    cJSON_ArrayForEach(step, cJSON_GetObjectItem(json, "traceEvents")) {
        if (strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(step, "name")), "step") == 0) {
            steps[step_count][0] = number(step, "ts");
            steps[step_count++][1] = number(step, "ts") + number(step, "dur");
        }
    }
    cr_assert_eq(step_count, 5);
    cJSON_ArrayForEach(event, cJSON_GetObjectItem(json, "traceEvents")) {
        const char *kind = cJSON_GetStringValue(cJSON_GetObjectItem(event, "cat"));
        double ts = kind != NULL ? number(event, "ts") : 0.0;
        if (kind == NULL || strcmp(kind, "operation") != 0 || ts >= steps[4][1]) {
            continue; /* names, shares, and the evaluation after the last step */
        }
        bool inside = false;
        for (int s = 0; s < 5; s++) {
            inside = inside || (ts >= steps[s][0] - 0.002 &&
                                ts + number(event, "dur") <= steps[s][1] + 0.002);
        }
        cr_assert(inside || ts < steps[0][0], "an operation at %g us lies in no step", ts);
        operation_count += inside;
    }
    cr_assert_geq(operation_count, 5 * 10);
    cJSON_Delete(json);
}

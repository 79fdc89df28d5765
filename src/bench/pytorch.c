#define _GNU_SOURCE /* pipe2 */
#include "bench/pytorch.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if __has_include("config.h")
#include "config.h" /* written by the build: LOCKSTEP_DATA_DIR */
#endif

enum { ANSWER_BYTES = 4096, TIMEOUT_MS = 300000, ENVIRONMENT_MAX = 1024 };

static const char cure[] = "apt-get install python3-torch, or give a Python that has it with "
                           "--python PATH";

/* ---- finding the script and the Python ------------------------------------------------------- */

/* tools/bench_pytorch.py beside the program's folder (a build), below share/lockstep there (an
 * installation), or in the source tree. */
static Status find_script(char *path, size_t path_bytes) {
    static const char *const places[] = {"/../tools", "/../share/lockstep/tools"};
    char program[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash = strrchr(program, '/');
    for (int i = 0; length > 0 && slash != NULL && i < 2; i++) {
        snprintf(path, path_bytes, "%.*s%s/bench_pytorch.py", (int)(slash - program), program,
                 places[i]);
        if (access(path, R_OK) == 0) {
            return STATUS_OK;
        }
    }
#ifdef LOCKSTEP_DATA_DIR
    snprintf(path, path_bytes, "%s/../tools/bench_pytorch.py", LOCKSTEP_DATA_DIR);
    if (access(path, R_OK) == 0) {
        return STATUS_OK;
    }
#endif
    return fail_missing("tools/bench_pytorch.py is neither beside this program nor in its source "
                        "tree; make install puts it beside an installed one");
}

/* Can this Python import torch? */
static bool has_torch(const char *python) {
    char *const arguments[] = {(char *)python, "-c", "import torch", NULL};
    pid_t child;
    int code = 1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    bool started = posix_spawnp(&child, python, &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return started && waitpid(child, &code, 0) == child && WIFEXITED(code) &&
           WEXITSTATUS(code) == 0;
}

Status torch_find_python(char *python, size_t python_bytes, const char *asked) {
    const char *const candidates[] = {asked != NULL ? asked : "python3", "/usr/bin/python3"};
    for (int i = 0; i < (asked != NULL ? 1 : 2); i++) {
        if (has_torch(candidates[i])) {
            snprintf(python, python_bytes, "%s", candidates[i]);
            return STATUS_OK;
        }
    }
    return fail_missing("%s cannot import torch; %s",
                        asked != NULL ? asked : "python3 (on the PATH and in /usr/bin)", cure);
}

/* ---- the child ------------------------------------------------------------------------------ */

/* environ with the thread counts in place of whatever it says about them. Freed by the caller, the
 * list and its first `added` strings. */
enum { ADDED = 3 };
static char **make_environment(const TorchThreads *threads) {
    static const char *const names[ADDED] = {
        "OMP_NUM_THREADS=", "OPENBLAS_NUM_THREADS=", "MKL_NUM_THREADS="};
    const int counts[ADDED] = {threads->omp, threads->blas, threads->blas};
    char **environment = calloc(ENVIRONMENT_MAX + ADDED + 1, sizeof *environment);
    int count = 0;
    for (; environment != NULL && count < ADDED; count++) {
        environment[count] = malloc(64);
        if (environment[count] != NULL) {
            snprintf(environment[count], 64, "%s%d", names[count], counts[count]);
        }
    }
    for (char **entry = environ; environment != NULL && *entry != NULL; entry++) {
        bool replaced = false;
        for (int i = 0; i < ADDED; i++) {
            replaced = replaced || strncmp(*entry, names[i], strlen(names[i])) == 0;
        }
        if (!replaced && count < ENVIRONMENT_MAX + ADDED) {
            environment[count++] = *entry;
        }
    }
    return environment;
}

static void free_environment(char **environment) {
    for (int i = 0; environment != NULL && i < ADDED; i++) {
        free(environment[i]);
    }
    free(environment);
}

/* Spawns python script, its standard input and output on the pipes' far ends. */
static int spawn(pid_t *child, const char *python, const char *script, char **environment,
                 const int in[2], const int out[2]) {
    char *const arguments[] = {(char *)python, (char *)script, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    int error = posix_spawnp(child, python, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static Status ask(Torch *torch, cJSON *command, cJSON **answer);

static Status introduce(Torch *torch) {
    cJSON *command = cJSON_CreateObject(), *answer = NULL;
    cJSON_AddStringToObject(command, "do", "start");
    cJSON_AddNumberToObject(command, "threads", torch->threads.torch);
    cJSON_AddNumberToObject(command, "seed", 1);
    TRY(ask(torch, command, &answer));
    const char *version = cJSON_GetStringValue(cJSON_GetObjectItem(answer, "torch"));
    const char *blas = cJSON_GetStringValue(cJSON_GetObjectItem(answer, "blas"));
    snprintf(torch->version, sizeof torch->version, "%s", version == NULL ? "?" : version);
    snprintf(torch->blas, sizeof torch->blas, "%s", blas == NULL ? "?" : blas);
    cJSON_Delete(answer);
    return STATUS_OK;
}

Status torch_start(Torch *torch, const char *python, const TorchThreads *threads) {
    char script[PATH_MAX];
    int in[2], out[2];
    *torch = (Torch){.threads = *threads};
    TRY(find_script(script, sizeof script));
    if (pipe2(in, O_CLOEXEC) != 0) {
        return fail("no pipe to %s: %s", python, strerror(errno));
    }
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]), close(in[1]);
        return fail("no pipe to %s: %s", python, strerror(errno));
    }
    char **environment = make_environment(threads);
    int error =
        environment == NULL ? ENOMEM : spawn(&torch->process, python, script, environment, in, out);
    free_environment(environment);
    close(in[0]), close(out[1]);
    torch->to = fdopen(in[1], "w");
    torch->from = fdopen(out[0], "r");
    if (error != 0 || torch->to == NULL || torch->from == NULL) {
        torch->process = error != 0 ? 0 : torch->process;
        torch_stop(torch);
        return fail_missing("cannot run %s: %s", python, strerror(error));
    }
    signal(SIGPIPE, SIG_IGN); /* a child that died is an error to report, not to die of */
    return introduce(torch);
}

void torch_stop(Torch *torch) {
    if (torch->to != NULL) {
        fputs("{\"do\": \"quit\"}\n", torch->to);
        fclose(torch->to); /* the end of its input ends it too */
    }
    if (torch->from != NULL) {
        fclose(torch->from);
    }
    if (torch->process != 0) {
        waitpid(torch->process, NULL, 0);
    }
    *torch = (Torch){0};
}

/* ---- commands ------------------------------------------------------------------------------- */

static Status read_answer(Torch *torch, char *line) {
    struct pollfd waiting = {.fd = fileno(torch->from), .events = POLLIN};
    int ready;
    do {
        ready = poll(&waiting, 1, TIMEOUT_MS);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
        kill(torch->process, SIGKILL);
        return fail("PyTorch did not answer within %d s; try fewer threads or a smaller model",
                    TIMEOUT_MS / 1000);
    }
    if (fgets(line, ANSWER_BYTES, torch->from) == NULL) {
        return fail("PyTorch's process ended without an answer; its own message stands above");
    }
    return STATUS_OK;
}

/* Sends the command and frees it; *answer is the caller's to free. */
static Status ask(Torch *torch, cJSON *command, cJSON **answer) {
    char line[ANSWER_BYTES];
    char *text = cJSON_PrintUnformatted(command);
    cJSON_Delete(command);
    if (text == NULL) {
        return fail("no memory for a command to PyTorch");
    }
    fprintf(torch->to, "%s\n", text);
    free(text);
    fflush(torch->to);
    TRY(read_answer(torch, line));
    *answer = cJSON_Parse(line);
    const char *error = cJSON_GetStringValue(cJSON_GetObjectItem(*answer, "error"));
    const char *missing = cJSON_GetStringValue(cJSON_GetObjectItem(*answer, "missing"));
    Status status = STATUS_OK;
    if (missing != NULL) {
        status = fail_missing("%s; %s", missing, cure);
    } else if (error != NULL || *answer == NULL) {
        status = fail("PyTorch: %s", error != NULL ? error : line);
    }
    if (status != STATUS_OK) {
        cJSON_Delete(*answer);
        *answer = NULL;
    }
    return status;
}

/* Sends a command that chooses the work, and keeps the variant that the child chose. */
static Status choose_work(Torch *torch, cJSON *command) {
    cJSON *answer = NULL;
    TRY(ask(torch, command, &answer));
    const char *variant = cJSON_GetStringValue(cJSON_GetObjectItem(answer, "variant"));
    snprintf(torch->variant, sizeof torch->variant, "%s", variant == NULL ? "" : variant);
    cJSON_Delete(answer);
    return STATUS_OK;
}

Status torch_set_train_step(Torch *torch, const TorchModel *model) {
    cJSON *command = cJSON_CreateObject();
    cJSON_AddStringToObject(command, "do", "train_step");
    cJSON_AddItemToObject(command, "layers",
                          cJSON_CreateIntArray(model->layers, model->layer_count));
    cJSON_AddNumberToObject(command, "batch", model->batch);
    cJSON_AddNumberToObject(command, "batches", model->batches);
    cJSON_AddNumberToObject(command, "lr", model->lr);
    cJSON_AddStringToObject(command, "file", model->file);
    return choose_work(torch, command);
}

Status torch_set_op(Torch *torch, const char *op, const size_t *dims, int dim_count) {
    cJSON *command = cJSON_CreateObject();
    cJSON_AddStringToObject(command, "do", "op");
    cJSON_AddStringToObject(command, "op", op);
    cJSON *list = cJSON_AddArrayToObject(command, "dims");
    for (int i = 0; i < dim_count; i++) {
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)dims[i]));
    }
    return choose_work(torch, command);
}

Status torch_run(Torch *torch, long count, double *ns, double *loss) {
    cJSON *command = cJSON_CreateObject(), *answer = NULL;
    cJSON_AddStringToObject(command, "do", "run");
    cJSON_AddNumberToObject(command, "count", (double)count);
    TRY(ask(torch, command, &answer));
    const cJSON *time = cJSON_GetObjectItem(answer, "ns");
    const cJSON *last = cJSON_GetObjectItem(answer, "loss");
    *ns = cJSON_IsNumber(time) ? time->valuedouble : 0;
    *loss = cJSON_IsNumber(last) ? last->valuedouble : (double)NAN;
    cJSON_Delete(answer);
    return STATUS_OK;
}

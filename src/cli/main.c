/* lockstep COMMAND [options]: finds the command, runs it, prints its error. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/passport.h"
#include "base/threads.h"
#include "cli/cli.h"
#include "ops/backend.h"

typedef struct Command {
    const char *name;
    Status (*run)(int argc, char **argv);
    const char *summary;
} Command;

static const Command commands[] = {
    {"doctor", cli_doctor, "what is here, what is missing, and the cure for each"},
    {"list", cli_list, "backends, ops, kernels, models or data"},
    {"train", cli_train, "train a model on one backend"},
    {"race", cli_race, "train the same model on several backends, side by side"},
    {"verify", cli_verify, "check every operation against a double-precision reference"},
    {"bench", cli_bench, "measure operations, kernels and sizes"},
    {"run", cli_run, "one operation on arrays of your own (.npy)"},
    {"data", cli_data, "list, get or check data sets"},
};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *out) {
    fprintf(out, "usage: lockstep COMMAND [options]\n\n"
                 "Lockstep shows, measures, checks and teaches what a processor does for neural "
                 "networks.\n\ncommands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    }
    fprintf(out, "\nlockstep COMMAND --help shows a command's options; every one takes --json.\n"
                 "lockstep --version says which version this is.\n");
}

static Status run_command(int argc, char **argv) {
    const char *names[COMMAND_COUNT];
    TRY(registry_check());
    for (int i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i].name;
        if (strcmp(commands[i].name, argv[1]) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return fail_unknown("command", argv[1], names, COMMAND_COUNT);
}

/* A closed standard stream would lend its number to the next file that is opened, and what is
 * printed would end up in that file. Its place is taken by something that cannot be used. */
static void hold_standard_streams(void) {
    const int unusable[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) == -1) {
            /* cppcheck-suppress leakReturnValNotUsed ; it takes the lowest free number: fd */
            (void)open("/dev/null", unusable[fd]);
        }
    }
}

static bool asks_for_json(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv) {
    threads_limit_spinning(argv);
    hold_standard_streams();
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is then an error to report, not a death */
    if (argc < 2) {
        print_usage(stderr);
        return STATUS_BAD;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return cli_finish(STATUS_OK, false);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("lockstep %s\n", passport_version());
        return cli_finish(STATUS_OK, false);
    }
    return cli_finish(run_command(argc, argv), asks_for_json(argc, argv));
}

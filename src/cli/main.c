/* lockstep COMMAND [options]: finds the command, runs it, prints its error. */
#include <stdio.h>
#include <string.h>

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
                 "Lockstep shows, measures, checks and teaches what a GPU does for neural networks."
                 "\n\ncommands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    }
    fprintf(out, "\nlockstep COMMAND --help shows a command's options; every one takes --json.\n");
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

int main(int argc, char **argv) {
    threads_limit_spinning(argv);
    if (argc < 2) {
        print_usage(stderr);
        return STATUS_BAD;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return STATUS_OK;
    }
    Status status = run_command(argc, argv);
    if (status != STATUS_OK) {
        fprintf(stderr, "lockstep: %s\n", status_message());
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "lockstep: standard output: cannot write; is the disk full?\n");
        return status == STATUS_OK ? STATUS_BAD : (int)status;
    }
    return (int)status;
}

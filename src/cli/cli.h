/* The command line: options as a table, lists, JSON output. A command is one function in one file
 * of its name; it parses, calls, prints, and returns a Status, which is the exit code. */
#ifndef LOCKSTEP_CLI_H
#define LOCKSTEP_CLI_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/passport.h"
#include "base/status.h"

enum { CLI_LIST_MAX = 64 };

typedef struct CliList {
    const char *items[CLI_LIST_MAX];
    int count;
} CliList;

typedef enum CliKind {
    CLI_FLAG,   /* bool: --json */
    CLI_STRING, /* const char *: --model mlp or --model=mlp */
    CLI_INT,    /* int within [min, max] */
    CLI_FLOAT,  /* double within [min, max] */
    CLI_COMMAS, /* CliList from one value: --backends serial,openmp */
    CLI_REPEAT, /* CliList of one item for each time it is given: --kernel a=b --kernel c=d */
} CliKind;

typedef struct CliOption {
    const char *name; /* "--steps"; NULL ends a table */
    CliKind kind;
    void *value;          /* where it goes; set it to the default first */
    const char *argument; /* "N" in the help text; NULL for flags */
    const char *help;     /* one line, with the default */
    double min, max;      /* numbers; both 0: any that the type holds */
} CliOption;

/* Parses argv[1..] (argv[0] is the command's name). Positional arguments go to *operands, which is
 * NULL where a command takes none. `synopsis` and `summary` open the help text, which --help prints
 * before it ends the program with 0. Every command has --help, and --json in its own table.
 * Unknown options, missing values and numbers out of range fail with what was expected. */
Status cli_parse(int argc, char **argv, const char *synopsis, const char *summary,
                 const CliOption *options, CliList *operands);

/* Prints one JSON object on standard output, and frees it. */
void cli_print_json(cJSON *object);

/* Ends the program's output and returns its exit code: a failure's message goes to standard error,
 * and to standard output as an object too where JSON is asked for and none is printed yet. What
 * cannot be written is a failure. */
int cli_finish(Status status, bool json);

/* The passport as an object, to stand under "passport". */
cJSON *cli_passport_json(const Passport *passport);

/* The commands. */
Status cli_list(int argc, char **argv);
Status cli_train(int argc, char **argv);
Status cli_race(int argc, char **argv);
Status cli_verify(int argc, char **argv);
Status cli_bench(int argc, char **argv);
Status cli_run(int argc, char **argv);
Status cli_data(int argc, char **argv);
Status cli_doctor(int argc, char **argv);

#endif

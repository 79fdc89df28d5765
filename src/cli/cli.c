/* Option tables, help texts and JSON printing for all commands. */
#include "cli/cli.h"
#include "cli/wrap.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 28 };

static void print_help(const char *synopsis, const char *summary, const CliOption *options) {
    printf("usage: lockstep %s\n\n", synopsis);
    wrap_print(stdout, 0, summary);
    printf("\noptions:\n");
    for (const CliOption *option = options; option->name != NULL; option++) {
        int width = printf("  %s%s%s", option->name, option->argument == NULL ? "" : " ",
                           option->argument == NULL ? "" : option->argument);
        if (width >= HELP_COLUMN) {
            printf("\n");
            width = 0;
        }
        printf("%*s", HELP_COLUMN - width, "");
        wrap_print(stdout, HELP_COLUMN, option->help);
    }
    printf("  %-*s%s\n", HELP_COLUMN - 2, "--help", "this text");
}

/* Does argument name this option, alone or as --name=value? */
static bool option_matches(const CliOption *option, const char *argument) {
    size_t length = strlen(option->name);
    return strncmp(option->name, argument, length) == 0 &&
           (argument[length] == '\0' || argument[length] == '=');
}

static Status unknown_option(const char *argument, const CliOption *options) {
    const char *names[CLI_LIST_MAX];
    char given[64];
    int count = 0;
    for (const CliOption *option = options; option->name != NULL && count < CLI_LIST_MAX - 1;
         option++) {
        names[count++] = option->name;
    }
    names[count++] = "--help";
    snprintf(given, sizeof given, "%.*s", (int)strcspn(argument, "="), argument);
    return fail_unknown("option", given, names, count);
}

static Status append(CliList *list, const char *item, const char *name) {
    if (list->count == CLI_LIST_MAX) {
        return fail("%s: more than %d items", name, CLI_LIST_MAX);
    }
    list->items[list->count++] = item;
    return STATUS_OK;
}

/* A copy of text that lives as long as the program: a command line is parsed once, and its lists
 * point into the copies. NULL when there is no memory. */
static char *keep_copy(const char *text) {
    static char *kept[CLI_LIST_MAX];
    static int kept_count;
    if (kept_count == CLI_LIST_MAX) {
        return NULL;
    }
    return kept[kept_count++] = strdup(text);
}

/* "a,b,c" to three items, the pieces of one copy. */
static Status split_commas(CliList *list, const char *value, const char *name) {
    char *copy = keep_copy(value);
    list->count = 0;
    if (copy == NULL) {
        return fail("%s: out of memory", name);
    }
    for (char *piece = copy; piece != NULL;) {
        char *comma = strchr(piece, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        if (*piece == '\0') {
            list->count = 0;
            return fail("%s '%s': an empty item; expected a list such as a,b,c", name, value);
        }
        TRY(append(list, piece, name));
        piece = comma == NULL ? NULL : comma + 1;
    }
    return STATUS_OK;
}

static Status parse_number(const CliOption *option, const char *value) {
    char *end;
    bool bounded = option->min != 0.0 || option->max != 0.0;
    double low = bounded ? option->min : option->kind == CLI_INT ? INT_MIN : -HUGE_VAL;
    double high = bounded ? option->max : option->kind == CLI_INT ? INT_MAX : HUGE_VAL;
    double number = strtod(value, &end);
    if (end == value || *end != '\0' || isnan(number)) {
        return fail("%s %s: expected a number", option->name, value);
    }
    if (option->kind == CLI_INT && number != floor(number)) {
        return fail("%s %s: expected a whole number", option->name, value);
    }
    if (number < low || number > high) {
        return fail("%s %s: expected %.10g to %.10g", option->name, value, low, high);
    }
    if (option->kind == CLI_INT) {
        *(int *)option->value = (int)number;
    } else {
        *(double *)option->value = number;
    }
    return STATUS_OK;
}

static Status set_option(const CliOption *option, const char *value) {
    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)option->value = true;
        return STATUS_OK;
    case CLI_STRING:
        *(const char **)option->value = value;
        return STATUS_OK;
    case CLI_COMMAS:
        return split_commas(option->value, value, option->name);
    case CLI_REPEAT:
        return append(option->value, value, option->name);
    case CLI_INT:
    case CLI_FLOAT:
        return parse_number(option, value);
    }
    return STATUS_OK;
}

/* Handles the option at argv[*i] and steps over its value. */
static Status parse_option(int argc, char **argv, int *i, const CliOption *options) {
    const char *argument = argv[*i];
    for (const CliOption *option = options; option->name != NULL; option++) {
        if (!option_matches(option, argument)) {
            continue;
        }
        const char *rest = argument + strlen(option->name);
        const char *value = *rest == '=' ? rest + 1 : NULL;
        if (option->kind == CLI_FLAG) {
            return value == NULL ? set_option(option, NULL)
                                 : fail("%s takes no value", option->name);
        }
        if (value == NULL && *i + 1 < argc) {
            value = argv[++*i];
        }
        if (value == NULL) {
            return fail("%s needs a value: %s %s (%s)", option->name, option->name,
                        option->argument, option->help);
        }
        return set_option(option, value);
    }
    return unknown_option(argument, options);
}

Status cli_parse(int argc, char **argv, const char *synopsis, const char *summary,
                 const CliOption *options, CliList *operands) {
    bool only_operands = false;
    for (int i = 1; i < argc; i++) {
        if (!only_operands && strcmp(argv[i], "--help") == 0) {
            print_help(synopsis, summary, options);
            exit(cli_finish(STATUS_OK, false));
        }
        if (!only_operands && strcmp(argv[i], "--") == 0) {
            only_operands = true;
        } else if (!only_operands && argv[i][0] == '-' && argv[i][1] != '\0') {
            TRY(parse_option(argc, argv, &i, options));
        } else if (operands == NULL) {
            return fail("%s: unexpected '%s'; usage: lockstep %s", argv[0], argv[i], synopsis);
        } else {
            TRY(append(operands, argv[i], argv[0]));
        }
    }
    return STATUS_OK;
}

static bool json_printed; /* there is one object, whatever fails after it */

void cli_print_json(cJSON *object) {
    char *text = cJSON_Print(object);
    if (text != NULL) {
        puts(text);
        json_printed = true;
    }
    cJSON_free(text);
    cJSON_Delete(object);
}

int cli_finish(Status status, bool json) {
    if (status != STATUS_OK) {
        fprintf(stderr, "lockstep: %s\n", status_message());
    }
    if (status != STATUS_OK && json && !json_printed) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "error", status_message());
        cJSON_AddNumberToObject(object, "exit_code", status);
        cli_print_json(object);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr,
                "lockstep: standard output: cannot write; is it closed, or the disk full?\n");
        return status == STATUS_OK ? STATUS_BAD : (int)status;
    }
    return (int)status;
}

cJSON *cli_passport_json(const Passport *passport) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "version", passport->version);
    cJSON_AddStringToObject(json, "date", passport->date);
    cJSON_AddStringToObject(json, "processor", passport->processor);
    cJSON_AddStringToObject(json, "vector", passport->vector);
    cJSON_AddNumberToObject(json, "threads", passport->threads.threads);
    cJSON_AddNumberToObject(json, "processors_online", passport->threads.online);
    cJSON_AddNumberToObject(json, "processors_allowed", passport->threads.allowed);
    if (passport->threads.quota > 0.0) {
        cJSON_AddNumberToObject(json, "quota", passport->threads.quota);
    } else {
        cJSON_AddNullToObject(json, "quota");
    }
    cJSON_AddNumberToObject(json, "memory_bytes", (double)passport->memory_bytes);
    cJSON_AddStringToObject(json, "system", passport->system);
    cJSON_AddStringToObject(json, "compiler", passport->compiler);
    cJSON_AddStringToObject(json, "flags", passport->flags);
    return json;
}

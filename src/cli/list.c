/* lockstep list: what exists here, by topic. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/data.h"
#include "cli/wrap.h"
#include "nn/model.h"
#include "ops/backend.h"
#include "ops/spec.h"

static void add_backends(cJSON *list) {
    for (int b = 0; b < backend_count(); b++) {
        const Backend *backend = backend_at(b);
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "name", backend->name);
        cJSON_AddStringToObject(row, "summary", backend->summary);
        cJSON_AddBoolToObject(row, "available", backend_missing(backend) == NULL);
        cJSON_AddBoolToObject(row, "emulated", backend->emulated);
        cJSON_AddItemToObject(row, "missing",
                              backend_missing(backend) == NULL
                                  ? cJSON_CreateNull()
                                  : cJSON_CreateString(backend_missing(backend)));
        cJSON_AddItemToArray(list, row);
    }
}

static void print_backends(const cJSON *list) {
    const cJSON *row;
    cJSON_ArrayForEach(row, list) {
        const cJSON *missing = cJSON_GetObjectItem(row, "missing");
        printf("%-9s %s\n", cJSON_GetObjectItem(row, "name")->valuestring,
               cJSON_GetObjectItem(row, "summary")->valuestring);
        if (cJSON_IsString(missing)) {
            printf("%-9s ", "");
            wrap_print(stdout, 10, missing->valuestring);
        }
    }
}

/* "inp (N,C), weight (OC,C), bias (OC, optional)" */
static void describe_args(const OpSpec *spec, char *text, size_t text_bytes) {
    static const char *const role[] = {
        [ARG_IN] = "", [ARG_OUT] = " out", [ARG_INOUT] = " in and out"};
    size_t used = 0;
    text[0] = '\0';
    for (const OpArg *arg = spec->args; arg->name != NULL && used < text_bytes; arg++) {
        used += (size_t)snprintf(text + used, text_bytes - used, "%s%s (%s)%s%s",
                                 used > 0 ? ", " : "", arg->name, arg->shape, role[arg->role],
                                 arg->optional ? " optional" : "");
    }
}

static void add_ops(cJSON *list) {
    char args[512];
    for (int op = 0; op < OP_COUNT; op++) {
        const OpSpec *spec = spec_of((OpId)op);
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "name", op_name((OpId)op));
        cJSON_AddStringToObject(row, "formula", spec->formula);
        describe_args(spec, args, sizeof args);
        cJSON_AddStringToObject(row, "arguments", args);
        cJSON *options = cJSON_AddObjectToObject(row, "options");
        for (const OpOption *option = spec->options; option->name != NULL; option++) {
            cJSON_AddNumberToObject(options, option->name, option->value);
        }
        cJSON_AddItemToArray(list, row);
    }
}

static void print_ops(const cJSON *list) {
    const cJSON *row, *option;
    cJSON_ArrayForEach(row, list) {
        printf("%s\n    ", cJSON_GetObjectItem(row, "name")->valuestring);
        wrap_print(stdout, 4, cJSON_GetObjectItem(row, "formula")->valuestring);
        printf("    %s\n", cJSON_GetObjectItem(row, "arguments")->valuestring);
        const cJSON *options = cJSON_GetObjectItem(row, "options");
        if (options->child != NULL) {
            printf("    --set");
            cJSON_ArrayForEach(option, options) {
                printf(" %s=%g", option->string, option->valuedouble);
            }
            printf("\n");
        }
    }
}

static void add_kernels(cJSON *list) {
    for (int op = 0; op < OP_COUNT; op++) {
        for (int b = 0; b < backend_count(); b++) {
            const Kernel *kernel;
            for (int i = 0; (kernel = backend_kernel(backend_at(b), (OpId)op, i)) != NULL; i++) {
                cJSON *row = cJSON_CreateObject();
                cJSON_AddStringToObject(row, "op", op_name((OpId)op));
                cJSON_AddStringToObject(row, "backend", backend_at(b)->name);
                cJSON_AddStringToObject(row, "name", kernel->name);
                cJSON_AddStringToObject(row, "idea", kernel->idea);
                cJSON_AddNumberToObject(row, "lesson", kernel->lesson);
                cJSON_AddBoolToObject(row, "default", kernel->is_default);
                cJSON_AddBoolToObject(row, "deterministic", kernel->deterministic);
                cJSON_AddItemToArray(list, row);
            }
        }
    }
}

/* The ladders, one under the other; * marks the default. */
static void print_kernels(const cJSON *list) {
    const char *op = "", *backend = "";
    const cJSON *row;
    cJSON_ArrayForEach(row, list) {
        const char *row_op = cJSON_GetObjectItem(row, "op")->valuestring;
        const char *row_backend = cJSON_GetObjectItem(row, "backend")->valuestring;
        if (strcmp(op, row_op) != 0) {
            printf("%s\n", row_op);
            backend = "";
        }
        bool named = strcmp(backend, row_backend) == 0;
        printf("  %-9s %c %-18s  ", named ? "" : row_backend,
               cJSON_IsTrue(cJSON_GetObjectItem(row, "default")) ? '*' : ' ',
               cJSON_GetObjectItem(row, "name")->valuestring);
        wrap_print(stdout, 34, cJSON_GetObjectItem(row, "idea")->valuestring);
        op = row_op;
        backend = row_backend;
    }
    printf("* the default; choose another with --kernel op=name\n");
}

static void add_models(cJSON *list) {
    const char *name, *about;
    for (int i = 0; (name = model_preset(i, &about)) != NULL; i++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "name", name);
        cJSON_AddStringToObject(row, "about", about);
        cJSON_AddItemToArray(list, row);
    }
}

static void print_models(const cJSON *list) {
    const cJSON *row;
    cJSON_ArrayForEach(row, list) {
        printf("%-9s %s\n", cJSON_GetObjectItem(row, "name")->valuestring,
               cJSON_GetObjectItem(row, "about")->valuestring);
    }
    printf("or sizes of your own, such as mlp:784-512-256-10, or a model file\n");
}

/* Lessons and labs come with a later version: none to list is an answer, not an error. */
static void add_none(cJSON *list) {
    (void)list;
}

static void print_none(const cJSON *list) {
    (void)list;
    printf("none in this version\n");
}

typedef struct Topic {
    const char *name;
    void (*add)(cJSON *list);
    void (*print)(const cJSON *list);
} Topic;

static const Topic topics[] = {
    {"backends", add_backends, print_backends},
    {"ops", add_ops, print_ops},
    {"kernels", add_kernels, print_kernels},
    {"models", add_models, print_models},
    {"data", data_add_rows, data_print_rows},
    {"lessons", add_none, print_none},
    {"labs", add_none, print_none},
};
enum { TOPIC_COUNT = sizeof topics / sizeof topics[0] };

static Status list_topic(const Topic *topic, bool json) {
    cJSON *object = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(object, topic->name);
    topic->add(list);
    if (json) {
        cli_print_json(object);
    } else {
        topic->print(list);
        cJSON_Delete(object);
    }
    return STATUS_OK;
}

Status cli_list(int argc, char **argv) {
    bool json = false;
    CliList operands = {0};
    const char *names[TOPIC_COUNT];
    const CliOption options[] = {
        {"--json", CLI_FLAG, &json, NULL, "one JSON object, with an array under the topic's name",
         0, 0},
        {0},
    };
    const char *synopsis = "list backends|ops|kernels|models|data|lessons|labs [--json]";
    TRY(cli_parse(argc, argv, synopsis, "Shows what exists here.", options, &operands));
    for (int i = 0; i < TOPIC_COUNT; i++) {
        names[i] = topics[i].name;
    }
    if (operands.count != 1) {
        return fail("list: name one topic; usage: lockstep %s", synopsis);
    }
    for (int i = 0; i < TOPIC_COUNT; i++) {
        if (strcmp(topics[i].name, operands.items[0]) == 0) {
            return list_topic(&topics[i], json);
        }
    }
    return fail_unknown("topic", operands.items[0], names, TOPIC_COUNT);
}

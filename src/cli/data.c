/* lockstep data list|get|check: which data sets there are, and whether they are whole. */
#include "cli/data.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/cli.h"
#include "cli/wrap.h"
#include "data/catalog.h"
#include "data/dataset.h"
#include "data/get.h"

typedef struct DataArgs {
    bool json;
    const char *mirror, *folder;
    CliList names; /* what follows list, get or check */
} DataArgs;

/* ---- list ---------------------------------------------------------------------------------- */

static double loaded_bytes(const DataInfo *info) {
    double images = (double)info->train_count + info->test_count;
    return images * ((double)info->height * info->width + sizeof(int32_t));
}

static void add_row(cJSON *list, const DataInfo *info) {
    char folder[DATA_PATH_BYTES];
    bool here = catalog_locate(folder, info) == STATUS_OK;
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "name", info->name);
    cJSON_AddStringToObject(row, "about", info->about);
    cJSON_AddStringToObject(row, "source", info->source);
    cJSON_AddStringToObject(row, "licence", info->licence);
    cJSON_AddBoolToObject(row, "shipped", info->shipped);
    cJSON_AddBoolToObject(row, "here", here);
    cJSON_AddItemToObject(row, "folder", here ? cJSON_CreateString(folder) : cJSON_CreateNull());
    cJSON_AddNumberToObject(row, "train", info->train_count);
    cJSON_AddNumberToObject(row, "test", info->test_count);
    cJSON_AddItemToObject(row, "shape",
                          cJSON_CreateIntArray((int[]){1, info->height, info->width}, 3));
    cJSON_AddNumberToObject(row, "classes", info->class_count);
    cJSON_AddNumberToObject(row, "bytes", loaded_bytes(info));
    cJSON_AddItemToArray(list, row);
}

void data_add_rows(cJSON *list) {
    for (int i = 0; i < catalog_count(); i++) {
        add_row(list, catalog_at(i));
    }
}

static int number_of(const cJSON *row, const char *key) {
    return cJSON_GetObjectItem(row, key)->valueint;
}

static const char *text_of(const cJSON *row, const char *key) {
    return cJSON_GetObjectItem(row, key)->valuestring;
}

void data_print_rows(const cJSON *list) {
    char memory[32], origin[512];
    const cJSON *row;
    cJSON_ArrayForEach(row, list) {
        const cJSON *shape = cJSON_GetObjectItem(row, "shape");
        size_t bytes = (size_t)cJSON_GetObjectItem(row, "bytes")->valuedouble;
        printf("%-12s %s\n", text_of(row, "name"), text_of(row, "about"));
        printf("%-12s %d + %d images of %dx%d, %d classes, %s in memory\n", "",
               number_of(row, "train"), number_of(row, "test"),
               cJSON_GetArrayItem(shape, 1)->valueint, cJSON_GetArrayItem(shape, 2)->valueint,
               number_of(row, "classes"), bytes_text(memory, sizeof memory, bytes));
        snprintf(origin, sizeof origin, "%s; %s", text_of(row, "licence"), text_of(row, "source"));
        printf("%-12s ", "");
        wrap_print(stdout, 13, origin);
        if (cJSON_IsTrue(cJSON_GetObjectItem(row, "here"))) {
            printf("%-12s here: %s\n", "", text_of(row, "folder"));
        } else {
            printf("%-12s not here; run: lockstep data get %s\n", "", text_of(row, "name"));
        }
    }
}

static Status run_list(const DataArgs *args) {
    if (args->names.count > 0) {
        return fail("data list: unexpected '%s'; it takes no name", args->names.items[0]);
    }
    cJSON *object = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(object, "data");
    data_add_rows(list);
    if (args->json) {
        cli_print_json(object);
    } else {
        data_print_rows(list);
        cJSON_Delete(object);
    }
    return STATUS_OK;
}

/* ---- get ----------------------------------------------------------------------------------- */

static void print_report(const GetReport *report, const DataInfo *info, const DataArgs *args) {
    if (!args->json) {
        for (int f = 0; f < report->file_count; f++) {
            printf("%-8s %s\n", get_outcome_name(report->files[f].outcome), report->files[f].name);
        }
        printf("%s is in %s, all sums right; use it with --data %s\n", info->name, report->folder,
               args->folder == NULL ? info->name : report->folder);
        return;
    }
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", info->name);
    cJSON_AddBoolToObject(object, "ok", true);
    cJSON_AddStringToObject(object, "folder", report->folder);
    cJSON *files = cJSON_AddArrayToObject(object, "files");
    for (int f = 0; f < report->file_count; f++) {
        const char *mirror = report->files[f].mirror;
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "file", report->files[f].name);
        cJSON_AddStringToObject(row, "outcome", get_outcome_name(report->files[f].outcome));
        cJSON_AddItemToObject(row, "mirror",
                              mirror != NULL ? cJSON_CreateString(mirror) : cJSON_CreateNull());
        cJSON_AddStringToObject(row, "sha256", info->files[f].sha256);
        cJSON_AddItemToArray(files, row);
    }
    cli_print_json(object);
}

/* Shipped sets have no mirror: they are here, or the installation is broken. */
static Status report_shipped(const DataInfo *info, const DataArgs *args) {
    GetReport report = {.file_count = info->file_count};
    char hex[65];
    TRY(catalog_locate(report.folder, info));
    for (int f = 0; f < info->file_count; f++) {
        report.files[f].name = info->files[f].name;
        TRY(data_check_file(hex, &info->files[f], report.folder));
    }
    print_report(&report, info, args);
    return STATUS_OK;
}

static Status run_get(const DataArgs *args) {
    GetReport report;
    if (args->names.count != 1) {
        return fail("data get takes one name, such as: lockstep data get mnist");
    }
    const DataInfo *info = catalog_find(args->names.items[0]);
    if (info == NULL) {
        return catalog_unknown(args->names.items[0]);
    }
    if (info->shipped) {
        return report_shipped(info, args);
    }
    GetOptions options = {.folder = args->folder, .mirror = args->mirror, .quiet = args->json};
    TRY(data_get(&report, info, &options));
    print_report(&report, info, args);
    return STATUS_OK;
}

/* ---- check --------------------------------------------------------------------------------- */

typedef struct CheckCount {
    int checked, failed;
} CheckCount;

/* One row: from a status and, where it failed, the message that it left. */
static void add_check(cJSON *rows, CheckCount *count, Status status, const char *name,
                      const char *folder, const char *file, const char *expected,
                      const char *found) {
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "name", name);
    cJSON_AddStringToObject(row, "folder", folder);
    cJSON_AddItemToObject(row, "file",
                          file != NULL ? cJSON_CreateString(file) : cJSON_CreateNull());
    cJSON_AddBoolToObject(row, "ok", status == STATUS_OK);
    cJSON_AddStringToObject(row, "expected", expected);
    cJSON_AddStringToObject(row, "found", found);
    cJSON_AddStringToObject(row, "message", status == STATUS_OK ? "" : status_message());
    cJSON_AddItemToArray(rows, row);
    count->checked++;
    count->failed += status != STATUS_OK;
}

static void check_files(cJSON *rows, CheckCount *count, const DataInfo *info, const char *folder) {
    for (int f = 0; f < info->file_count; f++) {
        char hex[65];
        const DataFile *file = &info->files[f];
        Status status = data_check_file(hex, file, folder);
        add_check(rows, count, status, info->name, folder, file->name, file->sha256, hex);
    }
}

/* A folder of the user's own has no sums; that it loads is what can be checked. */
static Status check_named(cJSON *rows, CheckCount *count, const char *name) {
    char folder[DATA_PATH_BYTES];
    const DataInfo *info = catalog_find(name);
    if (info != NULL) {
        TRY(catalog_locate(folder, info));
        check_files(rows, count, info, folder);
        return STATUS_OK;
    }
    Dataset dataset;
    Status status = dataset_load(&dataset, name);
    if (status != STATUS_OK) {
        return status;
    }
    add_check(rows, count, STATUS_OK, dataset.name, name, NULL, "files that load",
              "files that load");
    dataset_free(&dataset);
    return STATUS_OK;
}

/* Without a name: every set that is here. */
static Status check_all(cJSON *rows, CheckCount *count) {
    char folder[DATA_PATH_BYTES];
    for (int i = 0; i < catalog_count(); i++) {
        const DataInfo *info = catalog_at(i);
        Status status = catalog_locate(folder, info);
        if (status == STATUS_OK) {
            check_files(rows, count, info, folder);
        } else if (info->shipped) {
            return status;
        }
    }
    return STATUS_OK;
}

static void print_checks(const cJSON *rows) {
    const cJSON *row;
    cJSON_ArrayForEach(row, rows) {
        bool ok = cJSON_IsTrue(cJSON_GetObjectItem(row, "ok"));
        const cJSON *file = cJSON_GetObjectItem(row, "file");
        printf("%-5s %-12s %s\n", ok ? "ok" : "WRONG", text_of(row, "name"),
               cJSON_IsString(file) ? file->valuestring : "loads");
        if (!ok) {
            printf("      %s\n", text_of(row, "message"));
        }
    }
}

static Status run_check(const DataArgs *args) {
    CheckCount count = {0};
    cJSON *object = cJSON_CreateObject();
    cJSON *rows = cJSON_AddArrayToObject(object, "checks");
    Status status = args->names.count == 0 ? check_all(rows, &count) : STATUS_OK;
    for (int i = 0; i < args->names.count && status == STATUS_OK; i++) {
        status = check_named(rows, &count, args->names.items[i]);
    }
    if (status != STATUS_OK) {
        cJSON_Delete(object);
        return status;
    }
    cJSON_AddBoolToObject(object, "ok", count.failed == 0);
    if (args->json) {
        cli_print_json(object);
    } else {
        print_checks(rows);
        cJSON_Delete(object);
    }
    return count.failed == 0 ? STATUS_OK
                             : fail_no("%d of %d files are not what they should be; get them again",
                                       count.failed, count.checked);
}

/* ---- The command --------------------------------------------------------------------------- */

static const struct {
    const char *name;
    Status (*run)(const DataArgs *args);
} actions[] = {{"list", run_list}, {"get", run_get}, {"check", run_check}};
enum { ACTION_COUNT = sizeof actions / sizeof actions[0] };

Status cli_data(int argc, char **argv) {
    DataArgs args = {0};
    CliList words = {0};
    const CliOption options[] = {
        {"--mirror", CLI_STRING, &args.mirror, "URL",
         "get from this folder (http, https or file) instead of the set's own mirrors", 0, 0},
        {"--to", CLI_STRING, &args.folder, "DIR",
         "get into this folder instead of the data home (~/.local/share/lockstep/NAME)", 0, 0},
        {"--json", CLI_FLAG, &args.json, NULL, "one JSON object on standard output", 0, 0},
        {NULL, CLI_FLAG, NULL, NULL, NULL, 0, 0}};
    TRY(cli_parse(argc, argv, "data list | get NAME | check [NAME or FOLDER]... [options]",
                  "Lists the data sets, gets one, or compares those that are here with their sums.",
                  options, &words));
    const char *names[ACTION_COUNT];
    for (int i = 0; i < ACTION_COUNT; i++) {
        names[i] = actions[i].name;
    }
    if (words.count == 0) {
        return fail("data: say what: lockstep data list, get NAME, or check");
    }
    for (int i = 1; i < words.count; i++) {
        args.names.items[args.names.count++] = words.items[i];
    }
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (strcmp(actions[i].name, words.items[0]) == 0) {
            return actions[i].run(&args);
        }
    }
    return fail_unknown("data command", words.items[0], names, ACTION_COUNT);
}

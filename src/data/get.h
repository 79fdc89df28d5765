/* Brings the files of a data set from its mirrors: resumed, checked, and in place all at once. */
#ifndef LOCKSTEP_DATA_GET_H
#define LOCKSTEP_DATA_GET_H

#include "data/catalog.h"

typedef struct GetOptions {
    const char *folder; /* where to put the files; NULL: catalog_home */
    const char *mirror; /* a URL (http, https or file) used alone; NULL: the set's own mirrors */
    bool quiet;         /* no progress on standard error */
} GetOptions;

typedef enum GetOutcome {
    GET_PRESENT, /* was there already, with the right sum */
    GET_FETCHED,
    GET_RESUMED, /* a part of an earlier try was there */
} GetOutcome;

typedef struct GetReport {
    char folder[DATA_PATH_BYTES];
    int file_count;
    struct {
        const char *name; /* as unpacked; the file is NAME.gz, or NAME if it was there so */
        GetOutcome outcome;
        const char *mirror; /* NULL where nothing was fetched */
    } files[DATA_MAX_FILES];
} GetReport;

const char *get_outcome_name(GetOutcome outcome); /* "present", "fetched", "resumed" */

/* Fetches what is missing or differs. Each file grows under NAME.gz.part, which a later call
 * continues; only when the sum of its unpacked content is right does it become NAME.gz. Tries the
 * mirrors in turn. STATUS_NO: content with a wrong sum; STATUS_MISSING: no mirror delivered;
 * STATUS_BAD: the disk, the folder or the URL. Strings of the report live as long as info and
 * options do. */
Status data_get(GetReport *report, const DataInfo *info, const GetOptions *options);

/* Compares folder/FILE, plain or .gz, with its sum and size. STATUS_NO when they differ or the file
 * is damaged, STATUS_BAD when it is not there. hex (65 bytes) = the sum that was found, or "". */
Status data_check_file(char *hex, const DataFile *file, const char *folder);

#endif

#include "data/get.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/publish.h"
#include "data/bytes.h"
#include "data/fetch.h"

enum {
    TRIES_PER_MIRROR = 3,
    PACKED_SLACK_BYTES = 1 << 16, /* a .gz of what cannot be packed is a little longer than it */
    REASONS_BYTES = 1024,
};

/* One file on its way. */
typedef struct Job {
    const DataFile *file;
    const GetOptions *options;
    const char *mirror;                                /* the one that is being tried */
    char path[DATA_PATH_BYTES], part[DATA_PATH_BYTES]; /* NAME.gz and NAME.gz.part */
    int fd;                                            /* of part */
    bool resumed;                                      /* what an earlier try left is part of it */
    Status worst;                /* STATUS_NO if any mirror sent wrong content */
    char reasons[REASONS_BYTES]; /* why each mirror so far did not do */
} Job;

const char *get_outcome_name(GetOutcome outcome) {
    static const char *const names[] = {"present", "fetched", "resumed"};
    return names[outcome];
}

/* ---- Sums ---------------------------------------------------------------------------------- */

static Status check_sum(char *hex, const DataFile *file, const char *path) {
    uint64_t size = 0;
    hex[0] = '\0';
    if (bytes_sha256(hex, &size, path) != STATUS_OK) {
        hex[0] = '\0';
        return STATUS_NO; /* the message of bytes_sha256 says how it is damaged */
    }
    if (strcmp(hex, file->sha256) != 0) {
        return fail_no("%s: wrong content: %llu bytes with sha256 %s, expected %llu with %s", path,
                       (unsigned long long)size, hex, (unsigned long long)file->bytes,
                       file->sha256);
    }
    return STATUS_OK;
}

Status data_check_file(char *hex, const DataFile *file, const char *folder) {
    char path[DATA_PATH_BYTES];
    hex[0] = '\0';
    TRY(catalog_file(path, folder, file->name));
    return check_sum(hex, file, path);
}

/* ---- One file ------------------------------------------------------------------------------ */

static Status empty_part(Job *job) {
    job->resumed = false;
    if (ftruncate(job->fd, 0) != 0) {
        return publish_failure(job->part, "empty the file", errno);
    }
    return STATUS_OK;
}

static uint64_t part_bytes(const Job *job) {
    struct stat info;
    return fstat(job->fd, &info) == 0 ? (uint64_t)info.st_size : 0;
}

/* Part -> final name if its content is right; otherwise it is emptied: wrong bytes must not be
 * continued. */
static Status finish(Job *job) {
    char hex[65];
    Status status = check_sum(hex, job->file, job->part);
    if (status == STATUS_OK) {
        return publish_file(job->fd, job->part, job->path);
    }
    TRY(empty_part(job));
    return status;
}

/* One try at one mirror. STATUS_NO: emptied, because what was there did not fit. */
static Status try_once(Job *job) {
    char url[DATA_PATH_BYTES], label[128];
    size_t length = strlen(job->mirror);
    int slash = length > 0 && job->mirror[length - 1] == '/';
    snprintf(url, sizeof url, "%.*s/%s.gz", (int)(length - (size_t)slash), job->mirror,
             job->file->name);
    snprintf(label, sizeof label, "%s.gz", job->file->name);
    Fetch fetch = {.url = url,
                   .path = job->part,
                   .label = label,
                   .fd = job->fd,
                   .limit = job->file->bytes + PACKED_SLACK_BYTES,
                   .quiet = job->options->quiet};
    Status status = fetch_url(&fetch);
    if (status == STATUS_NO) {
        TRY(empty_part(job));
        return STATUS_NO;
    }
    TRY(status);
    status = finish(job);
    return status == STATUS_NO ? fail_at(STATUS_NO, "%s", job->mirror) : status;
}

/* Tries a mirror while that can help: after a break, as long as more bytes came; after content that
 * did not fit, once from the start if this try had begun in the middle. */
static Status try_mirror(Job *job) {
    Status status = STATUS_MISSING;
    for (int i = 0; i < TRIES_PER_MIRROR; i++) {
        uint64_t before = part_bytes(job);
        status = try_once(job);
        if (status == STATUS_OK || status == STATUS_BAD || (status == STATUS_NO && before == 0) ||
            (status == STATUS_MISSING && part_bytes(job) <= before)) {
            break;
        }
    }
    return status;
}

static void note_reason(Job *job, Status status) {
    size_t used = strlen(job->reasons);
    snprintf(job->reasons + used, sizeof job->reasons - used, "%s%s", used > 0 ? "; " : "",
             status_message());
    job->worst = status == STATUS_NO ? STATUS_NO : job->worst;
}

static Status try_mirrors(Job *job, const char **used_mirror, const DataInfo *info) {
    const char *own[] = {job->options->mirror};
    const char *const *mirrors = own[0] != NULL ? own : info->mirrors;
    int mirror_count = own[0] != NULL ? 1 : DATA_MAX_MIRRORS;
    job->worst = STATUS_MISSING;
    for (int m = 0; m < mirror_count && mirrors[m] != NULL; m++) {
        job->mirror = *used_mirror = mirrors[m];
        Status status = try_mirror(job);
        if (status == STATUS_OK || status == STATUS_BAD) {
            return status;
        }
        note_reason(job, status);
    }
    *used_mirror = NULL;
    if (job->worst == STATUS_NO) {
        return fail_no("%s.gz was not taken: %s; nothing was put in place: try another --mirror",
                       job->file->name, job->reasons);
    }
    return fail_missing("%s.gz did not come: %s; check the network and proxy, or name another "
                        "--mirror; what came is kept, so run it again to go on",
                        job->file->name, job->reasons);
}

/* Has the file already, or *outcome and *mirror say how it came. */
static Status get_file(Job *job, GetOutcome *outcome, const char **mirror, const DataInfo *info) {
    job->fd = open(job->part, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND, 0666);
    if (job->fd < 0) {
        return publish_failure(job->part, "write", errno);
    }
    job->resumed = part_bytes(job) > 0;
    char hex[65];
    Status status = STATUS_OK;
    if (job->resumed && check_sum(hex, job->file, job->part) == STATUS_OK) {
        status = publish_file(job->fd, job->part, job->path); /* killed just before the rename */
    } else {
        status = try_mirrors(job, mirror, info);
    }
    if (status != STATUS_OK && part_bytes(job) == 0) {
        unlink(job->part);
    }
    close(job->fd);
    *outcome = job->resumed ? GET_RESUMED : GET_FETCHED;
    return status;
}

/* *present = the file is there and right. A wrong .gz will be replaced; a wrong plain file is the
 * user's own and would hide the new .gz. */
static Status look_for(bool *present, const Job *job, const char *folder) {
    char found[DATA_PATH_BYTES], hex[65];
    *present = false;
    if (catalog_file(found, folder, job->file->name) != STATUS_OK) {
        return STATUS_OK;
    }
    Status status = check_sum(hex, job->file, found);
    *present = status == STATUS_OK;
    if (status != STATUS_OK && strcmp(found, job->path) != 0) {
        return fail_no("%s; it would hide the new file: remove it and run it again",
                       status_message());
    }
    return STATUS_OK;
}

/* ---- The set ------------------------------------------------------------------------------- */

static Status make_folders(const char *folder) {
    char path[DATA_PATH_BYTES];
    snprintf(path, sizeof path, "%s", folder);
    for (char *at = path + 1;; at++) {
        if (*at != '/' && *at != '\0') {
            continue;
        }
        char kept = *at;
        *at = '\0';
        struct stat info;
        if (mkdir(path, 0777) != 0 && !(stat(path, &info) == 0 && S_ISDIR(info.st_mode))) {
            return publish_failure(path, "make the folder", errno == EEXIST ? ENOTDIR : errno);
        }
        *at = kept;
        if (kept == '\0') {
            return STATUS_OK;
        }
    }
}

/* *lock keeps a second get out of the folder until it is closed; -1 where folders have no locks. */
static Status lock_folder(int *lock, const char *folder) {
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(*lock);
        return fail("%s: another lockstep data get is at work here; wait for it", folder);
    }
    return STATUS_OK;
}

static Status get_files(GetReport *report, const DataInfo *info, const GetOptions *options) {
    for (int f = 0; f < info->file_count; f++) {
        Job job = {.file = &info->files[f], .options = options};
        bool present = false;
        TRY(catalog_join(job.path, report->folder, job.file->name, ".gz"));
        TRY(catalog_join(job.part, report->folder, job.file->name, ".gz.part"));
        TRY(look_for(&present, &job, report->folder));
        report->files[f].name = job.file->name;
        if (!present) {
            TRY(get_file(&job, &report->files[f].outcome, &report->files[f].mirror, info));
        }
        report->file_count++;
    }
    return STATUS_OK;
}

static Status check_mirror(const char *mirror) {
    static const char *const schemes[] = {"http://", "https://", "file://"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t length = strlen(schemes[i]);
        if (strncasecmp(mirror, schemes[i], length) == 0 && mirror[length] != '\0' &&
            strlen(mirror) < DATA_PATH_BYTES / 2) {
            return STATUS_OK;
        }
    }
    return fail("--mirror %.200s: expected http://, https:// or file:// and a folder", mirror);
}

static Status choose_folder(char *folder, const DataInfo *info, const GetOptions *options) {
    if (options->folder == NULL) {
        return catalog_home(folder, info->name);
    }
    int length = snprintf(folder, DATA_PATH_BYTES, "%s", options->folder);
    if (length < 1 || length >= DATA_PATH_BYTES / 2) {
        return fail("--to '%.100s': expected a folder's name", options->folder);
    }
    return STATUS_OK;
}

Status data_get(GetReport *report, const DataInfo *info, const GetOptions *options) {
    int lock = -1;
    *report = (GetReport){0};
    if (options->mirror != NULL) {
        TRY(check_mirror(options->mirror));
    }
    TRY(choose_folder(report->folder, info, options));
    TRY(make_folders(report->folder));
    TRY(lock_folder(&lock, report->folder));
    Status status = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK
                        ? get_files(report, info, options)
                        : fail("libcurl does not start; out of memory?");
    curl_global_cleanup();
    if (lock >= 0) {
        close(lock);
    }
    return status;
}

#include "cli/train_log.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/publish.h"

static bool is_log_line(double *step, const char *line, size_t length) {
    cJSON *json = cJSON_ParseWithLength(line, length);
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, "step");
    bool is_log = cJSON_IsNumber(item);
    *step = is_log ? item->valuedouble : 0.0;
    cJSON_Delete(json);
    return is_log;
}

/* What a run that was killed may leave: a line's beginning. */
static bool is_cut_line(const char *line, size_t length) {
    static const char begin[] = "{\"step\":";
    return strncmp(line, begin, length < sizeof begin - 1 ? length : sizeof begin - 1) == 0;
}

/* *kept = bytes up to the first line of a step after `resumed`, or up to a line without an end. A
 * file that is no log is refused, or a slip of the hand would cost its owner the content. */
static Status find_end(long *kept, FILE *file, const char *path, int64_t resumed) {
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    Status status = STATUS_OK;
    *kept = 0;
    for (int number = 1; (length = getline(&line, &capacity, file)) > 0; number++) {
        double step = 0.0;
        bool whole = line[length - 1] == '\n';
        if (whole ? !is_log_line(&step, line, (size_t)length)
                  : !is_cut_line(line, (size_t)length)) {
            status = fail("%s:%d: not a line of a log of lockstep train; give --log another file",
                          path, number);
            break;
        }
        if (!whole || step > (double)resumed) {
            break;
        }
        *kept += length;
    }
    free(line);
    return status;
}

Status train_log_open(TrainLog *log, const char *path, int64_t resumed) {
    long kept = 0;
    *log = (TrainLog){.path = path};
    FILE *file = fopen(path, "a+e");
    if (file == NULL) {
        return publish_failure(path, "write", errno);
    }
    struct stat info;
    bool is_file =
        fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode); /* no pipe, no screen */
    rewind(file);
    Status status = is_file ? find_end(&kept, file, path, resumed) : STATUS_OK;
    if (status == STATUS_OK && is_file && ftruncate(fileno(file), kept) != 0) {
        status = publish_failure(path, "shorten", errno);
    }
    if (status != STATUS_OK) {
        fclose(file);
        return status;
    }
    log->file = file;
    return STATUS_OK;
}

/* After the first failure the log is closed: the run goes on, or ends, without it. */
static Status flush(TrainLog *log) {
    if (ferror(log->file) || fflush(log->file) != 0) {
        Status status = publish_failure(log->path, "write", errno);
        fclose(log->file);
        log->file = NULL;
        return status;
    }
    return STATUS_OK;
}

Status train_log_step(TrainLog *log, int64_t step, int64_t epoch, double loss, double images_per_s,
                      double seconds) {
    if (log->file == NULL) {
        return STATUS_OK;
    }
    fprintf(log->file,
            "{\"step\":%lld,\"epoch\":%lld,\"loss\":%.9g,\"images_per_s\":%.6g,\"seconds\":%.6f}\n",
            (long long)step, (long long)epoch, loss, images_per_s, seconds);
    return flush(log);
}

Status train_log_evaluation(TrainLog *log, int64_t step, int64_t epoch, double loss,
                            double test_loss, double accuracy, double seconds) {
    if (log->file == NULL) {
        return STATUS_OK;
    }
    fprintf(log->file,
            "{\"step\":%lld,\"epoch\":%lld,\"loss\":%.9g,\"test_loss\":%.9g,\"accuracy\":%.9g,"
            "\"seconds\":%.6f}\n",
            (long long)step, (long long)epoch, loss, test_loss, accuracy, seconds);
    return flush(log);
}

Status train_log_close(TrainLog *log) {
    if (log->file == NULL) {
        return STATUS_OK;
    }
    int failed = fclose(log->file);
    log->file = NULL;
    return failed == 0 ? STATUS_OK : publish_failure(log->path, "write", errno);
}

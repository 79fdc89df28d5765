#include "cli/train_log.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/publish.h"

/* *kept = bytes up to the first line of a step after `resumed`, or up to a line without an end. */
static Status find_end(long *kept, FILE *file, const char *path, int64_t resumed) {
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    Status status = STATUS_OK;
    *kept = 0;
    for (int number = 1; (length = getline(&line, &capacity, file)) > 0; number++) {
        if (line[length - 1] != '\n') {
            break;
        }
        cJSON *json = cJSON_ParseWithLength(line, (size_t)length);
        const cJSON *step = cJSON_GetObjectItemCaseSensitive(json, "step");
        bool is_log = cJSON_IsNumber(step),
             is_later = is_log && step->valuedouble > (double)resumed;
        cJSON_Delete(json);
        if (!is_log) {
            status = fail("%s:%d: not a line of a log of lockstep train; give --log another file",
                          path, number);
        }
        if (!is_log || is_later) {
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
    rewind(file);
    Status status = resumed > 0 ? find_end(&kept, file, path, resumed) : STATUS_OK;
    if (status == STATUS_OK && ftruncate(fileno(file), kept) != 0 && errno != EINVAL) {
        status = publish_failure(path, "shorten", errno); /* EINVAL: a pipe; nothing to shorten */
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

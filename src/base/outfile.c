#include "base/outfile.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/publish.h"

enum { TEXT_BYTES = 1024 };

Status outfile_open(OutFile *out, const char *path) {
    *out = (OutFile){.crc = (uint32_t)crc32(0, NULL, 0)};
    int length = snprintf(out->temporary, sizeof out->temporary, "%s.lockstep-tmp", path);
    if (path[0] == '\0' || length >= (int)sizeof out->temporary) {
        return fail("'%.60s': expected the name of a file to write", path);
    }
    snprintf(out->path, sizeof out->path, "%s", path);
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        return fail("%s: is %s; give the name of a file", path,
                    S_ISDIR(info.st_mode) ? "a folder" : "no regular file");
    }
    out->file = fopen(out->temporary, "wbe");
    return out->file != NULL ? STATUS_OK : publish_failure(path, "write", errno);
}

void outfile_write(OutFile *out, const void *bytes, size_t count) {
    if (out->error != 0) {
        return;
    }
    errno = 0;
    if (fwrite(bytes, 1, count, out->file) != count) {
        out->error = errno != 0 ? errno : EIO;
    }
    out->crc = (uint32_t)crc32_z(out->crc, bytes, count);
}

void outfile_print(OutFile *out, const char *format, ...) {
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0 || length >= (int)sizeof text) {
        out->error = EOVERFLOW; /* a fault of ours: no line is that long */
        return;
    }
    outfile_write(out, text, (size_t)length);
}

Status outfile_commit(OutFile *out) {
    Status status = STATUS_OK;
    if (out->error == 0 && fflush(out->file) != 0) {
        out->error = errno;
    }
    if (out->error != 0) {
        status = publish_failure(out->path, "write", out->error);
    } else {
        status = publish_file(fileno(out->file), out->temporary, out->path);
    }
    if (status != STATUS_OK) {
        outfile_abandon(out);
        return status;
    }
    fclose(out->file);
    out->file = NULL;
    return STATUS_OK;
}

void outfile_abandon(OutFile *out) {
    if (out->file != NULL) {
        fclose(out->file);
        unlink(out->temporary);
        out->file = NULL;
    }
}

Status outfile_probe(const char *path) {
    OutFile out;
    TRY(outfile_open(&out, path));
    outfile_abandon(&out);
    return STATUS_OK;
}

/* What is at path, or would be: the file, or else its folder with *name as the last part. */
static bool find_place(struct stat *info, const char **name, const char *path) {
    char folder[OUTFILE_PATH_BYTES];
    const char *slash = strrchr(path, '/');
    *name = NULL;
    if (stat(path, info) == 0) {
        return true;
    }
    *name = slash == NULL ? path : slash + 1;
    snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 0 : (int)(slash - path), path);
    return stat(slash == NULL ? "." : slash == path ? "/" : folder, info) == 0;
}

bool outfile_same(const char *a, const char *b) {
    struct stat info[2];
    const char *name[2];
    return find_place(&info[0], &name[0], a) && find_place(&info[1], &name[1], b) &&
           info[0].st_dev == info[1].st_dev && info[0].st_ino == info[1].st_ino &&
           (name[0] == NULL || name[1] == NULL ? name[0] == name[1]
                                               : strcmp(name[0], name[1]) == 0);
}

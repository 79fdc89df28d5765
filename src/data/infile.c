#include "data/infile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static Status read_open(unsigned char **bytes, size_t *size, const char *path, FILE *file) {
    struct stat info;
    if (fstat(fileno(file), &info) != 0) {
        return fail("%s: cannot read: %s", path, strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return fail("%s: is %s; expected a file", path,
                    S_ISDIR(info.st_mode) ? "a folder" : "no regular file");
    }
    *size = (size_t)info.st_size;
    *bytes = malloc(*size + 1); /* an empty file is no failure of malloc */
    if (*bytes == NULL) {
        return fail("%s: no memory for its %zu bytes", path, *size);
    }
    if (fread(*bytes, 1, *size, file) != *size || fgetc(file) != EOF) {
        free(*bytes);
        return fail("%s: cannot read: %s", path,
                    ferror(file) ? strerror(errno) : "it changed while it was read");
    }
    return STATUS_OK;
}

Status infile_read(unsigned char **bytes, size_t *size, const char *path) {
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        return fail("%s: cannot open: %s", path, strerror(errno));
    }
    Status status = read_open(bytes, size, path, file);
    fclose(file);
    return status;
}

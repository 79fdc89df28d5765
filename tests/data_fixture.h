/* What the data tests share: a temporary folder, files with given bytes, and the look at a
 * failure's status and message. Each test runs in a process of its own, so static state is safe. */
#ifndef LOCKSTEP_TESTS_DATA_FIXTURE_H
#define LOCKSTEP_TESTS_DATA_FIXTURE_H

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/status.h"

#define FIXTURE static __attribute__((unused))

enum { FIXTURE_PATH_BYTES = 512, FIXTURE_FILE_BYTES = 1 << 19 };

static char fixture_folder[FIXTURE_PATH_BYTES];

/* The path of name in the temporary folder; one of four buffers in turn. */
FIXTURE const char *in_folder(const char *name) {
    static char path[4][2 * FIXTURE_PATH_BYTES];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", fixture_folder, name);
    return path[turn];
}

/* A new folder, in memory where there is such a place (thousands of small files are written), and
 * nothing of the user's own data or network settings in sight. */
FIXTURE void fixture_open(void) {
    const char *base = getenv("TMPDIR");
    snprintf(fixture_folder, sizeof fixture_folder, "%s/lockstep-data-XXXXXX",
             base != NULL                    ? base
             : access("/dev/shm", W_OK) == 0 ? "/dev/shm"
                                             : "/tmp");
    cr_assert_not_null(mkdtemp(fixture_folder));
    unsetenv("LOCKSTEP_DATA");
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
    setenv("XDG_DATA_HOME", in_folder("home"), 1);
}

/* remove takes files, links and empty folders; what it refuses is a folder with something in it. */
FIXTURE void fixture_remove(const char *path) {
    DIR *folder = remove(path) == 0 ? NULL : opendir(path);
    if (folder == NULL) {
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char inner[FIXTURE_PATH_BYTES * 2];
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
            fixture_remove(inner);
        }
    }
    closedir(folder);
    remove(path);
}

FIXTURE void fixture_close(void) {
    fixture_remove(fixture_folder);
}

FIXTURE void write_file(const char *path, const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fwrite(bytes, 1, count, file), count);
    cr_assert_eq(fclose(file), 0);
}

/* Returns the number of bytes; at most FIXTURE_FILE_BYTES. */
FIXTURE size_t read_file(void *bytes, const char *path) {
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    size_t count = fread(bytes, 1, FIXTURE_FILE_BYTES, file);
    fclose(file);
    return count;
}

FIXTURE bool exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

/* packed (count + 1024 bytes) = bytes as a gzip stream. Returns its length. */
FIXTURE size_t pack(unsigned char *packed, const void *bytes, size_t count) {
    z_stream stream = {0};
    cr_assert_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = packed;
    stream.avail_out = (uInt)count + 1024;
    cr_assert_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t length = stream.total_out;
    deflateEnd(&stream);
    return length;
}

/* out = an IDX file of bytes 0, 1, 2, ... modulo `modulo`. Returns its length. */
FIXTURE size_t make_idx(unsigned char *out, int modulo, int rank, const uint32_t *dim) {
    size_t count = 1, used = 4;
    memcpy(out, (unsigned char[]){0, 0, 8, (unsigned char)rank}, 4);
    for (int i = 0; i < rank; i++) {
        for (int shift = 24; shift >= 0; shift -= 8) {
            out[used++] = (unsigned char)(dim[i] >> shift);
        }
        count *= dim[i];
    }
    for (size_t i = 0; i < count; i++) {
        out[used++] = (unsigned char)(i % (size_t)modulo);
    }
    return used;
}

FIXTURE void write_idx(const char *path, int modulo, int rank, const uint32_t *dim) {
    static unsigned char bytes[FIXTURE_FILE_BYTES];
    write_file(path, bytes, make_idx(bytes, modulo, rank, dim));
}

/* The four files of a set of 50 + 20 images of 3x5 in 10 classes. */
FIXTURE void write_small_set(void) {
    write_idx(in_folder("train-images-idx3-ubyte"), 256, 3, (uint32_t[]){50, 3, 5});
    write_idx(in_folder("train-labels-idx1-ubyte"), 10, 1, (uint32_t[]){50});
    write_idx(in_folder("t10k-images-idx3-ubyte"), 251, 3, (uint32_t[]){20, 3, 5});
    write_idx(in_folder("t10k-labels-idx1-ubyte"), 10, 1, (uint32_t[]){20});
}

/* The status is as expected and the message holds each of the texts; NULL ends them. */
FIXTURE void expect_failure(Status found, Status expected, ...) {
    va_list texts;
    cr_assert_eq(found, expected, "status %d, expected %d: %s", found, expected, status_message());
    va_start(texts, expected);
    for (const char *text; (text = va_arg(texts, const char *)) != NULL;) {
        cr_assert_not_null(strstr(status_message(), text), "'%s' is not in: %s", text,
                           status_message());
    }
    va_end(texts);
}

#endif
